#!/usr/bin/env python3
"""Names and photos together: pipeline against Tip-Adapter and GDA-CLIP, which need no training.

    python bench/words_peer.py --pipeline ./pipeline --texts caltech_text.npz --features caltech101

FEATURES has the feature folders shots01 ... shots16 and test (embeddings.npy, samples.csv);
TEXTS the arrays T (n x d) and idx, the numbers of their classes among the sorted ones.
The table of docs/results/words.md. What peers leave to a validation set is chosen by leaving out, in four
folds, by likelihood; with one photo of each class it is what their authors start from.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np

SHOTS = (1, 2, 4, 8, 16)
WEIGHTS = np.geomspace(0.01, 100, 25)


def rows(folder, names):
    x = np.load(folder / "embeddings.npy").astype(float)
    with open(folder / "samples.csv", newline="", encoding="utf-8") as f:
        y = [r["label"] for r in csv.DictReader(f)]
    keep = [i for i, name in enumerate(y) if name in names]
    x = x[keep] / np.linalg.norm(x[keep], axis=1, keepdims=True)
    return x, np.array([names[y[i]] for i in keep])


def tip(x, y, t, q, alpha, beta=5.5):
    """Zhang et al. 2022, without training: a cache of the photos."""
    return 100 * q @ t.T + alpha * np.exp(-beta * (1 - q @ x.T)) @ np.eye(len(t))[y]


def gda(x, y, t, q, alpha):
    """Wang et al. 2024: Gaussian classes of one covariance, its inverse shrunk (Kubokawa and Srivastava 2008)."""
    n, d = x.shape
    means = np.array([x[y == c].mean(0) if (y == c).any() else t[c] for c in range(len(t))])
    r = x - means[y] if n > len(t) else x - x.mean(0)
    cov = r.T @ r / (n - 1)
    inverse = d * np.linalg.pinv((n - 1) * cov + np.trace(cov) * np.eye(d))
    w = means @ inverse
    return 100 * q @ t.T + alpha * (q @ w.T - (w * means).sum(1) / 2)


def loss(z, y):
    top = z.max(1)
    return (np.log(np.exp(z - top[:, None]).sum(1)) + top - z[np.arange(len(y)), y]).mean()


def chosen(peer, x, y, t):
    number = np.zeros(len(y), int)
    for c in range(len(t)):
        number[y == c] = np.arange((y == c).sum())
    if number.max() == 0:
        return 1.0
    folds = [number % 4 == f for f in range(4) if (number % 4 == f).any()]

    def left_out(alpha):
        return sum(loss(peer(x[~f], y[~f], t, x[f], alpha), y[f]) * f.sum() for f in folds)

    return min(WEIGHTS, key=left_out)


def folder(path, array, table, name, columns):
    path.mkdir()
    np.save(path / array, table[0].astype("f4"))
    with open(path / name, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([columns, *table[1]])
    return str(path)


def ours(program, work, texts, train, test, key):
    model, out = str(work / f"{key}.model"), work / f"{key}.json"
    inputs = ["--texts", texts] if texts else []
    inputs += ["--features", train] if train else []
    quiet = ["--cache", str(work / "cache"), "--quiet"]
    subprocess.run([program, "train", *inputs, "--out", model, *quiet], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "eval", model, "--features", test, "--json", str(out), *quiet], check=True,
                   stdout=subprocess.DEVNULL)
    result = json.loads(out.read_text(encoding="utf-8"))
    return 100 * result["accuracy"], result["ece"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pipeline", required=True)
    p.add_argument("--texts", type=pathlib.Path, required=True)
    p.add_argument("--features", type=pathlib.Path, required=True)
    a = p.parse_args()
    z = np.load(a.texts)
    t = z["T"] / np.linalg.norm(z["T"], axis=1, keepdims=True)
    with open(a.features / "test" / "samples.csv", newline="", encoding="utf-8") as f:
        order = sorted({r["label"] for r in csv.DictReader(f)})
    names = {order[i]: k for k, i in enumerate(z["idx"])}
    q, truth = rows(a.features / "test", names)
    listed = list(names)

    with tempfile.TemporaryDirectory() as tmp:
        work = pathlib.Path(tmp)

        def features(key, x, y):
            samples = [(f"{key}/{i}", listed[c]) for i, c in enumerate(y)]
            return folder(work / key, "embeddings.npy", (x, samples), "samples.csv", ("path", "label"))

        texts = folder(work / "texts", "texts.npy", (t, [(n, n) for n in listed]), "texts.csv", ("class", "text"))
        test = features("test", q, truth)
        zero, ece = ours(a.pipeline, work, texts, None, test, "names")
        print("| photos of each class | photos | photos and names | calibration error | Tip-Adapter | GDA-CLIP |")
        print("|---|---|---|---|---|---|")
        print(f"| 0 | – | {zero:.1f} | {ece:.3f} | {zero:.1f} | {zero:.1f} |")
        for k in SHOTS:
            x, y = rows(a.features / f"shots{k:02d}", names)
            train = features(f"train{k}", x, y)
            plain, _ = ours(a.pipeline, work, None, train, test, f"plain{k}")
            both, ece = ours(a.pipeline, work, texts, train, test, f"both{k}")
            peers = [100 * (peer(x, y, t, q, chosen(peer, x, y, t)).argmax(1) == truth).mean() for peer in (tip, gda)]
            print(f"| {k} | {plain:.1f} | {both:.1f} | {ece:.3f} | " + " | ".join(f"{v:.1f}" for v in peers) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
