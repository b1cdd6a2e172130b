#!/usr/bin/env python3
"""Write state.pth and state.json: a small state dict in PyTorch's legacy format, and its tensors.

    python make.py        in this folder; made with PyTorch 2.15.0
"""

import json
from collections import OrderedDict

import torch

torch.manual_seed(7)
shared = torch.randn(4, 5)
state = OrderedDict(
    contiguous=torch.randn(2, 3),
    permuted=torch.randn(3, 2, 4, 5).permute(3, 2, 0, 1),  # as a convolution that came from TensorFlow
    transposed=torch.randn(6, 4).t(),
    view=shared[1:, 2:4],
    whole=shared,
    scalar=torch.tensor(2.5),
    empty=torch.zeros(0, 3),
    steps=torch.tensor(12),
)
state._metadata = {"": {"version": 1}}
torch.save(state, "state.pth", _use_new_zipfile_serialization=False)
with open("state.json", "w") as file:
    json.dump({name: {"shape": list(t.shape), "values": t.flatten().tolist()} for name, t in state.items()}, file)
    file.write("\n")
