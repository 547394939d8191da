"""Asks a compiler something. One that does not start, or does not end, is an answer too."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from msgspec import Struct

from ..model import paths

#: seconds after which a compiler that was only asked something is stopped: on a busy machine with a slow disk one of
#: a hundred megabytes takes more than ten
SECONDS = 60.0


class Said(Struct, frozen=True):
    """What a command printed, and how it ended. ``code`` is None where it did not start or was stopped; then
    ``err`` says so, and ``late`` that it was stopped."""

    code: int | None
    out: str = ""
    err: str = ""
    late: bool = False


def ask(command: Sequence[str], folder: str = ".", given: str = "") -> Said:
    """Runs a command that answers at once, with ``given`` on its standard input, in ``folder``."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={"PATH": paths.search_path(), "LC_ALL": "C"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as e:
        return Said(None, err=f"{command[0]} does not start: {e.strerror}")
    with process:
        try:
            out, err = process.communicate(given, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its children too: they hold the pipes
            process.communicate()
            return Said(None, err=f"{command[0]} does not answer: stopped after {SECONDS:g} s", late=True)
    return Said(process.returncode, out, err)
