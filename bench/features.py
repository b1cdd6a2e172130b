"""Embeds photos with Pillow and onnxruntime: a FEATDIR to compare ours with.

    python features.py --backbone M.onnx --preset vit-0.5 --images DIR --per-class 2 --out FEATDIR
    pipeline embed --backbone M.onnx --set preprocess.preset=vit-0.5 --images DIR --list FEATDIR/samples.csv --out OURS
    go run ./bench/compare FEATDIR OURS

DIR holds one folder per class; the program takes the first photos of each,
sorted by name, or those named after the flags. --dump-pixels DIR2 also writes
the pixels decoded by Pillow as PNG files; run both programs on DIR2 to compare
them from the same decoded pixels. --half stores
float16, which moves a cosine by 1e-7 and halves the goldens in testdata.
"""

import argparse
import csv
import pathlib

import numpy as np

import photo


def choose(images, per_class, step):
    """Paths below images: the first per_class of each class, and every step-th of those."""
    classes = sorted(p for p in images.iterdir() if p.is_dir())
    chosen = [p for c in classes for p in sorted(c.iterdir())[:per_class]]
    return [p.relative_to(images) for p in chosen[::step]]


def dump(picture, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, compress_level=1)


def write_featdir(out, rows, paths):
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "embeddings.npy", rows)
    with open(out / "samples.csv", "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(["path", "label"])
        w.writerows([p.as_posix(), p.parts[0] if p.parts[1:] else ""] for p in paths)


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--backbone", required=True)
    a.add_argument("--preset", required=True, choices=photo.PRESETS)
    a.add_argument("--images", required=True, type=pathlib.Path)
    a.add_argument("--per-class", type=int, default=2)
    a.add_argument("--step", type=int, default=1, help="take only every STEP-th of those")
    a.add_argument("--out", required=True, type=pathlib.Path)
    a.add_argument("--dump-pixels", type=pathlib.Path)
    a.add_argument("--half", action="store_true")
    a.add_argument("photos", nargs="*", type=pathlib.Path, help="relative to --images")
    return a.parse_args()


def main():
    args = arguments()
    model = photo.session(args.backbone, threads=1)
    paths, rows = args.photos or choose(args.images, args.per_class, args.step), []
    for path in paths:
        picture = photo.decode(args.images / path)
        if args.dump_pixels:
            dump(picture, args.dump_pixels / path.with_suffix(".png"))
        rows.append(photo.embed(model, photo.tensor(picture, args.preset)))
    write_featdir(args.out, np.stack(rows).astype(np.float16 if args.half else np.float32), paths)
    versions = f"onnxruntime {photo.onnxruntime.__version__}, Pillow {photo.Image.__version__}"
    print(f"{len(rows)} photos, d={len(rows[0])}, {versions}")


if __name__ == "__main__":
    main()
