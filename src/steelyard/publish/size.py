"""The bytes of an image as a table, symbol by symbol."""

from __future__ import annotations

from collections.abc import Mapping

from ..measure.rom import BSS
from .sheet import Cell, Sheet, plain

#: by image (with both operations, or with one of them), then by symbol and kind
Sizes = Mapping[str, Mapping[tuple[str, str], int]]
NOTE = (
    "both, encrypt, decrypt: images that hold both operations, or only one. Below zero is what nocrypt "
    "alone holds. (unnamed): constants without a name, alignment. (not counted): memcpy, of hashes also memset, "
    "costs nothing, and what nocrypt alone has of libraries is not taken off. ROM: all of it but bss."
)


def sheet(mine: Sizes, title: str) -> Sheet:
    """Each symbol in each image, the largest first, then their sums."""
    keys = sorted({k for part in mine.values() for k in part}, key=lambda k: (-mine["both"].get(k, 0), k))
    rows: list[list[Cell]] = [[*k, *(part.get(k) for part in mine.values())] for k in keys]
    heads = {"symbol": None, "kind": None, **dict.fromkeys(mine, 0)}
    return plain(title, "size", heads, [*rows, ["ROM", "", *map(rom, mine.values())]], (NOTE,))


def rom(part: Mapping[tuple[str, str], int]) -> int:
    """All bytes in flash of an image."""
    return sum(size for (_, kind), size in part.items() if kind != BSS)
