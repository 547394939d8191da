"""Pipe tables, aligned in the source too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..sheet import Sheet, text

_MARKS = {"better": " ▾", "worse": " ▴", "": ""}


def render(sheets: Sequence[Sheet]) -> str:
    """All sheets, each below its title."""
    return "\n".join(_sheet(s) for s in sheets)


@lru_cache(1 << 16)
def _escape(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").replace("`", "\\`")


def _sheet(sheet: Sheet) -> str:
    head = [_escape(c.heading) for c in sheet.columns]
    body = [
        [
            (_escape(cell) if isinstance(cell, str) else text(cell, c))
            + (_MARKS[line.marks.get(c.name, "")] if line.marks else "")
            for cell, c in zip(line.cells, sheet.columns, strict=True)
        ]
        for line in sheet.lines
    ]
    widths = [max(3, *(len(r[i]) for r in [head, *body])) for i in range(len(head))]
    right = [c.digits is not None for c in sheet.columns]

    def row(cells: Sequence[str]) -> str:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = "|".join("-" * (w + 1) + (":" if r else "-") for w, r in zip(widths, right, strict=True))
    lines = [f"### {_escape(sheet.title)}", ""]
    lines += [sheet.caption, ""] if sheet.caption else []
    lines += [row(head), f"|{rule}|", *(row(r) for r in body), ""]
    lines += [f"{_escape(n)}\n" for n in sheet.notes]
    return "\n".join(lines)
