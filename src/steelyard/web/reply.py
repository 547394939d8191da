"""What a browser gets, and what is taken of it. Apart from what makes it, which the server need not have in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..store.quota import Quota

HTML = "text/html; charset=utf-8"
#: bytes of a zip that is handed in, and of the form around it
MOST_ZIP, FORM = 8 << 20, 64 << 10


class Late(BaseException):
    """The time of a reply is over. No error of files or sockets, which their readers take for theirs."""


class Reply(Struct, frozen=True):
    """What a browser gets. ``digest`` is of the body, ``state`` the newest run when it was made, ``seconds`` how long
    that took. It leads ``to`` another address, or is to be looked at ``again`` after seconds. ``session`` is the
    token that the browser gets; an empty one ends its session, None changes nothing. A page that is renewed in place
    says what it has ``shown``. ``changed`` says that an operator did something, which pages may show, ``vain`` that
    what was handed in was there already. What is still to be drawn has no body, and ``draw`` makes it."""

    status: int
    kind: str
    body: bytes
    digest: str = ""
    state: int = -1
    seconds: float = 0.0
    to: str = ""
    again: int = 0
    session: str | None = None
    shown: str = ""
    changed: bool = False
    vain: bool = False
    draw: Callable[[], bytes] | None = None


class Sent(Struct, frozen=True):
    """What is handed in: to which address, what, of which kind, and from where; ``session`` is the token of who is
    signed in, ``previous`` the private link of an older version. What is large is in a ``file``."""

    path: str
    query: str
    body: bytes
    kind: str
    address: str
    session: str = ""
    posted: bool = True
    file: str = ""
    previous: str = ""

    @property
    def content(self) -> bytes:
        """What it is, wherever it is."""
        return Path(self.file).read_bytes() if self.file else self.body


class Taking(Struct, frozen=True):
    """What a server takes: on which targets, and how much; with ``review`` operators publish it, not its owners.
    ``closed`` says why it takes nothing, if so."""

    targets: tuple[str, ...]
    quota: Quota
    review: bool = False
    closed: str = ""


@cache
def style() -> bytes:
    """The style sheet of all pages."""
    return (Path(__file__).parent / "static" / "style.css").read_bytes()


@cache
def style_name() -> str:
    """Its name, which changes with what it says."""
    return f"style.{hashlib.sha256(style()).hexdigest()[:12]}.css"
