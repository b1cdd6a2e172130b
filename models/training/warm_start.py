"""Continues from a published network: an ONNX file of onnx_writer.py back into a trainable model.

The file has batch norm folded into its convolutions. Each convolution gets the file's weights,
scaled to the norm that training starts from, and a batch norm that restores the output the file has
on a sample of images; the classes' weights start at the means of their features.
"""
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

from . import augment, evaluate


def pairs(backbone):
    """(name, ConvBN) of every convolution, by the names of onnx_writer.build."""
    if backbone.stem is not None:
        yield "stem", backbone.stem
    for i, block in enumerate(backbone.blocks):
        for j, pair in enumerate(block.convs):
            yield f"block{i}.conv{j}", pair
        if block.shortcut is not None:
            yield f"block{i}.shortcut", block.shortcut


@torch.no_grad()
def load(backbone, path, images):
    """The weights of the file at `path` into `backbone`; batch norm from `images` (N×3×S×S uint8)."""
    constants = {c.name: torch.from_numpy(numpy_helper.to_array(c).astype(np.float32)).to(images.device)
                 for c in onnx.load(path).graph.initializer}
    hooks = []
    for name, pair in pairs(backbone):
        weight, bias = (constants.get(f"{name}.{part}") for part in ("weight", "bias"))
        if weight is None or weight.shape != pair.conv.weight.shape:
            raise SystemExit(f"{path} has no weights for {name} of this --arch; "
                             "use the architecture it was trained with")
        norm = pair.conv.weight.norm() / weight.norm()
        pair.conv.weight.copy_(weight * norm)
        hooks.append(pair.conv.register_forward_hook(restore(pair.bn, bias, norm)))
    backbone.eval()(augment.plain(images))
    for hook in hooks:
        hook.remove()


def restore(bn, bias, norm):
    """A forward hook that sets `bn`, before its turn, to give convolution / norm + bias on this batch, and normalises
    by this batch."""
    def hook(conv, inputs, out):
        var, mean = torch.var_mean(out.float(), (0, 2, 3), correction=0)
        bn.running_mean.copy_(mean)
        bn.running_var.copy_(var)
        bn.weight.copy_((var + bn.eps).sqrt() / norm)
        bn.bias.copy_(bias + mean / norm)
    return hook


@torch.no_grad()
def class_weights(model, images, labels, turns, precision):
    """Sets the learned classes' weights to the unit means of their features, less the mean of all; each quarter turn
    is a class."""
    means = []
    for turn in range(turns):
        x = evaluate.features(model.backbone, torch.rot90(images, turn, (2, 3)), precision)
        sums = torch.zeros(int(labels.max()) + 1, x.shape[1]).index_add_(0, labels.cpu(), x.float().cpu())
        means.append(sums / torch.bincount(labels.cpu())[:, None])
    weight = torch.stack(means, 1).flatten(0, 1)  # class·turns + turn, as in Trainer.loss
    model.head.weight.copy_(F.normalize(weight - weight.mean(0)))
