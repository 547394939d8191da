"""Time that depends on the inputs: by how much figures of two sources differ for want of the same inputs, which follow
from the sources; and the means over the known answers, whose inputs are the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from ..measure.dependence import BOUND, CYCLES
from ..model.record import OPERATIONS
from ..model.row import Row
from .answer import in_means

_OPS = "|".join(OPERATIONS)
_MEAN = re.compile(rf"(?:cycles|instructions|ticks)_({_OPS})_mean")
_OF_MEAN = re.compile(rf"energy_({_OPS})_modelled|{_MEAN.pattern}")
_OF_CALLS = re.compile(rf"({_OPS})(?:@.*|_fixed|_(?:long_)?per_(?:ad_)?byte)")
#: standard deviations within which nothing can be said
_SURE = 2.0
#: sizes that a dependence is seen by, as in :mod:`..verify`; means of older records are as sure as these told it
_SAMPLE = 48


def known(name: str) -> str:
    """A mean's counterpart over the known answers, ``cycles_encrypt_known_mean``; empty for what is no such mean."""
    return f"{name.removesuffix('_mean')}_known_mean" if _MEAN.fullmatch(name) else ""


def needed(names: Iterable[str]) -> Iterator[str]:
    """The columns that tell, of each of these metrics, what inputs make of it."""
    for name in names:
        if op := _operation(name):
            yield from (f"cycles_{op}_mean", f"cycles_{op}_known_mean", f"cycles_{op}_inputs_sd")
            yield from filter(None, [known(name)])


def of_known(a: Row, b: Row, names: Iterable[str]) -> tuple[Row, Row, list[str]]:
    """Two rows, and the means over known answers that both have of these metrics where the time of one depends on the
    inputs: where it does not, the mean is that."""
    means = {other: n for n in names if (other := known(n)) and {a.get(other), b.get(other)} != {None}}
    a, b = (r | {other: r.get(n) for other, n in means.items() if r.get(other) is None} for r in (a, b))
    return a, b, [other for other in means if None not in (a.get(other), b.get(other))]


def apart(a: Row, b: Row, name: str) -> float:
    """By how much a figure of two rows with different sources may differ by their inputs alone; 0 where the time of
    neither depends on them."""
    op = _operation(name)
    if not op or a.get("digest") == b.get("digest"):
        return 0.0
    told = [_scatter(r, op) for r in (a, b)]
    relative = max(told)
    if not relative:
        return 0.0
    return sum(_off(r, name, op, own, relative) for r, own in zip((a, b), told, strict=True))


def _operation(name: str) -> str:
    found = _OF_MEAN.fullmatch(name) or _OF_CALLS.fullmatch(name)
    return next(filter(None, found.groups())) if found else ""


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return abs(float(value)) if isinstance(value, int | float) else 0.0


def _scatter(row: Row, op: str) -> float:
    """The standard deviation of a call as a part of the mean; 0 where time does not depend on the inputs."""
    mean = _number(row, f"cycles_{op}_mean")
    if not mean or row.get(f"cycles_{op}_known_mean") in (None, row[f"cycles_{op}_mean"]):  # as of_known fills it in
        return 0.0
    return (_number(row, f"cycles_{op}_inputs_sd") or math.sqrt(_SAMPLE) * max(BOUND * mean, CYCLES)) / mean


def _off(row: Row, name: str, op: str, own: float, relative: float) -> float:
    value, mean = _number(row, name), _number(row, f"cycles_{op}_mean")
    if not _OF_MEAN.fullmatch(name):
        return _SURE * relative * value
    if own:
        calls = in_means(row) if row.get("primitive") != "crypto_block" else None
        return _SURE * own / math.sqrt(calls or _SAMPLE) * value
    # of the known answers; a sample saw no difference, as far as it tells one
    return (max(BOUND, CYCLES / mean if mean else 0.0) + _SURE * relative / math.sqrt(_SAMPLE)) * value
