"""Sorting by several columns, each up or down; what is missing comes last either way."""

from __future__ import annotations

from collections.abc import Sequence

from .rows import Row, check_column


def keys(text: str) -> list[tuple[str, bool]]:
    """``rom,-cycles_encrypt_mean`` as (column, descending). :class:`UserError` for an unknown column."""
    parts = [p.strip() for p in text.split(",") if p.strip()]
    return [(check_column(p.removeprefix("-")), p.startswith("-")) for p in parts]


def ordered(rows: Sequence[Row], by: Sequence[tuple[str, bool]]) -> list[Row]:
    """Rows in this order; equal ones keep their places."""
    done = list(rows)
    for name, down in reversed(by):
        present = [r for r in done if r.get(name) is not None]
        missing = [r for r in done if r.get(name) is None]
        text = any(isinstance(r[name], str) for r in present)
        present.sort(key=lambda r: str(r[name]) if text else r[name], reverse=down)  # type: ignore[arg-type,return-value]
        done = present + missing
    return done
