"""The peer of GP-Tree: the authors' own code (github.com/IdanAchituve/GP-Tree)
in the folder $GPTREE_OFFICIAL. It is used unchanged and not included here.

    echo "fit 1 60 30 512 10 1" | python gptree_peer.py   repeats, classes, images per class, d, chains, steps

Reads the job up to an empty line, runs it once and prints "ready". For each
further line it builds a tree over all classes and samples a Gibbs node at each
split, repeats times, and prints the seconds per repeat: on all
cores, in float32 as the authors train, RBF kernel, without gradients. With the
argument "processor" it prints seconds of processor time.

Needs torch, gpytorch, scikit-learn and polyagamma. The code was written for
torch 1.7 and pypolyagamma, which no longer builds: functions that have
been renamed since get their old names, and draws come from polyagamma, which is
faster.
"""

import os
import sys
import time
import types

import numpy as np
import torch
from linear_operator import LinearOperator
from polyagamma import random_polyagamma


class PyPolyaGamma:
    """The part of pypolyagamma's class that is used."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def pgdrawv(self, h, z, out):
        out[:] = random_polyagamma(h, z, random_state=self.rng)


def official():
    sys.modules["pypolyagamma"] = types.SimpleNamespace(PyPolyaGamma=PyPolyaGamma)
    LinearOperator.evaluate = LinearOperator.to_dense
    torch.cholesky = lambda a, upper=False, out=None: torch.linalg.cholesky(a, upper=upper)
    sys.path.insert(0, os.environ["GPTREE_OFFICIAL"])
    from GP_Tree.node import Node_Gibbs
    from GP_Tree.tree import BinaryTree
    return BinaryTree, Node_Gibbs


def rows(classes, n, d):
    rng = np.random.default_rng(1)
    scale = 1 / np.sqrt(np.arange(1, d + 1))
    centres = rng.standard_normal((classes, d)) * scale
    x = np.repeat(centres, n, axis=0) + rng.standard_normal((classes * n, d)) * scale
    return torch.tensor(x, dtype=torch.float32), torch.arange(classes).repeat_interleave(n)


def fit(classes, n, d, chains, steps):
    BinaryTree, Node_Gibbs = official()
    x, y = rows(classes, n, d)
    args = types.SimpleNamespace(kernel_function="RBFKernel", num_steps=steps, num_draws=chains,
                                 gibbs_outputscale=8.0, gibbs_lengthscale=1.0)

    def job():
        with torch.no_grad():
            tree = BinaryTree(args, "cpu")
            tree.root = Node_Gibbs()
            tree.build_tree_gibbs(tree.root, x, y)
            tree._gibbs_train_tree(tree.root, x, y, to_print=False)

    return job


def main():
    lines = [line.split() for line in iter(sys.stdin.readline, "\n")]
    repeats, *sizes = [int(v) for v in lines[0][1:]]
    job = fit(*sizes)
    clock = time.process_time if "processor" in sys.argv[1:] else time.perf_counter
    job()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = clock()
        for _ in range(repeats):
            job()
        print((clock() - begin) / repeats, flush=True)


if __name__ == "__main__":
    main()
