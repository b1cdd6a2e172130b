#!/usr/bin/env python3
"""Export a torchvision ResNet, without its last layer, to one ONNX file.

    python export_torchvision.py --model resnet50 --out resnet50.onnx
"""

import torch
import torchvision

import onnx_export

# Each `weights` value names a set of weights with its own preprocessing.
MODELS = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152",
          "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2", "wide_resnet101_2")


def parse_arguments():
    parser = onnx_export.new_parser(__doc__)
    parser.add_argument("--model", choices=MODELS, default="resnet50")
    parser.add_argument("--weights", default="IMAGENET1K_V1", metavar="NAME",
                        help="torchvision's name for the weights, e.g. IMAGENET1K_V1 or IMAGENET1K_V2")
    onnx_export.add_common_arguments(parser)
    return onnx_export.parse(parser)


def find_weights(model, name):
    """The weights entry. Only its description is read; nothing is downloaded."""
    choices = torchvision.models.get_model_weights(model)
    try:
        return choices[name]
    except KeyError:
        names = ", ".join(choices.__members__)
        raise SystemExit(f"--weights {name}: {model} has {names}") from None


def build(arguments, weights):
    if not arguments.random_weights:
        return torchvision.models.get_model(arguments.model, weights=weights)
    torch.manual_seed(arguments.seed)
    return torchvision.models.get_model(arguments.model, weights=None)


def spec_of(weights, size):
    """torchvision's own evaluation transform of these weights, as a Spec."""
    transform = weights.transforms()
    native_side, native_size = transform.crop_size[0], transform.resize_size[0]
    side = size or native_side
    return onnx_export.Spec(
        size=onnx_export.resize_with(side, native_side, native_size), crop=side,
        interpolation=transform.interpolation.value,
        mean=tuple(transform.mean), std=tuple(transform.std))


def main():
    arguments = parse_arguments()
    weights = find_weights(arguments.model, arguments.weights)
    network = build(arguments, weights)
    network.fc = torch.nn.Identity()  # features are the input of the classifier
    spec = spec_of(weights, arguments.size)
    label = "random weights" if arguments.random_weights else arguments.weights
    source = f"torchvision {torchvision.__version__} {arguments.model} {label}"
    onnx_export.export(network, spec.crop, spec, source, onnx_export.options_from(arguments))


if __name__ == "__main__":
    main()
