"""Comma-separated values (RFC 4180): full precision, column names as metrics are called."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from ..sheet import Sheet


def render(sheets: Sequence[Sheet]) -> str:
    """One table; a title line stands before each only where there are several."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for sheet in sheets:
        if len(sheets) > 1:
            writer.writerow([f"# {sheet.title}"])
        writer.writerow([c.name for c in sheet.columns])
        for line in sheet.lines:
            writer.writerow(["" if v is None else _tame(v) for v in line.cells])
    return out.getvalue()


def _tame(value: str | float | int) -> str | float | int:
    """Text that a spreadsheet would run as a formula gets a quote before it; options such as -O3 stay."""
    if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t", "\r"):
        return f"'{value}"
    return value
