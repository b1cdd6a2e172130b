"""Deep kernel learning with sixteen images per class: accuracy, whether the projection was kept, and seconds.

    python bench/dkl_k16.py --pipeline ./pipeline --out table.csv --sets SET...

SET is as in fewshot_peer.py: the images come from val, or else from shots16, and all of test is tested. Seed S of the
program learns draw S of the images. *By evidence* is the default of --dkl; *forced* keeps the projection in any case,
so its seconds are those of training without the choice.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

from fewshot_peer import command, pick, read, write

SHOTS = 16
FORMS = {
    "without": [],
    "by evidence": ["--dkl"],
    "forced": ["--dkl", "--set", "classifier.dkl.keep=always"],
}


def drawn(folder, seed):
    """A temporary folder with what to learn and test."""
    x, y = read(folder / ("val" if (folder / "val").exists() else f"shots{SHOTS}"))
    rows = np.sort(pick(y, SHOTS, np.random.default_rng(seed)))
    d = tempfile.TemporaryDirectory()
    write(pathlib.Path(d.name) / "train", x[rows], y[rows])
    write(pathlib.Path(d.name) / "test", *read(folder / "test"))
    return d


def trained(program, head, flags, seed, draw):
    """Accuracy in per cent, whether there is a projection, and the seconds of the training."""
    folder = pathlib.Path(draw.name)
    model, report = folder / "m.model", folder / "eval.json"
    began = time.monotonic()
    command([program, "train", "--classifier", head, "--features", folder / "train", "--out", model, "--seed", seed,
             *flags])
    seconds = time.monotonic() - began
    command([program, "eval", model, "--features", folder / "test", "--json", report])
    told = subprocess.run([program, "inspect", model], capture_output=True, text=True, check=True).stdout
    kept = "\nprojection" in told and "\nprojection none" not in told
    return 100 * json.loads(report.read_text())["accuracy"], kept, seconds


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--heads", default="ncm,ppca,lda,plda,plda+,gptree")
    a.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    a.add_argument("--out", type=pathlib.Path, required=True)
    a.add_argument("--sets", type=pathlib.Path, nargs="+", required=True)
    args = a.parse_args()
    columns = [f"{form}, seed {seed}" for form in FORMS for seed in args.seeds]
    with open(args.out, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["set", "head", *columns, "kept", "seeds", *(f"{form}, s" for form in FORMS)])
        for folder in args.sets:
            draws = {seed: drawn(folder, seed) for seed in args.seeds}
            for head in args.heads.split(","):
                found = {form: [trained(args.pipeline, head, flags, *draw) for draw in draws.items()]
                         for form, flags in FORMS.items()}
                accuracies = [f"{one[0]:.2f}" for form in FORMS for one in found[form]]
                kept = sum(one[1] for one in found["by evidence"])
                seconds = [f"{statistics.median(one[2] for one in found[form]):.0f}" for form in FORMS]
                out.writerow([folder.name, head, *accuracies, kept, len(draws), *seconds])
                f.flush()
            for draw in draws.values():
                draw.cleanup()


if __name__ == "__main__":
    main()
