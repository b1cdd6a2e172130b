"""Accuracy as labels are added: what rank --by doubt, --by margin and --by entropy choose, what
uncertainty sampling chooses, and random choice.

    python bench/labelling_curve.py --pipeline ./pipeline --pool FEATDIR --test FEATDIR

It starts with one row of each class of the pool, drawn at random, and adds --step
labels at a time. Ours trains on all labels again; the peer is scikit-learn's
logistic regression (C = 100), which asks for the rows with the smallest difference
between its two largest probabilities. Every choice is also tested with the other
classifier, so that the choice can be told from the classifier. The table has means
over seeds and the standard error.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import tempfile
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from sklearn.linear_model import LogisticRegression

from fewshot_peer import command, pick, read, write

# What a choice of n more rows goes by: folder has the model of the rows so far, peer is the
# other classifier, rest are the rows without a label.
Step = collections.namedtuple("Step", "program folder peer x rest n rng")


def trained(program, folder, x, y, test, truth):
    """Trains folder/m.model and returns its accuracy."""
    write(folder / "train", x, y)
    write(folder / "test", test, truth)
    command([program, "train", "--features", folder / "train", "--out", folder / "m.model"])
    command([program, "eval", folder / "m.model", "--features", folder / "test", "--json", folder / "eval.json"])
    return json.loads((folder / "eval.json").read_text())["accuracy"]


def peer(x, y):
    return LogisticRegression(C=100, tol=1e-6, max_iter=200).fit(x, y)


def by_peer(step):
    p = np.sort(step.peer.predict_proba(step.x[step.rest]), axis=1)
    return step.rest[np.argsort(p[:, -1] - p[:, -2], kind="stable")[:step.n]]


def by_rank(criterion):
    def choose(step):
        write(step.folder / "rest", step.x[step.rest], np.full(len(step.rest), ""))
        command([step.program, "rank", step.folder / "m.model", "--features", step.folder / "rest", "--by", criterion,
                 "--top", step.n, "--out", step.folder / "rank.csv"])
        with open(step.folder / "rank.csv", newline="") as f:
            return step.rest[[int(row["path"]) for row in csv.DictReader(f)]]
    return choose


def at_random(step):
    return step.rng.choice(step.rest, step.n, replace=False)


CHOICES = {"doubt": ("rank --by doubt", by_rank("doubt")),
           "margin": ("rank --by margin", by_rank("margin")), "entropy": ("rank --by entropy", by_rank("entropy")),
           "peer": ("uncertainty sampling", by_peer), "random": ("random", at_random)}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--pool", type=pathlib.Path, required=True)
    a.add_argument("--test", type=pathlib.Path, required=True)
    a.add_argument("--step", type=int, default=100)
    a.add_argument("--steps", type=int, default=4)
    a.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    a.add_argument("--choices", nargs="+", choices=CHOICES, default=list(CHOICES))
    args = a.parse_args()
    warnings.filterwarnings("ignore")  # of unconverged fits
    x, y = read(args.pool)
    test, truth = read(args.test)
    found = collections.defaultdict(list)
    for seed in args.seeds:
        for name, choose in map(CHOICES.get, args.choices):
            rng = np.random.default_rng(seed)
            chosen = pick(y, 1, rng)
            for step in range(args.steps + 1):
                with tempfile.TemporaryDirectory() as d:
                    d = pathlib.Path(d)
                    own = trained(args.pipeline, d, x[chosen], y[chosen], test, truth)
                    fitted = peer(x[chosen], y[chosen])
                    other = (fitted.predict(test) == truth).mean()
                    found[name, len(chosen)].append((own, other))
                    print(f"{seed} {name} {len(chosen)}: {100 * own:.1f} {100 * other:.1f}", flush=True)
                    if step < args.steps:
                        rest = np.setdiff1d(np.arange(len(y)), chosen)
                        more = choose(Step(args.pipeline, d, fitted, x, rest, args.step, rng))
                        chosen = np.concatenate([chosen, more])
    print("| pool | labels | choice | ours | logistic regression |\n| --- | --- | --- | --- | --- |")
    for (name, labels), v in sorted(found.items(), key=lambda item: item[0][1]):
        v = 100 * np.array(v)
        se = v.std(0, ddof=1) / len(v) ** 0.5 if len(v) > 1 else np.zeros(2)
        print(f"| {args.pool.parent.name} | {labels} | {name} | {v[:, 0].mean():.1f} ± {se[0]:.1f} | "
              f"{v[:, 1].mean():.1f} ± {se[1]:.1f} |")


if __name__ == "__main__":
    main()
