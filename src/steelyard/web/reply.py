"""What a browser gets. Apart from what makes it, which the server need not have in memory."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from msgspec import Struct

HTML = "text/html; charset=utf-8"


class Reply(Struct, frozen=True):
    """What a browser gets. ``digest`` is of the body, ``state`` the newest run when it was made, ``seconds`` how long
    that took."""

    status: int
    kind: str
    body: bytes
    digest: str = ""
    state: int = -1
    seconds: float = 0.0


@cache
def style() -> bytes:
    """The style sheet of all pages."""
    return (Path(__file__).parent / "static" / "style.css").read_bytes()


@cache
def style_name() -> str:
    """Its name, which changes with what it says."""
    return f"style.{hashlib.sha256(style()).hexdigest()[:12]}.css"
