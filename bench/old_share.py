"""The trade between old and new classes: accuracy on classes of the base session and on
later ones by the share of photos that are expected to show the former.

    python bench/old_share.py --pipeline ./pipeline --sets SET...

Half of the classes are learned from 16 images each (8 of a set that has no more), the
others in five sessions of 5 images. SET is as in fewshot_peer.py, with shotsKK. The
shares are set at prediction, so every model is trained once. SLDA, over all training
rows, gets the same change of the prior. Prints base accuracy, novel accuracy and their
harmonic mean, in per cent, the mean over sets; and accuracy and negative log-likelihood on
a folder of which MIXED show old classes, without that share and with it.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np

from fewshot_peer import command, finish, pick, read, slda_scores, write

SHARES = [0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.99]
SESSIONS, SHOTS = 5, 5
MIXED = 0.9


def task(folder):
    """The rows of each session, first that of the base classes, and the test."""
    if (folder / "val").exists():
        x, y = read(folder / "val")
    else:
        x, y = read(max(folder.glob("shots*")))
    names = np.random.default_rng(0).permutation(np.unique(y))
    base, later = np.split(names, [(len(names) + 1) // 2])
    rng, sessions = np.random.default_rng(1), []
    for classes, shots in [(base, 16), *((c, SHOTS) for c in np.array_split(later, SESSIONS))]:
        rows = np.flatnonzero(np.isin(y, classes))
        sessions.append(rows[pick(y[rows], shots, rng)])
    every = np.concatenate(sessions)
    return finish(folder.name, x[every], y[every], *read(folder / "test"), 0), [len(s) for s in sessions], base


def measured(right, truth, base):
    """Base accuracy, novel accuracy and their harmonic mean, by class as in fscil's test sets."""
    old = np.isin(truth, base)
    b, n = right[old].mean(), right[~old].mean()
    return b, n, 2 * b * n / (b + n)


def ours(program, head, t, sizes, base):
    with tempfile.TemporaryDirectory() as d:
        d, model = pathlib.Path(d), pathlib.Path(d) / "m.model"
        for i, rows in enumerate(np.split(np.arange(len(t.y)), np.cumsum(sizes)[:-1])):
            write(d / f"{i}", t.x[rows], t.y[rows])
            if i == 0:
                command([program, "train", "--classifier", head, "--features", d / "0", "--out", model])
            else:
                command([program, "learn", model, "--features", d / f"{i}"])
        old = np.isin(t.truth, base)
        few = np.flatnonzero(~old)[: round(old.sum() * (1 / MIXED - 1))]
        mixed = np.append(np.flatnonzero(old), few)
        for kind, rows in ("old", np.flatnonzero(old)), ("new", np.flatnonzero(~old)), ("mixed", mixed):
            write(d / kind, t.test[rows], t.truth[rows])

        def evaluated(kind, share):
            out = d / "eval.json"
            command([program, "eval", model, "--features", d / kind, "--json", out,
                     "--set", f"classifier.old_share={share}"])
            report = json.loads(out.read_text())
            return report["accuracy"], report["nll"]

        found = [[evaluated(kind, share)[0] for kind in ("old", "new")] for share in SHARES]
        mixed = [evaluated("mixed", share) for share in (0, MIXED)]
    return [(b, n, 2 * b * n / (b + n)) for b, n in found], mixed


def slda(t, base):
    classes, scores = slda_scores(t)
    old = np.isin(classes, base)
    out = []
    for share in SHARES:
        s = share or old.mean()
        prior = np.where(old, np.log(s / old.sum()), np.log((1 - s) / (~old).sum()))
        out.append(measured(classes[(scores + prior).argmax(1)] == t.truth, t.truth, base))
    return out


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--heads", default="plda,plda+")
    a.add_argument("--sets", type=pathlib.Path, nargs="+", required=True)
    args = a.parse_args()
    heads, results, mixed = args.heads.split(","), {}, {}
    for folder in args.sets:
        t, sizes, base = task(folder)
        for h in heads:
            curve, both = ours(args.pipeline, h, t, sizes, base)
            results.setdefault(h, []).append(curve)
            mixed.setdefault(h, []).append(both)
        results.setdefault("SLDA", []).append(slda(t, base))
    print("| share | " + " | ".join(f"{h}: base, novel, mean" for h in results) + " |")
    print("| --- |" + " --- |" * len(results))
    for i, share in enumerate(SHARES):
        cells = [", ".join(f"{100 * v:.1f}" for v in np.mean([one[i] for one in r], axis=0)) for r in results.values()]
        print(f"| {share or 'as the method says'} | " + " | ".join(cells) + " |")
    for h, found in mixed.items():
        (plain, nll), (better, lower) = np.mean(found, axis=0)
        print(f"{h}, {100 * MIXED:.0f} % of old classes: {100 * plain:.1f} % correct, {nll:.3f} nats; "
              f"with that share {100 * better:.1f} %, {lower:.3f} nats")


if __name__ == "__main__":
    main()
