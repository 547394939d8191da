"""Runs the program that a board's flasher is, with its arguments spelt out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..model import paths
from ..model.errors import cut
from .arguments import Looked, Written, spelt
from .attempt import heard
from .config import Station
from .plugs import by_usb

WITHOUT_LINES = Path(__file__).parent / "virtual" / "without_lines"


def run(
    station: Station, arguments: tuple[str, ...], words: Written | Looked, seconds: float, *keep: int
) -> str | None:
    """Runs the flasher with these arguments, in which ``words`` stand for placeholders, for at most so many seconds. It
    inherits the file descriptors to ``keep``. None when it says that all is well, else what it says, which is in the
    log of this thread's attempt too."""
    flasher = station.flasher
    probe = station.probe.arguments(flasher) if station.probe else ()
    command = (paths.tool(flasher.program) or flasher.program, *spelt(arguments, words, probe))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            pass_fds=keep,
            env=without_lines() if flasher.wants_lines and station.board.virtual else None,
        )
    except FileNotFoundError:
        return f"is not installed{f': {flasher.package}' if flasher.package else ''}"
    except subprocess.TimeoutExpired:
        return f"no end after {seconds:g} s"
    said = done.stdout + b"\n" + done.stderr
    heard(" ".join(command), said)
    if done.returncode == 0:
        return None
    lines = [text for line in said.decode(errors="replace").splitlines() if (text := line.strip())]
    telling = [line for line in lines if "error" in line.lower() and "TIOCM" not in line] or lines
    return cut(telling[0], 200) + by_usb(telling[0]) if telling else f"exit code {done.returncode}"


def without_lines() -> dict[str, str]:
    """The environment of a program in Python that is to go on where a port has no control lines."""
    folders = [str(WITHOUT_LINES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
