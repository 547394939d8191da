"""Pipe tables, aligned in the source too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..sheet import ARROWS, Sheet, text


def render(sheets: Sequence[Sheet]) -> str:
    """All sheets, each below its title."""
    return "\n".join(_sheet(s) for s in sheets)


#: what always means something, or where there are two of it: commands stay legible in the source
_ALWAYS = re.compile(r"[\\|`]")
_IN_PAIRS = [re.compile(p) for p in (r"\*", r"~", r"\$", r"(?<![^\W_])_|_(?![^\W_])")]
_LINK = re.compile(r"[\[\]]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
#: what would begin a list, a heading or a quotation
_BLOCK = re.compile(r"^(\d*)([-+#>=*.)])")


@lru_cache(1 << 16)
def _escape(cell: str) -> str:
    """A text as Markdown (CommonMark, and GitHub's tables, strike-through and formulas) that is shown as it is."""
    made = _ALWAYS.sub(r"\\\g<0>", cell.replace("\n", " "))
    for pattern in _IN_PAIRS:
        if len(pattern.findall(made)) > 1:
            made = pattern.sub(r"\\\g<0>", made)
    made = _LINK.sub(r"\\\g<0>", made) if "](" in made else made
    return _ENTITY.sub("&amp;", made).replace("<", "&lt;")


def _paragraph(text: str) -> str:
    return _BLOCK.sub(r"\1\\\2", _escape(text).strip())


def _sheet(sheet: Sheet) -> str:
    head = [_escape(c.heading) for c in sheet.columns]
    body = [
        [
            (_escape(cell) if isinstance(cell, str) else text(cell, c))
            + (ARROWS[line.marks.get(c.name, "")] if line.marks else "")
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
    lines += [_paragraph(sheet.caption), ""] if sheet.caption else []
    lines += [row(head), f"|{rule}|", *(row(r) for r in body), ""]
    lines += [f"{_paragraph(n)}\n" for n in sheet.notes]
    return "\n".join(lines)
