"""What the network sees of a photo (preprocess.view), and boxes.

    python bench/boxes.py --pipeline ./pipeline --images DIR [--classes 50] [--draws 2] [--area 0.1]
        [--set KEY=VALUE...] [--backbone NAME]

DIR has a folder of photos per class. Photos of the first classes are pasted, at a tenth of
the area (--area) and within a twentieth of its sides from an edge, on backgrounds of 1600×900
pixels: enlarged photos of the other classes (none with --area 0). Half of each class is learned and half is test.
The ways: the centre crop (as always), squeeze, pad, views, boxes (embed --boxes, COCO). Each
also embeds the same photos unpasted. Time is processor time of embed, start-up included.
"""

import argparse
import csv
import json
import pathlib
import resource
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageFilter

WIDTH, HEIGHT = 1600, 900


def scene(subject, background, area, rng):
    """A photo with the subject near an edge, and where it is."""
    out = background.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(2))
    scale = np.sqrt(area * WIDTH * HEIGHT / (subject.width * subject.height))
    w, h = (min(most, round(side * scale)) for side, most in ((subject.width, WIDTH), (subject.height, HEIGHT)))
    near = rng.integers(0, WIDTH // 20)
    x = int(near if rng.random() < 0.5 else WIDTH - w - near)
    y = int(rng.integers(0, HEIGHT - h + 1))
    out.paste(subject.resize((w, h), Image.Resampling.BICUBIC), (x, y))
    return out, [x, y, w, h]


def compose(args, folder, draw):
    """Writes the photos of both halves and their boxes."""
    rng = np.random.default_rng(draw)
    classes = sorted(p for p in args.images.iterdir() if p.is_dir())
    backgrounds = [f for c in classes[args.classes :] for f in sorted(c.glob("*.jpg"))]
    coco = {"images": [], "annotations": [], "categories": []}
    for c in classes[: args.classes]:
        coco["categories"].append({"id": len(coco["categories"]), "name": c.name})
        files = sorted(c.glob("*.jpg"))[:10]
        for i, at in enumerate(rng.permutation(len(files))):
            half = "train" if i < len(files) // 2 else "test"
            name = f"{half}/{c.name}/{i}.jpg"
            alone = folder.parent / "alone" / name
            alone.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(files[at], alone)
            if not args.area:
                continue
            background = Image.open(backgrounds[rng.integers(len(backgrounds))]).convert("RGB")
            photo, box = scene(Image.open(files[at]).convert("RGB"), background, args.area, rng)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            photo.save(folder / name, quality=92)
            n = len(coco["images"])
            coco["images"].append({"id": n, "file_name": name, "width": WIDTH, "height": HEIGHT})
            category = len(coco["categories"]) - 1
            coco["annotations"].append({"id": n, "image_id": n, "category_id": category, "bbox": box})
    if args.area:
        (folder / "coco.json").write_text(json.dumps(coco))


def embed(call, folder, out, *flags):
    """Embeddings, the paths of their photos, and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(
        "embed",
        "--images",
        folder,
        "--class-from",
        "path",
        "--out",
        out,
        "--cache",
        out.parent / "cache",
        *flags,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = csv.DictReader((out / "samples.csv").open())
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return np.load(out / "embeddings.npy"), [row["path"] for row in rows], spent


def measure(d, folder, call, *flags):
    """Share of test photos named right, and processor milliseconds per photo."""
    with tempfile.TemporaryDirectory(dir=d) as work:
        work = pathlib.Path(work)
        x, paths, spent = embed(call, folder, work / "all", *flags)
        for half in ("train", "test"):
            own = [i for i, p in enumerate(paths) if p.startswith(half)]
            (work / half).mkdir()
            np.save(work / half / "embeddings.npy", x[own])
            rows = "\n".join(f"{paths[i]},{paths[i].split('/')[1]}" for i in own)
            (work / half / "samples.csv").write_text("path,label\n" + rows + "\n")
        call(
            "train",
            "--features",
            work / "train",
            "--classifier",
            "plda",
            "--out",
            work / "m.model",
        )
        call(
            "eval",
            work / "m.model",
            "--features",
            work / "test",
            "--json",
            work / "eval.json",
        )
        return json.loads((work / "eval.json").read_text())["accuracy"], 1000 * spent / len(paths)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--images", type=pathlib.Path, required=True)
    a.add_argument("--classes", type=int, default=50)
    a.add_argument("--draws", type=int, default=2)
    a.add_argument("--area", type=float, default=0.1)
    a.add_argument("--backbone", default="")
    a.add_argument("--set", action="append", default=[])
    args = a.parse_args()
    flags = [f for s in args.set for f in ("--set", s)]

    def call(*words):
        subprocess.run([args.pipeline, *words, *flags], check=True, capture_output=True)

    network = ("--backbone", args.backbone) if args.backbone else ()
    found = {}
    for draw in range(args.draws):
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            compose(args, d / "photos", draw)
            none = (np.nan, np.nan)
            for way in ("crop", "squeeze", "pad", "views"):
                view = (*network, "--set", f"preprocess.view={way}")
                pasted = measure(d, d / "photos", call, *view) if args.area else none
                found.setdefault(way, []).append((*pasted, *measure(d, d / "alone", call, *view)))
            if args.area:
                boxes = measure(
                    d,
                    d / "photos",
                    call,
                    *network,
                    "--boxes",
                    d / "photos" / "coco.json",
                )
                found.setdefault("boxes", []).append((*boxes, *none))
    print("| the network sees | pasted: right | ms | unpasted: right | ms |\n|---|---|---|---|---|")
    for way, rows in found.items():
        pasted, large, alone, ms = np.mean(rows, axis=0)
        print(f"| {way} | {100 * pasted:.1f} | {large:.1f} | {100 * alone:.1f} | {ms:.1f} |")


if __name__ == "__main__":
    main()
