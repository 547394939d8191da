"""``steelyard size``: where the bytes of an implementation are, symbol by symbol."""

from __future__ import annotations

from ..inside import sizes
from ..publish import size
from ..publish.sheet import Cell, plain
from . import options
from .examine import Examine, answered, beside, declared, jobs
from .options import command


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
    answer = size.sheet(first, title)
    if others:
        heads = {"symbol": None, "kind": None, **dict.fromkeys((*found, "difference"), 0)}
        answer = plain(title, "size", heads, _beside(first, others[0]), (size.NOTE,))
    document = [_json(asked[label].implementation.label, parts) for label, parts in found.items()]
    ask.out.give([answer], document)
    return 0


def _beside(mine: size.Sizes, theirs: size.Sizes) -> list[list[Cell]]:
    a, b = mine["both"], theirs["both"]
    rom = size.rom(a), size.rom(b)
    return [*([*k, *cells] for k, cells in beside(a, b)), ["ROM", "", *rom, rom[1] - rom[0]]]


def _json(label: str, found: size.Sizes) -> dict[str, object]:
    parts = {p: [{"symbol": n, "kind": k, "bytes": v} for (n, k), v in part.items()] for p, part in found.items()}
    return {"implementation": label, "images": parts}
