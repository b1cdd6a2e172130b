#!/usr/bin/env python3
"""Measure what the program claims of new classes, of accepting many, and of wrong labels.

  new     half of the classes, drawn at random, are unknown, and half of the photos show one: how
          well novelty tells them apart (AUROC), by how much `p_new` is off (15 bins) on average of
          the draws, and by how much over the photos of all draws together
  accept  a third of the classes is not named: of the labels above 95 % that are not rejected
          (--reject 0.05), how many are wrong, and what the page would say of them
  wrong   a share of the labels is wrong: how many `rank --by label-error` says, and how often its
          interval holds their number

A set is NAME=LEARN, or NAME=LEARN,OTHER for a FEATDIR that is labelled; otherwise the rest of
LEARN is. With several seeds, classes and photos are drawn as often.

  claims_table.py new --pipeline bin/pipeline --shots 5 15 --out table.md caltech=features/caltech

Needs numpy.
"""

import csv
import json
import pathlib
import re
import tempfile

import numpy as np
from promises_table import arguments, cells, divide, run, write

MOST = 2000  # photos that are labelled, of known and of unknown classes
BINS = 15
SHARES = {"low": (0.05, -1), "wrong": (0.25, 0), "high": (0.5, 1)}  # of new classes, as teach/accept.go
FOLDER_ERROR = 0.05


def train(pipeline, method, temp, x, y):
    """Train a model and return its file."""
    write(temp / "learn", x, y)
    run(pipeline, "train", "-q", "--features", temp / "learn", "--classifier", method, "--out", temp / "a.model")
    return temp / "a.model"


def new(args, temp, rng, learned, folder):
    (x, y), (vectors, labels) = learned, folder
    classes = np.unique(y)
    hidden = rng.permutation(classes)[: len(classes) // 2]
    unknown, known = np.isin(labels, hidden), ~np.isin(y, hidden)
    n = min(unknown.sum(), (~unknown).sum(), MOST)
    some = np.concatenate([rng.permutation(np.flatnonzero(side))[:n] for side in (unknown, ~unknown)])
    model = train(args.pipeline, args.method, temp, x[known], y[known])
    write(temp / "label", vectors[some], labels[some])
    run(args.pipeline, "eval", "-q", model, "--features", temp / "label", "--json", temp / "eval.json")
    found = json.loads((temp / "eval.json").read_text())
    run(args.pipeline, "label", "-q", "--adapt=false", model, "--features", temp / "label", "--out", temp / "out")
    with open(temp / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    p = np.array([float(row["p_new"]) for row in rows])
    is_new = np.isin([row["path"].rsplit("/", 1)[0] for row in rows], hidden)
    return {"AUROC": found["novelty_auroc"], "off": 100 * found["new_ece"], "over all draws": (p, is_new)}


def calibration_error(draws):
    """Return by how many points probabilities of several draws are off, taken together."""
    p, happened = (np.concatenate(part) for part in zip(*draws, strict=True))
    bins = np.minimum((BINS * p).astype(int), BINS - 1)
    return 100 * np.abs(np.bincount(bins, p - happened)).sum() / len(p)


def claimed(p, unseen, share, side):
    """Return how many labels are said to be wrong: their number, or an end of its interval."""
    p = p * (1 - 1 / (1 + (1 - unseen) / unseen * (1 - share) / share))
    n = len(p)
    return np.clip((1 - p).sum() + side * 1.96 * np.sqrt((p * (1 - p)).sum() + (n * FOLDER_ERROR) ** 2), 0, n)


def accept(args, temp, rng, learned, folder):
    (x, y), (vectors, labels) = learned, folder
    classes = np.unique(y)
    named = ~np.isin(y, rng.permutation(classes)[: len(classes) // 3])
    some = rng.permutation(len(labels))[:MOST]
    model = train(args.pipeline, args.method, temp, x[named], y[named])
    write(temp / "label", vectors[some], labels[some])
    run(args.pipeline, "label", "-q", "--adapt=false", model, "--features", temp / "label", "--reject", "0.05",
        "--out", temp / "out")
    with open(temp / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["rejected"] == "false" and float(row["probability"]) >= 0.95]
    if not rows:
        return None
    p = np.array([float(row["probability"]) for row in rows])
    unseen = np.clip([float(row["p_new"]) for row in rows], 1e-12, 1 - 1e-12)
    wrong = sum(row["label"] != row["path"].rsplit("/", 1)[0] for row in rows)
    said = {key: claimed(p, unseen, *how) for key, how in SHARES.items()}
    inside = said["low"] <= wrong <= said["high"]
    return {"offered": len(rows), "are wrong": wrong, "said": said["wrong"], "from": said["low"], "to": said["high"],
            "inside": 100 * inside}


def wrong(args, temp, rng, learned, _):
    x, y = learned
    classes, out, inside = np.unique(y), {"labels": len(y)}, []
    for percent in (0, 2, 5, 10):
        given, bad = y.copy(), rng.permutation(len(y))[: round(percent / 100 * len(y))]
        for i in bad:
            given[i] = rng.choice(classes[classes != y[i]])
        part = temp / str(percent)
        part.mkdir()
        model = train(args.pipeline, args.method, part, x, given)
        rank = ["rank", model, "--features", part / "learn", "--by", "label-error", "--out", part / "r.csv"]
        said = run(args.pipeline, *rank)
        claim = re.search(r"^about (\d+) of \d+ labels are wrong, between (\d+) and (\d+),", said, re.MULTILINE)
        about, low, high = map(int, claim.groups())
        out[f"{percent} % wrong"] = len(bad)
        out[f"said {percent}"] = about
        inside.append(low <= len(bad) <= high)
    return {**out, "inside": 100 * np.mean(inside)}


def mean(draws):
    """Return the mean of a figure over draws, or the error of probabilities over all of them."""
    return calibration_error(draws) if isinstance(draws[0], tuple) else np.mean(draws)


def measured(args, kind):
    """Yield the name, the number of images to learn and the mean figures of each row of a table."""
    for name, parts, shots in cells(args):
        found = []
        for seed in range(args.seeds):
            rng = np.random.default_rng(seed)
            learned, rest = divide(*parts[0], shots, rng)
            folder = parts[1] if len(parts) > 1 else rest
            with tempfile.TemporaryDirectory() as temp:
                one = kind(args, pathlib.Path(temp), rng, learned, folder)
            if one:
                found.append(one)
        yield name, shots, {"draws": args.seeds, **{key: mean([one[key] for one in found]) for key in found[0]}}


def main():
    kinds = {"new": new, "accept": accept, "wrong": wrong}
    parser = arguments(__doc__, kinds)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--methods", nargs="+", help="instead of --method, with a column that names them")
    args = parser.parse_args()
    lines = []
    for method in args.methods or [args.method]:
        args.method = method
        first = f"| `{method}` " if args.methods else ""
        for name, shots, means in measured(args, kinds[args.kind]):
            if not lines:
                columns = [*(["method"] if first else []), "set", "K", *means]
                lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
            digits = {"AUROC": 3, "off": 1, "over all draws": 1}
            figures = [f"{v:.{digits.get(k, 0)}f}" for k, v in means.items()]
            lines.append(f"{first}| {name} | {shots} | " + " | ".join(figures) + " |")
            print(lines[-1], flush=True)
    args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
