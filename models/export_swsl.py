#!/usr/bin/env python3
"""Export a ResNet trained with weak labels (SWSL, Facebook), from timm, to one ONNX file.

    python export_swsl.py --model resnet50 --out resnet50-swsl.onnx
"""

import timm
import torch

import onnx_export

MODELS = {
    "resnet18": "resnet18.fb_swsl_ig1b_ft_in1k",
    "resnet50": "resnet50.fb_swsl_ig1b_ft_in1k",
    "resnext50_32x4d": "resnext50_32x4d.fb_swsl_ig1b_ft_in1k",
}


def parse_arguments():
    parser = onnx_export.new_parser(__doc__)
    parser.add_argument("--model", choices=MODELS, default="resnet50")
    onnx_export.add_common_arguments(parser)
    return onnx_export.parse(parser)


def build(arguments):
    """The network without its last layer: the features are averaged over the picture."""
    torch.manual_seed(arguments.seed)
    return timm.create_model(MODELS[arguments.model], pretrained=not arguments.random_weights, num_classes=0)


def spec_of(config, size):
    """timm's own evaluation of these weights, as a Spec."""
    native = config["input_size"][-1]
    side = size or native
    return onnx_export.Spec(
        size=onnx_export.resize_with(side, native, round(native / config["crop_pct"])), crop=side,
        interpolation=config["interpolation"], mean=tuple(config["mean"]), std=tuple(config["std"]))


def main():
    arguments = parse_arguments()
    network = build(arguments)
    spec = spec_of(network.pretrained_cfg, arguments.size)
    label = "random weights" if arguments.random_weights else "pretrained"
    source = f"timm {timm.__version__} {MODELS[arguments.model]} {label}"
    onnx_export.export(network, spec.crop, spec, source, onnx_export.options_from(arguments))


if __name__ == "__main__":
    main()
