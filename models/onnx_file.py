"""Shared by the scripts that write backbones: what the pipeline looks for in an ONNX file, and how to write one.

Needs no PyTorch.
"""

import argparse
import hashlib
import os

import onnx

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when onnxruntime loads

INPUT_NAME = "input"
OUTPUT_NAME = "features"
PREPROCESS_KEY = "pipeline.preprocess"
TRAINING_KEY = "pipeline.training"  # of train_backbone.py: recipe, length, classes
SOURCE_KEY = "pipeline.source"
MAX_FILE_BYTES = 2**31 - 1  # protobuf's own limit for one message


def save(model, path):
    size = model.ByteSize()
    if size > MAX_FILE_BYTES:
        raise SystemExit(f"{path}: {size} bytes do not fit one ONNX file (limit 2 GiB); try --fp16-weights")
    onnx.checker.check_model(model)
    onnx.save_model(model, path, save_as_external_data=False)


def report(path, preprocess, source):
    data = path.read_bytes()
    print(f"source: {source}")
    print(f"preprocess: {preprocess}")
    print(f"bytes: {len(data)}")
    print(f"sha256: {hashlib.sha256(data).hexdigest()}")
    print(f"written: {path}")


def new_parser(description):
    return argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
