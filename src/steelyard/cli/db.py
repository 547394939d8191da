"""``steelyard db``: copies databases, and looks whether one is sound."""

from __future__ import annotations

import time
from collections.abc import Callable

import click
from msgspec import to_builtins

from ..model.errors import UserError, counted
from ..publish.sheet import plain
from . import options, select
from .console import stderr
from .output import Output
from .progress import EVERY


@click.group("db", cls=options.Commands, no_args_is_help=True)
def verb() -> None:
    """Copy results to another database, or look whether all of them can be read."""


@verb.command()
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@options.tables
def copy(source: str, to: str, out: Output) -> None:
    """Add the runs of one database that another lacks, with their logs.

    FROM and TO are files or URLs of servers. A copy is a backup, and the way back; copied again it gets what is new.
    Where TO has a later run of the same setup already, an older one is left out, because the newest counts.
    """
    from ..store import copying

    if source == to:
        raise UserError(f"{source}: is copied to itself; give another database")
    with select.store(source, existing=True) as mine, select.store(to) as theirs:
        done = copying.copy(mine, theirs, _said("copied"))
    heads = dict.fromkeys(("copied", "there before", "left out: newer ones are there", "logs not copied"), 0)
    counts = (done.copied, done.there, done.older, done.lacks)
    out.give([plain("", "copy", heads, [counts])], to_builtins(done))


@verb.command()
@options.db
@options.tables
def check(db: str | None, out: Output) -> None:
    """Read every run and every log, and list what is damaged. The exit code is 1 where anything is."""
    from ..store import checking

    with select.store(db, existing=True) as store:
        found = list(checking.check(store, _said("checked")))
        count = len(store.known())
    sheet = plain("", "troubles", ("run", "what", "what to do"), [(t.run, t.what, t.action) for t in found])
    out.give([sheet] if found or not out.console else [], to_builtins(found))
    out.remark([f"{counted(count, 'run')} checked, {counted(len(found), 'trouble')} found"])
    if found:
        raise click.exceptions.Exit(1)


def _said(done: str) -> Callable[[int, int], None]:
    """Says every few seconds how far it is."""
    last = time.monotonic()

    def step(count: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            stderr().print(f"db: {count} of {of} {done}", soft_wrap=True)

    return step
