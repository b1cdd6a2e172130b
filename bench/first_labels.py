"""Accuracy of a model trained on the first labels: those of the rows that
rank --first chooses, and of random rows.

    python bench/first_labels.py --pipeline ./pipeline --pool FEATDIR --test FEATDIR

There are as many labels as the pool has classes, and twice as many; rank sees no
labels. Every seed has its own random rows and its own runs of k-means. The table
has means over seeds with the standard error, and the number of classes with a label.
"""

import argparse
import csv
import os
import pathlib
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

from fewshot_peer import command, read, write


def first(program, x, n, seed):
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        write(d / "pool", x, np.full(len(x), ""))
        command([program, "rank", "--first", n, "--features", d / "pool", "--seed", seed, "--out", d / "first.csv"])
        with open(d / "first.csv", newline="") as f:
            return np.array([int(row["path"]) for row in csv.DictReader(f)])


def at_random(program, x, n, seed):
    return np.random.default_rng(seed).choice(len(x), n, replace=False)


def accuracy(program, x, y, test, truth):
    """Of the labels of all test rows: those of a class without a label are wrong."""
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        write(d / "train", x, y)
        write(d / "test", test, np.full(len(test), ""))
        command([program, "train", "--features", d / "train", "--out", d / "m.model"])
        command([program, "label", d / "m.model", "--adapt=false", "--features", d / "test", "--out", d / "labels"])
        with open(d / "labels" / "labels.csv", newline="") as f:
            labels = {int(row["path"]): row["label"] for row in csv.DictReader(f)}
    return np.mean([labels[i] == c for i, c in enumerate(truth)])


CHOICES = {"random": at_random, "rank --first": first}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--pool", type=pathlib.Path, required=True)
    a.add_argument("--test", type=pathlib.Path, required=True)
    a.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    args = a.parse_args()
    x, y = read(args.pool)
    test, truth = read(args.test)
    classes = len(np.unique(y))
    pool = args.pool.parent.name
    print("| pool | labels | choice | accuracy | classes with a label |\n| --- | --- | --- | --- | --- |")
    for n in (classes, 2 * classes):
        for name, choose in CHOICES.items():
            found = []
            for seed in args.seeds:
                chosen = choose(args.pipeline, x, n, seed)
                share = accuracy(args.pipeline, x[chosen], y[chosen], test, truth)
                found.append((100 * share, len(np.unique(y[chosen]))))
            found = np.array(found)
            error = found[:, 0].std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
            print(f"| {pool} | {n} | {name} | {found[:, 0].mean():.1f} ± {error:.1f} | "
                  f"{found[:, 1].mean():.1f} of {classes} |", flush=True)


if __name__ == "__main__":
    main()
