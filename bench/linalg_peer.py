"""The peer of PPCA: scikit-learn's PCA for fits, OpenBLAS's sgemm for scores.

    echo "fit 10 500 640 20" | python linalg_peer.py        repeats, n, d, q
    echo "product 10 256 640 20000" | python linalg_peer.py  repeats, n, d, K·q

Reads the job up to an empty line, runs it once and prints "ready". For each
further line it does the job repeats times and prints the seconds per repeat.
PCA runs with the fastest solver on this machine, which it names on standard
error. Both use all cores and float32.
"""

import sys
import time

import numpy as np
from sklearn.decomposition import PCA


def rows(n, d, seed):
    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(np.arange(1, d + 1))
    return (rng.standard_normal((n, d)) * scale).astype(np.float32)


def timed(job):
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def fit(n, d, q):
    x = rows(n, d, 1)
    solvers = {s: PCA(q, svd_solver=s) for s in ("covariance_eigh", "randomized", "arpack", "full")}
    for pca in solvers.values():
        pca.fit(x)
    best = min(solvers, key=lambda s: min(timed(lambda: solvers[s].fit(x)) for _ in range(3)))
    print(f"n={n} d={d} q={q}: {best}", file=sys.stderr)
    return lambda: solvers[best].fit(x)


def product(n, d, columns):
    a, b = rows(n, d, 1), rows(columns, d, 2)
    out = np.empty((n, columns), np.float32)
    return lambda: np.matmul(a, b.T, out=out)


def main():
    lines = [line.split() for line in iter(sys.stdin.readline, "\n")]
    kind, (repeats, *sizes) = lines[0][0], [int(v) for v in lines[0][1:]]
    job = {"fit": fit, "product": product}[kind](*sizes)
    job()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(timed(lambda: [job() for _ in range(repeats)]) / repeats, flush=True)


if __name__ == "__main__":
    main()
