"""Accuracy as labels are added: what rank --by margin and --by entropy choose, what
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
import os
import pathlib
import tempfile
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from sklearn.linear_model import LogisticRegression

from fewshot_peer import command, ours, pick, read, write, Task


def peer(x, y):
    return LogisticRegression(C=100, tol=1e-6, max_iter=200).fit(x, y)


def by_peer(program, x, y, chosen, rest, n, rng):
    p = np.sort(peer(x[chosen], y[chosen]).predict_proba(x[rest]), axis=1)
    return rest[np.argsort(p[:, -1] - p[:, -2], kind="stable")[:n]]


def by_rank(criterion):
    def choose(program, x, y, chosen, rest, n, rng):
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            write(d / "train", x[chosen], y[chosen])
            write(d / "rest", x[rest], np.full(len(rest), ""))
            command([program, "train", "--features", d / "train", "--out", d / "m.model"])
            command([program, "rank", d / "m.model", "--features", d / "rest", "--by", criterion, "--top", n,
                     "--out", d / "rank.csv"])
            with open(d / "rank.csv", newline="") as f:
                return rest[[int(row["path"]) for row in csv.DictReader(f)]]
    return choose


def at_random(program, x, y, chosen, rest, n, rng):
    return rng.choice(rest, n, replace=False)


CHOICES = {"rank --by margin": by_rank("margin"), "rank --by entropy": by_rank("entropy"),
           "uncertainty sampling": by_peer, "random": at_random}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--pool", type=pathlib.Path, required=True)
    a.add_argument("--test", type=pathlib.Path, required=True)
    a.add_argument("--step", type=int, default=100)
    a.add_argument("--steps", type=int, default=4)
    a.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    args = a.parse_args()
    warnings.filterwarnings("ignore")  # of unconverged fits
    x, y = read(args.pool)
    test, truth = read(args.test)
    found = collections.defaultdict(list)
    for seed in args.seeds:
        for name, choose in CHOICES.items():
            rng = np.random.default_rng(seed)
            chosen = pick(y, 1, rng)
            for step in range(args.steps + 1):
                labels = len(chosen)
                own, _ = ours(args.pipeline, [])(Task("", x[chosen], y[chosen], test, truth, 0))
                other = (peer(x[chosen], y[chosen]).predict(test) == truth).mean()
                found[name, labels].append((own, other))
                print(f"{seed} {name} {labels}: {100 * own:.1f} {100 * other:.1f}", flush=True)
                if step < args.steps:
                    rest = np.setdiff1d(np.arange(len(y)), chosen)
                    chosen = np.concatenate([chosen, choose(args.pipeline, x, y, chosen, rest, args.step, rng)])
    print("| labels | choice | ours | logistic regression |\n| --- | --- | --- | --- |")
    for (name, labels), v in sorted(found.items(), key=lambda item: item[0][1]):
        v = 100 * np.array(v)
        se = v.std(0, ddof=1) / len(v) ** 0.5 if len(v) > 1 else np.zeros(2)
        print(f"| {labels} | {name} | {v[:, 0].mean():.1f} ± {se[0]:.1f} | {v[:, 1].mean():.1f} ± {se[1]:.1f} |")


if __name__ == "__main__":
    main()
