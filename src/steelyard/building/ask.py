"""Runs a command that should answer at once. One that does not start or does not end is an answer too."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

from msgspec import Struct

from ..model import paths

#: seconds after which such a command is stopped: on a busy machine with a slow disk, loading a large compiler takes
#: more than ten
SECONDS = 60.0


class Said(Struct, frozen=True):
    """The output and exit ``code`` of a command. ``code`` is None when it did not start or was stopped (``late``);
    ``err`` then says so."""

    code: int | None
    out: str = ""
    err: str = ""
    late: bool = False


def ask(command: Sequence[str], folder: str = ".", given: str = "") -> Said:
    """Runs a command in ``folder`` with ``given`` on its standard input, for at most :data:`SECONDS`. Raises nothing:
    ``ask(["avr-gcc", "--version"]).out``."""
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
            os.killpg(process.pid, signal.SIGKILL)  # its children too, because they hold the pipes
            process.communicate()
            return Said(None, err=f"{command[0]} does not answer: stopped after {SECONDS:g} s", late=True)
    return Said(process.returncode, out, err)
