"""Times the classifier on 100 000 rows: one process for all requests, and one for each.

usage: python speed.py
"""

import time
from collections.abc import Callable

import numpy as np

from photo_pipeline import FewShotClassifier
from photo_pipeline.rows import worker

ROWS, COLUMNS, CLASSES, CALLS = 100_000, 640, 20, 50


def main() -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(CLASSES, COLUMNS))
    y = np.arange(20 * CLASSES) % CLASSES
    x = (means[y] + rng.normal(size=(len(y), COLUMNS))).astype(np.float32)
    rows = (means[np.arange(ROWS) % CLASSES] + rng.normal(size=(ROWS, COLUMNS))).astype(np.float32)
    classifier = FewShotClassifier(method="plda").fit(x, y)
    classifier.predict(rows[:1])
    began = time.perf_counter()
    right = (classifier.predict(rows) == np.arange(ROWS) % CLASSES).mean()
    print(f"{ROWS} rows of {COLUMNS} values at once: {time.perf_counter() - began:.2f} s, {right:.3f} right")
    ways: list[tuple[str, Callable[[], None]]] = [("one process", lambda: None), ("a process for each", worker()._kill)]
    for name, each in ways:
        began = time.perf_counter()
        for i in range(CALLS):
            each()
            classifier.predict(rows[i : i + 1])
        print(f"{CALLS} calls of 1 row, {name}: {1000 * (time.perf_counter() - began) / CALLS:.2f} ms a call")


if __name__ == "__main__":
    main()
