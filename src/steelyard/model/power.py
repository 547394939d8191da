"""Power that a meter measured while a board computed: between lab, measurement and record."""

from __future__ import annotations

from math import hypot
from typing import Annotated

from msgspec import Meta, Struct, field

#: what a meter can say, whichever the unit; no infinity, and no NaN
_Reading = Annotated[float, Meta(ge=-1e6, le=1e6)]
_Spread = Annotated[float, Meta(ge=0, le=1e6)]


class Value(Struct, frozen=True):
    """A measured value with its expanded uncertainty (coverage factor 2), in the same unit."""

    value: _Reading
    uncertainty: _Spread

    def times(self, other: Value) -> Value:
        """The product of two values whose errors have nothing to do with each other."""
        u = hypot(self.uncertainty * other.value, self.value * other.uncertainty)
        return Value(self.value * other.value, u)


class Power(Struct, frozen=True):
    """Watts by operation: ``above`` idle, and in ``total``; ``idle`` while the board waits for a request. ``cycle`` is
    the time of one cycle in seconds; an operation is missing where its watts are no more than their uncertainty.
    ``notes`` name the meter, or say why there are no watts. A sample of the board's analyzer takes
    ``cycles_per_sample``."""

    above: dict[str, Value] = field(default_factory=dict)
    total: dict[str, Value] = field(default_factory=dict)
    idle: Value | None = None
    cycle: Value = Value(0.0, 0.0)
    notes: tuple[str, ...] = ()
    cycles_per_sample: _Spread = 0.0
