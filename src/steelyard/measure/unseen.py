"""By how much figures of a board may be off, because an analyzer samples its calls; its clock comes on top."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from ..model.workload import LONG

#: samples of the analyzer by which a board's figure may be off: two edges of the call, two of the empty one
SAMPLES = 2


def resolution(cycles_per_sample: float) -> float:
    """Cycles by which a call's figure may be off, because the analyzer sees no more."""
    return SAMPLES * cycles_per_sample + 1  # cycles are rounded


def on_line(name: str, sizes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of the sizes (associated data, message) in bytes that the line of a figure goes through."""
    return [s for s in sizes if (s[1] if "_ad_" in name else s[0]) == 0]


def reach(name: str, sizes: Collection[tuple[int, int]]) -> float:
    """By how much a figure of a line (:func:`.cycles.lines`) is off at most where the cycles of each size are off by
    one: in cycles, or cycles per byte. ``sizes`` are those on its line; fewer than three make none, and 1 is said."""
    return math.fsum(map(abs, turns(name, sizes))) or 1.0


def turns(name: str, sizes: Collection[tuple[int, int]]) -> list[float]:
    """Each size's factor in a figure of a line, in the order of ``sizes``; none of fewer than three. A long message's
    has two sizes, whichever others there are."""
    if "_long_" in name:
        each = 1 / (LONG[1] - LONG[0])
        return [-each, each]
    lengths = [max(s) for s in sizes]
    if len(lengths) < 3:
        return []
    mean = sum(lengths) / len(lengths)
    square = sum((n - mean) ** 2 for n in lengths)
    slope = [(n - mean) / square for n in lengths]  # least squares
    return [1 / len(lengths) - mean * t for t in slope] if name.endswith("_fixed") else slope
