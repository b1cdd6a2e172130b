"""Writes reference.json: what Python's onnxruntime computes for the pretrained
backbones on pixels that Go can reproduce exactly.

    python make_reference.py FOLDER_OF_MODELS > reference.json

Pixel i of the n-th photo is h/2^23 - 1, where h is the top 24 bits of
(i + n*150528) * 2654435761 mod 2^32.
"""
import hashlib
import json
import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime

MODELS = [("vit_tiny_patch16_224", "features"), ("vit_tiny_patch16_224", "patch_mean"), ("mobilenetv2_features", "features")]


def photo(n):
    i = np.arange(3 * 224 * 224, dtype=np.uint64) + np.uint64(n * 3 * 224 * 224)
    h = (i * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)) >> np.uint64(8)
    return (h.astype(np.float64) / 2**23 - 1).astype(np.float32).reshape(1, 3, 224, 224)


def main(folder):
    cases = []
    for model, output in MODELS:
        path = os.path.join(folder, model + ".onnx")
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        rows = [session.run([output], {"input": photo(n)})[0][0] for n in range(2)]
        cases.append({
            "model": model, "output": output, "dim": len(rows[0]),
            "sha256": hashlib.sha256(open(path, "rb").read()).hexdigest(),
            "first": [[round(float(v), 6) for v in row[:8]] for row in rows],
        })
    json.dump({"onnxruntime": onnxruntime.__version__, "cases": cases}, sys.stdout, indent=1)
    print()


main(sys.argv[1])
