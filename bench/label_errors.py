#!/usr/bin/env python3
"""Find wrong labels in the images that a model learned from: `rank --by label-error` against cleanlab.

Of every data set N images of each class are drawn, and a share of them gets the label of another
class: any, or one of the three whose means are nearest. Rows: the normalised margin of the model
that learned the labels, `rank --by label-error`, and cleanlab's normalised margin with logistic
regression cross-validated in five folds, as its documentation shows, on embeddings of length 1; C
is scikit-learn's, or chosen from 1 to 1000 by the likelihood of the same folds.

  label_errors.py --pipeline bin/pipeline --sets features/aircraft --images 4 8 16 33

Needs numpy, scikit-learn and cleanlab. Prints for each draw, and on the mean, the average precision
of the ranking and, of as many images of its beginning as are wrong, the share that is, in per cent.
"""

import argparse
import collections
import csv
import itertools
import json
import pathlib
import sys
import tempfile

import numpy as np
from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))
from calibration_table import Measure, write
from gptree_table import pool

STRENGTHS = (1, 10, 100, 1000)
KINDS = ("any", "similar")


def confusable(x, y, names, kind):
    """Return, for each class, the places of those that its images may be labelled as."""
    if kind == "any":
        return [np.delete(np.arange(len(names)), i) for i in range(len(names))]
    means = np.stack([unit(unit(x[y == name]).mean(0, keepdims=True))[0] for name in names])
    cosine = means @ means.T
    np.fill_diagonal(cosine, -2)
    return np.argsort(-cosine, axis=1)[:, :3]


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def draw(x, y, n, kind, share, seed):
    """Return the rows to learn from, their labels and which of these are wrong."""
    rng = np.random.default_rng([seed, n])
    names, which = np.unique(y, return_inverse=True)
    others = confusable(x, y, names, kind)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == name))[:n] for name in names])
    wrong = np.zeros(len(rows), bool)
    wrong[rng.permutation(len(rows))[: round(share * len(rows))]] = True
    given = [rng.choice(others[which[row]]) if bad else which[row] for row, bad in zip(rows, wrong)]
    return rows, names[given], wrong


def ours(pipeline, x, given, classifier, work):
    """Return the doubt in each label: the margin of the model that learned it, and what rank says."""
    write(work / "features", x, given)
    measured = Measure(pipeline, work, classifier, (), [])
    model, _ = measured.train(work / "features")
    measured.run("label", model, "--features", work / "features", "--format", "jsonl", "--top-k", len(set(given)),
                 "--adapt=false", "--out", work / "labels")
    learned = []
    with open(work / "labels" / "labels.jsonl", encoding="utf-8") as file:
        for line, label in zip(file, given):
            p = dict(json.loads(line)["top_k"])
            own = p.pop(label)
            learned.append(max(p.values()) - own)
    measured.run("rank", model, "--features", work / "features", "--by", "label-error", "--out", work / "rank.csv")
    with open(work / "rank.csv", newline="", encoding="utf-8") as file:
        rank = {row["path"]: float(row["score"]) for row in csv.DictReader(file)}
    return np.array(learned), np.array([rank[f"{i:06d}.jpg"] for i in range(len(given))])


def cleanlab(x, given, strengths):
    """Return the doubt in each label."""
    y = np.unique(given, return_inverse=True)[1]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = []
    for c in strengths:
        p = cross_val_predict(LogisticRegression(C=c, max_iter=400), unit(x), y, cv=folds, method="predict_proba")
        found.append((log_loss(y, p, labels=range(y.max() + 1)), c, p))
    _, _, p = min(found, key=lambda f: f[:2])
    return -get_label_quality_scores(y, p, method="normalized_margin")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pipeline", default="bin/pipeline")
    p.add_argument("--sets", nargs="+", type=pathlib.Path, required=True)
    p.add_argument("--images", nargs="+", type=int, default=[8])
    p.add_argument("--share", type=float, default=0.1)
    p.add_argument("--classifiers", nargs="*", default=["auto"])
    p.add_argument("--draws", type=int, default=2)
    p.add_argument("--no-peer", action="store_true")
    args = p.parse_args()
    means = collections.defaultdict(list)
    for folder, n, kind, seed in itertools.product(args.sets, args.images, KINDS, range(args.draws)):
        x, y = pool(folder)
        if np.unique(y, return_counts=True)[1].min() < n:
            continue
        rows, given, wrong = draw(x, y, n, kind, args.share, seed)
        doubts = {}
        for method in args.classifiers:
            with tempfile.TemporaryDirectory() as work:
                found = ours(args.pipeline, x[rows], given, method, pathlib.Path(work))
                doubts[f"{method}, margin"], doubts[f"{method}, rank"] = found
        if not args.no_peer:
            doubts["cleanlab"] = cleanlab(x[rows], given, (1,))
            doubts["cleanlab, C chosen"] = cleanlab(x[rows], given, STRENGTHS)
        for name, doubt in doubts.items():
            first = np.argsort(-doubt, kind="stable")[: wrong.sum()]
            values = 100 * average_precision_score(wrong, doubt), 100 * wrong[first].mean()
            means[kind, n, name].append(values)
            print(folder.name, n, kind, seed, name, *(f"{v:.1f}" for v in values), flush=True)
    print("| wrong label | images per class | doubt | average precision | precision | draws |")
    print("| --- " * 6 + "|")
    for (kind, n, name), values in means.items():
        figures = (f"{v:.1f}" for v in np.mean(values, 0))
        print("|", " | ".join([kind, str(n), name, *figures, str(len(values))]), "|")


if __name__ == "__main__":
    main()
