#!/usr/bin/env python3
"""Export a DINOv2 vision transformer, from timm, to one ONNX file.

    python export_dinov2.py --model vits14 --out dinov2-vits14.onnx
"""

import timm
import torch

import onnx_export

MODELS = {
    "vits14": "vit_small_patch14_dinov2.lvd142m",
    "vitb14": "vit_base_patch14_dinov2.lvd142m",
    "vitl14": "vit_large_patch14_dinov2.lvd142m",
    "vits14-reg4": "vit_small_patch14_reg4_dinov2.lvd142m",
    "vitb14-reg4": "vit_base_patch14_reg4_dinov2.lvd142m",
    "vitl14-reg4": "vit_large_patch14_reg4_dinov2.lvd142m",
}
PATCH = 14
DEFAULT_SIDE = 224  # DINOv2's own evaluation: resize 256, crop 224
RESIZE_FOR_DEFAULT_SIDE = 256


class ClassToken(torch.nn.Module):
    """The class token after the final norm, alone or followed by the mean of the patch tokens."""

    def __init__(self, network, with_patch_mean):
        super().__init__()
        self.network = network
        self.with_patch_mean = with_patch_mean

    def forward(self, pixels):
        tokens = self.network.forward_features(pixels)
        token = tokens[:, 0]
        if not self.with_patch_mean:
            return token
        patches = tokens[:, self.network.num_prefix_tokens:]
        return torch.cat([token, patches.mean(dim=1)], dim=1)


def parse_arguments():
    parser = onnx_export.new_parser(__doc__)
    parser.add_argument("--model", choices=MODELS, default="vits14")
    parser.add_argument("--patch-mean", action="store_true",
                        help="append the mean of the patch tokens, which doubles the dimension")
    onnx_export.add_common_arguments(parser)
    arguments = onnx_export.parse(parser)
    if (arguments.size or DEFAULT_SIDE) % PATCH:
        parser.error(f"--size {arguments.size}: DINOv2 needs a multiple of {PATCH}")
    return arguments


def build(arguments, side):
    torch.manual_seed(arguments.seed)
    return timm.create_model(MODELS[arguments.model], pretrained=not arguments.random_weights,
                             img_size=side, num_classes=0)


def main():
    arguments = parse_arguments()
    side = arguments.size or DEFAULT_SIDE
    network = ClassToken(build(arguments, side), arguments.patch_mean)
    spec = onnx_export.Spec(
        size=onnx_export.resize_with(side, DEFAULT_SIDE, RESIZE_FOR_DEFAULT_SIDE), crop=side)
    label = "random weights" if arguments.random_weights else "pretrained"
    source = f"timm {timm.__version__} {MODELS[arguments.model]} {label}"
    onnx_export.export(network, side, spec, source, onnx_export.options_from(arguments))


if __name__ == "__main__":
    main()
