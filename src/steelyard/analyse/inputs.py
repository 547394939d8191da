"""Time that depends on the inputs: by how much figures of two sources differ for want of the same inputs, which follow
from the sources; and the means over the known answers, whose inputs are the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from ..measure.cycles import OF_LINES
from ..measure.dependence import BOUND, BOUND_OF_MACHINES, CYCLES
from ..measure.unseen import on_line, reach, turns
from ..model import options
from ..model.metric import of_point
from ..model.record import OPERATIONS
from ..model.row import Row
from ..model.workload import LONG, NAMED, recorded
from .answer import in_means

#: the sizes of which a row has to tell whether they had room
ASKED = tuple(dict.fromkeys(size for name in ("default", "gmu", "nist-grid") for size in NAMED[name]))
_OPS = "|".join(OPERATIONS)
_OF_MEAN = re.compile(rf"(?:cycles|instructions|ticks)_({_OPS})(?:_warm)?_mean|energy_({_OPS})_modelled")
_KNOWN = "_known_mean"
_OF_CALLS = re.compile(rf"({_OPS})(?:@.*|_fixed|_(?:long_)?per_(?:ad_)?byte)")
#: standard deviations within which nothing can be said
_SURE = 2.0
#: of the mean at least this part is taken to grow with the size
_LEAST = 0.1
#: bytes of a message in the mean over known answers
_BYTES = 16
#: calls of the sample by which a dependence is seen
_SAMPLE = 48


def known(name: str) -> str:
    """What says over the known answers whether an operation got worse, ``cycles_encrypt_known_mean``: a mean's own
    counterpart, and that of cycles for modelled energy, points and cycles per byte; empty for anything else."""
    op = _operation(name)
    return f"{_quantity(name)}_{op}{_KNOWN}" if op else ""


def judges(name: str) -> tuple[str, ...]:
    """What says whether an operation got worse where other inputs hide it in this metric: the mean over the known
    answers, whose inputs may feel little of a change, and of points and lines that over fresh ones, which scatters
    less."""
    op = _operation(name)
    own = [f"{_quantity(name)}_{op}_mean"] if of_calls(name) else []
    return (known(name), *own) if op else ()


def of_calls(name: str) -> bool:
    """Whether a metric is of single calls, as points and lines are, and no mean."""
    return _OF_CALLS.fullmatch(name) is not None


def needed(names: Iterable[str]) -> Iterator[str]:
    """The columns that tell, of each of these metrics, what inputs make of it."""
    for name in names:
        if name.endswith(_KNOWN):
            yield _mean_of(name)
        elif op := _operation(name):
            yield from (known(name), f"{_quantity(name)}_{op}_mean", f"cycles_{op}_inputs_sd", f"{op}_fixed")


def with_known(row: Row, names: Iterable[str]) -> Row:
    """A row with those of these metrics that are means over the known answers: where no mean over fresh inputs is, the
    mean is that."""
    more = {n: row.get(_mean_of(n)) for n in names if n.endswith(_KNOWN) and row.get(n) is None}
    return row | more if more else row


def of_judges(a: Row, b: Row, names: Iterable[str]) -> tuple[Row, Row, list[str]]:
    """Two rows :func:`with_known`, and what both have of the :func:`judges` of these metrics where the time of one
    depends on the inputs, or single calls scatter with them."""
    asked = {n: other for n in names if (other := known(n)) and any(_varies(r, n, other) for r in (a, b))}
    a, b = (with_known(r, asked.values()) for r in (a, b))
    every = dict.fromkeys(j for n in asked for j in judges(n))
    return a, b, [n for n in sorted(every) if None not in (a.get(n), b.get(n))]


def _mean_of(name: str) -> str:
    """The mean that goes with one over the known answers."""
    return f"{name.removesuffix(_KNOWN)}_mean"


def _varies(row: Row, name: str, other: str) -> bool:
    scatters = row.get(f"cycles_{_operation(name)}_inputs_sd") is not None
    return row.get(other) is not None or (scatters and of_calls(name))


def apart(a: Row, b: Row, name: str) -> tuple[float, float]:
    """By how much a figure of two rows may differ by their inputs alone, and by how much where calls scatter in
    proportion to what they take, so that nothing can be said below that; 0 where inputs are the same, or time was not
    seen to depend on them."""
    op = _operation(name)
    alike = a.get("flags") == b.get("flags") or all(map(_flags_make_none, (a, b)))
    same = a.get("digest") == b.get("digest") and alike
    if op and (_OF_MEAN.fullmatch(name) or (a.get("primitive") == "crypto_block" and OF_LINES.fullmatch(name))):
        return _of_mean(a, b, name, op, same=same)
    if not op or same:
        return 0.0, 0.0
    scatter = max(_scatter(r, op, "cycles") for r in (a, b))
    line = OF_LINES.fullmatch(name) is not None
    each = [scatter * _number(r, f"cycles_{op}_mean") * (reach_of(name, r) if line else 1.0) for r in (a, b)]
    near = _SURE * sum(each)
    of_figure = sum(_of_points(name, r, op) if line else _number(r, name) for r in (a, b))
    return near, max(near, _SURE * scatter * max(_growth(r, op) for r in (a, b)) * of_figure)


def reach_of(name: str, row: Row) -> float:
    """By how much a figure of a line is off at most where the cycles of each size are off by one."""
    return reach(name, _sizes_of(name, row))


def _sizes_of(name: str, row: Row) -> list[tuple[int, int]]:
    """The sizes that a line goes through. Those without room are not in the row's columns, as far as :data:`ASKED` has
    them: others are taken for measured, whatever else was asked for, and so are all where none is known."""
    sizes = on_line(name, recorded(str(row.get("workload"))))
    seen = [s for s in sizes if _point(name, row, s)]
    rare = [s for s in sizes if s not in ASKED]
    return [*dict.fromkeys((*seen, *rare))] if seen else sizes


def _of_points(name: str, row: Row, op: str) -> float:
    """By how much a figure of a line is off at most where each point is off by itself. A point that the row does not
    tell is taken to grow with its size as the mean does."""
    sizes = (
        on_line(name, [size for n in LONG for size in ((0, n), (n, 0))]) if "_long_" in name else _sizes_of(name, row)
    )
    mean = _number(row, f"cycles_{op}_mean")
    grown = mean / _growth(row, op) / _BYTES
    each = zip(turns(name, sizes), sizes, strict=False)
    total = math.fsum(abs(turn) * (_point(name, row, s) or mean + grown * max(s)) for turn, s in each)
    return total or _number(row, name)


def _growth(row: Row, op: str) -> float:
    """The mean over that part of it that grows with the size, which is what scatters where calls are long; as far as a
    line tells it."""
    mean, fixed = _number(row, f"cycles_{op}_mean"), _number(row, f"{op}_fixed")
    return mean / max(mean - fixed, _LEAST * mean) if mean else 1.0


def _point(name: str, row: Row, size: tuple[int, int]) -> float:
    line = OF_LINES.fullmatch(name)
    return _number(row, of_point(line[1], size)) if line else 0.0


def _flags_make_none(row: Row) -> bool:
    """Whether inputs follow from sources alone, whatever these flags are."""
    return options.known(str(row.get("flags") or "").split())


def _quantity(name: str) -> str:
    """What the means count that say how a metric depends on the inputs."""
    return next((q for q in ("instructions", "ticks") if name.startswith(q)), "cycles")


def _operation(name: str) -> str:
    found = _OF_MEAN.fullmatch(name) or _OF_CALLS.fullmatch(name)
    return next(filter(None, found.groups())) if found else ""


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return abs(float(value)) if isinstance(value, int | float) else 0.0


def _depends(row: Row, op: str, quantity: str) -> bool:
    """Whether a row's mean is over fresh inputs; :func:`of_judges` fills the other in with the mean."""
    return row.get(f"{quantity}_{op}_known_mean") not in (None, row.get(f"{quantity}_{op}_mean"))


def _scatter(row: Row, op: str, quantity: str) -> float:
    """The standard deviation of a call as a part of the mean. Older records do not have it, nor has what is no cycles:
    they are as sure as the sample."""
    mean = _number(row, f"{quantity}_{op}_mean")
    if not mean:
        return 0.0
    if quantity == "cycles" and row.get(f"cycles_{op}_inputs_sd") is not None:
        return _number(row, f"cycles_{op}_inputs_sd") / mean
    return math.sqrt(_SAMPLE) * _bound(row, op, quantity) if _depends(row, op, quantity) else 0.0


def _bound(row: Row, op: str, quantity: str) -> float:
    """What the sample does not take for a dependence, as a part of the mean."""
    mean = _number(row, f"{quantity}_{op}_mean")
    bound = BOUND_OF_MACHINES if _is_machine(row) else BOUND
    return max(bound, CYCLES / mean) if mean else bound


def _of_mean(a: Row, b: Row, name: str, op: str, *, same: bool) -> tuple[float, float]:
    """By how much a mean is off, and where nothing can be said: one side's sample saw no difference, and may have
    missed what the other's did. The ``same`` inputs make no difference of means that are both over these."""
    quantity = _quantity(name)
    depending = [_depends(r, op, quantity) for r in (a, b)]
    if not any(depending) or (same and all(depending)):
        return 0.0, 0.0
    scatter = max(_scatter(r, op, quantity) for r in (a, b))
    near, wide = 0.0, 0.0
    for row, own in zip((a, b), depending, strict=True):
        calls = in_means(row) if row.get("primitive") != "crypto_block" else None
        seen = _scatter(row, op, quantity)
        if own:
            off = missed = _SURE * seen / math.sqrt(calls or _SAMPLE)
        else:  # of the known answers where a sample saw no difference, as far as it tells one
            bound = _bound(row, op, quantity)
            off, missed = (bound + _SURE * sd / math.sqrt(_SAMPLE) for sd in (seen, scatter))
        near += off * _number(row, name)
        wide += (off if same else missed) * _number(row, name)
    return near, wide


def _is_machine(row: Row) -> bool:
    return row.get("device") not in (None, "simulator", "board", "virtual-board")
