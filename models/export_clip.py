#!/usr/bin/env python3
"""Export the image encoder of a CLIP model from open_clip to one ONNX file.

    python export_clip.py --model ViT-B-32 --pretrained laion2b_s34b_b79k --out clip-vit-b32.onnx
"""

import open_clip
import torch

import onnx_export


class AveragePool(torch.nn.Module):
    """The mean over the picture, in place of a ResNet's attention pooling and projection."""

    def forward(self, features):
        return features.mean(dim=(2, 3))


class ImageEncoder(torch.nn.Module):
    """The image encoder of CLIP: pixels in, projected embedding out."""

    def __init__(self, clip, normalise):
        super().__init__()
        self.visual = clip.visual
        self.normalise = normalise

    def forward(self, pixels):
        features = self.visual(pixels)
        return torch.nn.functional.normalize(features, dim=-1) if self.normalise else features


def parse_arguments():
    parser = onnx_export.new_parser(__doc__)
    parser.add_argument("--model", default="ViT-B-32", help="open_clip's model name, e.g. ViT-B-32, ViT-L-14, RN50")
    parser.add_argument("--pretrained", default="openai", metavar="TAG",
                        help="open_clip's tag for the weights, e.g. openai or laion2b_s34b_b79k")
    parser.add_argument("--normalise", action="store_true",
                        help="scale each feature vector to length 1 (default: as the network gives it)")
    parser.add_argument("--average-pool", action="store_true",
                        help="ResNets: average the last features instead of attention pooling, for any --size")
    onnx_export.add_common_arguments(parser)
    arguments = onnx_export.parse(parser)
    if arguments.average_pool and not arguments.model.startswith("RN"):
        parser.error(f"--average-pool: {arguments.model} is not a ResNet")
    return arguments


def model_name(arguments):
    """OpenAI's weights were trained with a different activation, which open_clip marks in the name."""
    quick = arguments.model + "-quickgelu"
    if arguments.pretrained == "openai" and quick in open_clip.list_models():
        return quick
    return arguments.model


def build(arguments):
    name = model_name(arguments)
    if name not in open_clip.list_models():
        raise SystemExit(f"--model {arguments.model}: open_clip does not know it; see open_clip.list_models()")
    tags = open_clip.list_pretrained_tags_by_model(name)
    if arguments.pretrained not in tags:
        raise SystemExit(f"--pretrained {arguments.pretrained}: {name} has {', '.join(tags)}")
    torch.manual_seed(arguments.seed)
    clip = open_clip.create_model(
        name, pretrained=None if arguments.random_weights else arguments.pretrained,
        # the weights of attention pooling fit one size only
        pretrained_image=False, force_image_size=None if arguments.average_pool else arguments.size, device="cpu")
    if arguments.average_pool:
        clip.visual.attnpool = AveragePool()
    return clip


def spec_of(arguments, side):
    """Preprocessing of these weights: open_clip's CLIP default, overridden per set of weights."""
    config = open_clip.get_pretrained_cfg(model_name(arguments), arguments.pretrained) or {}
    return onnx_export.Spec(
        size=side, crop=side,
        resize="exact" if config.get("resize_mode") == "squash" else "shorter",
        interpolation=config.get("interpolation") or "bicubic",
        mean=tuple(config.get("mean") or open_clip.OPENAI_DATASET_MEAN),
        std=tuple(config.get("std") or open_clip.OPENAI_DATASET_STD))


def main():
    arguments = parse_arguments()
    clip = build(arguments)
    side = arguments.size or clip.visual.image_size
    side = side[0] if isinstance(side, (tuple, list)) else side
    label = "random weights" if arguments.random_weights else arguments.pretrained
    source = f"open_clip {open_clip.__version__} {model_name(arguments)} {label}"
    onnx_export.export(ImageEncoder(clip, arguments.normalise), side, spec_of(arguments, side), source,
                       onnx_export.options_from(arguments))


if __name__ == "__main__":
    main()
