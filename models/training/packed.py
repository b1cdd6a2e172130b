"""Packed image files: many small JPEGs in one .npz, and back into pixels.

A part holds the untouched bytes of its images one after another (`data`, with
`offsets`), their label numbers (`labels`), the class names in label order
(`classes`) and the image names (`names`). Nothing is re-encoded. The .npz is
deflated, which removes the header tables that every small JPEG repeats.
"""
import io
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
from PIL import Image, ImageOps


@dataclass
class Packed:
    """Encoded images with labels; `offsets` has one entry more than there are images."""
    data: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    classes: list
    names: list

    def __len__(self):
        return len(self.labels)

    def jpeg(self, i):
        return self.data[self.offsets[i]:self.offsets[i + 1]].tobytes()


def from_bytes(blobs, labels, classes, names):
    """Concatenates encoded images into one Packed."""
    offsets = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(b) for b in blobs], out=offsets[1:])
    data = np.frombuffer(b"".join(blobs), np.uint8)
    return Packed(data, offsets, np.asarray(labels, np.int64), list(classes), list(names))


def take(packed, index):
    """The images at the places in `index`."""
    return from_bytes([packed.jpeg(i) for i in index], packed.labels[index], packed.classes,
                      [packed.names[i] for i in index])


def save(path, packed):
    """Writes a part; the final name appears only once the file is whole."""
    partial = path + ".partial"
    with open(partial, "wb") as f:
        np.savez_compressed(f, data=packed.data, offsets=packed.offsets, labels=packed.labels,
                            classes=np.array(packed.classes), names=np.array(packed.names))
        f.flush()
        os.fsync(f.fileno())
    os.replace(partial, path)


def _load_one(path):
    with np.load(path, allow_pickle=False) as z:
        return Packed(z["data"], z["offsets"], z["labels"],
                      z["classes"].tolist(), z["names"].tolist())


def load(paths):
    """Reads the parts of one set in the given order; they must have the same classes."""
    parts = [_load_one(p) for p in paths]
    for p, part in zip(paths, parts):
        if part.classes != parts[0].classes:
            raise ValueError(f"{p}: classes differ from those of {paths[0]}; parts of one set are needed")
    blobs = [part.jpeg(i) for part in parts for i in range(len(part))]
    labels = np.concatenate([part.labels for part in parts])
    return from_bytes(blobs, labels, parts[0].classes, [n for part in parts for n in part.names])


def pixels(blob, side):
    """One encoded image as side×side×3 uint8: shorter side to `side` (bicubic), centre crop."""
    img = ImageOps.exif_transpose(Image.open(io.BytesIO(blob))).convert("RGB")
    if img.size != (side, side):
        img = ImageOps.fit(img, (side, side), Image.BICUBIC)
    return np.asarray(img)


def _decode_chunk(args):
    blobs, side = args
    return np.stack([pixels(b, side) for b in blobs]).transpose(0, 3, 1, 2)


def decode(packed, side, workers):
    """All images as one N×3×side×side uint8 array, decoded by `workers` processes."""
    blobs = [packed.jpeg(i) for i in range(len(packed))]
    chunks = [(blobs[i:i + 500], side) for i in range(0, len(blobs), 500)]
    if workers <= 1:
        return np.concatenate([_decode_chunk(c) for c in chunks])
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        return np.concatenate(list(pool.map(_decode_chunk, chunks)))
