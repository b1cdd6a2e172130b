"""Nanoseconds per draw of PG(1, c) with the Python package polyagamma, to compare
with

    go test -run '^$' -bench Draw ./gp/polyagamma

on the same machine. Needs numpy and polyagamma:

    python bench/polyagamma_peer.py
"""

import time

import numpy as np
from polyagamma import random_polyagamma

DRAWS = 1_000_000


def nanoseconds(c, method):
    rng = np.random.default_rng(1)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        random_polyagamma(1, c, size=DRAWS, method=method, random_state=rng)
        best = min(best, time.perf_counter() - start)
    return best / DRAWS * 1e9


def main():
    mixed = 3 * np.random.default_rng(0).standard_normal(DRAWS)
    for name, c in [("0", 0), ("1", 1), ("2.5", 2.5), ("5", 5), ("50", 50), ("mixed", mixed)]:
        times = ", ".join(f"{m or 'auto'} {nanoseconds(c, m):.0f} ns" for m in [None, "devroye", "alternate"])
        print(f"c={name}: {times}")


if __name__ == "__main__":
    main()
