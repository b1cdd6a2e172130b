"""A model of photos, in a file."""

import csv
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from photo_pipeline.program import PipelineError, flags, run

Name = str | os.PathLike[str]
Photos = Name | Iterable[Name]


class Model:
    """A model in a file, which knows some classes of photos.

    Photos are a folder, or the paths of photos. Settings are the flags of the command that does the
    work: label("photos", reject=0.02, top_k=3) is pipeline label --reject 0.02 --top-k 3.
    """

    def __init__(self, path: Name) -> None:
        self.path = Path(path).absolute()
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path} is no file; Model.train makes one")

    @classmethod
    def train(cls, path: Name, photos: Photos, labels: Sequence[str] | None = None, **settings: Any) -> "Model":
        """Trains a model and saves it. Each folder in a folder of photos is a class; paths have labels."""
        with tempfile.TemporaryDirectory() as work:
            source = _source(photos, work, labels)
            run("train", *source, f"--out={Path(path).absolute()}", "--quiet", *flags(settings))
        return cls(path)

    def learn(self, photos: Photos, labels: Sequence[str] | None = None, **settings: Any) -> dict[str, Any]:
        """Teaches new classes, or more photos of old ones, and returns what was learned."""
        with tempfile.TemporaryDirectory() as work:
            source = _source(photos, work, labels)
            report = run("learn", str(self.path), *source, "--json=-", "--quiet", *flags(settings))
        learned: dict[str, Any] = json.loads(report)
        return learned

    def label(self, photos: Photos, **settings: Any) -> pd.DataFrame:
        """Returns a row for each photo: path, label, probability and the other columns of labels.jsonl.

        Rows are in the order of the paths; those of a folder, relative to it, are sorted. What could not
        be read has an error and no label.
        """
        with tempfile.TemporaryDirectory() as work:
            source, out = _source(photos, work), f"{work}/labels"
            run("label", str(self.path), *source, f"--out={out}", "--format=jsonl", "--quiet", *flags(settings))
            with open(f"{out}/labels.jsonl", encoding="utf-8") as file:
                rows = {row["path"]: row for row in map(json.loads, file)}
            rows |= {path: {"path": path, "error": why} for path, why in _errors(out).items()}
        order = _order(photos, rows)
        table = pd.DataFrame([rows[key] | {"path": path} for key, path in order])
        for column in "path", "label", "probability", "error":
            if column not in table:
                table[column] = pd.Series([None] * len(table), dtype=object)
        return table

    def embed(self, photos: Photos, **settings: Any) -> npt.NDArray[np.float32]:
        """Returns the embedding of each photo by the network of the model, in the order of label.

        The row of what could not be read is NaN. backbone names the file of the network where the model
        has one that is not in the list of pipeline backbones.
        """
        network = json.loads(run("inspect", str(self.path), "--json=-"))["backbone"]
        settings.setdefault("backbone", network["name"])
        with tempfile.TemporaryDirectory() as work:
            source, out = _source(photos, work), f"{work}/embeddings"
            run("embed", *source, f"--out={out}", "--quiet", *flags(settings))
            with open(f"{out}/meta.json", encoding="utf-8") as file:
                used = json.load(file)["backbone"]
            if used["sha256"] != network["sha256"]:
                raise PipelineError(f"{self.path} has another network of the name {network['name']}: give backbone")
            x = np.load(f"{out}/embeddings.npy")
            with open(f"{out}/samples.csv", encoding="utf-8", newline="") as samples:
                rows = {_cell(row["path"]): i for i, row in enumerate(csv.DictReader(samples))}
            rows |= dict.fromkeys(_errors(out), -1)
        x = np.vstack([x, np.full((1, x.shape[1]), np.nan, np.float32)])  # which is row -1
        return x[[rows[key] for key, _ in _order(photos, rows)]]


def _source(photos: Photos, work: str, labels: Sequence[str] | None = None) -> list[str]:
    """Returns the flags for photos: a folder, or a list that is written into the folder work."""
    if isinstance(photos, (str, os.PathLike)):
        if labels is not None:
            raise ValueError("the folders in a folder of photos are their labels: give paths with labels, or no labels")
        if os.path.isdir(photos):
            return [f"--images={os.path.abspath(photos)}"]
        raise FileNotFoundError(f"{photos} is no folder; give paths as a list")
    paths = list(photos)
    if labels is not None and len(labels) != len(paths):
        raise ValueError(f"{len(paths)} paths and {len(labels)} labels")
    with open(f"{work}/list.jsonl", "w", encoding="utf-8") as file:
        for i, path in enumerate(paths):
            row = {"path": _key(path)} | ({"label": str(labels[i])} if labels is not None else {})
            file.write(json.dumps(row) + "\n")
    return [f"--list={work}/list.jsonl"]


def _order(photos: Photos, rows: Iterable[str]) -> list[tuple[str, str]]:
    """Returns the keys of rows in the order of the photos, with the paths that the caller knows them by."""
    if isinstance(photos, (str, os.PathLike)):
        return [(key, key) for key in sorted(rows, key=os.fsencode)]
    return [(_key(path), os.fspath(path)) for path in photos]


def _key(path: Name) -> str:
    """Returns an absolute path as the program writes it: %XX stands for a byte that is no text."""
    text = os.fsencode(os.path.abspath(path)).decode("utf-8", "surrogateescape")
    text = text.replace("\\", "/") if os.name == "nt" else text
    text = re.sub(r"%(?=[89A-F][0-9A-F]|[01][0-9A-F]|7F|25)", "%25", text)
    return re.sub(r"[\0-\x08\x0b-\x1f\x7f\udc80-\udcff]", lambda c: f"%{ord(c[0]) & 0xFF:02X}", text)


def _errors(out: str) -> dict[str, str]:
    """Returns why photos could not be read."""
    with open(f"{out}/errors.csv", encoding="utf-8", newline="") as file:
        return {_cell(row["path"]): row["error"] for row in csv.DictReader(file)}


def _cell(text: str) -> str:
    """Returns a cell without the apostrophe that keeps spreadsheets from running it."""
    return text[1:] if re.match(r"'+[=+\-@\t\r]", text) else text
