"""Deep kernel learning with sixteen images per class: accuracy, whether the projection was kept, and seconds.

    python bench/dkl_k16.py --pipeline ./pipeline --out table.csv --sets SET...

SET is as in fewshot_peer.py: the images come from val, or else from shots16, and all of test is tested. Seed S of the
program learns the draw S of images. *by evidence* is the default of
--dkl; *forced* keeps the projection in any case, so its seconds are those of the training without the choice.
"""

import argparse
import csv
import json
import pathlib
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


def trained(program, head, flags, seed, folder):
    """Accuracy in per cent, whether there is a projection, and the seconds of the training."""
    model, report = folder / "m.model", folder / "eval.json"
    began = time.monotonic()
    command([program, "train", "--classifier", head, "--features", folder / "train", "--out", model, "--seed", seed,
             *flags])
    seconds = time.monotonic() - began
    command([program, "eval", model, "--features", folder / "test", "--json", report])
    told = subprocess.run([program, "inspect", model], capture_output=True, text=True, check=True).stdout
    return 100 * json.loads(report.read_text())["accuracy"], "\nprojection" in told, seconds


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--heads", default="ncm,ppca,lda,plda,plda+")
    a.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    a.add_argument("--out", type=pathlib.Path, required=True)
    a.add_argument("--sets", type=pathlib.Path, nargs="+", required=True)
    args = a.parse_args()
    with open(args.out, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["set", "head", "seed", *FORMS, "kept", *(f"{form}, s" for form in FORMS)])
        for folder in args.sets:
            for seed in args.seeds:
                x, y = read(folder / ("val" if (folder / "val").exists() else f"shots{SHOTS}"))
                rows = np.sort(pick(y, SHOTS, np.random.default_rng(seed)))
                with tempfile.TemporaryDirectory() as d:
                    d = pathlib.Path(d)
                    write(d / "train", x[rows], y[rows])
                    write(d / "test", *read(folder / "test"))
                    for head in args.heads.split(","):
                        found = [trained(args.pipeline, head, flags, seed, d) for flags in FORMS.values()]
                        out.writerow([folder.name, head, seed, *(f"{one[0]:.2f}" for one in found),
                                      int(found[1][1]), *(f"{one[2]:.1f}" for one in found)])
                        f.flush()


if __name__ == "__main__":
    main()
