"""Sorting by several columns, each up or down; what is missing comes last either way."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from ..model.row import Row
from .rows import check_column


def keys(text: str) -> list[tuple[str, bool]]:
    """``rom,-cycles_encrypt_mean`` as (column, descending). :class:`UserError` for an unknown column."""
    parts = [p.strip() for p in text.split(",") if p.strip()]
    return [(check_column(p.removeprefix("-")), p.startswith("-")) for p in parts]


def ordered(rows: Sequence[Row], by: Sequence[tuple[str, bool]]) -> list[Row]:
    """Rows in this order; equal ones keep their places."""
    done = list(rows)
    for name, down in reversed(by):
        values = {r.get(name) for r in done}
        if len(values) < 2:
            continue
        missing: list[Row] = []
        if None in values:
            missing = [r for r in done if r.get(name) is None]
            done = [r for r in done if r.get(name) is not None]
        kinds = {isinstance(v, str) for v in values if v is not None}
        done.sort(key=itemgetter(name) if len(kinds) == 1 else lambda r: str(r[name]), reverse=down)  # noqa: B023
        done += missing
    return done
