"""One network from several: the mean of their weights.

Networks trained one after the other, each from the weights of the one before, lie close enough together
for their mean to be a good network, often a better one (Izmailov et al. 2018; Wortsman et al. 2022). What such
a mean gets wrong is the scale of its activations, which shrink where the weights disagree; it is set right
channel by channel (Jordan et al. 2023).
"""
import contextlib

import torch

from . import evaluate, onnx_writer, warm_start


@torch.no_grad()
def average(backbone, paths, images):
    """The mean of the networks in the files at `paths`, all of one --arch, into `backbone`.

    On `images` (N×3×S×S uint8) each channel before its ReLU then has the mean of the means, and the mean
    of the standard deviations, that it has in the files.
    """
    networks = [list(channels(backbone, path, images)) for path in paths]
    for (_, pair), parts in zip(warm_start.pairs(backbone), zip(*networks)):
        weight, deviation, mean = (torch.stack(x).mean(0) for x in zip(*parts))
        pair.conv.weight.copy_(weight)
        pair.bn.weight.copy_(deviation)
        pair.bn.bias.copy_(mean)
    evaluate.clean_batch_norm(backbone, images, contextlib.nullcontext, batch=len(images))


def channels(backbone, path, images):
    """(weight, standard deviation, mean) of each convolution of a file; the last two are those of its outputs on
    `images`."""
    warm_start.load(backbone, path, images)
    for _, pair in warm_start.pairs(backbone):
        weight = pair.conv.weight * onnx_writer.gain(pair.bn).view(-1, 1, 1, 1)
        yield weight, pair.bn.weight.clone(), pair.bn.bias.clone()
