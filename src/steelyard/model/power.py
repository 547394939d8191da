"""Power that a meter measured while a board computed: between lab, measurement and record."""

from __future__ import annotations

from math import hypot

from msgspec import Struct, field


class Value(Struct, frozen=True):
    """A measured value with its expanded uncertainty (coverage factor 2), in the same unit."""

    value: float
    uncertainty: float

    def times(self, other: Value) -> Value:
        """The product of two values whose errors have nothing to do with each other."""
        u = hypot(self.uncertainty * other.value, self.value * other.uncertainty)
        return Value(self.value * other.value, u)


class Power(Struct, frozen=True):
    """Watts by operation: ``above`` idle, and in ``total``; ``idle`` while the board waits for a request. ``cycle`` is
    the time of one cycle in seconds. ``notes`` name the meter, or say why there are no watts."""

    above: dict[str, Value] = field(default_factory=dict)
    total: dict[str, Value] = field(default_factory=dict)
    idle: Value | None = None
    cycle: Value = Value(0.0, 0.0)
    notes: tuple[str, ...] = ()
