"""``steelyard db check``: whether all of a database can be read."""

from __future__ import annotations

import click
from msgspec import to_builtins

from ...model.errors import counted
from ...publish.sheet import plain
from ...store import checking
from .. import options, select
from ..output import Output
from . import progress


@click.command("check")
@options.db
@options.tables
def verb(db: str | None, out: Output) -> None:
    """Read every run and every log, and list what is damaged. The exit code is 1 where anything is."""
    with select.store(db, existing=True) as store:
        found = list(checking.check(store, progress("checked")))
        count = len(store.known())
    sheet = plain("", "troubles", ("run", "what", "what to do"), [(t.run, t.what, t.action) for t in found])
    out.give([sheet] if found or not out.console else [], to_builtins(found))
    out.remark([f"{counted(count, 'run')} checked, {counted(len(found), 'trouble')} found"])
    if found:
        raise click.exceptions.Exit(1)
