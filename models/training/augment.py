"""Augmentation of whole batches on the device that trains; nothing here waits for the GPU.

Images arrive as N×3×S×S uint8 and leave as N×3×size×size float32, normalised. Crop,
flip and quarter turn are one affine map and one resampling. Random numbers come from
torch's generators (per image) and from a NumPy generator (per batch choices).
"""
import functools
import math
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F

MEAN = (0.485, 0.456, 0.406)  # ImageNet's, as in preprocess.Spec's preset
STD = (0.229, 0.224, 0.225)


@dataclass
class Policy:
    """Values of the train_backbone.py flags of the same names."""
    scale: float = 0.3
    largest: float = 1.0
    native: float = 0.25
    shift: int = 8
    rotate: float = 0.5
    jitter: float = 0.4
    grey: float = 0.1
    erase: float = 0.25
    cutmix: float = 0.5
    mixup: float = 0.2


@functools.cache
def _channels(values, device):
    """Three channel constants on the device, copied there once: a copy per batch would wait for the GPU."""
    return torch.tensor(values, device=device).view(1, 3, 1, 1)


def normalise(pixels):
    """0…1 pixels to zero mean and unit variance, channels last in memory."""
    out = (pixels - _channels(MEAN, pixels.device)) / _channels(STD, pixels.device)
    return out.contiguous(memory_format=torch.channels_last)


def plain(images):
    """uint8 images as the network sees them at test time."""
    return normalise(images.float() / 255)


def _uniform(n, low, high, device):
    return torch.rand(n, device=device) * (high - low) + low


def crop_boxes(n, policy, side, device):
    """Per image: half-size (w, h) and centre (cx, cy) of the crop, in units of half the image.

    A share `native` keeps its size and is only shifted by whole pixels, so it is as sharp as test images.
    """
    area = _uniform(n, policy.scale, policy.largest, device)
    ratio = torch.exp(_uniform(n, math.log(3 / 4), math.log(4 / 3), device))
    w, h = (area * ratio).sqrt().clamp(max=1), (area / ratio).sqrt().clamp(max=1)
    cx, cy = (1 - w) * _uniform(n, -1, 1, device), (1 - h) * _uniform(n, -1, 1, device)
    native = torch.rand(n, device=device) < policy.native
    step = torch.randint(-policy.shift, policy.shift + 1, (2, n), device=device) * (2 / side)
    one = torch.ones_like(w)
    return (torch.where(native, one, w), torch.where(native, one, h),
            torch.where(native, step[0], cx), torch.where(native, step[1], cy))


def affine(w, h, cx, cy, flip, turns):
    """N×2×3 maps from output to input coordinates: quarter turn, then flip, then crop."""
    angle = turns * (math.pi / 2)
    cos, sin = torch.cos(angle).round(), torch.sin(angle).round()
    w = w * (1 - 2 * flip)
    rows = [torch.stack([w * cos, -w * sin, cx], 1), torch.stack([h * sin, h * cos, cy], 1)]
    return torch.stack(rows, 1)


def resample(images, theta, size):
    """uint8 images through their affine maps to 0…1 pixels of size×size (bicubic, edges mirrored)."""
    at = (torch.arange(size, device=images.device) * 2 + 1) / size - 1
    t = theta[:, None, None]  # F.affine_grid would round to TF32 on a GPU
    grid = t[..., 0] * at[:, None] + t[..., 1] * at[:, None, None] + t[..., 2]
    out = F.grid_sample(images.float() / 255, grid, "bicubic", "reflection", align_corners=False)
    return out.clamp_(0, 1)


def random_turns(n, chance, device):
    """0 for most images; 1, 2 or 3 quarter turns for a share `chance`."""
    turned = torch.rand(n, device=device) < chance
    return torch.where(turned, torch.randint(1, 4, (n,), device=device), 0)


def colour(pixels, policy):
    """Brightness, contrast and saturation within 1 ± jitter, some images grey; pixels stay in 0…1."""
    n, j, dev = len(pixels), policy.jitter, pixels.device
    f = torch.rand(3, n, 1, 1, 1, device=dev) * (2 * j) + (1 - j)
    weights = _channels((0.299, 0.587, 0.114), dev)
    x = (pixels * f[0]).clamp(0, 1)
    mean = (x * weights).sum(1, keepdim=True).mean((2, 3), keepdim=True)
    x = ((x - mean) * f[1] + mean).clamp(0, 1)
    luma = (x * weights).sum(1, keepdim=True)
    keep = torch.where(torch.rand(n, 1, 1, 1, device=dev) < policy.grey, torch.zeros_like(f[2]), f[2])
    return ((x - luma) * keep + luma).clamp(0, 1)


def boxes_mask(n, size, area, device):
    """N×1×size×size masks, true inside one random rectangle of about `area` (N values in 0…1)."""
    ratio = torch.exp(_uniform(n, math.log(1 / 2), math.log(2), device))
    half_w, half_h = (area * ratio).sqrt().clamp(max=1) / 2, (area / ratio).sqrt().clamp(max=1) / 2
    cx, cy = torch.rand(n, device=device), torch.rand(n, device=device)
    at = (torch.arange(size, device=device) + 0.5) / size
    inside_x = (at[None] - cx[:, None]).abs() < half_w[:, None]
    inside_y = (at[None] - cy[:, None]).abs() < half_h[:, None]
    return (inside_y[:, :, None] & inside_x[:, None, :])[:, None]


def erase(x, chance):
    """Random rectangles of 3 to 20 % of the image set to the mean colour."""
    n = len(x)
    area = _uniform(n, 0.03, 0.2, x.device)
    hit = (torch.rand(n, device=x.device) < chance).view(n, 1, 1, 1)
    return x.masked_fill(boxes_mask(n, x.shape[-1], area, x.device) & hit, 0)


def cutmix(x, order):
    """A rectangle of x[order] pasted into x; returns the mix and the share of x in each image."""
    n = len(x)
    mask = boxes_mask(n, x.shape[-1], torch.rand(n, device=x.device), x.device)
    return torch.where(mask, x[order], x), 1 - mask.float().mean((1, 2, 3))


def mixup(x, order, rng):
    """A blend of x and x[order] with Beta(0.4, 0.4) shares."""
    share = torch.from_numpy(rng.beta(0.4, 0.4, len(x)).astype("float32")).to(x.device, non_blocking=True)
    s = share.view(-1, 1, 1, 1)
    return x * s + x[order] * (1 - s), share


def view(images, policy, size, turns=None):
    """One random view of each image: (normalised N×3×size×size, its quarter turns); random turns unless given."""
    n, side, dev = len(images), images.shape[-1], images.device
    turns = random_turns(n, policy.rotate, dev) if turns is None else turns
    flip = (torch.rand(n, device=dev) < 0.5).float()
    theta = affine(*crop_boxes(n, policy, side, dev), flip, turns)
    x = normalise(colour(resample(images, theta, size), policy))
    return (erase(x, policy.erase) if policy.erase else x), turns


def small_view(images, policy, size, turns):
    """A view of 10 to 40 % of each image at half the size: one of multi-crop's cheap views (SwAV, SAVC)."""
    part = replace(policy, scale=0.1, largest=0.4, native=0, erase=0)
    return view(images, part, size // 2, turns)[0]


def mix(x, policy, rng):
    """Mixes within the batch or not, by the policy's chances: (x, partner order, share of the image itself)."""
    order = torch.randperm(len(x), device=x.device)
    u = rng.random()
    if u < policy.cutmix:
        x, share = cutmix(x, order)
    elif u < policy.cutmix + policy.mixup:
        x, share = mixup(x, order, rng)
    else:
        share = torch.ones(len(x), device=x.device)
    return x.contiguous(memory_format=torch.channels_last), order, share
