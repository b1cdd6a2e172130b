#!/usr/bin/env python3
"""Packs a list file or a class folder of images into one file for train_backbone.py.

    python3 pack_images.py --list session_1.txt --root DIR --strip 1 --out base.npz
    python3 pack_images.py --folder PHOTOS --out photos.npz
    python3 pack_images.py ... --part 1/2 --out base.1.npz

A list has one path per line; the class of an image is the name of its folder. Bytes
are stored unchanged. `--part i/n` selects the images i−1, i−1+n, i−1+2n, … of each
class, so every part contains every class.
"""
import argparse
import os
import sys

from training import packed

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")


def parse_part(text):
    """"2/3" as the pair (1, 3)."""
    i, _, n = text.partition("/")
    if not (i.isdigit() and n.isdigit() and 1 <= int(i) <= int(n)):
        raise argparse.ArgumentTypeError(f"{text!r} is not i/n with 1 ≤ i ≤ n")
    return int(i) - 1, int(n)


def paths_of_list(path, strip):
    """The paths of a list file without their first `strip` folders."""
    with open(path, encoding="utf-8") as f:
        lines = [line.strip() for line in f]
    return ["/".join(line.split("/")[strip:]) for line in lines if line]


def paths_of_folder(root):
    """Paths under root (slash-separated, sorted) of all files with an image extension."""
    found = []
    for folder, _, files in os.walk(root):
        found += [os.path.relpath(os.path.join(folder, f), root)
                  for f in files if f.lower().endswith(EXTENSIONS)]
    return sorted(p.replace(os.sep, "/") for p in found)


def class_of(path):
    folder = os.path.dirname(path)
    if not folder:
        raise SystemExit(f"{path}: an image must be in a class folder")
    return os.path.basename(folder)


def every_nth_per_class(paths, part):
    """The images of part (i, n): every n-th image of each class, from the i-th."""
    i, n = part
    seen, kept = {}, []
    for p in paths:
        c = class_of(p)
        if seen.get(c, 0) % n == i:
            kept.append(p)
        seen[c] = seen.get(c, 0) + 1
    return kept


def read(root, path):
    try:
        with open(os.path.join(root, path), "rb") as f:
            return f.read()
    except OSError as e:
        raise SystemExit(f"{path}: {e.strerror}; is --root (or --strip) right?") from e


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = p.add_mutually_exclusive_group(required=True)
    source.add_argument("--list", help="list file, one path per line")
    source.add_argument("--folder", help="folder of class folders")
    p.add_argument("--root", default=".", help="folder that the paths of the list are relative to")
    p.add_argument("--strip", type=int, default=0, help="remove this many leading folders from each listed path")
    p.add_argument("--part", type=parse_part, default=(0, 1), metavar="i/n", help="keep part i of n")
    p.add_argument("--out", required=True, help="file to write (.npz)")
    args = p.parse_args(argv)

    root = args.folder or args.root
    paths = paths_of_list(args.list, args.strip) if args.list else paths_of_folder(root)
    classes = sorted({class_of(x) for x in paths})
    number = {c: i for i, c in enumerate(classes)}
    chosen = every_nth_per_class(paths, args.part)
    if not chosen:
        raise SystemExit("no images found")
    pack = packed.from_bytes([read(root, x) for x in chosen], [number[class_of(x)] for x in chosen], classes, chosen)
    packed.save(args.out, pack)
    print(f"{args.out}: {len(pack)} images of {len(classes)} classes, "
          f"{pack.offsets[-1]} bytes packed into {os.path.getsize(args.out)}", file=sys.stderr)


if __name__ == "__main__":
    main()
