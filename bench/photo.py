"""Shared by the Python programs here: turns a photo into a tensor with Pillow and
NumPy alone, and loads a model with onnxruntime.

Nothing in it was taken from the Go code: it is an independent reference.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # must be set before onnxruntime loads

import numpy as np
import onnxruntime
from PIL import Image, ImageOps

SIDE = 224  # pixels, of the shorter side after the resize and of the crop
PRESETS = {  # mean, std per channel
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "vit-0.5": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
}


def decode(path, draft=0):
    """An upright 8-bit RGB picture. Unless draft is 0, a JPEG file is decoded at the smallest scale whose sides have
    draft pixels."""
    picture = Image.open(path)
    if draft:
        picture.draft("RGB", (draft, draft))
    return ImageOps.exif_transpose(picture).convert("RGB")


def tensor(picture, preset):
    """1×3×224×224 float32: shorter side 224, bicubic, centre crop, normalised."""
    w, h = picture.size
    short = min(w, h)
    w, h = w * SIDE // short, h * SIDE // short
    left, top = round((w - SIDE) / 2), round((h - SIDE) / 2)
    picture = picture.resize((w, h), Image.Resampling.BICUBIC).crop((left, top, left + SIDE, top + SIDE))
    mean, std = (np.array(v, np.float32)[:, None, None] for v in PRESETS[preset])
    x = np.array(np.asarray(picture).transpose(2, 0, 1), np.float32, order="C")
    x /= 255
    x -= mean
    x /= std
    return x[None]


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def embed(model, x):
    """d float32; the backbone's output "features" of its only input."""
    return model.run(["features"], {model.get_inputs()[0].name: x})[0][0]
