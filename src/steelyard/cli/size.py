"""``steelyard size``: where the bytes of an implementation are, symbol by symbol."""

from __future__ import annotations

from collections.abc import Mapping

from ..measure.rom import BSS
from ..pipeline import sizes
from ..publish.sheet import Cell, plain
from . import options
from .examine import Examine, answered, beside, declared, jobs
from .options import command

_NOTE = (
    "both, encrypt, decrypt: images that hold both operations, or only one. Below zero is what nocrypt "
    "alone holds. (unnamed): constants without a name, alignment. ROM: all of it but bss."
)
Sizes = dict[str, dict[tuple[str, str], int]]


class Size(Examine, frozen=True, kw_only=True):
    """What ``size`` is asked."""


@command(Size, *declared, options.tables)
def verb(ask: Size) -> int:
    """Show where the bytes are: by symbol, for encryption and decryption together and alone."""
    asked = jobs(ask)
    found = {label: answered(job, sizes) for label, job in asked.items()}
    first, *others = found.values()
    job = next(iter(asked.values()))
    title = f"{job.implementation.label} on {job.target.name}, {' '.join(job.flags)}: bytes by symbol, minus nocrypt's"
    columns = (*found, "difference") if others else tuple(first)
    rows = _beside(first, others[0]) if others else _alone(first)
    heads = {"symbol": None, "kind": None, **dict.fromkeys(columns, 0)}
    document = [_json(asked[label].implementation.label, parts) for label, parts in found.items()]
    ask.out.give([plain(title, "size", heads, rows, (_NOTE,))], document)
    return 0


def _alone(mine: Sizes) -> list[list[Cell]]:
    keys = sorted({k for part in mine.values() for k in part}, key=lambda k: (-mine["both"].get(k, 0), k))
    rows: list[list[Cell]] = [[*k, *(part.get(k) for part in mine.values())] for k in keys]
    return [*rows, ["ROM", "", *map(_rom, mine.values())]]


def _beside(mine: Sizes, theirs: Sizes) -> list[list[Cell]]:
    a, b = mine["both"], theirs["both"]
    rom = _rom(a), _rom(b)
    return [*([*k, *cells] for k, cells in beside(a, b)), ["ROM", "", *rom, rom[1] - rom[0]]]


def _rom(part: Mapping[tuple[str, str], int]) -> int:
    """All bytes in flash of an image."""
    return sum(size for (_, kind), size in part.items() if kind != BSS)


def _json(label: str, found: Sizes) -> dict[str, object]:
    parts = {p: [{"symbol": n, "kind": k, "bytes": v} for (n, k), v in part.items()] for p, part in found.items()}
    return {"implementation": label, "images": parts}
