"""The backbones and the heads that train them.

All are chains of residual blocks of (convolution, batch norm) pairs, so that
onnx_writer.py can fold and write any of them. For an N×3×84×84 batch they return N×dim:
the global average of the last map after its ReLU.
"""
import torch
import torch.nn.functional as F
from torch import nn

from .convolution import Conv3x3

ARCHS = ("compact", "resnet18", "resnet18-7x7", "tiny")


class ConvBN(nn.Module):
    """Convolution without bias, then batch norm."""

    def __init__(self, cin, cout, kernel, stride=1):
        super().__init__()
        if kernel == 3:
            self.conv = Conv3x3(cin, cout, stride)
        else:
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
    """An optional stem with or without a 3×3 max-pool of stride 2, residual blocks, global average pool."""

    def __init__(self, stem, blocks, dim, pool=False):
        super().__init__()
        self.stem, self.pool = stem, pool
        self.blocks = nn.ModuleList(blocks)
        self.dim = dim

    def forward(self, x):
        if self.stem is not None:
            x = F.relu(self.stem(x))
        if self.pool:
            x = F.max_pool2d(x, 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        return x.mean((2, 3))


def compact(widths=(32, 64, 160, 304), depths=(2, 3, 3, 3)):
    """ResNet-12 style, maps of 84, 42, 21 and 10 px; 2.8 M parameters, 0.70 GMAC."""
    cins = (3,) + tuple(widths[:-1])
    blocks = [Residual(a, b, d, pool=b != widths[-1]) for a, b, d in zip(cins, widths, depths)]
    return Backbone(None, blocks, widths[-1])


def tiny():
    """The compact shape at half the width, for trials of recipes; 0.3 M parameters, features of 128."""
    return compact((16, 32, 64, 128), (2, 2, 2, 2))


def resnet18(widths=(64, 128, 256, 512), strides=(2, 2, 2, 1)):
    """ResNet-18 with a 3×3 stride-1 stem and no max-pool, maps of 42, 21, 11 and 11 px; 11.2 M parameters, 1.7 GMAC."""
    return Backbone(ConvBN(3, widths[0], 3), basic_blocks(widths, strides), widths[-1])


def resnet18_7x7(widths=(64, 128, 256, 512), strides=(1, 2, 2, 2)):
    """He et al.'s ResNet-18, the shape of CEC, TEEN and SAVC: 7×7 stride-2 stem and max-pool, maps of 21, 11, 6 and
    3 px; 0.26 GMAC."""
    return Backbone(ConvBN(3, widths[0], 7, 2), basic_blocks(widths, strides), widths[-1], pool=True)


def basic_blocks(widths, strides):
    """Two residual blocks of two convolutions for each width."""
    blocks, cin = [], widths[0]
    for width, stride in zip(widths, strides):
        blocks += [Residual(cin, width, 2, stride), Residual(width, width, 2)]
        cin = width
    return blocks


def build(arch):
    return {"compact": compact, "resnet18": resnet18, "resnet18-7x7": resnet18_7x7, "tiny": tiny}[arch]()


class CosineHead(nn.Module):
    """Logits scale·cos(feature, class weight), in float32 whatever the autocast.

    `margin` is taken off the cosine of the right class while training (CosFace); a negative one
    packs classes less tightly, which suits classes to come (Liu et al. 2020).
    """

    def __init__(self, dim, classes, scale, margin=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim) / dim ** 0.5)
        self.scale, self.margin = scale, margin

    def forward(self, features):
        with torch.autocast(features.device.type, enabled=False):
            return self.scale * F.linear(F.normalize(features.float()), F.normalize(self.weight.float()))

    def loss(self, logits, target, smoothing):
        """Cross-entropy of each image."""
        if self.margin:
            logits = logits - self.scale * self.margin * F.one_hot(target, logits.shape[1])
        return F.cross_entropy(logits, target, reduction="none", label_smoothing=smoothing)


def simplex(classes, dim, seed=0):
    """Equiangular tight frame: `classes` unit rows in `dim` dimensions, each pair at cosine −1/(classes−1)."""
    if dim < classes:
        raise ValueError(f"{classes} targets at equal angles need {classes} dimensions, the features have {dim}")
    g = torch.Generator().manual_seed(seed)
    axes, _ = torch.linalg.qr(torch.randn(dim, classes, generator=g, dtype=torch.float64))
    return F.normalize((axes - axes.mean(1, keepdim=True)).T).float()


class SimplexHead(nn.Module):
    """Fixed targets at equal angles, reached through a projection of the features (NC-FSCIL, Yang et al. 2023)."""

    def __init__(self, dim, classes, scale):
        super().__init__()
        room = max(dim, classes)
        self.projection = Projection(dim, room)
        self.register_buffer("targets", simplex(classes, room))
        self.scale = scale

    def forward(self, features):
        projected = self.projection(features)
        with torch.autocast(features.device.type, enabled=False):
            return self.scale * F.linear(projected, self.targets)

    def loss(self, logits, target, smoothing):
        """Dot-regression loss ½(cos − 1)² of each image, times the scale: gradients as large as a cross-entropy's.

        It has no other classes to smooth over: `smoothing` does not count.
        """
        cosine = logits.gather(1, target[:, None])[:, 0] / self.scale
        return self.scale * 0.5 * (cosine - 1) ** 2


class Projection(nn.Module):
    """Two layers after the features, dropped after training; unit rows, in float32 whatever the autocast."""

    def __init__(self, dim, out):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out))

    def forward(self, features):
        with torch.autocast(features.device.type, enabled=False):
            return F.normalize(self.layers(features.float()))


PROJECTED = 128  # dimensions in which views are contrasted, as in MoCo


class Classifier(nn.Module):
    """Backbone, head and, for a contrastive loss, a projection: what training optimises."""

    def __init__(self, arch, classes, scale, targets="learned", margin=0.0, contrast=False):
        super().__init__()
        self.backbone = build(arch)
        dim = self.backbone.dim
        if targets == "simplex":
            self.head = SimplexHead(dim, classes, scale)
        else:
            self.head = CosineHead(dim, classes, scale, margin)
        self.projection = Projection(dim, PROJECTED) if contrast else None

    def forward(self, x):
        """Logits, and the projected features or None."""
        features = self.backbone(x)
        return self.head(features), None if self.projection is None else self.projection(features)
