"""``steelyard queue link``: a way in for an operator."""

from __future__ import annotations

import click

from ...publish.sheet import plain
from ...store.operators import Operators
from .. import options, select
from ..output import Output


@click.command("link")
@click.option("--server", default="http://127.0.0.1:8017", show_default=True, metavar="URL", help="Where it leads.")
@options.db
@options.tables
def verb(server: str, db: str | None, out: Output) -> None:
    """Print a link that is good once, for who is to operate the server.

    Who follows it within a day chooses a name and a password, or a new password for a name that is there. Older links
    are good no more.
    """
    with select.store(db, existing=True) as store:
        token = Operators(store).link()
    out.give([plain("", "link", ("link",), [(f"{server.rstrip('/')}/operate/begin/{token}",)])])
