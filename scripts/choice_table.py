#!/usr/bin/env python3
"""Compare methods of `pipeline train` where classes have many images, or different numbers.

For every data set and range LO-HI each class gets a number of images drawn evenly on a logarithmic
scale from LO to HI (LO-LO: the same for all), and at most 20 of its other images are tested. "auto"
is what `train` does without --classifier. A data set is as for calibration_table.py.

  choice_table.py --pipeline bin/pipeline --sets features/aircraft --ranges 16-16 4-60 --methods plda auto

Needs numpy. Prints a line for each draw: accuracy in per cent, negative log-likelihood, seconds of
processor time of train; and writes the means as a Markdown table.
"""

import argparse
import pathlib
import re
import resource
import tempfile

import numpy as np
from calibration_table import Measure, write
from gptree_table import pool

TESTED = 20  # images of a class, at most
LEFT = 10  # images of a class that are never learned


def draw(y, low, high, seed):
    """Return the rows to learn from and those to test on."""
    rng = np.random.default_rng([seed, low, high])
    learned, tested = [], []
    for name in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == name))
        wanted = int(np.exp(rng.uniform(np.log(low), np.log(high + 1)))) if high > low else low
        n = min(wanted, len(rows) - LEFT)
        learned.append(rows[:n])
        tested.append(rows[n:][:TESTED])
    return np.concatenate(learned), np.concatenate(tested)


def measure(pipeline, method, work):
    """Return the method of the model, and its accuracy, NLL and seconds of training."""
    measured, before = Measure(pipeline, work, method, (), []), seconds()
    model, said = measured.train(work / "train")
    took = seconds() - before
    result = measured.evaluate(model, work / "test")
    return re.search(r"^trained (\S+):", said, re.M)[1], (100 * result["accuracy"], result["nll"], took)


def seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pipeline", default="bin/pipeline")
    p.add_argument("--sets", nargs="+", type=pathlib.Path, required=True)
    p.add_argument("--ranges", nargs="+", default=["16-16"])
    p.add_argument("--methods", nargs="+", default=["plda", "auto"])
    p.add_argument("--draws", type=int, default=2)
    p.add_argument("--out", type=pathlib.Path)
    args = p.parse_args()
    lines = ["| set | images per class | " + " | ".join(args.methods) + " |", "| --- " * (2 + len(args.methods)) + "|"]
    for folder in args.sets:
        x, y = pool(folder)
        for text in args.ranges:
            low, high = map(int, text.split("-"))
            if np.unique(y, return_counts=True)[1].min() < low + LEFT:
                continue
            values, chosen = [], []
            for seed in range(args.draws):
                learned, tested = draw(y, low, high, seed)
                with tempfile.TemporaryDirectory() as work:
                    work = pathlib.Path(work)
                    write(work / "train", x[learned], y[learned])
                    write(work / "test", x[tested], y[tested])
                    found = [measure(args.pipeline, m, work) for m in args.methods]
                values.append([v for _, v in found])
                chosen.append(found[-1][0])
                print(folder.name, text, seed, len(learned), len(tested),
                      *(f"{m} {a:.2f} {nll:.3f} {t:.1f}" for m, (a, nll, t) in found), flush=True)
            cells = " | ".join(f"{a:.1f}, {nll:.3f}, {t:.1f} s" for a, nll, t in np.mean(values, 0))
            lines.append(f"| {folder.name} | {text} | {cells} ({', '.join(chosen)}) |")
    if args.out:
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
