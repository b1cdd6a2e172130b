"""The two backbones and the cosine head.

Both are chains of residual blocks of (convolution, batch norm) pairs, so that
onnx_writer.py can fold and write either. For an N×3×84×84 batch they return N×dim:
the global average of the last map after its ReLU.
"""
import torch
import torch.nn.functional as F
from torch import nn

ARCHS = ("compact", "resnet18")


class ConvBN(nn.Module):
    """Convolution without bias, then batch norm."""

    def __init__(self, cin, cout, kernel, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, kernel, stride, kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(cout)
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        return self.bn(self.conv(x))


class Residual(nn.Module):
    """relu(convs(x) + shortcut(x)), then a max-pool of 2 where `pool` is set."""

    def __init__(self, cin, cout, depth, stride=1, pool=False):
        super().__init__()
        pairs = [ConvBN(cin if i == 0 else cout, cout, 3, stride if i == 0 else 1) for i in range(depth)]
        self.convs = nn.ModuleList(pairs)
        self.shortcut = ConvBN(cin, cout, 1, stride) if cin != cout or stride != 1 else None
        self.pool = pool
        nn.init.constant_(pairs[-1].bn.weight, 0.2)  # start near the identity

    def forward(self, x):
        y = x
        for i, pair in enumerate(self.convs):
            y = pair(y if i == 0 else F.relu(y))
        y = F.relu(y + (x if self.shortcut is None else self.shortcut(x)))
        return F.max_pool2d(y, 2) if self.pool else y


class Backbone(nn.Module):
    """An optional stem, residual blocks, global average pool."""

    def __init__(self, stem, blocks, dim):
        super().__init__()
        self.stem = stem
        self.blocks = nn.ModuleList(blocks)
        self.dim = dim

    def forward(self, x):
        if self.stem is not None:
            x = F.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return x.mean((2, 3))


def compact(widths=(32, 64, 160, 304), depths=(2, 3, 3, 3)):
    """ResNet-12 style, maps of 84, 42, 21 and 10 px; 2.8 M parameters, 0.70 GMAC."""
    cins = (3,) + tuple(widths[:-1])
    blocks = [Residual(a, b, d, pool=b != widths[-1]) for a, b, d in zip(cins, widths, depths)]
    return Backbone(None, blocks, widths[-1])


def resnet18(widths=(64, 128, 256, 512), strides=(2, 2, 2, 1)):
    """ResNet-18 with a 3×3 stride-1 stem and no max-pool, maps of 42, 21, 11 and 11 px; 11.2 M parameters, 1.7 GMAC."""
    blocks, cin = [], widths[0]
    for width, stride in zip(widths, strides):
        blocks += [Residual(cin, width, 2, stride), Residual(width, width, 2)]
        cin = width
    return Backbone(ConvBN(3, widths[0], 3), blocks, cin)


def build(arch):
    return {"compact": compact, "resnet18": resnet18}[arch]()


class CosineHead(nn.Module):
    """Logits scale·cos(feature, class weight), in float32 whatever the autocast."""

    def __init__(self, dim, classes, scale):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim) / dim ** 0.5)
        self.scale = scale

    def forward(self, features):
        with torch.autocast(features.device.type, enabled=False):
            return self.scale * F.linear(F.normalize(features.float()), F.normalize(self.weight.float()))


class Classifier(nn.Module):
    """Backbone and head together: what training optimises."""

    def __init__(self, arch, classes, scale):
        super().__init__()
        self.backbone = build(arch)
        self.head = CosineHead(self.backbone.dim, classes, scale)

    def forward(self, x):
        return self.head(self.backbone(x))
