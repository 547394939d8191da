"""A family's software and hardware on one page: of each target and device the fastest, in the same units."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyse import rank
from ..model.primitive import PRIMITIVES
from ..model.row import Row, grouped
from ..model.target import load_target, target_names
from .results import column, run_of, some, title_of
from .sheet import Cell, Column, Line, Sheet

HARDWARE = "lwc_rtl"
#: what is compared, and the sizes of the message in bytes: the longer one says who is fastest
_OPERATIONS = (("encrypt", "encryption"), ("hash", "hash"))
_SIZES = (64, 1536)
_COSTS = ("rom", "ram", "lut", "ge", "ff")
#: metrics that the tables need
NEEDED = (*(f"{op}@0/{n}" for op, _ in _OPERATIONS for n in _SIZES), *_COSTS, "fmax_mean", "fmax_reported")


def tables(rows: Sequence[Row]) -> list[Sheet]:
    """For each family that has both, and each operation, a line for each target or device: cycles, time, throughput and
    what it costs. A device without a frequency has cycles only, and stands last."""
    sheets = []
    for family, mine in sorted(grouped(rows, lambda r: str(r["family"])).items()):
        for op, title in _OPERATIONS:
            names = [f"{op}@0/{n}" for n in _SIZES]
            having, _ = rank.complete(mine, names)
            if len({r["primitive"] == HARDWARE for r in having}) < 2:
                continue
            best = [
                min(group, key=lambda r: _time(r, names[-1]))
                for group in grouped(having, lambda r: (r["target"], r["primitive"], r["timing_model"])).values()
            ]
            best.sort(key=lambda r: _time(r, names[-1]))
            costs = [n for n in _COSTS if any(rank.value(r, n) is not None for r in best)]
            columns = [Column("target", "on"), column("label"), *(column(n) for n in names)]
            columns += [Column(f"time_{n}", f"time of {n}", "µs", 2) for n in _SIZES]
            columns += [Column("throughput", f"{_SIZES[-1]}", "Mbit/s", 2), *(column(n) for n in costs)]
            lines = [_line(r, names, costs) for r in best]
            notes = (
                f"of each target and device the fastest with {_SIZES[-1]} bytes; software computes in memory, hardware "
                "takes and gives words, key included; devices without a frequency have cycles only",
                *_without(mine, op, names),
            )
            sheets.append(
                Sheet(f"{family}: {title} in software and hardware", f"{family}-{op}", columns, lines, notes=notes)
            )
    return sheets


def _without(rows: Sequence[Row], operation: str, names: Sequence[str]) -> list[str]:
    """Says which rows of an operation lack which sizes: all of a target where none of it has any of these. A design
    that has no size at all is one without the operation."""
    there = {(r["target"], n) for r in rows for n in names if rank.value(r, n) is not None}
    sized = {p for p, offer in PRIMITIVES.items() if offer.sized and operation in offer.operations}
    lost: dict[str, set[str]] = {}
    for r in rows:
        missing = [n for n in names if rank.value(r, n) is None]
        if missing and r["primitive"] in sized and not (r["primitive"] == HARDWARE and missing == names):
            who = r["label"] if any((r["target"], n) in there for n in missing) else "all"
            lost.setdefault(", ".join(missing), set()).add(f"{who} on {r['target']}")
    return [f"without {sizes}, so left out: {some(sorted(who))}" for sizes, who in sorted(lost.items())]


def _mhz(row: Row) -> float | None:
    """The clock: the chip's, or the one that the design may have."""
    target = str(row["target"])
    if row["primitive"] == HARDWARE:
        return rank.value(row, "fmax_mean") or rank.value(row, "fmax_reported")
    return load_target(target).chip.clock_hz / 1e6 or None if target in target_names() else None


def _time(row: Row, name: str) -> tuple[bool, float]:
    """Microseconds of an operation, and after all of them cycles where there is no clock."""
    mhz, cycles = _mhz(row), rank.value(row, name) or 0.0
    return mhz is None, cycles / mhz if mhz else cycles


def _line(row: Row, names: Sequence[str], costs: Sequence[str]) -> Line:
    mhz = _mhz(row)
    times = [_time(row, n)[1] if mhz else None for n in names]
    cells: list[Cell] = [title_of(str(row["target"]), row.get("device")), row["label"], *(row.get(n) for n in names)]
    cells += [*times, 8 * _SIZES[-1] / times[-1] if times[-1] else None, *(row.get(n) for n in costs)]
    return Line(cells, run_of(row))
