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
#: outliers that notes name: all of a run that is worth anything
NAMED = 200
#: the calls of the workload's sizes, in notes
SIZES = "the workload's sizes"
#: makes calls with some inputs, by their numbers, once more: those of each operation in turn
Again = Callable[[Sequence[int]], Sequence[Observed]]


def repeated(
    first: Sequence[Observed], again: Callable[[], Sequence[Observed]], resolution: float, what: str = SIZES
) -> tuple[list[Observed], list[str]]:
    """The ``first`` calls with the median of several rounds as their cycles, and the interquartile range as spread; and
    notes, which call them ``what``. ``again`` makes the same calls once more, in the same order. Rounds are added until
    the median of each call is known to within ``resolution``, in cycles, as far as the spread tells: interquartile
    range over the root of their number."""
    rounds = [list(first)]
    while len(rounds) < LEAST or (len(rounds) < MOST and _scattered(rounds, resolution)):
        rounds.append(list(again()))
    made: list[Observed] = []
    outliers: list[str] = []
    for (op, v, answer), same in zip(first, zip(*rounds, strict=True), strict=True):
        cycles = [a.pulse.cycles for _, _, a in same]
        low, middle, high = _quartiles(cycles)
        spread = (high - low) / middle if middle else 0.0
        off = [a.pulse.apart for _, _, a in same if a.pulse.apart is not None]
        pulse = replace(answer.pulse, cycles=round(middle), spread=spread, apart=median(off) if off else None)
        made.append((op, v, replace(answer, pulse=pulse)))
        outliers += outlying(f"{op} {len(v.ad)}/{len(v.message)}", cycles, resolution)
    notes = [f"cycles at {what} are medians of {len(rounds)} calls"] if made else []
    if outliers:
        more = f" and {len(outliers) - NAMED} more" if len(outliers) > NAMED else ""
        named = "; ".join(outliers[:NAMED]) + more
        notes.append(f"{len(outliers)} of {len(rounds) * len(made)} repeated calls are outliers: {named}")
    return made, notes


def outlying(what: str, cycles: Sequence[int], resolution: float) -> list[str]:
    """Those of repeated calls that are past the fences, in words; ``resolution`` as above."""
    low, middle, high = _quartiles(cycles)
    room = FENCE * (high - low) + resolution
    return [f"{what}: {c} where the median is {middle:.0f}" for c in cycles if not low - room <= c <= high + room]


def sampled(
    first: Sequence[Observed], again: Again, sample: Sequence[int], resolution: float, what: str
) -> tuple[list[Observed], list[str]]:
    """The ``first`` calls, each operation's in the order of the inputs, as :func:`repeated` makes them, where they
    scatter: where some of the ``sample`` do, which are always repeated. Those of calls that do not differ by more than
    the ``resolution`` were made once; a note says so."""
    total = max(_numbers(first), default=-1) + 1
    chosen = sorted({k for k in sample if k < total})
    places = [at for at, k in enumerate(_numbers(first)) if k in chosen]
    some, notes = repeated([first[at] for at in places], lambda: again(chosen), resolution, f"a sample of {what}")
    ranges = (a.pulse.cycles * (a.pulse.spread or 0.0) for _, _, a in some)
    if len(places) < len(first) and (len(notes) > 1 or any(r > resolution for r in ranges)):
        return repeated(first, lambda: again(range(total)), resolution, what)
    made = list(first)
    for at, call in zip(places, some, strict=True):
        made[at] = call
    if some and len(places) < len(first):
        rest = len(first) - len(places)
        notes = [f"{notes[0]}, which differ by no more than {resolution:.3g} cycles; {rest} calls were made once"]
    return made, notes


def _numbers(calls: Sequence[Observed]) -> list[int]:
    """Of each call the number of its inputs among those of its operation."""
    seen: dict[str, int] = {}
    numbers = []
    for op, _, _ in calls:
        numbers.append(seen.get(op, 0))
        seen[op] = numbers[-1] + 1
    return numbers


def _scattered(rounds: Sequence[Sequence[Observed]], resolution: float) -> bool:
    """Whether some call's median is not known well enough yet."""
    cycles = ([a.pulse.cycles for _, _, a in same] for same in zip(*rounds, strict=True))
    ranges = (high - low for low, _, high in map(_quartiles, cycles))
    return any(r / len(rounds) ** 0.5 > resolution for r in ranges)


def _quartiles(cycles: Sequence[int]) -> tuple[float, float, float]:
    if len(cycles) < 2:
        return cycles[0], cycles[0], cycles[0]
    low, _, high = quantiles(cycles, method="inclusive")
    return low, median(cycles), high
