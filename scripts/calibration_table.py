#!/usr/bin/env python3
"""Measure what `pipeline train` says about itself: probabilities and expected accuracy.

For every data set, number of images per class and method, a model is trained on K images per
class and evaluated on the test rows, with the temperature left at 1 (before) and fitted (after);
with half of the classes learned later (learn); with up to five classes forgotten again (forget);
with a prior made from all rows of the other sets of the same dimension (prior); and adapted to the
test rows, without the prior (adapt) and with it (both). A data set is a folder with FEATDIRs: shots01,
shots02 … and test, or val and test, from whose val the shots are drawn; a FEATDIR itself is split,
K images of each class to learn from and the others to test.

  calibration_table.py --pipeline bin/pipeline --sets features/aircraft features/textures --out table.md

Needs numpy. Prints a line for each measurement and writes the means as a Markdown table.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

STAGES = ("before", "after", "learn", "forget", "prior", "adapt", "both")
BINS = 15  # of the calibration error, as in eval


def read(folder):
    """Return the embeddings and labels of a FEATDIR."""
    x = np.load(folder / "embeddings.npy").astype(np.float32)
    with open(folder / "samples.csv", newline="", encoding="utf-8") as file:
        return x, np.array([row["label"] for row in csv.DictReader(file)])


def write(folder, x, y):
    folder.mkdir(parents=True)
    np.save(folder / "embeddings.npy", x)
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "label"])
        rows.writerows((f"{i:06d}.jpg", label) for i, label in enumerate(y))


def draw(y, k, seed):
    """Return which k rows of each class to learn from, and the other rows."""
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(y), bool)
    for name in np.unique(y):
        rows = np.flatnonzero(y == name)
        if len(rows) <= k:
            return None, None
        chosen[rng.permutation(rows)[:k]] = True
    return chosen, ~chosen


def load(folder, k, seed):
    """Return training and test rows, or None if the set has no k images per class."""
    if (folder / "embeddings.npy").exists():
        x, y = read(folder)
        chosen, others = draw(y, k, seed)
        return None if chosen is None else ((x[chosen], y[chosen]), (x[others], y[others]))
    shots = folder / f"shots{k:02d}"
    if (folder / "val").exists():
        x, y = read(folder / "val")
        chosen, _ = draw(y, k, seed)
        return None if chosen is None else ((x[chosen], y[chosen]), read(folder / "test"))
    return (read(shots), read(folder / "test")) if shots.exists() else None


def parts(folder):
    """Return the FEATDIRs that hold the rows of a set once."""
    if (folder / "embeddings.npy").exists():
        return [folder]
    return [folder / "val" if (folder / "val").exists() else max(folder.glob("shots*")), folder / "test"]


def others(folder, sets):
    """Return the FEATDIRs of the other sets of the same dimension."""
    def dim(f):
        return np.load(parts(f)[0] / "embeddings.npy", mmap_mode="r").shape[1]
    return [part for s in sets if s != folder and dim(s) == dim(folder) for part in parts(s)]


class Measure:
    def __init__(self, pipeline, work, method, wanted, others):
        self.pipeline, self.work, self.method, self.wanted, self.others = pipeline, work, method, wanted, others

    def run(self, *args):
        done = subprocess.run([self.pipeline, *map(str, args)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"pipeline {' '.join(map(str, args))}: {done.stderr}")
        return done.stdout + done.stderr

    def train(self, features, *settings):
        model = self.work / "m.model"
        return model, self.run("train", "--features", features, "--classifier", self.method, "--out", model, *settings)

    def evaluate(self, model, test):
        out = self.work / "eval.json"
        self.run("eval", model, "--features", test, "--json", out)
        return json.loads(out.read_text())

    def adapted(self, model, test):
        """Return what evaluate does, of label, which compares photos with each other."""
        _, truth = read(test)
        self.run("label", model, "--features", test, "--format", "jsonl", "--top-k", len(set(truth)),
                 "--out", self.work / "labels")
        rows = [json.loads(line) for line in (self.work / "labels" / "labels.jsonl").open(encoding="utf-8")]
        right = np.array([row["label"] == c for row, c in zip(rows, truth)])
        best = np.array([row["probability"] for row in rows])
        own = np.array([dict(row["top_k"])[c] for row, c in zip(rows, truth)])
        at = np.ceil(best * BINS)
        return {"accuracy": right.mean(), "nll": -np.log(np.maximum(own, 1e-300)).mean(),
                "ece": sum(abs((right - best)[at == b].sum()) for b in np.unique(at)) / len(rows)}

    def stages(self, train, test):
        """Return the evaluation at each stage, and the accuracy that train announced."""
        (x, y), (tx, ty) = train, test
        names = np.unique(y)
        base = np.isin(y, names[: (len(names) + 1) // 2])
        kept = [name for i, name in enumerate(names) if i not in range(9, 50, 10)]
        write(self.work / "all", x, y)
        write(self.work / "base", x[base], y[base])
        write(self.work / "later", x[~base], y[~base])
        write(self.work / "test", tx, ty)
        write(self.work / "test-kept", tx[np.isin(ty, kept)], ty[np.isin(ty, kept)])
        result = {}
        if "before" in self.wanted:
            model, _ = self.train(self.work / "all", "--set", "classifier.temperature=1")
            result["before"] = self.evaluate(model, self.work / "test")
        model, said = self.train(self.work / "all")
        result["after"] = self.evaluate(model, self.work / "test")
        if "forget" in self.wanted and self.method != "vargp":
            for name in names:
                if name not in kept:
                    self.run("forget", model, "--class", name)
            result["forget"] = self.evaluate(model, self.work / "test-kept")
        if "learn" in self.wanted:
            model, _ = self.train(self.work / "base")
            self.run("learn", model, "--features", self.work / "later")
            result["learn"] = self.evaluate(model, self.work / "test")
        if "adapt" in self.wanted:
            model, _ = self.train(self.work / "all")
            result["adapt"] = self.adapted(model, self.work / "test")
        if self.others and {"prior", "both"} & set(self.wanted):
            prior = self.work / "prior"
            self.run("prior", *(word for part in self.others for word in ("--features", part)), "--out", prior)
            model, _ = self.train(self.work / "all", "--prior", prior)
            result["prior"] = self.evaluate(model, self.work / "test")
            if "both" in self.wanted:
                result["both"] = self.adapted(model, self.work / "test")
        found = re.search(r"expect about (\d+) %", said)
        return result, int(found[1]) / 100 if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pipeline", default="bin/pipeline")
    parser.add_argument("--sets", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--methods", nargs="+", default=["plda"])
    parser.add_argument("--shots", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES[:4], help="what to measure besides after")
    parser.add_argument("--tests", type=int, default=4000, help="test rows at most, drawn with the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    shown = [s for s in STAGES if s in args.stages or s == "after"]
    heads = ["method", "K", "sets", *(f"NLL {s}" for s in shown), *(f"ECE {s}" for s in shown), "accuracy",
             "announced, mean error"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for method in args.methods:
        for k in args.shots:
            rows, gaps = [], []
            for folder in args.sets:
                data = load(folder, k, args.seed)
                if data is None:
                    continue
                train, (tx, ty) = data
                some = np.random.default_rng(args.seed).permutation(len(ty))[: args.tests]
                with tempfile.TemporaryDirectory() as work:
                    result, announced = Measure(args.pipeline, pathlib.Path(work), method, args.stages,
                                                others(folder, args.sets)).stages(train, (tx[some], ty[some]))
                accuracy = result["after"]["accuracy"]
                if announced is not None:
                    gaps.append(announced - accuracy)
                rows.append(result)
                print(method, k, folder.name, f"accuracy {accuracy:.3f} announced {announced}",
                      *(f"{s} {result[s]['nll']:.3f}/{result[s]['ece']:.3f}" for s in STAGES if s in result),
                      flush=True)
            if not rows:
                continue
            having = {s: [r[s] for r in rows if s in r] for s in shown}
            cells = [f"{np.mean([r[key] for r in having[s]]):.{digits}f}" if having[s] else "–"
                     for key, digits in (("nll", 2), ("ece", 3)) for s in shown]
            gap = f"{100 * np.mean(np.abs(gaps)):.1f}" if gaps else "–"
            accuracy = 100 * np.mean([r["after"]["accuracy"] for r in rows])
            lines.append(f"| `{method}` | {k} | {len(rows)} | {' | '.join(cells)} | {accuracy:.1f} | {gap} |")
    table = "\n".join(lines) + "\n"
    print(table)
    if args.out:
        args.out.write_text(table)


if __name__ == "__main__":
    main()
