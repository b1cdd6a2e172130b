#!/usr/bin/env python3
"""Make a feature folder (FEATDIR) from ready-made CUB-200-2011 features.

    python3 scripts/import_cub.py --mat xlsa17/data/CUB/res101.mat --cub CUB_200_2011 --out cub-res101

Reads the ResNet-101 features of Xian et al. (res101.mat of their zero-shot data) and the official split of the data
set (images.txt and train_test_split.txt), and matches them by CLASS/FILE, the last two parts of each path, because
the columns are not in the order of images.txt. (att_splits.mat, which comes with the features, holds zero-shot
splits instead.) An image that is missing, appears twice, or has a label that is not the number of its class is an
error, and nothing is written.
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
except ImportError as err:
    sys.exit(f"import_cub: {err}; it needs NumPy and SciPy: python3 -m pip install numpy scipy")


def read_numbered(path, pattern, wanted):
    """Return {number: (line, value)} of a file of lines "number value"."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file, or not a regular file; "
                         "--cub is the folder CUB_200_2011 of the archive")
    rows = {}
    for n, line in enumerate(path.read_bytes().decode("utf-8", "surrogateescape").split("\n"), 1):
        match = re.fullmatch(f"0*([1-9][0-9]*) +({pattern})", line.strip())
        if match and int(match[1]) in rows:
            raise ValueError(f"{path}: line {n}: image number {match[1]} is listed twice")
        if match:
            rows[int(match[1])] = n, match[2]
        elif line.strip():
            raise ValueError(f'{path}: line {n}: "{line.strip()[:80]}" is not the number of an image and {wanted}')
    if not rows:
        raise ValueError(f"{path}: is empty")
    return rows


def read_splits(images, split):
    """Return the split, train or test, of each CLASS/FILE."""
    paths = read_numbered(images, r"0*[1-9][0-9]*\.[^/]+/[^/]+",
                          "its path, such as 001.Albatross/Albatross_0046_18.jpg")
    uses = read_numbered(split, "[01]", "1 (training) or 0 (test)")
    for file, rows, other, others in (images, paths, split, uses), (split, uses, images, paths):
        for number, (line, value) in rows.items():
            if number not in others:
                raise ValueError(f'{file}: line {line}: image number {number} ("{value}") is not in {other}')
    splits = {}
    for number, (line, path) in paths.items():
        if path in splits:
            raise ValueError(f"{images}: line {line}: image {path} is listed twice")
        splits[path] = "train" if uses[number][1] == "1" else "test"
    return splits


def read_mat(path):
    """Return the features (one column per image), the paths and the labels of the images."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file, or not a regular file")
    try:
        mat = scipy.io.loadmat(path, appendmat=False, variable_names=["features", "labels", "image_files"])
    except NotImplementedError as err:
        again = "save it again in MATLAB with save('NEW.mat', '-v7')"
        raise ValueError(f"{path}: a MAT-file of version 7.3; {again}") from err
    except Exception as err:  # SciPy has a type for every kind of damage
        raise ValueError(f"{path}: not a MAT-file, or truncated or damaged: {err}") from err
    for name, kinds in ("features", "fiu"), ("labels", "fiu"), ("image_files", "O"):
        if name not in mat:
            raise ValueError(f"{path}: no variable {name}; res101.mat has features, labels and image_files")
        array, n = mat[name], mat["features"].shape[-1]
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.ndim != 2 or array.size == 0:
            raise ValueError(f"{path}: {name} has the type {array.dtype} and the size {array.shape}; "
                             "need real numbers with one column per image, and one label and one text for each")
        if name != "features" and sorted(array.shape) != [1, n]:
            raise ValueError(f"{path}: {name} has the size {array.shape}, but features has {n} columns")
    for i, cell in enumerate(mat["image_files"].flat, 1):
        if cell.dtype.kind != "U" or cell.size != 1:
            raise ValueError(f"{path}: image_files: cell {i} has the type {cell.dtype} and the size {cell.shape}; "
                             "need text")
    return mat["features"], [cell.item() for cell in mat["image_files"].flat], mat["labels"].flat


def join(mat, files, labels, images, splits):
    """Return CLASS/FILE of each column; every image of the data set appears exactly once."""
    columns = {}
    for i, (file, label) in enumerate(zip(files, labels), 1):
        path = "/".join(re.split(r"[/\\]", file)[-2:])
        if path not in splits:
            raise ValueError(f'{mat}: image {i}: "{file}" is not in {images}')
        if label != int(path.split(".")[0]):
            raise ValueError(f"{mat}: image {i}: {path} has the label {label:g}, "
                             f"not the number of its class in {images}")
        if path in columns:
            raise ValueError(f"{mat}: image {path} appears twice, as number {columns[path]} and {i}; "
                             f"{images} lists it once")
        columns[path] = i
    missing = sorted(splits.keys() - columns.keys())
    if missing:
        raise ValueError(f"{mat}: image {missing[0]} of {images} is missing ({len(missing)} of {len(splits)} are)")
    return list(columns)


def describe(mat, lists, dimension):
    """Return meta.json. Its backbone hash is empty, because there is no backbone file to look for."""
    files = [{"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in (mat, *lists)]
    origin = {"dataset": "CUB-200-2011", "features": files[0], "lists": files[1:]}
    compact = json.dumps(origin, ensure_ascii=False, separators=(",", ":"))
    return {
        "format": 1,
        "tool_version": "import_cub.py",
        "backbone": {"name": f"{mat.name} (Xian et al.)", "sha256": ""},
        "extractor_fingerprint": hashlib.sha256(compact.encode()).hexdigest(),
        "extractor": origin,
        "preprocess_fingerprint": "",
        "dimension": dimension,
    }


def write(out, rows, samples, meta):
    """Write the folder under a temporary name, then replace the feature folder that is there, if any."""
    ours = {"embeddings.npy", "samples.csv", "meta.json", "errors.csv", "summary.json"}
    strange = {e.name for e in out.iterdir()} - ours if out.exists() else set()
    if strange:
        raise ValueError(f"{out}: the folder holds files that this script did not write ({min(strange)}); "
                         "give another --out")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as temporary:
        new = pathlib.Path(temporary, "new")
        new.mkdir()
        np.save(new / "embeddings.npy", rows)
        with open(new / "samples.csv", "w", encoding="utf-8", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([("path", "label", "split", "session"), *samples])
        (new / "meta.json").write_bytes((json.dumps(meta, ensure_ascii=False, indent=2) + "\n").encode())
        for path in new.iterdir():
            with open(path, "rb+") as f:
                os.fsync(f.fileno())
        if out.exists():
            out.rename(pathlib.Path(temporary, "old"))
        new.rename(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mat", type=pathlib.Path, required=True, help="file of features, res101.mat")
    parser.add_argument("--cub", type=pathlib.Path, required=True,
                        help="folder with images.txt and train_test_split.txt")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the embeddings")
    args = parser.parse_args()
    lists = args.cub / "images.txt", args.cub / "train_test_split.txt"
    splits = read_splits(*lists)
    features, files, labels = read_mat(args.mat)
    paths = join(args.mat, files, labels, lists[0], splits)
    with np.errstate(over="ignore"):
        rows = features.T.astype("<f4")
    for i, j in np.argwhere(~np.isfinite(rows))[:1]:
        raise ValueError(f"{args.mat}: image {paths[i]}: value {j + 1} is {features[j, i]:g}, need a finite float32")
    # Readers of samples.csv take %0D, %25 and %80 to %FF for escaped bytes.
    names = [re.sub("%(?=0D|25|[89A-F][0-9A-F])", "%25", path) for path in paths]
    samples = [(name, name.split("/")[0], splits[path], "") for name, path in zip(names, paths)]
    write(args.out.resolve(), rows, samples, describe(args.mat, lists, rows.shape[1]))
    classes, train = {label for _, label, _, _ in samples}, list(splits.values()).count("train")
    print(f"imported {len(paths)} images of {len(classes)} classes ({train} to train, {len(paths) - train} to test), "
          f"{rows.shape[1]} values each, into {args.out}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as err:
        sys.exit(f"import_cub: {err}")
