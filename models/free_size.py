#!/usr/bin/env python3
"""Let an ONNX network take images of any size, if its layers do: those that end in a global average.

  free_size.py models/resnet18.onnx open.onnx

The program then embeds at another size with --set extractor.side=N and preprocess.size, preprocess.crop. Needs onnx.
"""

import argparse

import onnx


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("network")
    p.add_argument("out")
    o = p.parse_args()
    model = onnx.load(o.network)
    for axis, name in (2, "height"), (3, "width"):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
    onnx.checker.check_model(model)
    onnx.save(model, o.out)


if __name__ == "__main__":
    main()
