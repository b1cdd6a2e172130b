"""Exchange with the reference implementation (pip install safetensors numpy).

    python golden.py

writes python.safetensors, which TestReadsReferenceFile reads, and checks that
the reference reads go.safetensors, which `go test -run Golden -update` writes
(TestGoldenBytes pins its bytes)."""

import hashlib
import os

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

here = os.path.dirname(os.path.abspath(__file__))
save_file(
    {
        "single": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
        "double": np.array([1e300, -1e-300, np.pi]),
        "integer": np.array([[-(2**63)], [2**63 - 1]]),
        "byte": np.frombuffer(b"pipeline", dtype=np.uint8),
        "empty": np.zeros((0, 4), dtype=np.float32),
    },
    os.path.join(here, "python.safetensors"),
    metadata={"made": 'by "Python" ü'},
)

path = os.path.join(here, "go.safetensors")
with safe_open(path, framework="np") as f:
    got = {k: f.get_tensor(k) for k in f.keys()}
    assert f.metadata() == {"format": "test", "quote": 'a"b\\c <&> \u2028 ü 日本'}, f.metadata()
assert sorted(got) == ["a.label", "b.mean", "hash", "none", "scalar", "sha256", "x"], sorted(got)
assert got["a.label"].tolist() == [-(2**63), 0, 2**63 - 1]
assert got["b.mean"].tolist() == [[1.0, -2.0], [np.inf, 5e-324]]
assert got["x"].dtype == np.float32 and got["x"].shape == (2, 1, 2)
assert got["x"].ravel().tolist() == [1, 0.5, -0.25, float(np.finfo(np.float32).max)]
assert got["hash"].tobytes() == b"abcde"
assert got["none"].shape == (0, 7)
assert got["scalar"].shape == () and got["scalar"] == 3
raw = open(path, "rb").read()
assert got["sha256"].tobytes() == hashlib.sha256(raw[:-32]).digest()
print("the reference implementation reads what Go wrote")
