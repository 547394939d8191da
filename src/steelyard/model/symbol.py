"""A symbol: a named piece of an image."""

from __future__ import annotations

from msgspec import Struct


class Symbol(Struct, frozen=True):
    """``kind`` is code, constants, data or bss; ``size`` in bytes."""

    name: str
    kind: str
    size: int
