"""The peer of a step of deep kernel learning: the authors' own code of GP-Tree
(github.com/IdanAchituve/GP-Tree) in the folder $GPTREE_OFFICIAL. It is used
unchanged and not included here.

    echo "step 10 60 5 128 192 512" | python dkl_peer.py   steps, classes, inducing inputs per class, batch, d, D

Reads the job up to an empty line, takes its steps once and prints "ready". For each
further line it takes them again and prints their total time in seconds: a
linear head from d to D, the bounds of all nodes, their natural-gradient updates,
the gradient and a step of SGD over head, inducing inputs and kernels, on all cores,
in float32 as the authors train.

Needs torch, gpytorch and scikit-learn. The code was written for torch 1.7: functions
that have been renamed since get their old names.
"""

import os
import sys
import time
import types

import numpy as np
import torch


def official():
    sys.modules["pypolyagamma"] = types.SimpleNamespace(PyPolyaGamma=None)
    torch.cholesky = lambda a, upper=False, out=None: torch.linalg.cholesky(a, upper=upper)

    def triangular_solve(b, a, upper=True):
        return types.SimpleNamespace(solution=torch.linalg.solve_triangular(a, b, upper=upper))

    torch.Tensor.triangular_solve = triangular_solve
    from linear_operator.operators import LinearOperator
    if not hasattr(LinearOperator, "evaluate"):
        LinearOperator.evaluate = LinearOperator.to_dense
    sys.path.insert(0, os.environ["GPTREE_OFFICIAL"])
    from GP_Tree.tree import BinaryTree
    return BinaryTree


def rows(classes, n, d):
    rng = np.random.default_rng(1)
    x = np.repeat(rng.standard_normal((classes, d)), n, axis=0) + 2 * rng.standard_normal((classes * n, d))
    return torch.tensor(x, dtype=torch.float32), torch.arange(classes).repeat_interleave(n)


def job(steps, classes, inducing, batch, d, width):
    BinaryTree = official()
    n = -(-steps * batch // classes)
    x, y = rows(classes, n, d)
    x *= np.sqrt(d) / x.norm(dim=1, keepdim=True)
    head = torch.nn.Linear(d, width)
    args = types.SimpleNamespace(kernel_function="RBFKernel", natural_lr=0.05, outputscale=4.0, lengthscale=1.0)
    with torch.no_grad():
        z = head(x)
        points = torch.stack([z[y == c][:inducing] for c in range(classes)])
        xbar = torch.nn.Parameter(points.clone())
        tree = BinaryTree(args, "cpu")
        tree.build_tree(tree.root, z, y, torch.arange(len(y)), xbar)
    scales = [p for name, p in tree.named_parameters() if "outputscale" in name or "lengthscale" in name]
    sgd = torch.optim.SGD([*head.parameters(), xbar, *scales], lr=1e-3, weight_decay=1e-4, momentum=0.9)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))[:steps * batch]

    def epoch():
        for rows in order.split(batch):
            sgd.zero_grad()
            tree.train_tree(head(x[rows]), y[rows], rows, xbar, False).backward()
            sgd.step()

    return epoch


def main():
    lines = [line.split() for line in iter(sys.stdin.readline, "\n")]
    epoch = job(*[int(v) for v in lines[0][1:]])
    epoch()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        epoch()
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
