"""Runs the programs of the README."""

import re
from pathlib import Path

from sklearn.datasets import load_iris

from photo_pipeline import Model


def test_readme(photos: Path) -> None:
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    on_photos, on_numbers = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names: dict[str, object] = {}
    exec(on_photos, names)
    assert list(names["table"]["label"]) == ["sky", "grass", "sand"]  # type: ignore[index]
    x, y = load_iris(return_X_y=True)
    names = {"x": x, "y": y}
    exec(on_numbers, names)
    assert names["probabilities"].shape == (150, 3)  # type: ignore[attr-defined]
    assert Model("numbers.model").path.is_file()
