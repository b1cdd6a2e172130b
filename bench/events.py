"""Labels of events against those of single photos, on bursts made from real photos.

    python bench/events.py --pipeline ./pipeline --images DIR [--hard] [--draws 3] [--set KEY=VALUE...]

DIR has a folder of photos per class. Half of each class is learned and half is test. Of
every photo a burst is made: moved and zoomed crops, some of them blurred or dark; with --hard the
test photos are more so, noisy, and half hidden by a grey bar. A model learns one to three
photos of each burst, and labels bursts of 1 to 8 photos (label --events).

The table compares, with probabilities from labels.csv: each photo alone, the majority of a
burst, the product of probabilities (the sum of w log p with w = 1/n, w = 1, and the w that
is best in hindsight), the mean of probabilities, and what the program writes. ECE is that
of ten equal bins, over bursts; NLL is in nats.
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

GAP = 600  # seconds between two events


def variant(photo, rng, hard):
    """A crop of a photo that moved, blurred, dark, noisy or partly hidden."""
    zoom = rng.uniform(0.45 if hard else 0.7, 1)
    w, h = max(8, int(photo.width * zoom)), max(8, int(photo.height * zoom))
    x, y = rng.integers(0, photo.width - w + 1), rng.integers(0, photo.height - h + 1)
    out = photo.crop((x, y, x + w, y + h))
    if rng.random() < 0.5:
        out = out.filter(ImageFilter.GaussianBlur(rng.uniform(0, 4 if hard else 1.5)))
    out = ImageEnhance.Brightness(out).enhance(rng.uniform(0.3 if hard else 0.7, 1.3))
    if hard and rng.random() < 0.4:
        at = int(rng.integers(0, w // 2 + 1))
        out.paste((128, 128, 128), (at, 0, at + w // 2, h))
    if hard and rng.random() < 0.5:
        noise = rng.normal(0, 30, (h, w, 3))
        out = Image.fromarray(np.clip(np.asarray(out) + noise, 0, 255).astype(np.uint8))
    return out


def write(folder, events, rng, hard, sizes):
    """Writes bursts; returns the class of each event by the prefix of its photos."""
    truth = {}
    for e, (name, file) in enumerate(events):
        photo = Image.open(file).convert("RGB")
        start = np.datetime64("2025-06-14T10:00:00") + np.timedelta64(GAP * e, "s")
        for i in range(rng.integers(sizes[0], sizes[1] + 1)):
            stamp = str(start + np.timedelta64(2 * i, "s")).replace("-", "").replace(":", "").replace("T", "_")
            path = folder / (name if folder.name == "learn" else "camera") / f"IMG_{stamp}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            variant(photo, rng, hard).save(path, quality=90)
            truth[path.name] = name
    return truth


def product(p, w):
    return np.log(np.maximum(p, 1e-12)).sum(0) * w


def mean(p):
    return np.log(p.mean(0))


def told(log_p, own, n):
    """Probability of the best class, whether it is right, −log p of the right one, and n."""
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return p.max(), p.argmax() == own, -np.log(max(p[own], 1e-12)), n


def ece(probabilities, right):
    p, r = np.array(probabilities), np.array(right, float)
    at = np.minimum((p * 10).astype(int), 9)
    return sum(abs(p[at == b].mean() - r[at == b].mean()) * (at == b).mean() for b in np.unique(at))


def run(args, draw, found):
    rng = np.random.default_rng(draw)
    learn, look = [], []
    for folder in sorted(args.images.iterdir()):
        files = sorted(folder.glob("*.jpg"))[: args.per_class]
        files = [files[i] for i in rng.permutation(len(files))]
        learn += [(folder.name, f) for f in files[: len(files) // 2]]
        look += [(folder.name, f) for f in files[len(files) // 2 :]]
    flags = [f for s in args.set for f in ("--set", s)]
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        write(d / "learn", learn, rng, False, (1, 3))
        truth = write(d / "look", look, rng, args.hard, (1, 8))

        def call(*words):
            return subprocess.run([args.pipeline, *words, *flags], check=True, capture_output=True, text=True)

        call("train", "--images", d / "learn", "--classifier", args.classifier, "--out", d / "m.model")
        call("label", d / "m.model", "--images", d / "look", "--events", "60", "--top-k", "10000", "--out", d / "out")
        held = json.loads(call("inspect", d / "m.model", "--json").stdout)["calibration"]
        found["added"].append(held.get("added", 0))
        events = collections.defaultdict(list)
        with open(d / "out" / "labels.csv", newline="") as f:
            for row in csv.DictReader(f):
                events[row["event"]].append(row)
        for rows in events.values():
            true = truth[pathlib.Path(rows[0]["path"]).name]
            assert all(truth[pathlib.Path(r["path"]).name] == true for r in rows)
            shares = [dict(json.loads(r["top_k"])) for r in rows]
            classes = sorted(shares[0])
            p, n, own = np.array([[q[c] for c in classes] for q in shares]), len(rows), classes.index(true)
            found["a photo alone"] += [told(np.log(q + 1e-12), own, n) for q in p]
            votes = np.bincount(p.argmax(1), minlength=len(classes)) + 1e-3 * p.sum(0)
            found["majority"].append(told(np.log(votes + 1e-12), own, n))
            found["product, w = 1/n"].append(told(product(p, 1 / n), own, n))
            found["product, w = 1"].append(told(product(p, 1), own, n))
            found["mean"].append(told(mean(p), own, n))
            found["bursts"].append((p, own))
            labels = collections.Counter(r["event_label"] for r in rows)
            best = max(labels, key=labels.get)
            probability = next(float(r["event_probability"]) for r in rows if r["event_label"] == best)
            found["label --events"].append((probability, best == true, np.nan, n))
            found["several"].append(len(labels) > 1)


def hindsight(bursts):
    """The product with the w, the same for all bursts, of the highest likelihood."""
    tries = ([told(product(p, max(w, 1 / len(p))), own, len(p)) for p, own in bursts]
             for w in np.arange(0.05, 1.01, 0.05))
    return min(tries, key=lambda rows: sum(nll for _, _, nll, _ in rows))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--images", type=pathlib.Path, required=True)
    a.add_argument("--per-class", type=int, default=10)
    a.add_argument("--hard", action="store_true")
    a.add_argument("--draws", type=int, default=3)
    a.add_argument("--classifier", default="plda")
    a.add_argument("--set", action="append", default=[])
    args = a.parse_args()
    found = collections.defaultdict(list)
    for draw in range(args.draws):
        run(args, draw, found)
    found["product, best w"] = hindsight(found["bursts"])
    print("| label by | all | 2 to 4 photos | 5 to 8 photos | ECE | NLL |\n|---|---|---|---|---|---|")
    for name in ("a photo alone", "majority", "product, w = 1/n", "product, w = 1", "product, best w", "mean",
                 "label --events"):
        rows = found[name]
        right = [100 * np.mean([r for _, r, _, n in rows if n in sizes])
                 for sizes in (range(9), range(2, 5), range(5, 9))]
        nll = "" if name in ("majority", "label --events") else f"{np.mean([v for _, _, v, _ in rows]):.2f}"
        print(f"| {name} | {right[0]:.1f} | {right[1]:.1f} | {right[2]:.1f} | "
              f"{100 * ece([p for p, *_ in rows], [r for _, r, *_ in rows]):.1f} | {nll} |")
    print(f"added {found['added']}, {len(found['bursts'])} bursts, {100 * np.mean(found['several']):.1f} % of them "
          "said to show several classes")


if __name__ == "__main__":
    main()
