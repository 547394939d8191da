"""Repeated calls: a sampled pulse is good to a sample. Several say more, and how far they scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median, quantiles

from msgspec.structs import replace

from ..model.call import Observed

#: times that calls are made, at least, and at the most where they scatter
LEAST, MOST = 3, 15
#: interquartile ranges from a quartile past which a figure is an outlier (Tukey, Exploratory Data Analysis, 2C)
FENCE = 1.5
#: outliers that notes name
NAMED = 5


def repeated(
    first: Sequence[Observed], again: Callable[[], Sequence[Observed]], resolution: float
) -> tuple[list[Observed], list[str]]:
    """The ``first`` calls with the median of several rounds as their cycles, and the interquartile range as spread; and
    notes. ``again`` makes the same calls once more, in the same order. Rounds are added until the median of each call
    is known to within ``resolution``, in cycles, as far as the spread tells: interquartile range over the root of their
    number."""
    rounds = [[a.pulse.cycles for _, _, a in first]]
    while len(rounds) < LEAST or (len(rounds) < MOST and _scattered(rounds, resolution)):
        rounds.append([a.pulse.cycles for _, _, a in again()])
    made: list[Observed] = []
    outliers: list[str] = []
    for (op, v, answer), cycles in zip(first, zip(*rounds, strict=True), strict=True):
        low, middle, high = _quartiles(cycles)
        spread = (high - low) / middle if middle else 0.0
        made.append((op, v, replace(answer, pulse=replace(answer.pulse, cycles=round(middle), spread=spread))))
        room = FENCE * (high - low) + resolution
        outliers += [
            f"{op} {len(v.ad)}/{len(v.message)}: {c} where the median is {middle:.0f}"
            for c in cycles
            if not low - room <= c <= high + room
        ]
    notes = [f"cycles at the workload's sizes are medians of {len(rounds)} calls"] if made else []
    if outliers:
        named = "; ".join(outliers[:NAMED]) + (" and so on" if len(outliers) > NAMED else "")
        notes.append(f"{len(outliers)} of {len(rounds) * len(made)} repeated calls are outliers: {named}")
    return made, notes


def _scattered(rounds: Sequence[Sequence[int]], resolution: float) -> bool:
    """Whether some call's median is not known well enough yet."""
    ranges = (high - low for low, _, high in map(_quartiles, zip(*rounds, strict=True)))
    return any(r / len(rounds) ** 0.5 > resolution for r in ranges)


def _quartiles(cycles: Sequence[int]) -> tuple[float, float, float]:
    if len(cycles) < 2:
        return cycles[0], cycles[0], cycles[0]
    low, _, high = quantiles(cycles, method="inclusive")
    return low, median(cycles), high
