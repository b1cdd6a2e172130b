"""Tests of Model, on drawn photos."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import draw

from photo_pipeline import Model, PipelineError
from photo_pipeline.model import _cell, _key
from photo_pipeline.program import program


@pytest.fixture
def model(photos: Path) -> Model:
    return Model.train("a.model", photos / "train")


def test_learn_and_label(photos: Path, model: Model) -> None:
    learned = model.learn(photos / "new")
    assert "sand" in json.dumps(learned)
    table = model.label(photos / "holiday", top_k=2)
    assert list(table["path"]) == ["0.png", "1.png", "2.png"]
    assert list(table["label"]) == ["sky", "grass", "sand"]
    assert table["error"].isna().all() and all(len(top) == 2 for top in table["top_k"])


def test_paths(photos: Path, model: Model) -> None:
    """One row for each path, in their order, whatever their names are and whether they can be read."""
    odd = photos / "bücher 写真, 100% \"a\" %25"
    one, two = draw(odd, "grass", 1), draw(odd, "sky", 2)
    bad = photos / "bad.jpg"
    bad.write_bytes(b"no photo")
    paths = [one, bad, two, photos / "none.jpg", one]
    if sys.platform == "linux":
        paths.append(Path(os.fsdecode(os.fsencode(photos) + b"/caf\xe9.png")))
        two.rename(paths[-1])
        paths[2] = paths[-1]
    table = model.label(paths)
    assert list(table["path"]) == [str(path) for path in paths]
    assert list(table["label"].fillna("")) == ["grass", "", "sky", "", "grass", "sky"][: len(paths)]
    assert "not JPEG" in table["error"][1] and "does not exist" in table["error"][3]
    x = model.embed(paths)
    assert x.dtype == np.float32 and np.isnan(x[[1, 3]]).all() and np.isfinite(x[[0, 2]]).all()
    assert (x[0] == x[4]).all() and not (x[0] == x[2]).all()


def test_embed_a_folder(photos: Path, model: Model) -> None:
    whole, parts = model.embed(photos / "holiday"), model.embed([photos / f"holiday/{k}.png" for k in range(3)])
    assert whole.shape[0] == 3 and (whole == parts).all()


def test_learn_paths(photos: Path, model: Model) -> None:
    paths = [str(photos / f"new/sand/{50 + k}.png") for k in range(3)]
    model.learn(paths, ["beach"] * 3)
    assert model.label([photos / "holiday/2.png"])["label"][0] == "beach"
    with pytest.raises(ValueError, match="3 paths and 1 labels"):
        model.learn(paths, ["beach"])
    with pytest.raises(ValueError, match="folders"):
        model.learn(photos / "new", ["beach"])


def test_errors(photos: Path, model: Model) -> None:
    """What the program says becomes the exception."""
    with pytest.raises(PipelineError, match="unknown flag"):
        model.label(photos / "holiday", no_such_setting=1)
    with pytest.raises(PipelineError, match=r"^(?!error).*reject"):
        model.label(photos / "holiday", reject=7)
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.label("nowhere")
    with pytest.raises(FileNotFoundError, match="no file"):
        Model("none.model")


def test_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOTO_PIPELINE_PROGRAM", "/nowhere/pipeline")
    with pytest.raises(PipelineError, match="PHOTO_PIPELINE_PROGRAM"):
        program()


def test_names() -> None:
    """Paths are written as docs/formats.md has it."""
    assert [_key(f"/{name}") for name in ("100%.jpg", "a%20b", "a%E9", "a%25", "a\x1b", "a\udce9")] == [
        "/100%.jpg", "/a%20b", "/a%25E9", "/a%2525", "/a%1B", "/a%E9",
    ]  # fmt: skip
    assert [_cell(text) for text in ("'=a", "''=a", "'a", "a")] == ["=a", "'=a", "'a", "a"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for a process")
def test_interrupted(photos: Path, model: Model) -> None:
    """Ctrl-C ends Python and the command, which leaves nothing half done."""
    script = (
        "import photo_pipeline.program as p, os, signal, subprocess\n"
        "class Pressed(subprocess.Popen):\n"
        "    def communicate(self, *args, **kwargs):\n"
        "        if not hasattr(self, 'pressed'):\n"
        "            self.pressed = True\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "        return super().communicate(*args, **kwargs)\n"
        "subprocess.Popen = Pressed\n"
        "p.run('label', 'a.model', '--images=photos/holiday', '--out=labels')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == -signal.SIGINT and "KeyboardInterrupt" in done.stderr, done.stderr
    assert not list(Path("labels").glob("*.tmp-pipeline-*"))
