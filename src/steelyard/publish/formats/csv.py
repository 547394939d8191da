"""Comma-separated values (RFC 4180): full precision, column names as metrics are called."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from ...model.errors import printable
from ..sheet import Sheet

#: where a spreadsheet would begin a formula, wide signs included, and after what it may take for a separator: there a
#: quote is put; options such as -O3 call nothing, and stay, unlike -2+3
_FORMULA = re.compile(
    r"^(?=[=+@\t\r\uff1d\uff0b\uff20]|[-\uff0d](?:\d|.*[(|!]))|(?<=[;\t\r\n])(?=[-=+@\uff1d\uff0b\uff20\uff0d])",
    re.DOTALL,
)


def render(sheets: Sequence[Sheet]) -> str:
    """One table; a title line stands before each only where there are several."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for sheet in sheets:
        if len(sheets) > 1:
            writer.writerow([f"# {sheet.title}"])
        writer.writerow([_text(printable(c.name)) for c in sheet.columns])
        writer.writerows([_text(v) if isinstance(v, str) else v for v in x.cells] for x in sheet.lines)
    return out.getvalue()


def _text(value: str) -> str:
    return _FORMULA.sub("'", value)
