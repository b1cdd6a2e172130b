#!/usr/bin/env python3
"""Raise the features of a backbone to a power, with their signs.

    python power_features.py backbone.onnx --power 0.5 --out raised.onnx

Averages of a ReLU are skewed: for a class that the network was not trained on, a few large values hide
the many small ones. A power below 1 evens them out, so that Gaussian classes suit them better (Tukey's
ladder of powers; Yang et al. 2021, "Free Lunch for Few-Shot Learning", has 0.5). The weights stay as
they are. A file that was raised before gets the product of both powers.
"""

import argparse
import json
import os
import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

import onnx_file


def positive(text):
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: a power must be more than 0")
    return value


def raised(model, power):
    """The model with its first output raised to `power`; the output keeps its name. A power of 1 changes nothing. The
    metadata stay as they are."""
    if power == 1:
        return model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph, output = result.graph, result.graph.output[0].name
    taken = {name for node in graph.node for name in (*node.input, *node.output)} | {w.name for w in graph.initializer}
    plain, size, grown, sign, exponent = (unused(f"{output}_{part}", taken)
                                          for part in ("plain", "size", "raised", "sign", "power"))
    for node in graph.node:
        node.input[:] = [plain if name == output else name for name in node.input]
        node.output[:] = [plain if name == output else name for name in node.output]
    graph.initializer.append(numpy_helper.from_array(np.array(power, np.float32), exponent))
    graph.node.extend([helper.make_node("Abs", [plain], [size]), helper.make_node("Pow", [size, exponent], [grown]),
                       helper.make_node("Sign", [plain], [sign]), helper.make_node("Mul", [sign, grown], [output])])
    onnx.checker.check_model(result)
    return result


def unused(name, taken):
    """`name`, made longer until no other has it: a file may have been raised before."""
    while name in taken:
        name += "_"
    return name


def record(model, power):
    """Notes one more power in the recipe of a file that train_backbone.py wrote."""
    for entry in model.metadata_props:
        if entry.key == onnx_file.TRAINING_KEY:
            training = json.loads(entry.value)
            training["recipe"]["power"] = power * training["recipe"].get("power", 1)
            entry.value = json.dumps(training)


def main(argv=None):
    parser = onnx_file.new_parser(__doc__)
    parser.add_argument("backbone", type=pathlib.Path, metavar="FILE",
                        help="ONNX file whose first output is the embedding")
    parser.add_argument("--power", type=positive, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="ONNX file to write")
    o = parser.parse_args(argv)
    temporary = o.out.with_suffix(".part.onnx")
    model = raised(onnx.load(o.backbone), o.power)
    record(model, o.power)
    try:
        onnx_file.save(model, temporary)
        os.replace(temporary, o.out)
    finally:
        temporary.unlink(missing_ok=True)
    metadata = {p.key: p.value for p in model.metadata_props}
    onnx_file.report(o.out, metadata.get(onnx_file.PREPROCESS_KEY, "not stated"),
                     f"{o.backbone.name} to the power {o.power:g}")


if __name__ == "__main__":
    main()
