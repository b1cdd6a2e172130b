#!/usr/bin/env python3
"""Writes the mean of networks that train_backbone.py trained one after the other with --init.

    python3 average_backbones.py first/backbone.onnx second/backbone.onnx --data base.npz --out averaged.onnx

It costs no more to run than one of them; networks of about the same quality gain by it. All must have the same --arch.
A network that was not trained from another's weights has nothing in common with it channel by channel, and the mean is
then useless.
"""
import argparse
import os

import numpy as np
import torch

import onnx_file
import power_features
from training import augment, averaging, nets, onnx_writer, packed


def parse_arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("backbones", nargs="+", metavar="FILE", help="backbone.onnx of train_backbone.py")
    p.add_argument("--data", nargs="+", required=True, help="file or parts written by pack_images.py: training images")
    p.add_argument("--images", type=int, default=512,
                   help="how many of them give the statistics of each channel (default 512)")
    p.add_argument("--seed", type=int, default=0, help="seed of their choice (default 0)")
    p.add_argument("--workers", type=int, default=os.cpu_count(), help="processes that decode images")
    p.add_argument("--out", required=True, help="ONNX file to write")
    o = p.parse_args(argv)
    if len(o.backbones) < 2:
        p.error("one backbone has no mean: name two or more")
    if o.images < 1:
        p.error("--images must be at least 1")
    return o


def main(argv=None):
    o = parse_arguments(argv)
    trained = [onnx_writer.training(path) for path in o.backbones]
    side = onnx_writer.side(o.backbones[0])
    pack = packed.load(o.data)
    index = np.random.default_rng(o.seed).permutation(len(pack))[:o.images]
    images = torch.from_numpy(packed.decode(packed.take(pack, index), side, o.workers))

    backbone = nets.build(trained[0]["recipe"]["arch"])
    averaging.average(backbone, o.backbones, images)
    info = trained[-1] | {"mean_of": [{k: t[k] for k in ("recipe", "epochs", "steps", "train_seconds")}
                                      for t in trained]}
    model = onnx_writer.build(backbone, side, {onnx_file.PREPROCESS_KEY: onnx_writer.preprocess_spec(side),
                                               onnx_file.TRAINING_KEY: info})
    size = onnx_writer.save(o.out, power_features.raised(model, trained[-1]["recipe"].get("power", 1)))
    worst, single, largest = onnx_writer.difference(model.SerializeToString(), backbone, augment.plain(images[:8]))
    print(f"{o.out}: {size} bytes; max |onnx − torch| {worst:.2e}, batch 1 against 8 {single:.2e}, "
          f"largest feature {largest:.2f}")


if __name__ == "__main__":
    main()
