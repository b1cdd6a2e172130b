"""Accuracy and calibration of label on balanced and skewed folders, with and without comparing photos.

    python bench/adapt_folders.py --pipeline ./pipeline --sets SET...

SET, K and draw are as in fewshot_peer.py. The folders: all test rows; those of a
fifth of the classes; all of them, of which the model has learned half the classes
(accuracy on those); a long tail, of the k-th class a share k^-0.8 (at least one row).
The table has the mean over sets and draws with --adapt=false, the mean difference with
it, the smallest of a set (mean over draws), and the expected calibration error (15 bins)
without it and the mean difference.
"""

import argparse
import collections
import csv
import pathlib
import tempfile

import numpy as np

from fewshot_peer import command, task, write


def folders(t, rng):
    """Name, classes to learn (None: all) and test rows of each folder."""
    classes = rng.permutation(np.unique(t.y))
    rows = np.arange(len(t.truth))
    yield "all classes", None, rows
    yield "a fifth of the classes", None, rows[np.isin(t.truth, classes[: len(classes) // 5])]
    yield "half of the classes unknown", classes[: len(classes) // 2], rows
    tail = []
    for k, c in enumerate(classes, 1):
        own = rng.permutation(rows[t.truth == c])
        tail.extend(own[: max(1, round(len(own) * k**-0.8))])
    yield "long tail", None, np.sort(tail)


def accuracy(program, d, model, featdir, truth, flags):
    """The share of the labels that is right, and the expected calibration error."""
    command([program, "label", model, "--features", featdir, "--out", d / "labels", *flags])
    with open(d / "labels" / "labels.csv", newline="") as f:
        named = {int(row["path"]): (row["label"], float(row["probability"])) for row in csv.DictReader(f)}
    right = np.array([named[i][0] == c for i, c in truth])
    p = np.array([named[i][1] for i, _ in truth])
    bins = np.minimum((p * 15).astype(int), 14)
    return right.mean(), sum(abs((p - right)[bins == b].sum()) for b in range(15)) / len(right)


def compare(program, head, t, learned, rows):
    """Accuracy and calibration error without and with comparing photos."""
    train = slice(None) if learned is None else np.isin(t.y, learned)
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        write(d / "train", t.x[train], t.y[train])
        write(d / "test", t.test[rows], t.truth[rows])
        command([program, "train", "--features", d / "train", "--classifier", head, "--out", d / "m.model"])
        truth = [(i, c) for i, c in enumerate(t.truth[rows]) if learned is None or c in learned]
        return [accuracy(program, d, d / "m.model", d / "test", truth, f) for f in (["--adapt=false"], [])]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--classifier", default="plda")
    a.add_argument("--draws", type=int, default=2)
    a.add_argument("--shots", type=int, nargs="+", default=[1, 2, 4, 8])
    a.add_argument("--sets", type=pathlib.Path, nargs="+", required=True)
    args = a.parse_args()
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for s in args.sets:
        for shots in args.shots:
            for draw in range(args.draws):
                t = task(s, shots, draw)
                if t is None:
                    continue
                for name, learned, rows in folders(t, np.random.default_rng(draw)):
                    (before, error), (after, now) = compare(args.pipeline, args.classifier, t, learned, rows)
                    found[name, shots][s.name].append((before, after - before, error, now - error))
                    print(f"{s.name} K={shots} {draw} {name}: {100 * before:.1f} {100 * (after - before):+.1f}; "
                          f"ECE {100 * error:.1f} {100 * (now - error):+.1f}", flush=True)
    print("| folder | K | without | difference | smallest | ECE | ECE difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (name, shots), sets in found.items():
        means = 100 * np.array([np.mean(v, 0) for v in sets.values()])
        mean = means.mean(0)
        print(f"| {name} | {shots} | {mean[0]:.1f} | {mean[1]:+.1f} | {means[:, 1].min():+.1f} | {mean[2]:.1f} | "
              f"{mean[3]:+.1f} |")


if __name__ == "__main__":
    main()
