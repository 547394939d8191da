"""How a command ends that cannot go on: a sentence for what the machine does to it, a traceback in a file otherwise."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from click.exceptions import ClickException

from ..model import paths
from ..model.errors import printable

#: exit codes; the second is EX_SOFTWARE of sysexits.h
FAILED, UNEXPECTED = 1, 70

#: what the system says when it is full, read-only or guarded, and the next action
_ACTIONS = {
    errno.ENOSPC: "free some space and run again",
    errno.EDQUOT: "free some space, or have the quota raised, and run again",
    errno.EIO: "check the disk, and run again",
    errno.ENOMEM: "end other programs, or run with -j 1",
    errno.EAGAIN: "end other programs, or run with -j 1",
    errno.EMFILE: "raise the limit with ulimit -n, or run with -j 1",
    errno.ENFILE: "end other programs, and run again",
    errno.EROFS: "give a place that can be written",
    errno.EACCES: "give a place that you may read and write",
    errno.EPERM: "give a place that you may read and write",
    errno.ENAMETOOLONG: "give a shorter path",
    errno.ELOOP: "give a path without a loop of links",
}


#: marks and lines of tables for terminals that have no other characters than letters
_PLAIN = {"▾": "v", "▴": "^", "─": "-", "µ": "u", "±": "+-", "…": "..."}


def prepare_streams() -> None:
    """Every stream is open, and no character of a name ends a command."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed by who started us: else the next file takes its number
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue
            setattr(sys, name, open(os.devnull, "r+" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115
    codecs.register_error("steelyard", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="steelyard")


def _plain(error: UnicodeError) -> tuple[str, int]:
    """What a terminal shows of characters that it does not have."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or ascii(c)[1:-1] for c in missing), error.end


def say(text: str) -> None:
    """A sentence on standard error, whatever names are in it. Where that is full too, nothing can be said."""
    with contextlib.suppress(OSError):
        print(f"steelyard: {printable(text)}", file=sys.stderr)


def say_usage(e: ClickException) -> None:
    """What Click says to words that it cannot read."""
    text = io.StringIO()
    e.show(file=text)
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(text.getvalue()))


def drop_stdout() -> None:
    """What is left in the buffer goes nowhere: the interpreter would complain at its end."""
    _drop(sys.stdout)


def settle_stderr() -> None:
    """Where standard error takes nothing, the rest of it goes nowhere: from Python 3.13 on the interpreter would end
    with 120 instead of the command's code."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def explain(e: Exception, shown: bool) -> int:
    """Says why the command ends and returns its exit code; ``shown`` prints the traceback too."""
    if isinstance(e, OSError) and (sentence := _of_the_machine(e)) and not shown:
        say(sentence)
        return FAILED
    text = "".join(traceback.format_exception(e))
    what = " ".join(f"{type(e).__name__}: {e}".split())[:300]
    if shown:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
        say(f"unexpected error: {what}")
        return UNEXPECTED
    say(f"unexpected error: {what}. This is a fault of Steelyard; please report it with {_kept(text)}")
    return UNEXPECTED


def _of_the_machine(e: OSError) -> str:
    """Cause, place and next action where a file system or a limit is the cause; else nothing."""
    home = paths.home()
    if not (home.is_dir() and os.access(home, os.W_OK | os.X_OK)):
        place = Path(os.fsdecode(e.filename)) if isinstance(e.filename, str | bytes) else None
        if place is not None and (place.is_relative_to(home) or home.is_relative_to(place)):
            return f"{home}: {e.strerror}; set STEELYARD_HOME to a folder that you may write to"
    if e.errno not in _ACTIONS:
        return ""
    where = os.fsdecode(e.filename) if isinstance(e.filename, str | bytes) else "standard output or a file"
    return f"{where}: {e.strerror}; {_ACTIONS[e.errno]}"


def _kept(text: str) -> str:
    """Where the traceback was written, as a report needs it."""
    stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC: {' '.join(sys.argv)}\n"
    for folder in (paths.home(), Path(tempfile.gettempdir())):
        file = folder / "traceback.txt"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(stamp + text, encoding="utf-8", errors="backslashreplace")
            return str(file)
    return f"this:\n{text}"
