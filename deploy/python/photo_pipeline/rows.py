"""Sends rows of numbers to one process of the program, which stays until Python ends."""

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from photo_pipeline.program import PipelineError, message, start


class Worker:
    """A process that answers one request after another."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.folder = tempfile.mkdtemp(prefix="photo_pipeline-")
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], rows: npt.NDArray[np.float32]) -> tuple[dict[str, Any], bytes]:
        """Returns the answer to a request, and the numbers that follow it."""
        with self._lock:
            try:
                answer, numbers = self._exchange(request, rows)
            except BaseException:  # an interrupted exchange leaves the rest of an answer behind
                self._kill()
                raise
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer, numbers

    def close(self) -> None:
        """Ends the process, in the Python that started it: a fork has it, too."""
        if os.getpid() == self.owner:
            self._kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _exchange(self, request: dict[str, Any], rows: npt.NDArray[np.float32]) -> tuple[dict[str, Any], bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()
            self._process = start(
                "rows", "--quiet", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        shape = {"rows": rows.shape[0], "columns": rows.shape[1]}
        try:
            process.stdin.write(json.dumps(request | shape).encode() + b"\n")
            process.stdin.write(np.ascontiguousarray(rows, "<f4").data)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it says why when it ends
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self._errors.seek(0)
            raise PipelineError(message(self._errors.read(), code))
        answer = json.loads(line)
        return answer, process.stdout.read(8 * answer["rows"] * len(answer.get("classes", ())))

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in self._process.stdin, self._process.stdout, self._errors:
                try:
                    stream.close()  # type: ignore[union-attr]
                except BrokenPipeError:
                    pass
            self._process = None


_worker: Worker | None = None
_starting = threading.Lock()


def worker() -> Worker:
    """Returns the worker of this process."""
    global _worker
    with _starting:
        if _worker is None or _worker.owner != os.getpid():
            _worker = Worker()
            atexit.register(_worker.close)
        return _worker
