"""The classifiers of the program as an estimator of scikit-learn."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from photo_pipeline.rows import Worker, worker

CHUNK = 1 << 22  # values that are sent at once


class FewShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of rows of numbers that needs few examples of a class, with calibrated probabilities.

    method is one of those of pipeline train (such as "plda"), or "auto", which compares several; seed
    draws other random numbers. Numbers are float32.
    """

    def __init__(self, method: str = "auto", seed: int = 0) -> None:
        self.method = method
        self.seed = seed

    def fit(self, X: Any, y: Any) -> "FewShotClassifier":
        """Fits the classes of y, one for each row of X."""
        X, y = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(y)
        self.classes_, of = np.unique(y, return_inverse=True)
        names = [str(name) for name in self.classes_]
        process = worker()
        file = Path(process.folder) / f"fit-{os.urandom(8).hex()}.model"
        request = {"do": "fit", "model": str(file), "labels": [names[i] for i in of], "seed": self.seed}
        answer, _ = process.ask(request | {"method": self.method}, X)
        self.method_: str = answer["method"]
        self.model_: bytes = file.read_bytes()
        file.unlink()
        column = {name: i for i, name in enumerate(answer["classes"])}
        self._columns = [column[name] for name in names]
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Returns the calibrated probability of each of classes_ for each row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        process = worker()
        file = self._file(process)
        out = np.empty((len(X), len(self.classes_)))
        size = max(1, CHUNK // X.shape[1])
        for first in range(0, len(X), size):
            _, numbers = process.ask({"do": "predict", "model": file}, X[first : first + size])
            part = np.frombuffer(numbers, "<f8").reshape(-1, len(self.classes_))
            out[first : first + size] = part[:, self._columns]
        return out

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Returns the most probable class of each row."""
        probabilities = self.predict_proba(X)
        best: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return best

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model into a file that the commands read."""
        check_is_fitted(self)
        path = Path(path)
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(self.model_)
        os.replace(part, path)

    def _file(self, process: Worker) -> str:
        """Returns the file of the model for this process, which may have got the estimator by pickle."""
        file = Path(process.folder) / f"{hashlib.sha256(self.model_).hexdigest()}.model"
        if not file.exists():
            self.save(file)
        return str(file)
