"""``steelyard boards virtual``: virtual boards, while a command runs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import click
from msgspec import Struct

from ...lab import find
from ...lab.virtual import played
from ...model.errors import UserError, WorkError
from .. import options
from ..console import stderr
from ..stations import COMMANDLINE, lab_option

#: seconds between two looks at the command, and at the processes that play
LOOK = 0.1
#: seconds in which a command ends that is told to
GRACE = 5.0


class Virtual(Struct, frozen=True):
    """What ``boards virtual`` is asked."""

    command: tuple[str, ...]
    lab: Path | None


@options.command(Virtual, click.argument("command", nargs=-1, metavar="[LAB.toml] [COMMAND]..."), lab_option)
def verb(ask: Virtual) -> int:
    """Play the virtual boards while COMMAND runs.

    Without a COMMAND they are there until Ctrl-C. The exit code is the COMMAND's, or 128 plus the signal that ended it.
    """
    command, lab = ask.command, ask.lab
    if command and command[0].endswith(".toml"):
        if click.get_current_context().get_parameter_source("lab") is COMMANDLINE:
            raise UserError(f"{command[0]}: names a second lab; leave it out, or --lab")
        lab, command = Path(command[0]), command[1:]
    there = find(lab)
    with _told_to_end() as told, played(there) as processes:
        if command:
            return _run(command, told)
        names = ", ".join(name for name, b in there.boards.items() if b.virtual)
        stderr().print(f"ready: {names}; Ctrl-C ends them", soft_wrap=True)
        while all(process.is_alive() for process in processes):
            _wait(told)
        raise WorkError("a part of the virtual lab has ended; what is above says why")


def _run(command: tuple[str, ...], told: list[int]) -> int:
    """The exit code of the command."""
    told.append(0)  # a signal that comes while the command starts is kept until it can be ended
    try:
        process = subprocess.Popen(command)
    except OSError as e:
        raise UserError(f"{command[0]}: {e.strerror}") from e
    try:
        told.remove(0)
        while (code := process.poll()) is None:
            _wait(told)
    except BaseException as e:
        if not isinstance(e, KeyboardInterrupt):  # which the terminal tells the command, too
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        raise
    finally:
        told.append(0)  # what plays is taken away now, whatever comes
        process.kill()
        process.wait()
    return code if code >= 0 else 128 - code


def _wait(told: list[int]) -> None:
    if told:
        _end(told[0])
    time.sleep(LOOK)


def _end(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


@contextmanager
def _told_to_end() -> Iterator[list[int]]:
    """Inside a signal to end takes what is played away as Ctrl-C does: links to its ports among it. Those that follow,
    as from a terminal that closes, disturb nothing of that. One that is ignored, as nohup has it, stays so. The signals
    that came are kept: Python drops an exception that a handler raises while an object is finalized."""
    told: list[int] = []

    def end(number: int, _: object) -> None:
        told.append(number)
        if len(told) == 1:
            _end(number)

    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    before = {s: handler for s, handler in before.items() if handler is not signal.SIG_IGN}
    try:
        for each in before:
            signal.signal(each, end)
        yield told
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
