#!/usr/bin/env python3
"""Write a FEATDIR that has only the classes of the first session of a few-shot benchmark.

  first_session.py --features FEATDIR --lists LISTS --out FEATDIR

Of mini-ImageNet the first session has 60 classes with all their images; the others have five each. LISTS has
session_1.txt, whose paths end in CLASS/IMAGE. Needs numpy.
"""

import argparse
import csv
import pathlib
import shutil

import numpy as np


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--features", type=pathlib.Path, required=True)
    p.add_argument("--lists", type=pathlib.Path, required=True)
    p.add_argument("--out", type=pathlib.Path, required=True)
    o = p.parse_args()
    paths = (o.lists / "session_1.txt").read_text(encoding="utf-8").split()
    classes = {pathlib.PurePosixPath(path).parent.name for path in paths}
    with open(o.features / "samples.csv", newline="", encoding="utf-8") as file:
        header, *samples = csv.reader(file)
    rows = [i for i, sample in enumerate(samples) if sample[header.index("label")] in classes]
    if not rows:
        raise SystemExit(f"{p.prog}: {o.features} has none of the {len(classes)} classes of {o.lists}/session_1.txt")
    o.out.mkdir(parents=True, exist_ok=True)
    np.save(o.out / "embeddings.npy", np.load(o.features / "embeddings.npy")[rows])
    with open(o.out / "samples.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *(samples[i] for i in rows)])
    for name in ("meta.json", "errors.csv"):
        shutil.copy(o.features / name, o.out / name)
    print(f"{len(rows)} of {len(samples)} images, {len(classes)} classes")


if __name__ == "__main__":
    main()
