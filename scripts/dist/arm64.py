"""Compares pipeline for arm64 under QEMU with a build for this machine, in the current folder.

usage: arm64.py QEMU ROOT PIPELINE X64 [NETWORK]

With NETWORK, an ONNX file, both run the whole demo with it.
"""

import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from beside import PARTIAL, compare

QEMU, ROOT, PIPELINE, X64, *NETWORK = sys.argv[1:]
ARM = (QEMU, "-L", ROOT, PIPELINE)
HERE = (X64,)
CLASSES, PHOTOS = 3, 2  # of each part of the demo, and of a class: a photo takes seconds


def run(*args, program=ARM, want=0):
    """Runs a command and returns what it prints."""
    began = time.monotonic()
    home = {"HOME": os.path.join(os.getcwd(), "home")}  # without what is installed for this machine
    done = subprocess.run([*program, *args], capture_output=True, text=True, env=home if program is ARM else None)
    system = "arm64" if program is ARM else "x64"
    print(f"{time.monotonic() - began:6.1f} s  {system:5}  {' '.join(args)}", flush=True)
    if done.returncode != want:
        sys.exit(f"exit code {done.returncode}, not {want}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def few(source, target):
    """Copies some photos of some classes."""
    for name in sorted(os.listdir(source))[:CLASSES]:
        os.makedirs(f"{target}/{name}")
        for photo in sorted(os.listdir(f"{source}/{name}"))[:PHOTOS]:
            shutil.copy(f"{source}/{name}/{photo}", f"{target}/{name}")


def vectors(folder):
    """Reads the embeddings of a feature folder."""
    with open(f"{folder}/embeddings.npy", "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00", "not a file of NumPy 1.0"
        header = file.read(struct.unpack("<H", file.read(2))[0]).decode()
        assert "'<f4'" in header, header
        rows, columns = map(int, re.search(r"\((\d+), (\d+)\)", header).groups())
        return [struct.unpack(f"<{columns}f", file.read(4 * columns)) for _ in range(rows)]


def cosine(a, b):
    """Returns the cosine of two vectors."""
    return sum(map(float.__mul__, a, b)) / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


def same_embeddings():
    """Embeds photos on both, with a cosine of at least 0.999."""
    for program, out in (ARM, "arm64-features"), (HERE, "x64-features"):
        run("embed", "--images", "photos/base", "--out", out, program=program)
    worst = min(map(cosine, vectors("arm64-features"), vectors("x64-features")))
    assert worst >= 1 - 1e-3, f"a cosine of {worst}"
    print(f"          embeddings are equal to a cosine of 1 - {1 - worst:.1g}")


def same_labels():
    """Trains, learns and labels on both."""
    for program, name in (ARM, "arm64"), (HERE, "x64"):
        model = f"{name}.model"
        run("train", "--images", "photos/base", "--out", model, program=program)
        run("learn", model, "--images", "photos/new", program=program)
        run("label", model, "--images", "photos/new", "--out", f"{name}-labels", program=program)
    compare("arm64-labels", "x64-labels", 1e-3)


def same_demo(network):
    """Runs the whole demo on both, with a network that the caller chose, and labels on arm64 with the model of x64."""
    for program, out in (ARM, "arm64-demo"), (HERE, "x64-demo"):
        run("demo", "--out", out, "--set", f"backbone={network}", program=program)
    compare("arm64-demo/labels", "x64-demo/labels", 1e-3, trained=True)
    options = "--images", "arm64-demo/images/photos", "--out", "arm64-labelled", "--reject", "0.1"
    run("label", "x64-demo/demo.model", *options, "--set", f"backbone={network}", want=PARTIAL)
    compare("arm64-labelled", "x64-demo/labels", 1e-3)


decoders = {re.search("pixels [0-9a-f]+", run("doctor", program=program))[0] for program in (ARM, HERE)}
assert len(decoders) == 1, f"not the same JPEG decoder: {decoders}; run pipeline setup"
run("demo", "--out", "demo", program=HERE)
few("demo/images/base", "photos/base")
few("demo/images/new", "photos/new")
same_embeddings()
same_labels()
for network in NETWORK:
    same_demo(network)
