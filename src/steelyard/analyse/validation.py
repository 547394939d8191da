"""A simulator's figures against those of a board with the same image: how far apart they are, call by call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from ..measure.unseen import resolution
from ..model.metric import CLOCK
from ..model.primitive import PRIMITIVES
from ..model.record import Operation, Record


class Difference(Struct, frozen=True):
    """One call at one size, in cycles of the callee: ``simulated``, and ``measured`` to within ``resolution``. Without
    a size it is the mean over the known answers."""

    label: str
    flags: str
    operation: Operation
    adlen: int | None
    mlen: int | None
    simulated: float
    measured: float
    resolution: float
    runs: tuple[int, ...] = ()

    @property
    def error(self) -> float:
        """Of the simulator, as a fraction of what the board took."""
        return self.simulated / self.measured - 1

    @property
    def beyond(self) -> bool:
        """Whether the figures differ by more than the analyzer's resolution explains."""
        return abs(self.simulated - self.measured) > self.resolution


class Spread(Struct, frozen=True):
    """The distribution of errors, as fractions: ``bias`` is the median with its sign, the others are of magnitudes.
    ``p95`` is the smallest error that 95 % do not exceed. ``beyond`` counts what the resolution does not explain."""

    calls: int
    bias: float
    median: float
    p95: float
    most: float
    beyond: int


def differences(simulated: Record, measured: Record, cycles_per_sample: float) -> list[Difference]:
    """What both records have points of, or means where they have none, as those of block ciphers. Calls that took a
    board no time are left out, for nothing is a fraction of them.
    """
    there, its = (_calls(r, not (simulated.points or measured.points)) for r in (simulated, measured))
    unseen, clock = resolution(cycles_per_sample), measured.metrics.get(CLOCK, 0.0) / 1e6
    runs = tuple(r.id for r in (simulated, measured) if r.id is not None)
    return [
        Difference(
            simulated.setup.label, simulated.setup.flags, *place, there[place], cycles, unseen + clock * cycles, runs
        )
        for place, cycles in its.items()
        if cycles > 0 and place in there
    ]  # fmt: skip


def _calls(record: Record, means: bool) -> dict[tuple[Operation, int | None, int | None], float]:
    """Cycles by operation and bytes of associated data and message; of means without these."""
    if not means:
        return {(p.operation, p.adlen, p.mlen): p.cycles for p in record.points}
    every = PRIMITIVES[record.setup.primitive].operations
    return {(op, None, None): mean for op in every if (mean := record.metrics.get(f"cycles_{op}_mean")) is not None}


def spread(some: Iterable[Difference]) -> Spread:
    """The distribution of errors of at least one call."""
    found = list(some)
    signed = [d.error for d in found]
    size = sorted(map(abs, signed))
    return Spread(len(size), median(signed), median(size), p95(size), size[-1], sum(d.beyond for d in found))


def p95(size: Sequence[float]) -> float:
    """The smallest of at least one sorted size that 95 % do not exceed."""
    return size[math.ceil(0.95 * len(size)) - 1]


def worst(some: Sequence[Difference], count: int = 10) -> list[Difference]:
    """Those furthest apart, the furthest first."""
    return sorted(some, key=lambda d: -abs(d.error))[:count]
