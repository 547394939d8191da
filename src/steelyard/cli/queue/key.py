"""``steelyard queue key``: what lets a machine work for a server without its database."""

from __future__ import annotations

import click

from ...publish.sheet import plain
from ...store.operators import Operators
from .. import options, select
from ..output import Output
from . import me


@click.command("key")
@click.argument("machine", metavar="MACHINE")
@options.flag("--delete", help="Make its key good no more.")
@options.db
@options.tables
def verb(machine: str, delete: bool, db: str | None, out: Output) -> None:
    """Print the key by which a machine takes jobs over HTTP, or delete it.

    An older key of the machine is good no more. Whoever has it gets the packages that others handed in.
    """
    with select.store(db, existing=True) as store:
        operators = Operators(store)
        if delete:
            operators.dismiss(machine, me())
        said = "deleted" if delete else operators.hire(machine, me())
    out.give([plain("", "key", ("machine", "key"), [(machine, said)])])
