"""How a command ends that cannot go on: a sentence for what the machine does to it, a traceback in a file otherwise.
What lets anybody in stands in neither."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote

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


#: passwords in URLs: before the host, where no port is, and as a parameter; before the host of a URL that stands alone
_PASSWORD = re.compile(
    r"(://[^\s:/@]*:)(?!\d+[/?#:])\S*(?=@)"
    r"|([?&;][^\s=&]*(?:pa?s?s?w|pass|secret|token|key)[^\s=&]*=)[^\s&'\"]+",
    re.IGNORECASE,
)
_OF_URL = re.compile(r"://[^:/@]*:(?!\d+[/?#:])(.*)@", re.DOTALL)
#: private links, links that make operators, and keys of workers
_LINK = re.compile(r"((?:submissions|operate/begin)/|Bearer )[\w-]{10,}")
#: options and variables that hold one of these alone, and variables that hold a URL
_ALONE, _HOLD, _URLS = ("--key", "--previous"), ("STEELYARD_WORKER_KEY", "PGPASSWORD"), ("STEELYARD_DB",)
_HIDDEN = "***"
#: characters from which on a secret is looked for inside of words too
_LONG = 6


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
        print(f"steelyard: {printable(_without_passwords(text))}", file=sys.stderr)


def say_usage(e: ClickException) -> None:
    """What Click says to words that it cannot read."""
    text = io.StringIO()
    e.show(file=text)
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(_without_passwords(text.getvalue())))


def _without_passwords(text: str) -> str:
    return _PASSWORD.sub(lambda m: f"{m[1] or m[2]}{_HIDDEN}", text)


def hidden(text: str) -> str:
    """``text`` without passwords, keys and private links: as they look, and those that the command was given, wherever
    they are."""
    for secret in sorted(filter(None, _given()), key=len, reverse=True):
        for said in dict.fromkeys((secret, unquote(secret), repr(secret)[1:-1])):
            whole = re.escape(said)
            text = re.sub(whole if len(said) >= _LONG else rf"(?<!\w){whole}(?!\w)", _HIDDEN, text)
    return _LINK.sub(rf"\g<1>{_HIDDEN}", _without_passwords(text))


def _given() -> Iterator[str]:
    """What the command was given that lets anybody in."""
    words = sys.argv[1:]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        option, _, value = word.partition("=")
        if option in _ALONE:
            yield (value or following).rstrip("/").rpartition("/")[2]
    yield from (os.environ.get(name, "") for name in _HOLD)
    for url in (*words, *(os.environ.get(name, "") for name in _URLS)):
        yield from (found[0].removeprefix(found[1] or found[2]) for found in _PASSWORD.finditer(url))
        yield from _OF_URL.findall(url)


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
    text = hidden("".join(traceback.format_exception(e)))
    what = hidden(" ".join(f"{type(e).__name__}: {e}".split()))[:300]
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
    """Where the traceback was written, as a report needs it, for nobody else to read."""
    stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC: {hidden(' '.join(sys.argv))}\n"
    for folder in (paths.home(), Path(tempfile.gettempdir())):
        file = folder / "traceback.txt"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            number, made = tempfile.mkstemp(dir=folder)  # a file of ours, whatever is there
            with open(number, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123
                stream.write(stamp + text)
            os.replace(made, file)  # noqa: PTH105
            return str(file)
    return f"this:\n{text}"
