"""Rows: a run as one flat mapping of column to value, wherever it came from. Answers are made of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from .record import Record

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Value = str | float | int | None
#: a column's value; a metric that a run lacks is None or missing
Row = dict[str, Value]

#: columns that are not metrics, with their headings
CONTEXT = {
    "run": "run",
    "label": "implementation",
    "primitive": "primitive",
    "family": "family",
    "variant": "variant",
    "implementation": "implementation name",
    "target": "target",
    "device": "device",
    "flags": "flags",
    "workload": "workload",
    "compiler": "compiler",
    "outcome": "outcome",
    "vectors": "known answers",
    "finished": "finished (UTC)",
    "host": "host",
    "digest": "digest",
    "harness": "harness",
    "timing_model": "timing model",
    "origin": "named by",
}


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their key, in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def row(record: Record) -> Row:
    """A record as a row, equal to what ``Store.rows`` gives for it: context, metrics, and points under names such as
    ``encrypt@16/64``."""
    s, failure = record.setup, record.failure
    return {
        "run": record.id,
        "label": s.label,
        "primitive": s.primitive,
        "family": s.family,
        "variant": s.variant,
        "implementation": s.implementation,
        "target": s.target,
        "device": s.device,
        "flags": s.flags,
        "workload": s.workload,
        "compiler": s.toolchain.version,
        "outcome": "verified" if failure is None else str(failure.reason),
        "vectors": record.verification.vectors if record.verification else None,
        "finished": None if record.finished is None else record.finished.strftime("%Y-%m-%d %H:%M"),
        "host": record.host,
        "digest": s.implementation_digest,
        "harness": s.harness,
        "timing_model": s.timing_model,
        "origin": record.origin,
        **record.metrics,
        **{f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in record.points},
    }
