"""``steelyard queue key``: what lets a machine work for a server without its database."""

from __future__ import annotations

import click

from ...publish.sheet import plain
from ...store.operators import Operators
from .. import options, select
from ..options import Stored, command
from . import me


class Key(Stored, frozen=True, kw_only=True):
    """What ``queue key`` is asked."""

    machine: str
    delete: bool


@command(
    Key,
    click.argument("machine", metavar="MACHINE"),
    options.flag("--delete", help="From now on its key does not work."),
    options.db,
    options.tables,
)
def verb(ask: Key) -> int:
    """Print the key with which a machine takes jobs over HTTP, or delete it.

    Older keys of the machine no longer work. Whoever has the key gets the packages that others handed in. A script
    takes [0].rows[0].key of --json.
    """
    with select.store(ask.db, existing=True) as store:
        operators = Operators(store)
        if ask.delete:
            operators.dismiss(ask.machine, me())
        said = "deleted" if ask.delete else operators.hire(ask.machine, me())
    ask.out.give([plain("", "key", ("machine", "key"), [(ask.machine, said)])])
    return 0
