"""Detects time that depends on the inputs: compares known-answer calls with fresh ones of the same sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from statistics import stdev

from ..model.call import CallResult, Observed, Vector
from ..model.record import OPERATIONS
from ..model.row import grouped
from .cycles import means

#: relative differences of means that do not count. Caches and branch predictors alone cause less than 0.2 % on every
#: simulated core; on machines, other programs disturb
BOUND, BOUND_OF_MACHINES = 0.005, 0.1
#: cycles of difference per call that do not count either, because calls may be as short as the baseline's
CYCLES = 10


def dependence(
    known: Sequence[Observed], fresh: Sequence[Observed], empty: dict[str, int], quantity: str = "cycles"
) -> tuple[dict[str, float], list[str]]:
    """The means where time depends on the inputs, and a note that compares those that differ:
    ``cycles_<operation>_mean`` is over calls with ``fresh`` inputs of the known answers' sizes, which no package can be
    made for, and ``cycles_<operation>_known_mean`` over the ``known`` answers. ``empty`` is the empty call's cost by
    operation."""
    old, new = means(known, empty, quantity), means(fresh, empty, quantity)
    figures = new | {f"{name.removesuffix('_mean')}_known_mean": old[name] for name in new if name in old}
    both = {op: (old[name], new[name]) for op in OPERATIONS if (name := f"{quantity}_{op}_mean") in new and name in old}
    bound = BOUND_OF_MACHINES if any(a.pulse.spread is not None for _, _, a in fresh) else BOUND
    depending = [op for op, (a, b) in both.items() if abs(b - a) > max(bound * max(a, b), CYCLES)]
    told = [
        f"{op} takes {both[op][0]:.0f} {quantity} on the known answers' inputs and {both[op][1]:.0f} on fresh ones"
        for op in depending or both  # a sample may differ by chance
    ]
    return figures, [f"time depends on the inputs: {'; '.join(told)}"]


def depends(known: Iterable[Observed], fresh: Iterable[Observed], empty: dict[str, int], *, sized: bool = True) -> bool:
    """Whether the mean of an operation differs between ``known`` and ``fresh`` inputs, over the sizes that both
    have. Where several known answers have a number and sizes in common, as in a file that numbers them all alike, each
    counts as their mean; so do all of them where calls have one size and are not ``sized``."""

    sums: dict[str, tuple[int, float, float]] = {}
    bound = BOUND
    for op, a, twin in _paired(known, fresh, sized=sized):
        if a.pulse.spread is not None:
            bound = BOUND_OF_MACHINES
        calls, first, second = sums.get(op, (0, 0, 0))
        sums[op] = calls + 1, first + twin - empty[op], second + a.pulse.cycles - empty[op]
    return any(abs(b - a) > max(bound * max(a, b), CYCLES * calls) for calls, a, b in sums.values())


def scatter(
    known: Sequence[Observed],
    fresh: Sequence[Observed],
    empty: dict[str, int],
    *,
    depends: bool,
    sized: bool,
    exact: bool,
) -> dict[str, float]:
    """``cycles_<operation>_inputs_sd``, the standard deviation of a ``fresh`` call minus the ``known`` answer's of its
    size, where time ``depends`` on the inputs, or scatters with them though the mean does not show it. Where pulses are
    ``exact`` any scatter is the inputs', if only by a branch predictor."""
    means_of = means(known, empty)
    bound = BOUND_OF_MACHINES if any(a.pulse.spread is not None for _, _, a in fresh) else BOUND
    pairs = grouped(((op, a.pulse.cycles - twin) for op, a, twin in _paired(known, fresh, sized=sized)), itemgetter(0))
    found = {op: stdev([d for _, d in of]) for op, of in pairs.items() if len(of) > 1}
    least = {op: 0.0 if exact else max(bound * means_of.get(f"cycles_{op}_mean", 0.0), CYCLES) for op in found}
    return {f"cycles_{op}_inputs_sd": sd for op, sd in found.items() if depends or sd > least[op]}


def _paired(
    known: Iterable[Observed], fresh: Iterable[Observed], *, sized: bool
) -> Iterator[tuple[str, CallResult, float]]:
    """The operation and answer of each fresh call whose size is a known answer's, and the cycles of that one."""

    def key(op: str, v: Vector) -> tuple[str, int, int, int]:
        return (op, v.count if sized else 0, len(v.ad), len(v.message))

    at = grouped(((key(op, v), a.pulse.cycles) for op, v, a in known), itemgetter(0))
    twins = {key: sum(cycles for _, cycles in of) / len(of) for key, of in at.items()}
    return ((op, a, twins[k]) for op, v, a in fresh if (k := key(op, v)) in twins)
