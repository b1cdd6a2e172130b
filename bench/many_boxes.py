"""Time and memory of labelling many boxes, against whole photos.

    python bench/many_boxes.py --pipeline ./pipeline [--photos 40000] [--width 320] [--backbone NAME]

Drawn photos, of which each has five boxes, none, or between: 2.5 in the mean. A model of two
classes labels the photos, then the boxes, with an empty cache.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image

BOXES = (0, 1, 2, 2, 5, 5)  # of photo i, by turns


def draw(folder, photos, width):
    """Draws the photos, and writes boxes in them."""
    rng = np.random.default_rng(1)
    height = width * 3 // 4
    records, n = [], 0
    for i in range(photos):
        name = f"{i // 1000:03d}/{i:06d}.jpg"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        coarse = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC).save(folder / name, quality=90)
        found = []
        for _ in range(BOXES[i % len(BOXES)]):
            w, h = rng.uniform(0.1, 0.4, 2)
            x, y = rng.uniform(0, 1 - w), rng.uniform(0, 1 - h)
            found.append({"category": "1", "conf": 0.9, "bbox": [round(v, 4) for v in (x, y, w, h)]})
        n += len(found)
        records.append({"file": name, "detections": found})
    text = {"images": records, "detection_categories": {"1": "animal"}, "info": {"format_version": "1.4"}}
    (folder.parent / "boxes.json").write_text(json.dumps(text))
    return n


def measured(command):
    """Seconds, and the most memory of the process in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, (command, status)
    return time.monotonic() - start, used.ru_maxrss / 1024


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--pipeline", type=pathlib.Path, required=True)
    a.add_argument("--photos", type=int, default=40000)
    a.add_argument("--width", type=int, default=320)
    a.add_argument("--backbone", default="default")
    args = a.parse_args()
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        for name in ("a", "b"):
            draw(d / "learn" / name, 6, args.width)
        boxes = draw(d / "look", args.photos, args.width)
        train = [args.pipeline, "train", "--images", d / "learn", "--out", d / "m.model", "--classifier", "ncm"]
        measured([*train, "--backbone", args.backbone])
        print("| | number | seconds | ms each | memory (MiB) |\n|---|---|---|---|---|")
        for what, n, more in (("photos", args.photos, []), ("boxes", boxes, ["--boxes", d / "boxes.json"])):
            label = [args.pipeline, "label", d / "m.model", "--images", d / "look", "--out", d / what]
            seconds, memory = measured([*label, "--cache", d / f"cache-{what}", *more])
            print(f"| {what} | {n} | {seconds:.0f} | {1000 * seconds / n:.2f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
