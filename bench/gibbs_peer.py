"""Milliseconds to sample one binary GP node by Gibbs steps with NumPy and
SciPy, with the same mathematics as gp.FitGibbs (Matheron draws on
B = I + W K W), to compare with

    go test -run '^$' -bench FitGibbs/rbf ./gp

on the same machine, one thread each (GOMAXPROCS=1, OMP_NUM_THREADS=1).
Needs numpy, scipy and polyagamma:

    OMP_NUM_THREADS=1 python bench/gibbs_peer.py
"""

import time

import numpy as np
from polyagamma import random_polyagamma
from scipy.linalg import cho_factor, cho_solve, cholesky


def draw(rng, kernel, root, kappa, omega):
    half = np.sqrt(omega)
    factor = cho_factor(np.eye(len(half)) + half[:, None] * kernel * half, lower=True, check_finite=False)
    g = root @ rng.standard_normal(len(half)) + kernel @ kappa
    v = cho_solve(factor, half * g + rng.standard_normal(len(half)), check_finite=False)
    return g - kernel @ (half * v)


def posterior(kernel, kappa, omega):
    half = np.sqrt(omega)
    lower = cholesky(np.eye(len(half)) + half[:, None] * kernel * half, lower=True, check_finite=False)
    return kappa - half * cho_solve((lower, True), half * (kernel @ kappa), check_finite=False), lower


def fit(kernel, yes, chains, steps):
    kappa = yes - 0.5
    root = cholesky(kernel, lower=True, check_finite=False)
    for chain in range(chains):
        rng = np.random.default_rng(chain)
        omega = random_polyagamma(1, np.zeros(len(yes)), random_state=rng)
        for _ in range(steps):
            omega = random_polyagamma(1, draw(rng, kernel, root, kappa, omega), random_state=rng)
        posterior(kernel, kappa, omega)


def main():
    for n in [100, 300, 600]:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((n, 64))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        kernel = 8 * np.exp(x @ x.T - 1)
        yes = rng.integers(0, 2, n).astype(float)
        for steps in [1, 10]:
            best = float("inf")
            for _ in range(3):
                start = time.perf_counter()
                fit(kernel, yes, 10, steps)
                best = min(best, time.perf_counter() - start)
            print(f"rbf/n={n}/chains=10/steps={steps}: {best * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
