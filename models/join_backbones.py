#!/usr/bin/env python3
"""Join ONNX backbones that take the same input into one file that runs all of them.

    python join_backbones.py default.onnx resnet18.onnx --mirror --out joined.onnx

Each network's embedding is scaled to length 1, and all are concatenated. With --mirror each embedding is first
averaged with that of the mirror image. The cost is the sum of the networks' costs, doubled by --mirror.
"""

import os
import pathlib

import numpy as np
import onnx
from onnx import compose, helper, numpy_helper

import onnx_export

import onnxruntime  # after onnx_export, which sets environment variables that it reads

SHORTEST = 1e-12  # least length to divide by: an embedding of zeros stays zero
TOLERANCE = 1e-4


def parse_arguments():
    parser = onnx_export.new_parser(__doc__)
    parser.add_argument("backbones", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="ONNX file with one image input [N,3,S,S]")
    parser.add_argument("--mirror", action="store_true", help="also use the mirror image")
    parser.add_argument("--output", action="append", default=[], metavar="NAME",
                        help="output of each file in order, if it has several; default: the first")
    parser.add_argument("--seed", type=int, default=0, help="seed of the check (default 0)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="ONNX file to write")
    arguments = parser.parse_args()
    if arguments.out.suffix != ".onnx":
        parser.error(f"--out {arguments.out}: the name must end in .onnx")
    if len(arguments.backbones) < 2 and not arguments.mirror:
        parser.error("one backbone without --mirror leaves nothing to do")
    if len(arguments.output) > len(arguments.backbones):
        parser.error("more --output flags than backbones")
    return arguments


class Part:
    """One of the backbones."""

    def __init__(self, path, output):
        self.path = path
        self.model = onnx.load(path)
        graph = self.model.graph
        weights = {w.name for w in graph.initializer}
        inputs = [i for i in graph.input if i.name not in weights]
        if len(inputs) != 1:
            raise SystemExit(f"{path}: {len(inputs)} inputs, want one")
        self.input = inputs[0].name
        self.shape = [d.dim_value for d in inputs[0].type.tensor_type.shape.dim]
        if len(self.shape) != 4 or self.shape[1] != 3:
            raise SystemExit(f"{path}: the input is {self.shape}, want [N,3,S,S]")
        if self.shape[0] != 0:
            raise SystemExit(f"{path}: takes {self.shape[0]} images at a time, want any number: "
                             "export it with a free N")
        names = [o.name for o in graph.output]
        self.output = output or names[0]
        if self.output not in names:
            raise SystemExit(f"{path}: no output {self.output}; it has {', '.join(names)}")
        metadata = {p.key: p.value for p in self.model.metadata_props}
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        self.preprocess = metadata.get(onnx_export.PREPROCESS_KEY, "")
        self.source = metadata.get(onnx_export.SOURCE_KEY, path.name)

    def opset(self):
        return {o.domain: o.version for o in self.model.opset_import}

    def run(self, pixels):
        features, = self.session.run([self.output], {self.input: pixels})
        if features.ndim != 2:
            raise SystemExit(f"{self.path}: {self.output} is {features.shape}, want [N,d]")
        return features


def check_alike(parts):
    first = parts[0]
    for part in parts[1:]:
        for what, mine, theirs in (("shape", first.shape, part.shape),
                                   ("preprocess", first.preprocess or "not stated", part.preprocess or "not stated"),
                                   ("operator set", first.opset(), part.opset())):
            if theirs != mine:
                raise SystemExit(f"{part.path}: {what} {theirs}, but {first.path} has {mine}")


class Joint:
    """Builds the joined graph."""

    def __init__(self, version):
        self.version = version  # of the operator set
        self.nodes, self.weights, self.count = [], [], 0

    def op(self, kind, inputs, **attributes):
        self.count += 1
        name = f"joint_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def ints(self, *values):
        self.count += 1
        name = f"joint_{self.count}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def floats(self, value):
        self.count += 1
        name = f"joint_{self.count}"
        self.weights.append(numpy_helper.from_array(np.array(value, np.float32), name))
        return name

    def reduce(self, kind, x, axis, keep):
        if self.version >= 18:
            return self.op(kind, [x, self.ints(axis)], keepdims=keep)
        return self.op(kind, [x], axes=[axis], keepdims=keep)

    def add(self, part, number, x):
        """Adds the nodes of a part, with x as its input; returns the name of its output."""
        graph = compose.add_prefix_graph(part.model.graph, f"part{number}_")
        names = {f"part{number}_{part.input}": x}
        for node in graph.node:
            node.input[:] = [names.get(i, i) for i in node.input]
        self.nodes.extend(graph.node)
        self.weights.extend(graph.initializer)
        return f"part{number}_{part.output}"

    def unit(self, x):
        length = self.op("Max", [self.reduce("ReduceL2", x, 1, 1), self.floats(SHORTEST)])
        return self.op("Div", [x, length])


def join(parts, mirror, widths):
    version = parts[0].opset().get("", 0)
    g = Joint(version)
    x = onnx_export.INPUT_NAME
    if mirror:
        flipped = g.op("Slice", [x, g.ints(-1), g.ints(-(2**31)), g.ints(3), g.ints(-1)])
        x = g.op("Concat", [x, flipped], axis=0)
    units = []
    for number, (part, d) in enumerate(zip(parts, widths)):
        y = g.add(part, number, x)
        if mirror:
            y = g.reduce("ReduceMean", g.op("Reshape", [y, g.ints(2, -1, d)]), 0, 0)
        units.append(g.unit(y))
    g.nodes.append(helper.make_node("Concat", units, [onnx_export.OUTPUT_NAME], axis=1))
    shape = ["N", *parts[0].shape[1:]]
    graph = helper.make_graph(
        g.nodes, "joined", [helper.make_tensor_value_info(onnx_export.INPUT_NAME, onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(onnx_export.OUTPUT_NAME, onnx.TensorProto.FLOAT, ["N", sum(widths)])], g.weights)
    model = helper.make_model(graph, opset_imports=parts[0].model.opset_import, producer_name="pipeline",
                              ir_version=max(p.model.ir_version for p in parts))
    for part in parts:
        model.functions.extend(part.model.functions)
    source = " + ".join(p.source for p in parts) + (", mirrored too" if mirror else "")
    for key, value in ((onnx_export.PREPROCESS_KEY, parts[0].preprocess), (onnx_export.SOURCE_KEY, source)):
        if value:
            model.metadata_props.add(key=key, value=value)
    return model, source


def expected(parts, mirror, pixels):
    both = []
    for part in parts:
        y = part.run(pixels)
        if mirror:
            y = (y + part.run(np.ascontiguousarray(pixels[:, :, :, ::-1]))) / 2
        both.append(y / np.maximum(np.linalg.norm(y, axis=1, keepdims=True), SHORTEST))
    return np.concatenate(both, axis=1)


def noise(batch, shape, seed):
    sides = [s or 224 for s in shape[2:]]
    return np.random.default_rng(seed).standard_normal((batch, 3, *sides)).astype(np.float32)


def verify(path, parts, mirror, seed):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for batch in onnx_export.VERIFY_BATCHES:
        pixels = noise(batch, parts[0].shape, seed)
        got, = session.run(None, {onnx_export.INPUT_NAME: pixels})
        difference = float(np.abs(got - expected(parts, mirror, pixels)).max())
        print(f"batch {batch}: max |delta| {difference:.3g}")
        if not difference <= TOLERANCE:
            raise SystemExit(f"batch {batch}: the joined file and its parts differ by more than {TOLERANCE:g}")


def main():
    arguments = parse_arguments()
    outputs = arguments.output + [""] * (len(arguments.backbones) - len(arguments.output))
    parts = [Part(path, output) for path, output in zip(arguments.backbones, outputs)]
    check_alike(parts)
    widths = [part.run(noise(1, part.shape, 0)).shape[1] for part in parts]
    model, source = join(parts, arguments.mirror, widths)
    temporary = arguments.out.with_suffix(".part.onnx")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        onnx_export.save(model, temporary)
        verify(temporary, parts, arguments.mirror, arguments.seed)
        os.replace(temporary, arguments.out)
    finally:
        temporary.unlink(missing_ok=True)
    onnx_export.report(arguments.out, parts[0].preprocess or "not stated", source)


if __name__ == "__main__":
    main()
