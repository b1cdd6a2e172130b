#!/usr/bin/env python3
"""Measure what `pipeline train` and `pipeline label` promise against what is true.

A set is NAME=LEARN, or NAME=LEARN,OTHER for a FEATDIR of photos of another occasion. From K images
of every class of LEARN a model is trained; the rest of LEARN are photos like those, OTHER photos of
another occasion. Of each of these folders the table has the accuracy, what training and labelling
said about it, and what share of it `--reject` turns away.

  promises_table.py --pipeline bin/pipeline --shots 5 15 --out table.md \\
      shelves=features/grocery-train,features/grocery-test caltech=features/caltech

Needs numpy. At most 4000 photos of a folder are labelled, drawn at random.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np

REJECT = ("0.02", "0.05", "0.1")
MOST = 4000


def read(folder):
    """Return the embeddings and labels of a FEATDIR."""
    x = np.load(pathlib.Path(folder) / "embeddings.npy").astype(np.float32)
    with open(pathlib.Path(folder) / "samples.csv", newline="", encoding="utf-8") as file:
        return x, np.array([row["label"] for row in csv.DictReader(file)])


def write(folder, x, y):
    """Write a FEATDIR whose paths begin with the class."""
    folder.mkdir()
    np.save(folder / "embeddings.npy", x)
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "label"])
        rows.writerows([f"{label}/{i:06d}.jpg", label] for i, label in enumerate(y))


def draw(y, shots, rng):
    """Return the rows of K images of every class."""
    return np.sort(np.concatenate([rng.permutation(np.flatnonzero(y == c))[:shots] for c in np.unique(y)]))


def run(*command):
    """Run the program and return what it printed."""
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def measure(pipeline, method, temp, learned, folder):
    """Train on one pair of embeddings and labels, label another, and return the figures."""
    model = temp / "a.model"
    write(temp / "learn", *learned)
    write(temp / "label", *folder)
    run(pipeline, "train", "-q", "--features", temp / "learn", "--classifier", method, "--out", model)
    said = json.loads(run(pipeline, "inspect", model, "--json"))["calibration"]
    rejected = []
    for share in ("0", *REJECT):
        out = temp / f"out{share}"
        command = [pipeline, "label", model, "-q", "--features", temp / "label", "--out", out, "--json"]
        summary = json.loads(run(*command, *([] if share == "0" else ["--reject", share])))
        if share != "0":
            rejected.append(summary["rejected"] / summary["labelled"])
            continue
        with open(out / "labels.csv", newline="", encoding="utf-8") as file:
            right = [row["label"] == row["path"].rsplit("/", 1)[0] for row in csv.DictReader(file)]
        expected = summary["expected"]
    return {
        "truth": np.mean(right),
        "like": said["accuracy"],
        "elsewhere": said.get("elsewhere"),
        "folder": expected["accuracy"],
        "low": expected["low"],
        "high": expected["high"],
        "rejected": rejected,
    }


def percent(value):
    return "" if value is None else f"{100 * value:.1f}"


def line(name, shots, kind, found):
    """Return a row of the table."""
    turned = " ".join(percent(share) for share in found["rejected"])
    interval = f"{100 * found['low']:.0f} to {100 * found['high']:.0f}"
    cells = [name, str(shots), kind, percent(found["truth"]), percent(found["like"]), percent(found["elsewhere"])]
    return "| " + " | ".join([*cells, percent(found["folder"]), interval, turned]) + " |"


def arguments(doc, kinds=()):
    """Return a parser of the arguments that tables of several sets share, of one kind or several."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if kinds:
        parser.add_argument("kind", choices=kinds)
    parser.add_argument("--pipeline", default="bin/pipeline")
    parser.add_argument("--method", default="plda")
    parser.add_argument("--shots", type=int, nargs="+", default=[5, 15])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("sets", nargs="+", metavar="NAME=LEARN[,OTHER]")
    return parser


def cells(args):
    """Yield the name, the FEATDIRs and the number of images to learn of each row of a table."""
    for text in args.sets:
        name, _, folders = text.partition("=")
        parts = [read(folder) for folder in folders.split(",")]
        for shots in args.shots:
            yield name, parts, shots


def divide(x, y, shots, rng):
    """Return K images of every class, and the rest, as pairs of embeddings and labels."""
    rows = draw(y, shots, rng)
    rest = np.setdiff1d(np.arange(len(y)), rows)
    return (x[rows], y[rows]), (x[rest], y[rest])


def main():
    parser = arguments(__doc__)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    head = "| set | K | photos | right | like these | another occasion | folder | likely | rejected at "
    lines = [head + ", ".join(REJECT) + " |", "|---" * 9 + "|"]
    errors = []
    for name, parts, shots in cells(args):
        rng = np.random.default_rng(args.seed)
        learned, rest = divide(*parts[0], shots, rng)
        kinds = {"like these": rest} if len(rest[1]) else {}
        for vectors, labels in parts[1:]:
            known = np.isin(labels, np.unique(parts[0][1]))
            kinds["another occasion"] = vectors[known], labels[known]
        for kind, (vectors, labels) in kinds.items():
            some = np.sort(rng.permutation(len(labels))[:MOST])
            with tempfile.TemporaryDirectory() as temp:
                folder = vectors[some], labels[some]
                found = measure(args.pipeline, args.method, pathlib.Path(temp), learned, folder)
            lines.append(line(name, shots, kind, found))
            errors.append(found["folder"] - found["truth"])
            print(lines[-1], flush=True)
    mean, most = 100 * np.mean(np.abs(errors)), 100 * np.max(np.abs(errors))
    lines += ["", f"The folder's own figure is off by {mean:.1f} points on average, {most:.1f} at most."]
    args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
