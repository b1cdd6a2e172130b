"""Accuracy of heads on frozen features, K images per class from nothing:
scikit-learn's and two from papers against ours.

    python bench/fewshot_peer.py --pipeline ./pipeline --peers peers.json --sets SET...
    python bench/fewshot_peer.py --peers peers.json --sets SET...  # the peers alone
    python bench/fewshot_peer.py --pipeline ./pipeline --heads plda,plda+ --peers peers.json --sets SET...

SET is a folder with FEATDIRs shots01, shots02, ... and test, or one FEATDIR: K
rows of each class are drawn, the rest is for testing. The first draw of
a folder with shotsKK is that one; others are drawn from val or from the largest
shots, without shotsKK rows for testing. Peers see training rows only, also for their settings.
--peers keeps what is done, so that ours can be run again alone; --ours does the
same for ours. Needs numpy and scikit-learn.

The table has the mean over sets of accuracy (per cent) and the seconds of one
fit (ours: of the command train). Every row of a column has the same sets and draws.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

SHOTS = [1, 2, 4, 8, 16]
TEST_ROWS = 3000  # of a set, at most: the same for every method

Task = collections.namedtuple("Task", "set x y test truth shots")


def read(featdir):
    x = np.load(featdir / "embeddings.npy").astype(np.float32)
    with open(featdir / "samples.csv", newline="") as f:
        y = np.array([row["label"] for row in csv.DictReader(f)])
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


def pick(y, shots, rng):
    """Rows of shots examples of each class, fewer of a class that has fewer."""
    rows = [np.flatnonzero(y == c) for c in np.unique(y)]
    return np.concatenate([rng.choice(r, min(shots, len(r)), replace=False) for r in rows])


def task(folder, shots, draw):
    """What to learn and test, None if the set has no such draw."""
    rng = np.random.default_rng(1000 * draw + shots)
    if (folder / "embeddings.npy").exists():
        x, y = read(folder)
        if 2 * shots > np.unique(y, return_counts=True)[1].min():
            return None
        chosen = pick(y, shots, rng)
        rest = np.setdiff1d(np.arange(len(y)), chosen)
        return finish(folder.name, x[chosen], y[chosen], x[rest], y[rest], shots)
    largest, given = max(folder.glob("shots*")), folder / f"shots{shots:02d}"
    if (folder / "val").exists():
        x, y = read(folder / "val")
        chosen = pick(y, shots, rng)
    elif draw == 0 and given.exists():
        x, y = read(given)
        chosen = np.arange(len(y))
    elif shots < int(largest.name[-2:]):
        x, y = read(largest)
        chosen = pick(y, shots, rng)
    else:
        return None
    return finish(folder.name, x[chosen], y[chosen], *read(folder / "test"), shots)


def finish(name, x, y, test, truth, shots):
    known = np.flatnonzero(np.isin(truth, y))
    if len(known) > TEST_ROWS:
        known = np.random.default_rng(0).choice(known, TEST_ROWS, replace=False)
    return Task(name, x, y, test[known], truth[known], shots)


def fit(model):
    return lambda t: model.fit(t.x, t.y).predict(t.test)


def logistic(t):
    """C by cross-validation; with one row per class there is nothing to hold out.
    The gradient is of the mean loss: with hundreds of classes it starts below 1e-3."""
    grid = {"C": [1, 10, 100, 1000]}
    model = LogisticRegression(tol=1e-6, max_iter=200)
    if t.shots > 1:
        folds = StratifiedKFold(min(3, t.shots), shuffle=True, random_state=0)
        model = GridSearchCV(model, grid, cv=folds)
    return fit(model)(t)


def lda(t):
    """Ledoit-Wolf shrinkage; undefined without a spread within classes."""
    if t.shots == 1:
        return None
    return fit(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"))(t)


def ridge_cv(t):
    """The penalty of the smallest leave-one-out error."""
    if t.shots == 1:
        return None
    return fit(RidgeClassifierCV(alphas=np.logspace(-3, 1, 9)))(t)


def ranpac(t, features=5000):
    """RanPAC (McDonnell et al. 2023): ridge regression on random features,
    relu(xR). The penalty has the smallest leave-one-out error; with one row per
    class, where that is undefined, it is the mean eigenvalue."""
    classes, label = np.unique(t.y, return_inverse=True)
    r = np.random.default_rng(0).standard_normal((t.x.shape[1], features), dtype=np.float32)
    h, target = np.maximum(t.x @ r, 0), np.eye(len(classes))[label]
    values, vectors = np.linalg.eigh((h @ h.T).astype(np.float64))
    values, rotated = np.maximum(values, 0), vectors.T @ target

    def dual(penalty):
        return vectors @ (rotated / (values + penalty)[:, None])

    def left_out(penalty):
        diagonal = (vectors**2 / (values + penalty)).sum(1)
        return np.square(dual(penalty) / diagonal[:, None]).mean()

    penalties = values.mean() * np.logspace(-4, 2, 13)
    penalty = values.mean() if t.shots == 1 else min(penalties, key=left_out)
    weights = h.T @ dual(penalty).astype(np.float32)
    return classes[(np.maximum(t.test @ r, 0) @ weights).argmax(1)]


def slda_scores(t, shrink=1e-4):
    """Deep SLDA (Hayes & Kanan 2020): the classes, and the test rows' scores from class means and one shared
    covariance."""
    classes, label, n = np.unique(t.y, return_inverse=True, return_counts=True)
    x = t.x.astype(np.float64)
    means = np.zeros((len(classes), x.shape[1]))
    np.add.at(means, label, x)
    means /= n[:, None]
    residual = x - means[label]
    covariance = residual.T @ residual / len(x)
    w = np.linalg.solve((1 - shrink) * covariance + shrink * np.eye(x.shape[1]), means.T)
    return classes, t.test @ w - (means.T * w).sum(0) / 2


def slda(t):
    classes, scores = slda_scores(t)
    return classes[scores.argmax(1)]


PEERS = {
    "ridge": fit(RidgeClassifier()),
    "ridge, penalty by leaving out": ridge_cv,
    "linear SVM": fit(LinearSVC()),
    "logistic regression, C by CV": logistic,
    "LDA, lsqr, auto shrinkage": lda,
    "RanPAC": ranpac,
    "SLDA": slda,
}


def peer(name):
    def run(t):
        start = time.perf_counter()
        predicted = PEERS[name](t)
        seconds = time.perf_counter() - start
        return predicted is not None and [float((predicted == t.truth).mean()), seconds]

    return run


def write(folder, x, y):
    folder.mkdir()
    np.save(folder / "embeddings.npy", x)
    with open(folder / "samples.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["path", "label"])
        w.writerows([f"{i}", c] for i, c in enumerate(y))


def ours(program, flags):
    def run(t):
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            write(d / "train", t.x, t.y)
            write(d / "test", t.test, t.truth)
            more = [f.replace("{set}", t.set) for f in flags]
            start = time.perf_counter()
            command([program, "train", "--features", d / "train", "--out", d / "m.model", *more])
            seconds = time.perf_counter() - start
            command([program, "eval", d / "m.model", "--features", d / "test", "--json", d / "eval.json"])
            return [json.loads((d / "eval.json").read_text())["accuracy"], seconds]

    return run


def command(words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")


def measure(methods, args, file):
    """Accuracy and seconds by method and cell; file keeps what is done."""
    results = json.loads(file.read_text()) if file and file.exists() else {}
    for folder in args.sets:
        for shots in args.shots:
            for draw in range(args.draws):
                cell = f"{folder.name} {shots} {draw}"
                todo = [m for m in methods if cell not in results.setdefault(m, {})]
                t = task(folder, shots, draw) if todo else None
                if t is None:
                    continue
                for m in todo:
                    results[m][cell] = methods[m](t)
                    print(f"{cell} {m}: {results[m][cell]}", file=sys.stderr, flush=True)
                if file:
                    part = file.with_suffix(".part")
                    part.write_text(json.dumps(results, indent=1))
                    part.replace(file)
    return {m: results[m] for m in methods}


def mean(cells, shots, column, sets):
    """Of a column over draws, then over sets; None if a set has nothing."""
    means = []
    for s in sets:
        values = [v[column] for cell, v in cells.items() if v and cell.startswith(f"{s.name} {shots} ")]
        if values:
            means.append(np.mean(values))
    return np.mean(means) if means else None


def table(results, args):
    lines = [["K", *map(str, args.shots)]]
    for method, cells in results.items():
        line = [method]
        for shots in args.shots:
            accuracy, seconds = mean(cells, shots, 0, args.sets), mean(cells, shots, 1, args.sets)
            line.append("–" if accuracy is None else f"{100 * accuracy:.1f} ({seconds:.2g} s)")
        lines.append(line)
    lines.insert(1, ["---"] * len(lines[0]))
    for line in lines:
        print("| " + " | ".join(line) + " |")


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, help="our program; without it the peers are measured alone")
    a.add_argument("--heads", default="", help="names of --classifier, with commas (default: the program's default)")
    a.add_argument("--train", default="",
                   help="more flags of our train, such as '--prior {set}.prior': {set} is the name of the set")
    a.add_argument("--no-peers", action="store_true", help="ours alone")
    a.add_argument("--peers", type=pathlib.Path, help="file that keeps the peers' results")
    a.add_argument("--ours", type=pathlib.Path, help="file that keeps ours")
    a.add_argument("--draws", type=int, default=3)
    a.add_argument("--shots", type=int, nargs="+", default=SHOTS)
    a.add_argument("--sets", type=pathlib.Path, nargs="+", required=True)
    return a.parse_args()


def main():
    args = arguments()
    warnings.filterwarnings("ignore")  # of LDA with fewer rows than columns, of unconverged fits
    results = {}
    if not args.no_peers:
        results |= measure({name: peer(name) for name in PEERS}, args, args.peers)
    if args.pipeline:
        more = args.train.split()
        heads = {h: ["--classifier", h] for h in args.heads.split(",") if h} or {"ours, default": []}
        names = {h: " ".join([h, *(w for w in more if w.startswith("--"))]) for h in heads}
        results |= measure({names[h]: ours(args.pipeline, flags + more) for h, flags in heads.items()}, args, args.ours)
    table(results, args)


if __name__ == "__main__":
    main()
