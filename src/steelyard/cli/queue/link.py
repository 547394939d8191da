"""``steelyard queue link``: a way in for an operator."""

from __future__ import annotations

from ...publish.sheet import plain
from ...store.operators import Operators
from .. import options, select
from ..options import Stored, command

#: where serve listens unless it is told otherwise
USUAL = "http://127.0.0.1:8017"


class Link(Stored, frozen=True, kw_only=True):
    """What ``queue link`` is asked."""

    server: str


@command(
    Link,
    options.text("--server", metavar="URL", help="Where it leads. Default: where serve was started last."),
    options.db,
    options.tables,
)
def verb(ask: Link) -> int:
    """Print a link that works once, for somebody who is to operate the server.

    Whoever follows it within a day chooses a name and a password, or a new password for a name that exists. Older links
    no longer work.
    """
    if ask.server:
        from ...web.remote import Server

        Server(ask.server)  # says what is not an address
    with select.store(ask.db, existing=True) as store:
        operators = Operators(store)
        server, token = ask.server or operators.server() or USUAL, operators.link()
    ask.out.give([plain("", "link", ("link",), [(f"{server.rstrip('/')}/operate/begin/{token}",)])])
    return 0
