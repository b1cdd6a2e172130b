"""Finds the program and runs its commands."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

PARTIAL = 3  # the exit code if some photos could not be read


class PipelineError(RuntimeError):
    """What the program says when it cannot do what it was asked for."""


def program() -> str:
    """Returns the path of the program: $PHOTO_PIPELINE_PROGRAM, or the one in this package."""
    named = os.environ.get("PHOTO_PIPELINE_PROGRAM")
    inside = Path(__file__).parent / "bin" / ("pipeline.exe" if os.name == "nt" else "pipeline")
    path = Path(named) if named else inside
    if not path.is_file():
        raise PipelineError(
            f"{path} does not exist: install photo_pipeline from a wheel for this system, "
            "or name the program in PHOTO_PIPELINE_PROGRAM"
        )
    return str(path)


def start(*arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """Starts a command in a group of its own: whoever presses Ctrl-C interrupts Python, which ends the command."""
    group: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        group = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return subprocess.Popen([program(), *arguments], **group, **streams)


def run(*arguments: str) -> str:
    """Runs a command to its end and returns what it prints. Photos that cannot be read are no error."""
    process = start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate()
    except BaseException:
        process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))  # it ends in good order
        process.communicate()
        raise
    if process.returncode not in (0, PARTIAL):
        raise PipelineError(message(err, process.returncode))
    return out.decode()


def message(stderr: bytes, code: int) -> str:
    """Returns the last lines of what a command printed, from its error on."""
    text = stderr.decode(errors="replace").strip()
    return text[text.rfind("error: ") :].removeprefix("error: ") or f"pipeline ended with exit code {code}"


def flags(settings: dict[str, Any]) -> list[str]:
    """Returns the flags of a command for settings by name, such as top_k=3."""
    given: list[str] = []
    for name, value in settings.items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            text = os.fspath(each) if isinstance(each, os.PathLike) else str(each)
            text = text.lower() if isinstance(each, bool) else text
            given.append(f"--{name.replace('_', '-')}={text}")
    return given
