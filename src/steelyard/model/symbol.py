"""A named piece of an image."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """``kind`` is code, constants, data or bss; ``size`` in bytes."""

    name: str
    kind: str
    size: int
