"""``steelyard db copy``: runs from one database to another."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click
from msgspec import Struct, to_builtins

from ...model.errors import UserError, counted
from ...publish.sheet import plain
from ...store import StoreError, moving
from ...store.blobs import unshared
from ...store.engine import file_of, url_of
from .. import options, select
from ..output import Output
from . import progress


class Copy(Struct, frozen=True):
    """What ``db copy`` is asked."""

    source: str
    to: str
    out: Output


@options.command(Copy, click.argument("source", metavar="FROM"), click.argument("to", metavar="TO"), options.tables)
def verb(ask: Copy) -> int:
    """Add the runs of one database that another lacks, with their logs, and what was handed in.

    FROM and TO are files, or URLs of databases on servers. A copy is a backup, and the way back; copied again it gets
    what is new. Where TO has a later run of its own of the same setup, an older one is left out, because the newest
    counts. What was handed in becomes the same in TO: submissions keep their numbers and private links, their queue
    goes on there, and what was deleted in FROM is deleted there; so TO is empty, or an older copy in which nothing was
    handed in or run since. Operators, keys and pauses stay behind. Runs and what was handed in that are damaged, and
    logs that TO does not take, are named and left out; the exit code is 1 then.
    """
    source, to = ask.source, ask.to
    if source == to or _one_file(source, to):
        raise UserError(f"{source}: is copied to itself; give another database")
    if its := _file(to):
        unshared(its)  # before either is open
    with select.store(source, existing=True) as mine, select.store(to) as theirs:
        moved = moving.move(mine, theirs, progress("copied"))
    done = moved.runs
    unkept = [f"logs that were not copied cannot be read in {source}; steelyard db check says why"] * bool(done.lacks)
    unkept += [
        f"logs that {to} did not take: {len(done.refused)}, the first for: {why}"
        for why in [*done.refused.values()][:1]
    ]
    if done.unreadable:
        lost = f"{counted(len(done.unreadable), 'run')} cannot be read, the first is {done.unreadable[0]}"
        unkept.append(f"left out: {lost}; steelyard db check says why")
    if done.ahead:
        unkept.append(f"{counted(done.ahead, 'run')} of the future, by a clock that was ahead: all others are newer")
    heads = dict.fromkeys(
        ("copied", "there before", "left out: newer ones are there", "logs not copied", "submissions", "deleted"), 0
    )
    left = done.lacks + len(done.refused)
    counts = (done.copied, done.there, done.older, left, moved.submissions, moved.deleted)
    more = {"submissions": moved.submissions, "deleted": moved.deleted}
    ask.out.give([plain("", "copy", heads, [counts])], {**to_builtins(done), **more})
    ask.out.remark([*unkept, *(f"left out, for it is damaged: {what}" for what in moved.damaged)])
    return int(bool(moved.damaged or done.refused or done.unreadable))


def _one_file(source: str, to: str) -> bool:
    """Whether both are the same file by two names: such a copy is not a backup."""
    mine, its = _file(source), _file(to)
    with suppress(OSError, ValueError):  # what cannot be a file is told when it is opened
        return mine is not None and its is not None and mine.samefile(its)
    return False


def _file(name: str) -> Path | None:
    with suppress(StoreError):
        return file_of(url_of(name))
    return None
