#!/usr/bin/env python3
"""Compare `gptree` with its own mean, `plda`, on repeated draws of few images per class.

All rows of a data set are one pool; each draw takes K of every class to learn from, and tests both
methods on the same others. A data set is a FEATDIR, or a folder with the FEATDIRs shots01,
shots02 … (the largest is used) or val, and test.

  gptree_table.py --pipeline bin/pipeline --sets features/aircraft features/photos --out table.md

Without a residual `gptree` is `plda` at one temperature, so the accuracy of `plda` is that of the
mean alone. The last column is the share of the splits that have a residual. Needs numpy. Prints a
line for each draw and writes the means, with standard errors of the paired differences over
draws, as a Markdown table.
"""

import argparse
import pathlib
import re
import tempfile

import numpy as np

from calibration_table import Measure, draw, read, write


def pool(folder):
    """Return all embeddings and labels of a data set."""
    if (folder / "embeddings.npy").exists():
        return read(folder)
    most = folder / "val" if (folder / "val").exists() else max(folder.glob("shots*"))
    parts = [read(most), read(folder / "test")]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def compare(pipeline, x, y, chosen, tested):
    """Return accuracy and NLL of plda and gptree, and the share of splits with a residual."""
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        write(work / "train", x[chosen], y[chosen])
        write(work / "test", x[tested], y[tested])
        out = []
        for method in ("plda", "gptree"):
            measure = Measure(pipeline, work, method, (), [])
            model, _ = measure.train(work / "train")
            result = measure.evaluate(model, work / "test")
            out += [100 * result["accuracy"], result["nll"]]
        found = re.search(r"residual\s+at (\d+) of (\d+) splits", measure.run("inspect", model))
        return np.array([*out, int(found[1]) / max(1, int(found[2]))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pipeline", default="bin/pipeline")
    parser.add_argument("--sets", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--shots", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--tests", type=int, default=1500, help="test rows at most, drawn with the seed")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    lines = ["| set | K | `plda` = the mean alone | `gptree` | difference "
             "| NLL `plda` | `gptree` | difference | share |",
             "|---|---|---|---|---|---|---|---|---|"]
    for folder in args.sets:
        x, y = pool(folder)
        for k in args.shots:
            rows = []
            for seed in range(args.draws):
                chosen, others = draw(y, k, seed)
                if chosen is None:
                    break
                tested = np.random.default_rng(seed).permutation(np.flatnonzero(others))[: args.tests]
                rows.append(compare(args.pipeline, x, y, chosen, tested))
                print(folder.name, k, seed, "plda %.2f %.3f gptree %.2f %.3f share %.2f" % tuple(rows[-1]), flush=True)
            if not rows:
                continue
            rows = np.array(rows)
            mean, more = rows.mean(0), rows[:, 2:4] - rows[:, :2]
            error = more.std(0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else np.full(2, np.nan)
            lines.append(f"| {folder.name} | {k} | {mean[0]:.2f} | {mean[2]:.2f} "
                         f"| {more[:, 0].mean():+.2f} ± {error[0]:.2f} | {mean[1]:.3f} | {mean[3]:.3f} "
                         f"| {more[:, 1].mean():+.3f} ± {error[1]:.3f} | {mean[4]:.2f} |")
    table = "\n".join(lines) + "\n"
    print(table)
    if args.out:
        args.out.write_text(table)


if __name__ == "__main__":
    main()
