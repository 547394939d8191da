"""Records as rows: one mapping of column to value for each, whatever the records came from."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.errors import unknown
from ..model.metric import DERIVED, metric, metric_names, size_of
from ..model.record import Record

Value = str | float | int | None
#: a column's value; a metric that a record lacks is missing
Row = dict[str, Value]

#: columns that are no metrics, with their titles
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


def check_columns(text: str) -> list[str]:
    """The columns of a comma-separated list; :class:`UserError` for one that does not exist."""
    return [check_column(c.strip()) for c in text.split(",") if c.strip()]


def check_column(name: str) -> str:
    """The name, when it is a column's; :class:`UserError` with a suggestion when not."""
    if name in CONTEXT:
        return name
    if "@" in name or name in metric_names():
        return metric(name).name
    raise unknown("column", name, [*CONTEXT, *metric_names()])


def needed(columns: Iterable[str]) -> tuple[set[str], set[tuple[str, int, int]]]:
    """The stored metrics and points (operation, adlen, mlen) that these columns are made of."""
    metrics: set[str] = set()
    points: set[tuple[str, int, int]] = set()
    for name in columns:
        if name in CONTEXT:
            continue
        if size := size_of(name):
            points.add((size.operation, size.adlen, size.mlen))
        else:
            metrics.update(DERIVED.get(name, (name,)))
    return metrics, points


def rows(records: Iterable[Record]) -> list[Row]:
    """One row a record, in order, as :meth:`Store.table` gives them for stored ones."""
    made = []
    for r in records:
        s = r.setup
        row: Row = {
            "run": r.id,
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
            "outcome": "verified" if r.failure is None else str(r.failure.reason),
            "vectors": r.verification.vectors if r.verification else None,
            "finished": None if r.finished is None else r.finished.strftime("%Y-%m-%d %H:%M"),
            "host": r.host,
            "digest": s.implementation_digest,
            "harness": s.harness,
            "timing_model": s.timing_model,
            "origin": r.origin,
        }
        row.update(r.metrics)
        row.update({f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in r.points})
        made.append(row)
    return derive(made)


def derive(found: list[Row]) -> list[Row]:
    """The same rows, with the metrics that are made of others."""
    for name, parts in DERIVED.items():
        for row in found:
            values = list(map(row.get, parts))
            if None not in values:
                row[name] = sum(values)  # type: ignore[arg-type]
    return found
