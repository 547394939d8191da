"""Columns of rows: which there are, which of them are stored, and those that are made of others."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

from ..model.errors import UPDATE, UserError, cut, unknown
from ..model.metric import DERIVED, MADE, headings, metric, metric_names, size_of
from ..model.primitive import PRIMITIVES
from ..model.record import Record
from ..model.row import CONTEXT, Made, Row, made_by, names_of, row
from .errors import carried

#: what a name may be the name of
NAMES = ("family", "variant", "label", "primitive")


def check_columns(text: str) -> list[str]:
    """The columns of a comma-separated list; :class:`UserError` for one that does not exist."""
    return [check_column(c.strip()) for c in text.split(",") if c.strip()]


def check_column(name: str) -> str:
    """The name, when it is a column's or heads a metric's; :class:`UserError` with a suggestion when not.

    >>> check_column("ROM"), check_column("encrypt"), check_column("encrypt 16/64")
    ('rom', 'cycles_encrypt_mean', 'encrypt@16/64')
    """
    name = _metrics_by_heading().get(name.lower(), name)
    name = name.replace(" ", "@") if size_of(name.replace(" ", "@")) else name
    if name in CONTEXT:
        return name
    if "@" in name or name in metric_names():
        return metric(name).name
    raise unknown("column", name, [*CONTEXT, *metric_names()], CONTEXT | headings())


@cache
def _metrics_by_heading() -> dict[str, str]:
    return {heading.lower(): name for name, heading in headings().items() if heading.lower() not in CONTEXT}


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
            metrics.update(MADE.get(name, (name,)))
    return metrics, points


def rows(records: Iterable[Record], beside: Iterable[Made] = ()) -> list[Row]:
    """One row a record, in order, as :meth:`Store.rows` gives them for stored ones; names of what made them mean the
    same in rows of what is ``beside`` them."""
    every = list(records)
    names = names_of((*map(made_by, every), *beside))
    return derive([row(r, names) for r in every])


def check_primitives(found: Iterable[Row]) -> None:
    """Raises :class:`UserError` for rows of a primitive that this version does not know."""
    if odd := {str(r["primitive"]) for r in found} - PRIMITIVES.keys():
        raise UserError(
            f"the database has runs of {cut(', '.join(sorted(odd)))}, which this version does not know; {UPDATE}"
        )


def derive(found: list[Row]) -> list[Row]:
    """The same rows, with the metrics that are made of others."""
    for name, parts in DERIVED.items():
        for r in found:
            values = list(map(r.get, parts))
            if None not in values:
                r[name] = sum(values)  # type: ignore[arg-type]
    carried(found)
    return found


def named(row: Row, pattern: str) -> bool:
    """Whether a row is the run of this number, or has a family, variant or label like this."""
    if pattern.isdecimal():
        return bool(row["run"] == int(pattern[:20]))
    return any(fnmatchcase(str(row[n]), pattern) for n in NAMES)
