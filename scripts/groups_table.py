#!/usr/bin/env python3
"""Compare the groups of `pipeline rank --cluster-unknown` with scikit-learn's HDBSCAN and Ward.

For every draw, a model learns some photos of the known classes; then photos of unknown classes are
grouped, alone ("unknown") and as they come out of a folder with photos of known classes too
("rejected": what --reject 0.1 takes for unknown). The class of a photo is the name of its folder.

  groups_table.py --pipeline bin/pipeline --images caltech101_10 --unknown 20 --learn 7 --test 3
  groups_table.py --pipeline bin/pipeline --images mini_imagenet --learn 100 --learn-from train --test-from test \\
    --per-unknown 25

The peers cluster the same photos by their embeddings, scaled to length 1, and know the truth: HDBSCAN
has the best of 24 settings, Ward the best number of groups, for each draw and each figure. Every photo
without a group counts as a group of its own; HDBSCAN's also as one group, if that is better for it.

Needs numpy, scipy and scikit-learn 1.3 or later. Prints the rows of a Markdown table: mean and standard
error over the draws.
"""

import argparse
import csv
import pathlib
import subprocess
import tempfile

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score


def figures(truth, groups):
    """Return the adjusted mutual information and the adjusted Rand index."""
    return np.array([adjusted_mutual_info_score(truth, groups), adjusted_rand_score(truth, groups)])


def ward(x, truth):
    """Return both figures of Ward with its best number of groups."""
    tree, classes = linkage(x, "ward"), len(set(truth))
    counts = np.unique(np.linspace(max(2, classes // 2), min(len(x), 3 * classes), 60).astype(int))
    return np.max([figures(truth, fcluster(tree, k, "maxclust")) for k in counts], axis=0)


def hdbscan(x, truth):
    """Return both figures of HDBSCAN with its best setting."""
    best = np.zeros(2)
    for size in (2, 3, 5, 10):
        for samples in (1, 2, 5):
            for selection in ("eom", "leaf"):
                found = HDBSCAN(min_cluster_size=size, min_samples=samples, cluster_selection_method=selection,
                                copy=True).fit_predict(x)
                alone = np.where(found < 0, len(x) + np.arange(len(x)), found)
                best = np.max([best, figures(truth, found), figures(truth, alone)], axis=0)
    return best


def photos(root):
    """Return the photos below a folder by class, relative to it."""
    by_class = {}
    for path in sorted(root.rglob("*.jpg")):
        by_class.setdefault(path.parent.name, []).append(path.relative_to(root).as_posix())
    return by_class


def write_list(file, rows):
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["path", "label"])
        table.writerows(rows)


def read(file):
    with open(file, newline="", encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


def draw(options, seed):
    """Return (path, class) of what is learned, of known classes to test, and of unknown classes."""
    rng = np.random.default_rng(seed)
    learn_from = {c: [f"{options.learn_from}/{p}" for p in ps]
                  for c, ps in photos(options.images / options.learn_from).items()}
    test_from = {c: [f"{options.test_from}/{p}" for p in ps]
                 for c, ps in photos(options.images / options.test_from).items()}
    classes = sorted(test_from)
    unknown = {c for c in classes if len(learn_from.get(c, [])) < options.learn}
    unknown.update(rng.choice(classes, options.unknown, replace=False))
    learned, known, novel = [], [], []
    for c in classes:
        if c in unknown:
            novel += [(p, c) for p in rng.permutation(test_from[c])[: options.per_unknown]]
            continue
        chosen = set(rng.permutation(learn_from[c])[: options.learn])
        learned += [(p, c) for p in sorted(chosen)]
        known += [(p, c) for p in rng.permutation([p for p in test_from[c] if p not in chosen])[: options.test]]
    return learned, known, novel


def compare(options, work, model, rows, reject):
    """Group photos, and return the figures of the program and of its peers."""
    def run(*arguments):
        subprocess.run([options.pipeline, *arguments, *options.set], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)

    photo_list, ranking = work / "photos.csv", work / "novel.csv"
    write_list(photo_list, rows)
    source = ["--images", str(options.images), "--list", str(photo_list)]
    name = f"{len(rows)}-{reject}"
    run("rank", str(model), *source, "--by", "novelty", "--reject", str(reject),
        "--cluster-unknown", str(work / f"groups-{name}"), "--out", str(ranking))
    chosen = [r for r in read(ranking) if r["novel"] == "true"]
    groups = np.array([int(r["group"] or -1) for r in chosen])
    write_list(photo_list, [(r["path"], r["given"]) for r in chosen])
    features = work / f"features-{name}"
    run("embed", *source, *options.backbone, "--out", str(features))
    x = np.load(features / "embeddings.npy").astype(float)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    truth = {r["path"]: r["label"] for r in read(features / "samples.csv")}
    order = {r["path"]: i for i, r in enumerate(read(features / "samples.csv"))}
    x, labels = x[[order[r["path"]] for r in chosen]], [truth[r["path"]] for r in chosen]
    alone = np.where(groups < 0, len(groups) + np.arange(len(groups)), groups)
    copies = sum(r["duplicate_of"] != "" for r in chosen)
    own = [len(chosen), len(set(labels)), len(set(groups[groups > 0])), np.mean(groups < 0), copies]
    return np.concatenate([own, figures(labels, alone), ward(x, labels), hdbscan(x, labels)])


def row(name, draws):
    """Return a row of the table."""
    mean, error = np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    cells = [f"{mean[0]:.0f}", f"{mean[1]:.0f}", f"{mean[2]:.1f} ± {error[2]:.1f}", f"{100 * mean[3]:.1f} %",
             f"{mean[4]:.1f}"]
    cells += [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[5:], error[5:])]
    return f"| {name} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipeline", required=True, help="the program")
    parser.add_argument("--images", required=True, type=pathlib.Path, help="folder of photos")
    parser.add_argument("--unknown", type=int, default=0,
                        help="number of classes drawn to be unknown; those with fewer than LEARN photos are too")
    parser.add_argument("--learn", type=int, required=True, help="photos learned of each known class")
    parser.add_argument("--test", type=int, default=10, help="further photos of each known class")
    parser.add_argument("--per-unknown", type=int, help="photos of each unknown class (default: all)")
    parser.add_argument("--learn-from", default=".", help="folder in IMAGES to learn from")
    parser.add_argument("--test-from", default=".", help="folder in IMAGES of the other photos")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--method", default="plda")
    parser.add_argument("--backbone", nargs="*", default=[],
                        help="FILE and settings, as in --backbone vit.onnx preprocess.preset=vit-0.5")
    parser.add_argument("--name", default="", help="of the row")
    options = parser.parse_args()
    options.set = [a for s in options.backbone[1:] for a in ("--set", s)]
    options.backbone = ["--backbone", options.backbone[0]] if options.backbone else []

    alone, rejected = [], []
    for seed in range(options.draws):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            learned, known, novel = draw(options, seed)
            write_list(work / "learned.csv", learned)
            model = work / "photos.model"
            subprocess.run(
                [options.pipeline, "train", "--images", str(options.images), "--list", str(work / "learned.csv"),
                 "--classifier", options.method,
                 "--out", str(model), *options.backbone, *options.set], check=True, stdout=subprocess.DEVNULL)
            alone.append(compare(options, work, model, novel, 0.999))
            rejected.append(compare(options, work, model, known + novel, 0.1))
            print(seed, alone[-1].round(3), rejected[-1].round(3), flush=True)
    print("| | photos | classes | groups | ungrouped | near-duplicates | AMI | ARI | Ward: AMI | ARI "
          "| HDBSCAN: AMI | ARI |")
    print(row(f"{options.name}, unknown", alone))
    print(row(f"{options.name}, rejected", rejected))


if __name__ == "__main__":
    main()
