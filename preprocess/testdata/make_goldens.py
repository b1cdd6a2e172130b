#!/usr/bin/env python3
"""Make the golden files of package preprocess with Pillow and torchvision.

    python make_goldens.py        # in this folder

Writes images/ (inputs: generated pictures in every format), want/ (the pixels
that Pillow gives, as PNG) and manifest.json (which belongs to which, and how
many levels they may differ). Made with Pillow 13.0.0 and torchvision 0.29.2;
another version may give other bytes.
"""

import io
import json
import pathlib
import shutil

import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(7)
DECODE, TENSOR = [], []


def picture(w, h, channels=3, noise=10, period=1):
    """A smooth picture with a little noise; the last of 2 or 4 channels is alpha."""
    y, x = np.mgrid[0:h, 0:w]
    planes = [128 + 90 * np.sin(x / 7 / period + c) + 60 * np.cos(y / 5 / period * (c + 1)) for c in range(channels)]
    out = np.stack(planes, -1) + RNG.normal(0, noise, (h, w, channels))
    return np.clip(out, 0, 255).astype(np.uint8)


def rgb(w, h):
    return Image.fromarray(picture(w, h))


def rgba(w, h):
    return Image.fromarray(picture(w, h, 4))


def over_white(im):
    """What preprocess defines: alpha over white, the high byte of 16 bits."""
    if im.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(im) >> 8).astype(np.uint8)).convert("RGB")
    if im.mode in ("RGBA", "LA") or "transparency" in im.info:
        im = im.convert("RGBA")
        paper = Image.new("RGB", im.size, (255, 255, 255))
        paper.paste(im, mask=im.getchannel("A"))
        return paper
    return im.convert("RGB")


def decoded(name, data, levels, orient=False):
    """Register a file; levels is the largest difference allowed."""
    (HERE / "images" / name).write_bytes(data)
    im = Image.open(io.BytesIO(data))
    if orient:
        im = ImageOps.exif_transpose(im)
    want = name + ".png"
    over_white(im).save(HERE / "want" / want, optimize=True)
    DECODE.append({"file": name, "want": want, "levels": levels, "orient": orient})


def encode(im, kind, **options):
    b = io.BytesIO()
    im.save(b, kind, **options)
    return bytearray(b.getvalue())


def frame_at(data):
    """Offset of the SOF marker of a JPEG."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + data[at + 2] * 256 + data[at + 3]
    return at


def reshape_jpeg(data, w, h, factors):
    """Give a JPEG other sampling factors and a size with the same blocks. The
    picture is scrambled, but valid: a test for ratios that Pillow cannot write."""
    at = frame_at(data)
    data[at + 5 : at + 9] = bytes([h >> 8, h & 255, w >> 8, w & 255])
    for c, f in enumerate(factors):
        data[at + 11 + 3 * c] = f
    return data


def adobe(data, transform):
    """Set the colour transform of the Adobe marker; None removes the marker."""
    at = data.find(b"Adobe")
    if transform is None:
        data[at] = ord("X")
    else:
        data[at + 11] = transform
    return data


def jpegs():
    for w, h in [(1, 1), (3, 5), (5, 3), (17, 33), (64, 40), (101, 77)]:
        for sampling, name in [(0, "444"), (1, "422"), (2, "420")]:
            decoded(f"{w}x{h}_{name}.jpg", encode(rgb(w, h), "JPEG", quality=90, subsampling=sampling), 3)
    decoded("progressive.jpg", encode(rgb(45, 37), "JPEG", quality=85, progressive=True), 3)
    decoded("grey.jpg", encode(rgb(45, 37).convert("L"), "JPEG", quality=85), 1)
    decoded("rgb.jpg", encode(rgb(45, 37), "JPEG", quality=85, keep_rgb=True), 1)
    smooth = Image.fromarray(picture(48, 48, noise=0, period=3))
    wide = smooth.crop((0, 0, 48, 24))
    decoded("440.jpg", reshape_jpeg(encode(wide, "JPEG", subsampling=1), 21, 43, [0x12, 0x11, 0x11]), 3)
    decoded("411.jpg", reshape_jpeg(encode(smooth, "JPEG", subsampling=2), 93, 19, [0x41, 0x11, 0x11]), 3)
    ink = Image.fromarray(picture(40, 64, 4, noise=0, period=3), "CMYK")
    same, half = [0x11] * 4, [0x22, 0x11, 0x11, 0x22]
    for transform, name in [(0, "cmyk"), (2, "ycck"), (None, "cmyk_unmarked")]:
        data = encode(ink, "JPEG", quality=80)
        decoded(f"{name}.jpg", reshape_jpeg(adobe(data, transform), 37, 59, same), 3)
    for transform, name in [(0, "cmyk_half"), (2, "ycck_half")]:
        data = encode(ink, "JPEG", quality=80)
        decoded(f"{name}.jpg", reshape_jpeg(adobe(data, transform), 61, 63, half), 3)


def lossless():
    deep = Image.fromarray((picture(23, 19, 1)[..., 0].astype(np.uint16) * 257 - 3) & 0xFFFF)
    modes = {m: rgb(23, 19).convert(m) for m in ("1", "L", "RGB")}
    modes["P"] = rgb(23, 19).quantize(37)
    modes["RGBA"] = rgba(23, 19)
    for mode, im in modes.items():
        decoded(f"{mode}.png", encode(im, "PNG"), 0)
        decoded(f"{mode}.bmp", encode(im, "BMP"), 0)
        decoded(f"{mode}.gif", encode(im, "GIF"), 0)
        for compression in ("raw", "tiff_lzw", "tiff_deflate", "packbits"):
            decoded(f"{mode}_{compression}.tif", encode(im, "TIFF", compression=compression), 0)
    decoded("LA.png", encode(Image.fromarray(picture(23, 19, 2), "LA"), "PNG"), 0)
    decoded("I16.png", encode(deep, "PNG"), 0)
    decoded("I16.tif", encode(deep, "TIFF"), 0)
    decoded("group4.tif", encode(modes["1"], "TIFF", compression="group4"), 0)
    decoded("palette_key.png", encode(modes["P"], "PNG", transparency=3), 0)
    decoded("palette_alpha.png", encode(rgb(23, 19).quantize(4), "PNG", transparency=bytes([0, 77, 200, 255])), 0)
    key = tuple(int(v) for v in np.asarray(modes["RGB"])[0, 0])
    decoded("rgb_key.png", encode(modes["RGB"], "PNG", transparency=key), 0)
    decoded("key.gif", encode(modes["P"], "GIF", transparency=3), 0)
    decoded("animated.gif", encode(modes["P"], "GIF", save_all=True, append_images=[rgb(23, 19)]), 0)
    decoded("offset.gif", offset_gif(None), 0)
    decoded("offset_key.gif", offset_gif(5), 0)


def offset_gif(key):
    """A frame of 23×19 at (3, 4) of a larger canvas."""
    options = {} if key is None else {"transparency": key}
    data = encode(rgb(23, 19).quantize(37), "GIF", optimize=False, **options)
    data[6:10] = bytes([31, 0, 29, 0])
    at = 13 + 3 * (2 << (data[10] & 7))
    while data[at] == 0x21:
        at += 2
        while data[at]:
            at += 1 + data[at]
        at += 1
    data[at + 1 : at + 5] = bytes([3, 0, 4, 0])
    return data


def webps():
    for w, h in [(1, 1), (2, 3), (33, 17), (64, 48)]:
        decoded(f"{w}x{h}.webp", encode(rgb(w, h), "WEBP", quality=80), 0)
    decoded("alpha.webp", encode(rgba(33, 17), "WEBP", quality=80), 0)
    decoded("lossless.webp", encode(rgb(33, 17), "WEBP", lossless=True), 0)
    decoded("lossless_alpha.webp", encode(rgba(33, 17), "WEBP", lossless=True), 0)
    moving = encode(rgba(33, 17), "WEBP", save_all=True, append_images=[rgb(33, 17)])
    decoded("animated.webp", moving, 0)


def orientations():
    for o in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = o
        decoded(f"orientation_{o}.jpg", encode(rgb(29, 18), "JPEG", quality=90, exif=exif), 3, True)
    for kind, name in [("PNG", "png"), ("WEBP", "webp"), ("TIFF", "tif")]:
        exif = Image.Exif()
        exif[0x0112] = 6
        options = {"lossless": True} if kind == "WEBP" else {}
        decoded(f"orientation_6.{name}", encode(rgb(29, 18), kind, exif=exif, **options), 0, True)


def jpeg_tiffs():
    """JPEG strips with shared tables, of RGB, YCbCr and grey."""
    strips = {"compression": "jpeg", "strip_size": 4096, "quality": 85}
    decoded("jpeg.tif", encode(rgb(101, 77), "TIFF", **strips), 3)
    decoded("jpeg_ycbcr.tif", encode(rgb(101, 77).convert("YCbCr"), "TIFF", **strips), 3)
    decoded("jpeg_grey.tif", encode(rgb(45, 37).convert("L"), "TIFF", **strips), 1)


def tensor(file, resize, size, crop, interpolation):
    """Mean 0 and standard deviation 1, so that the tensor holds levels/255."""
    mode = InterpolationMode.BICUBIC if interpolation == "bicubic" else InterpolationMode.BILINEAR
    steps = [T.Resize(size if resize == "shorter" else (size, size), mode)]
    steps += [T.CenterCrop(crop)] if crop else []
    im = Image.open(HERE / "images" / file).convert("RGB")
    want = f"{file}.{resize}_{size}_{crop}_{interpolation}.png"
    T.Compose(steps)(im).save(HERE / "want" / want, optimize=True)
    spec = dict(resize=resize, size=size, crop=crop, interpolation=interpolation)
    spec |= dict(mean=[0, 0, 0], std=[1, 1, 1], orientation=False)
    TENSOR.append({"file": file, "want": want, "spec": spec})


def tensors():
    sizes = [(1, 1), (2, 3), (1, 90), (90, 1), (2, 701), (701, 2), (61, 47), (47, 61), (32, 32), (29, 100), (100, 29)]
    for w, h in sizes:
        file = f"noise_{w}x{h}.png"
        Image.fromarray(RNG.integers(0, 256, (h, w, 3), dtype=np.uint8)).save(HERE / "images" / file)
        for interpolation in ("bicubic", "bilinear"):
            for size, crop in [(32, 32), (37, 32), (80, 41), (5, 2), (1, 1)]:
                tensor(file, "shorter", size, crop, interpolation)
            tensor(file, "exact", 24, 0, interpolation)
            tensor(file, "exact", 24, 23, interpolation)


def normalised():
    """One whole tensor as float32, bit for bit."""
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    steps = [T.Resize(16, InterpolationMode.BICUBIC), T.CenterCrop(16), T.ToTensor(), T.Normalize(mean, std)]
    im = Image.open(HERE / "images" / "noise_61x47.png").convert("RGB")
    out = T.Compose(steps)(im).to(torch.float32).numpy()
    (HERE / "want" / "noise_61x47.imagenet_16.f32").write_bytes(out.astype("<f4").tobytes())


def main():
    for folder in ("images", "want"):
        shutil.rmtree(HERE / folder, ignore_errors=True)
        (HERE / folder).mkdir()
    jpegs()
    lossless()
    webps()
    orientations()
    tensors()
    normalised()
    jpeg_tiffs()
    decoded("32x160.webp", encode(rgb(32, 160), "WEBP", quality=80), 0)
    text = json.dumps({"decode": DECODE, "tensor": TENSOR}, indent=0)
    (HERE / "manifest.json").write_text(text + "\n")


main()
