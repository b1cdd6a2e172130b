"""Small subjects near an edge: what the network sees of the photo, and boxes.

    python bench/boxes.py --pipeline ./pipeline --images DIR [--classes 50] [--draws 2] [--set KEY=VALUE...]

DIR has a folder of photos per class. Photos of the first classes are pasted, at a tenth of
the area and within a twentieth of its sides from an edge, on backgrounds of 1600×900 pixels:
enlarged photos of the other classes. Half of each class is learned and half is test. The
ways: the centre crop (as always), squeeze, pad, views (the mean embedding of three
overlapping squares), boxes (embed --boxes, COCO), and the same photos unpasted, each alone.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
from PIL import Image, ImageFilter

WIDTH, HEIGHT = 1600, 900


def scene(subject, background, rng):
    """A photo with the subject near an edge, and where it is."""
    out = background.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(2))
    scale = np.sqrt(0.1 * WIDTH * HEIGHT / (subject.width * subject.height))
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
            background = Image.open(backgrounds[rng.integers(len(backgrounds))]).convert("RGB")
            photo, box = scene(Image.open(files[at]).convert("RGB"), background, rng)
            name = f"{half}/{c.name}/{i}.jpg"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            photo.save(folder / name, quality=92)
            alone = folder.parent / "alone" / name
            alone.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(files[at], alone)
            n = len(coco["images"])
            coco["images"].append({"id": n, "file_name": name, "width": WIDTH, "height": HEIGHT})
            category = len(coco["categories"]) - 1
            coco["annotations"].append({"id": n, "image_id": n, "category_id": category, "bbox": box})
    (folder / "coco.json").write_text(json.dumps(coco))


def squares(photo, way):
    """The pictures that stand for a photo."""
    if way == "pad":
        out = Image.new("RGB", (WIDTH, WIDTH), (124, 116, 104))
        out.paste(photo, (0, (WIDTH - HEIGHT) // 2))
        return [out]
    if way == "squeeze":
        return [photo.resize((HEIGHT, HEIGHT), Image.Resampling.BICUBIC)]
    if way == "views":
        return [photo.crop((x, 0, x + HEIGHT, HEIGHT)) for x in (0, (WIDTH - HEIGHT) // 2, WIDTH - HEIGHT)]
    return [photo]


def embed(call, folder, out, *flags):
    """Embeddings, and the lines of their table."""
    call("embed", "--images", folder, "--class-from", "path", "--out", out, "--cache", out.parent / "cache", *flags)
    return np.load(out / "embeddings.npy"), (out / "samples.csv").read_text().splitlines()[1:]


def measure(args, d, way, call):
    """Share of test photos named right."""
    if way == "boxes":
        x, samples = embed(call, d / "photos", d / way, "--boxes", d / "photos" / "coco.json")
        parts = 1
    elif way == "unpasted":
        x, samples = embed(call, d / "alone", d / way)
        parts = 1
    else:
        for file in (d / "photos").rglob("*.jpg"):
            pictures = squares(Image.open(file), way)
            for i, picture in enumerate(pictures):
                to = d / f"{way}-photos" / file.relative_to(d / "photos").with_suffix(f".{i}.png")
                to.parent.mkdir(parents=True, exist_ok=True)
                picture.save(to, compress_level=1)
        parts = len(pictures)
        x, samples = embed(call, d / f"{way}-photos", d / way)
        shutil.rmtree(d / f"{way}-photos")
    x = x.reshape(len(x) // parts, parts, -1).mean(1)
    paths = [line.split(",")[0] for line in samples[::parts]]
    for half in ("train", "test"):
        own = [i for i, p in enumerate(paths) if p.startswith(half)]
        (d / half).mkdir(exist_ok=True)
        np.save(d / half / "embeddings.npy", x[own])
        rows = "\n".join(f"{paths[i]},{paths[i].split('/')[1]}" for i in own)
        (d / half / "samples.csv").write_text("path,label\n" + rows + "\n")
    call("train", "--features", d / "train", "--classifier", "plda", "--out", d / "m.model")
    call("eval", d / "m.model", "--features", d / "test", "--json", d / "eval.json")
    return json.loads((d / "eval.json").read_text())["accuracy"]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--images", type=pathlib.Path, required=True)
    a.add_argument("--classes", type=int, default=50)
    a.add_argument("--draws", type=int, default=2)
    a.add_argument("--set", action="append", default=[])
    args = a.parse_args()
    flags = [f for s in args.set for f in ("--set", s)]

    def call(*words):
        subprocess.run([args.pipeline, *words, *flags], check=True, capture_output=True)

    ways = ("crop", "squeeze", "pad", "views", "boxes", "unpasted")
    found = {way: [] for way in ways}
    for draw in range(args.draws):
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            compose(args, d / "photos", draw)
            for way in ways:
                found[way].append(measure(args, d, way, call))
    print("| the network sees | right |\n|---|---|")
    for way, right in found.items():
        print(f"| {way} | {100 * np.mean(right):.1f} |")


if __name__ == "__main__":
    main()
