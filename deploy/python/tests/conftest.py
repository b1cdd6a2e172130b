"""Photos that are drawn for the tests."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

COLOURS = {"sky": (90, 150, 230), "grass": (60, 150, 50), "sand": (220, 190, 120)}


def draw(folder: Path, name: str, seed: int) -> Path:
    """Draws a picture of one colour with noise."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).integers(-30, 30, (64, 64, 3))
    file = folder / f"{seed}.png"
    Image.fromarray((np.array(COLOURS[name]) + noise).clip(0, 255).astype(np.uint8)).save(file)
    return file


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two classes to train, a third to learn, and some to label; the folder is the current one."""
    for i, name in enumerate(("sky", "grass")):
        for k in range(9):
            draw(tmp_path / "photos/train" / name, name, 10 * i + k)
    for k in range(9):
        draw(tmp_path / "photos/new/sand", "sand", 50 + k)
    for k, name in enumerate(COLOURS):
        draw(tmp_path / "photos/holiday", name, k)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIPELINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "photos"
