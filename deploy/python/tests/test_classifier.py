"""Tests of FewShotClassifier."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from photo_pipeline import FewShotClassifier, PipelineError
from photo_pipeline.program import run
from photo_pipeline.rows import worker


@parametrize_with_checks([FewShotClassifier(), FewShotClassifier(method="plda")])  # type: ignore[untyped-decorator]
def test_contract(estimator: Any, check: Any) -> None:
    """It keeps the contract of scikit-learn."""
    check(estimator)


def test_accuracy() -> None:
    x, y = load_iris(return_X_y=True)
    assert cross_val_score(FewShotClassifier(method="plda"), x, y, cv=5).mean() > 0.9
    search = GridSearchCV(FewShotClassifier(), {"method": ["ncm", "plda"]}, n_jobs=2).fit(x, y)
    assert search.best_params_["method"] == "ncm"


def test_one_process(tmp_path: Path) -> None:
    """One process answers all, chunk by chunk; a model goes with its pickle and into a file."""
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = FewShotClassifier(method="plda").fit(x, names)
    process = worker()._process
    whole = classifier.predict_proba(x)
    assert np.allclose(whole.sum(axis=1), 1) and (classifier.predict(x) == names).mean() > 0.9
    again = pickle.loads(pickle.dumps(classifier))
    assert (again.predict_proba(x) == whole).all()
    assert worker()._process is process
    classifier.save(tmp_path / "é.model")
    assert "versicolor" in run("inspect", str(tmp_path / "é.model"), "--json=-")


def test_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = load_iris(return_X_y=True)
    classifier = FewShotClassifier(method="plda").fit(x, y)
    whole = classifier.predict_proba(x)
    monkeypatch.setattr("photo_pipeline.classifier.CHUNK", 28)
    assert (classifier.predict_proba(x) == whole).all()


def test_errors() -> None:
    """The program's message becomes the exception, and the next request is answered."""
    x, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="sing"):
        FewShotClassifier(method="sing").fit(x, y)
    process = worker()._process
    FewShotClassifier(method="ncm").fit(x, y)
    assert worker()._process is process


def test_killed() -> None:
    """A process that ended is an error once, and is started again."""
    x, y = load_iris(return_X_y=True)
    classifier = FewShotClassifier(method="ncm").fit(x, y)
    process = worker()._process
    assert process is not None
    process.kill()
    process.wait()
    with pytest.raises(PipelineError):
        classifier.predict(x)
    assert (classifier.predict(x) == y).mean() > 0.9


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C in the middle of an answer the next request gets its own."""
    x, y = load_iris(return_X_y=True)
    classifier = FewShotClassifier(method="ncm").fit(x, y)
    want = classifier.predict_proba(x)

    def pressed(text: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr("photo_pipeline.rows.json.loads", pressed)
        with pytest.raises(KeyboardInterrupt):
            classifier.predict_proba(x[:50])
    assert (classifier.predict_proba(x) == want).all()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no fork")
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)", "os.fork() or sys.exit()"])
def test_ends_with_python(end: str) -> None:
    """No process stays when Python ends, and no folder if it ends in good order."""
    script = (
        "import os, signal, sys\n"
        "from photo_pipeline import FewShotClassifier\n"
        "from photo_pipeline.rows import worker\n"
        "classifier = FewShotClassifier('ncm').fit([[0.0, 1], [1, 0]] * 3, [0, 1] * 3)\n"
        "print(worker()._process.pid, worker().folder, flush=True)\n"
        f"{end}\n"
        "classifier.predict([[0.0, 1]])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    pid, folder = done.stdout.split()
    assert not done.stderr and done.returncode == (-signal.SIGKILL if "KILL" in end else 0), done.stderr
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True).stdout.strip()
        if not state or state.startswith("Z"):
            break
    else:
        pytest.fail(f"process {pid} is still there: {state}")
    assert "KILL" in end or not Path(folder).exists()
