"""``steelyard queue resume``: what was paused."""

from __future__ import annotations

import click

from ...store.operating import KINDS, Yard
from .. import options, select
from ..output import Output
from . import did, me


@click.command("resume")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name", metavar="NAME")
@options.db
@options.tables
def verb(kind: str, name: str, db: str | None, out: Output) -> None:
    """End a pause.

    What waits is taken again.
    """
    with select.store(db, existing=True) as store:
        Yard(store, me()).resume(f"{kind} {name}")
    did(out, "resume", [(f"{kind} {name}", "gets jobs again")])
