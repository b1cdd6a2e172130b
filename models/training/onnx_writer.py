"""Writes a backbone as ONNX: batch norm folded, weights stored as float16, computed in float32.

The graph is built node by node, so it does not depend on the version of torch's
exporter. Every weight is a float16 initialiser followed by a Cast, which ONNX
Runtime folds when it loads the file.
"""
import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_file

from . import augment

OPSET, IR_VERSION = 17, 8


def preprocess_spec(side):
    """The preprocessing that the pipeline reads from the file, as its preprocess.Spec."""
    return {"resize": "shorter", "size": side, "crop": side, "interpolation": "bicubic",
            "mean": list(augment.MEAN), "std": list(augment.STD), "orientation": True}


def gain(bn):
    """What batch norm multiplies each channel with, outside of training."""
    return bn.weight / (bn.running_var + bn.eps).sqrt()


def fold(pair):
    """A ConvBN's weight (float16) and bias (float32) as one convolution."""
    scale = gain(pair.bn).detach().double()
    weight = pair.conv.weight.detach().double() * scale.view(-1, 1, 1, 1)
    bias = pair.bn.bias.detach().double() - pair.bn.running_mean.double() * scale
    return weight.cpu().numpy().astype(np.float16), bias.cpu().numpy().astype(np.float32)


class Graph:
    """Nodes and initialisers in the order they are used."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def op(self, kind, inputs, **attributes):
        out = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], name=out, **attributes))
        return out

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def conv_bn(self, x, pair, name):
        weight, bias = fold(pair)
        half = self.constant(name + ".weight", weight)
        conv = pair.conv
        pad, stride = conv.padding[0], conv.stride[0]
        return self.op("Conv", [x, self.op("Cast", [half], to=TensorProto.FLOAT), self.constant(name + ".bias", bias)],
                       kernel_shape=list(conv.kernel_size), strides=[stride] * 2, pads=[pad] * 4)

    def residual(self, x, block, name):
        y = x
        for i, pair in enumerate(block.convs):
            y = self.conv_bn(y if i == 0 else self.op("Relu", [y]), pair, f"{name}.conv{i}")
        side = x if block.shortcut is None else self.conv_bn(x, block.shortcut, name + ".shortcut")
        y = self.op("Relu", [self.op("Add", [y, side])])
        return self.op("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2]) if block.pool else y


def build(backbone, side, metadata):
    """The backbone as an onnx.ModelProto with input `input` and output `features`."""
    g, x = Graph(), "input"
    if backbone.stem is not None:
        x = g.op("Relu", [g.conv_bn(x, backbone.stem, "stem")])
    if backbone.pool:
        x = g.op("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for i, block in enumerate(backbone.blocks):
        x = g.residual(x, block, f"block{i}")
    x = g.op("GlobalAveragePool", [x])
    g.nodes.append(helper.make_node("Flatten", [x], ["features"], name="features", axis=1))
    graph = helper.make_graph(
        g.nodes, "backbone", [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["N", 3, side, side])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", backbone.dim])], g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                              producer_name="pipeline train_backbone.py")
    helper.set_model_props(model, {k: v if isinstance(v, str) else json.dumps(v) for k, v in metadata.items()})
    onnx.checker.check_model(model)
    return model


def training(path):
    """How a file that train_backbone.py wrote was trained: the `pipeline.training` that it was built with."""
    properties = {p.key: p.value for p in onnx.load(path).metadata_props}
    try:
        return json.loads(properties[onnx_file.TRAINING_KEY])
    except KeyError:
        raise SystemExit(f"{path} does not say how it was trained: "
                         "it must be a backbone.onnx of train_backbone.py") from None


def side(path):
    """The side in pixels of the images that a file takes."""
    return onnx.load(path).graph.input[0].type.tensor_type.shape.dim[3].dim_value


def save(path, model):
    """Writes the file under a temporary name first; returns its size in bytes."""
    with open(path + ".partial", "wb") as f:
        f.write(model.SerializeToString())
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".partial", path)
    return os.path.getsize(path)


def difference(model_bytes, backbone, x):
    """Largest |ONNX Runtime − torch| over a batch, largest difference to the same images one by one, largest
    feature."""
    import onnxruntime  # after onnx_file, which sets an environment variable that it reads
    import torch
    session = onnxruntime.InferenceSession(model_bytes, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        want = backbone.eval()(x).numpy()
    got = session.run(["features"], {"input": x.numpy()})[0]
    single = np.concatenate([session.run(None, {"input": x.numpy()[i:i + 1]})[0] for i in range(len(x))])
    return float(np.abs(got - want).max()), float(np.abs(single - got).max()), float(np.abs(want).max())
