"""``steelyard queue pause``: what gets no jobs for a while."""

from __future__ import annotations

import click

from ...store.operating import KINDS, Yard
from .. import options, select
from ..output import Output
from . import did, me


@click.command("pause")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name", metavar="NAME")
@options.text("--why", metavar="TEXT", help="What is said to who waits.")
@options.db
@options.tables
def verb(kind: str, name: str, why: str, db: str | None, out: Output) -> None:
    """Give no jobs to a target, a machine or a board.

    NAME is a target, a machine as queue workers lists it, or MACHINE/BOARD. Runs that were begun go on.
    """
    with select.store(db, existing=True) as store:
        Yard(store, me()).pause(f"{kind} {name}", why)
    did(out, "pause", [(f"{kind} {name}", "paused")])
