#!/usr/bin/env python3
"""Take apart a few-shot benchmark by session: the classes that come first, and those that come later.

  session_classes.py first --features FEATDIR --lists LISTS --out FEATDIR   features of the first session's classes
  session_classes.py later --images DIR --lists LISTS --out list.csv        a list of the photos of all others

Of mini-ImageNet the first session has 60 classes with all their images; the others have five each. LISTS has
session_1.txt, whose paths end in CLASS/IMAGE; DIR has PART/CLASS/IMAGE. `first` needs numpy.
"""

import argparse
import csv
import pathlib
import shutil
import sys


def first(o, classes):
    """Write the features of some classes, and say how many there are."""
    import numpy as np

    with open(o.features / "samples.csv", newline="", encoding="utf-8") as file:
        header, *samples = csv.reader(file)
    rows = [i for i, sample in enumerate(samples) if sample[header.index("label")] in classes]
    if not rows:
        sys.exit(f"session_classes: {o.features} has none of the {len(classes)} classes of {o.lists}/session_1.txt")
    o.out.mkdir(parents=True, exist_ok=True)
    np.save(o.out / "embeddings.npy", np.load(o.features / "embeddings.npy")[rows])
    with open(o.out / "samples.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *(samples[i] for i in rows)])
    for name in ("meta.json", "errors.csv"):
        shutil.copy(o.features / name, o.out / name)
    print(f"{len(rows)} of {len(samples)} images")


def later(o, classes):
    """Write a list of the images of all other classes, and say how many there are."""
    images = sorted(p.relative_to(o.images) for p in o.images.glob("*/*/*") if p.parent.name not in classes)
    o.out.parent.mkdir(parents=True, exist_ok=True)
    with open(o.out, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("path", "label"), *((p, p.parent.name) for p in images)])
    print(f"{len(images)} images")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = p.add_subparsers(required=True)
    for work, source in (first, "--features"), (later, "--images"):
        kind = kinds.add_parser(work.__name__)
        kind.set_defaults(work=work)
        for name in source, "--lists", "--out":
            kind.add_argument(name, type=pathlib.Path, required=True)
    o = p.parse_args()
    paths = (o.lists / "session_1.txt").read_text(encoding="utf-8").split()
    o.work(o, {pathlib.PurePosixPath(path).parent.name for path in paths})


if __name__ == "__main__":
    main()
