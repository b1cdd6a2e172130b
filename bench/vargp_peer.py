"""The peer of a step of VAR-GP: the authors' own code (github.com/uber-research/var-gp)
in the folder $VARGP_OFFICIAL. It is used unchanged and not included here.

    echo "step 10 11 3 20 192 256" | python vargp_peer.py   steps, heads, tasks, M, d, batch

Reads the job up to an empty line, takes its steps once and prints "ready". For each
further line it takes them again and prints their total time in seconds: the
bound of the last task with three draws of the hyper-parameters and ten of the
functions for each, its gradient and a step of Yogi, on all cores, in float32 as the
authors train. Every head has its own inducing inputs.

Needs torch and torch_optimizer. The code was written for torch 1.5: functions that
no longer exist get their successors.
"""

import os
import sys
import time
import types

import torch
import torch_optimizer


def official():
    sys.modules["wandb"] = types.ModuleType("wandb")
    torch.cholesky = lambda a, upper=False: torch.linalg.cholesky(a, upper=upper)

    def triangular_solve(b, a, upper=True):
        return torch.linalg.solve_triangular(a, b, upper=upper), None

    torch.triangular_solve = triangular_solve
    sys.path.insert(0, os.environ["VARGP_OFFICIAL"])
    from var_gp import kernels, likelihoods, vargp

    nll = likelihoods.F.nll_loss  # today's wants its input without gaps
    likelihoods.F = types.SimpleNamespace(
        log_softmax=likelihoods.F.log_softmax,
        nll_loss=lambda p, y, reduction: nll(p.contiguous(), y, reduction=reduction))
    return vargp.VARGP, kernels.RBFKernel, likelihoods.MulticlassSoftmax


def job(steps, heads, tasks, m, d, batch):
    VARGP, Kernel, Softmax = official()
    torch.manual_seed(1)
    old = [dict(z=torch.randn(heads, m, d), u_mean=0.01 * torch.randn(heads, m, 1),
                u_tril_vec=torch.ones(heads, m * (m + 1) // 2))
           for _ in range(tasks - 1)]
    kernel = Kernel(d)
    kernel.log_mean.data.fill_(1.6)  # length-scales of 5
    model = VARGP(torch.randn(heads, m, d), kernel, Softmax(n_f=10), n_var_samples=3, prev_params=old)
    optimiser = torch_optimizer.Yogi(model.parameters(), lr=1e-3)
    x, y = torch.randn(batch, d), torch.arange(batch) % heads

    def take():
        for _ in range(steps):
            optimiser.zero_grad()
            hypers, inducing, nll = model.loss(x, y)
            (hypers + inducing + nll).backward()
            optimiser.step()

    return take


def main():
    lines = [line.split() for line in iter(sys.stdin.readline, "\n")]
    take = job(*[int(v) for v in lines[0][1:]])
    take()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        take()
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
