"""Comma-separated values (RFC 4180): full precision, column names as metrics are called."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from ..sheet import Sheet

#: text that a spreadsheet would run as a formula gets a quote before it; options such as -O3 call nothing, and stay
_FORMULA = re.compile(r"[=+@\t\r]|-.*[(|!]", re.DOTALL)


def render(sheets: Sequence[Sheet]) -> str:
    """One table; a title line stands before each only where there are several."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for sheet in sheets:
        if len(sheets) > 1:
            writer.writerow([f"# {sheet.title}"])
        writer.writerow([c.name for c in sheet.columns])
        writer.writerows(
            [f"'{v}" if isinstance(v, str) and _FORMULA.match(v) else v for v in x.cells] for x in sheet.lines
        )
    return out.getvalue()
