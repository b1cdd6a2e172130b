#!/usr/bin/env python3
"""Measure the program beside what one would use instead, and write a table of how many times as fast it is.

  make bench-peers                       every job; what Python needs is installed into .testenv/peers
  make bench-peers JOBS="JPEG HEIC"      those with such a word in their name
  make bench-peers PEERS=DIR             writes DIR/peers.csv and DIR/peers.md instead of out/peers

Each job is a benchmark in which both sides alternate (bench/rounds_test.go). The papers' own programs are measured if
GPTREE_OFFICIAL and VARGP_OFFICIAL name clones of them, and torch and gpytorch are in the Python that PIPELINE_PYTHON
names; jobs that skip are left out, and named. Exit status: 0 if every job ran or was skipped, 1 if some failed.
"""

import argparse
import csv
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys
import venv

TREE = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = TREE / "bench" / "requirements.txt"
COLUMNS = ("job", "peer", "measured in", "times as fast", "least", "most", "ours, ms", "peer, ms")
PROCESSOR, CLOCK = "processor time", "time"
# Job, peer, what is measured, benchmark, its ratio, its times of ours and of the peer, and how often it runs.
PILLOW = (PROCESSOR, "of_python", "ms/photo", "python_ms/photo", "2x")
SKLEARN = (PROCESSOR, "of_sklearn", "ms", "peer_ms", "1x")
JOBS = (
    ("JPEG 300 × 240 to tensor", "Pillow", "PreprocessPython/photos_300x240", *PILLOW),
    ("JPEG 500 × 375 to tensor", "Pillow", "PreprocessPython/drawn_500x375", *PILLOW),
    ("JPEG 4000 × 3000 to tensor", "Pillow", "PreprocessPython/drawn_4000x3000", *PILLOW),
    ("HEIC 4000 × 3000 to tensor", "pillow-heif", "HEICPython", *PILLOW),
    ("200 photos to embeddings, ViT-Tiny", "Pillow, onnxruntime", "EmbedFolderPython/vit.*/n=200",
     CLOCK, *PILLOW[1:]),
    ("train plda, calibrated, 100 classes × 16, 512 values", "LDA, shrinkage, no calibration",
     "TrainPython/lda/classes=100", *SKLEARN),
    ("train plda, calibrated, 100 classes × 16, 512 values", "LDA, CalibratedClassifierCV",
     "TrainPython/calibrated-lda/classes=100", *SKLEARN),
    ("train plda, calibrated, 100 classes × 16, 512 values", "logistic regression, no calibration",
     "TrainPython/logistic/classes=100", *SKLEARN),
    ("train plda, calibrated, 400 classes × 3, 64 values", "LDA, shrinkage, no calibration",
     "TrainPython/lda/classes=400", *SKLEARN),
    ("fit ppca of 500 × 640, q = 20", "scikit-learn's PCA", "PPCAFit/n=500_d=640_q=20/onnxruntime",
     CLOCK, "of_sklearn", "ms", "peer_ms", "2x"),
    ("fit ppca of 1300 × 2560, q = 20", "scikit-learn's PCA", "PPCAFit/n=1300_d=2560_q=20/onnxruntime",
     CLOCK, "of_sklearn", "ms", "peer_ms", "2x"),
    ("fit GP-Tree, 60 classes × 30, 512 values", "the authors' program", "GPTreeFitProcessor/.*60.*/onnxruntime",
     PROCESSOR, "of_official", "ms", "peer_ms", "1x"),
    ("a step of VAR-GP, inducing inputs shared", "the authors' program", "VARGPStepOfficial", CLOCK,
     "shared_times_as_fast", "shared_ms/step", "official_ms/step", "1x"),
)  # fmt: skip


def python():
    """Return the Python that has the peers, made once."""
    if given := os.environ.get("PIPELINE_PYTHON"):
        return given
    home = TREE / ".testenv" / "peers"
    installed = home / "requirements.txt"
    if not installed.exists() or installed.read_text() != REQUIREMENTS.read_text():
        venv.create(home, with_pip=True, clear=True)
        pip = [home / "bin" / "pip", "install", "-q", "--only-binary", ":all:", "-r", REQUIREMENTS]
        subprocess.run(pip, check=True)
        installed.write_text(REQUIREMENTS.read_text())
    return str(home / "bin" / "python")


def measure(job, environment):
    """Run a job's benchmark and return its row, None if it skipped."""
    name, peer, benchmark, measured, ratio, ours, theirs, times = job
    first, *rest = benchmark.split("/")
    pattern = "/".join([f"^Benchmark{first}$", *(f"^{part}" for part in rest)])
    command = ["go", "test", "-run", "^$", "-bench", pattern, "-benchtime", times, "-timeout", "60m", "./bench"]
    run = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{name}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    lines = [line for line in run.stdout.splitlines() if line.startswith("Benchmark") and " ns/op" in line]
    if not lines:
        return None
    values = {unit: float(v) for v, unit in re.findall(r"([\d.e+-]+) (\S+)", lines[0].split(maxsplit=2)[2])}
    return [name, peer, measured, *(f"{values[ratio + end]:.3g}" for end in ("", "_min", "_max")),
            f"{values[ours]:.3g}", f"{values[theirs]:.3g}"]  # fmt: skip


def machine():
    """Return the processor's name and its cores."""
    model = platform.processor() or platform.machine()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*: (.*)", info.read_text())):
        model = found[1]
    return f"{model}, {os.cpu_count()} cores"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, default=TREE / "out" / "peers")
    p.add_argument("jobs", nargs="*", help="words in the names of jobs")
    o = p.parse_args()
    environment = {**os.environ, "PIPELINE_PYTHON": python()}
    environment.pop("OPENBLAS_CORETYPE", None)  # it would slow down the peers
    environment.pop("OPENBLAS_L2_SIZE", None)
    rows, failed = [], 0
    for job in JOBS:
        if o.jobs and not any(word in job[0] for word in o.jobs):
            continue
        try:
            row = measure(job, environment)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            failed = 1
            continue
        if row is None:
            print(f"left out: {job[0]} ({job[1]})", file=sys.stderr)
            continue
        rows.append(row)
        print(" | ".join(row), flush=True)
    o.out.mkdir(parents=True, exist_ok=True)
    with open(o.out / "peers.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    table = ["| " + " | ".join(row) + " |" for row in (COLUMNS, ["---"] * len(COLUMNS), *rows)]
    head = f"{datetime.date.today()}, {machine()}"
    (o.out / "peers.md").write_text("\n".join([head, "", *table, ""]), encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
