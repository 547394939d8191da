"""HTML: a fragment of tables, or a page that opens from disk and follows the reader's light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

from ...model.errors import printable
from ..sheet import ARROWS, Column, Line, Mark, Sheet, text

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --rule: #d0d7de; --soft: #f3f5f7;
  --better: #0b6e4f; --worse: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --paper: #14171a; --rule: #3a4148; --soft: #1e2327;
  --better: #5fd0a5; --worse: #ff9a8f; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
.wide { overflow-x: auto; position: relative; }
@keyframes more { from { opacity: .9; } 2%, to { opacity: 0; } }
@supports (animation-timeline: scroll()) { @media screen { .wide::after { content: ""; position: absolute;
  inset: 0 0 0 auto; width: 2.5rem; opacity: 0; pointer-events: none; animation: more linear both;
  background: linear-gradient(to left, var(--paper), transparent); animation-timeline: scroll(nearest inline); } } }
table { border-collapse: collapse; margin: .5rem 0 .25rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--rule); text-align: left; white-space: nowrap; }
th { border-bottom-width: 2px; vertical-align: bottom; }
.n { text-align: right; }
tbody tr:nth-child(even) { background: var(--soft); }
.better { color: var(--better); } .worse { color: var(--worse); }
.note { color: color-mix(in srgb, var(--ink) 70%, transparent); margin: .2rem 0; font-size: .9em; }
@media print { :root { --ink: #000; --paper: #fff; --rule: #999; --soft: #fff; } body { max-width: none; } }
"""
_escaped = lru_cache(1 << 16)(escape)


def render(sheets: Sequence[Sheet]) -> str:
    """A whole page."""
    body = "\n".join(fragment(s) for s in sheets)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Steelyard</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def fragment(sheet: Sheet) -> str:
    """One table. Each row carries its runs."""
    head = "".join(f"<th{_numeric(c.digits)} scope=col>{escape(c.heading)}</th>" for c in sheet.columns)
    starts = [{mark: _start(c, mark) for mark in ARROWS} for c in sheet.columns]
    body = "\n".join(_line(line, sheet.columns, starts) for line in sheet.lines)
    title = escape(sheet.caption or sheet.title)
    notes = "".join(f"<p class=note>{escape(n)}</p>" for n in sheet.notes)
    return (
        f'<div class=wide><table id="{escape(sheet.label, quote=True)}"><caption>{title}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{notes}"
    )


def printed(value: object) -> object:
    """A value of a template; markup, which is text of its own kind, is printable already."""
    return printable(value) if type(value) is str else value


def _numeric(digits: int | None) -> str:
    return "" if digits is None else " class=n"


def _start(column: Column, mark: Mark) -> str:
    kind = " ".join(k for k in ("" if column.digits is None else "n", mark) if k)
    return f'<td class="{kind}">' if kind else "<td>"


def _line(line: Line, columns: Sequence[Column], starts: Sequence[Mapping[Mark, str]]) -> str:
    cells = []
    for value, c, start in zip(line.cells, columns, starts, strict=True):
        mark = line.marks.get(c.name, "") if line.marks else ""
        shown = _escaped(value) if isinstance(value, str) else text(value, c)
        cells.append(f"{start[mark]}{shown}{ARROWS[mark]}</td>")
    runs = " ".join(map(str, line.runs))
    attribute = f' data-run="{runs}" title="run {runs}"' if runs else ""
    return f"<tr{attribute}>{''.join(cells)}</tr>"
