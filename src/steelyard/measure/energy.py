"""Energy from power that a meter measured, beside the modelled one. docs/definitions.md has the formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.power import Power, Value
from ..model.record import Point
from .unseen import on_line, reach, resolution

_MILLI, _MICRO, _NANO = (Value(scale, 0.0) for scale in (1e3, 1e6, 1e9))


def measured(
    figures: Mapping[str, float], power: Power | None, points: Sequence[Point] = (), block: int = 0
) -> dict[str, float]:
    """``power_measured`` in milliwatts, and for each operation that was metered ``energy_<operation>_measured``: its
    energy in microjoules of the mean known-answer call, ``.._per_byte`` in microjoules and ``.._per_bit`` in nanojoules
    of the line through the ``points``, or of a block of so many bytes; each with its ``_uncertainty``. ``figures`` are
    the cycles' metrics."""
    if power is None or power.idle is None:
        return {}
    made = {"power_idle_measured": power.idle.times(_MILLI)}
    for of, suffix in ((power.above, ""), (power.total, "_with_idle")):
        for op, watts in of.items():
            if (mean := figures.get(f"cycles_{op}_mean")) is not None:
                time = power.cycle.times(Value(mean, 0.0)).times(_MICRO)
                made[f"energy_{op}_measured{suffix}"] = watts.times(time)
    for op in power.total.keys() & {"encrypt", "hash"}:
        made["power_measured"] = power.total[op].times(_MILLI)
    for op, above in power.above.items():
        name = f"energy_{op}_measured"
        if (slope := figures.get(line := f"{op}_per_byte")) is not None:
            sizes = on_line(line, ((p.adlen, p.mlen) for p in points if p.operation == op))
            each = 1 / block if block else reach(line, sizes)
            byte = power.cycle.times(Value(slope, each * resolution(power.cycles_per_sample)))
            made[f"{name}_per_byte"] = above.times(byte).times(_MICRO)
            made[f"{name}_per_bit"] = above.times(byte).times(Value(1 / 8, 0.0)).times(_NANO)
    values = {name: v.value for name, v in made.items()}
    return values | {f"{name}_uncertainty": v.uncertainty for name, v in made.items()}
