"""Excel workbooks by XlsxWriter: one worksheet a table, numbers as numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import xlsxwriter

from ..sheet import Sheet


def render(sheets: Sequence[Sheet]) -> bytes:
    """A workbook."""
    out = io.BytesIO()
    options = {"strings_to_formulas": False, "strings_to_urls": False, "in_memory": True}
    with xlsxwriter.Workbook(out, options) as book:
        bold, plain = book.add_format({"bold": True}), book.add_format()
        formats = {n: book.add_format({"num_format": "0" + ("." + "0" * n if n else "")}) for n in range(5)}
        for name, sheet in zip(names(sheets), sheets, strict=True):
            page = book.add_worksheet(name)
            page.freeze_panes(1, 0)
            for k, c in enumerate(sheet.columns):
                page.write_string(0, k, c.heading, bold)
                longest = max((len(str(line.cells[k])) for line in sheet.lines[:200]), default=0)
                page.set_column(k, k, min(48, max(len(c.heading), longest if c.digits is None else 10)) + 1)
            for row, line in enumerate(sheet.lines, 1):
                for k, (value, c) in enumerate(zip(line.cells, sheet.columns, strict=True)):
                    if isinstance(value, str):
                        page.write_string(row, k, value)
                    elif value is not None:
                        page.write_number(row, k, value, formats.get(c.digits or 0, plain))
            for row, note in enumerate(sheet.notes, len(sheet.lines) + 2):
                page.write_string(row, 0, note)
    return out.getvalue()


def names(sheets: Sequence[Sheet]) -> list[str]:
    """Worksheet names: at most 31 of the characters that spreadsheets allow, none twice."""
    taken: list[str] = []
    for sheet in sheets:
        base = re.sub(r"[\[\]:*?/\\']", " ", sheet.title)[:31].strip() or "table"
        name, n = base, 2
        while name.lower() in (t.lower() for t in taken):
            name, n = f"{base[:27]} {n}", n + 1
        taken.append(name)
    return taken
