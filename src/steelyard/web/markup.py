"""Sheets as markup with links, bars beside numbers, and small line charts. No style stands in it, so that the content
security policy can forbid such."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

from ..model.errors import printable
from ..model.record import Point
from ..model.row import Row, Value
from ..publish.sheet import Column, Line, Sheet, text, unlike
from . import address

#: lines of a table on a page
MOST = 300
_MARKS = {
    "better": ' <span class="better">▾<span class="unseen"> better</span></span>',
    "worse": ' <span class="worse">▴<span class="unseen"> worse</span></span>',
    "": "",
}
#: pages of what operators see, by the columns of their tables
_OPERATED = {"job": "jobs", "machine": "machines", "submission": "submissions", "board": "boards"}
#: a narrow space between thousands
_THOUSANDS = "\u202f"


@lru_cache(1 << 14)
def _escaped(value: str) -> str:
    return escape(printable(value))


def anchor(label: str, taken: set[str]) -> str:
    """A label as the id of an element, which none of those ``taken`` has; it is one of them then."""
    return unlike(re.sub(r"[^\w-]+", "-", label), taken)


def shown_runs(sheet: Sheet) -> set[int]:
    """The runs of the lines that stand on the page."""
    return {run for line in sheet.lines[:MOST] for run in line.runs}


def line_ids(sheet: Sheet, cells: int, taken: set[str]) -> list[str]:
    """An id for each line that stands on the page, of its first ``cells``."""
    return [anchor("-".join([sheet.label, *map(str, line.cells[:cells])]), taken) for line in sheet.lines[:MOST]]


def table(
    sheet: Sheet,
    runs: Mapping[int, str],
    name: str,
    *,
    bars: str = "",
    wide: Sequence[str] = (),
    past: Mapping[int, Sequence[Row]] = {},
    ids: Sequence[str] = (),
    private: bool = False,
    own: str = "",
) -> str:
    """The table: its first column heads the lines; a line leads to its runs, a name to its page. ``name`` and ``own``
    are its ids."""
    sheet = _cut(sheet)
    least = [c.name for c in sheet.columns]
    linked = any(line.runs for line in sheet.lines) and "run" not in least
    heads = [f'<th scope="col"{_numeric(c)}>{_escaped(c.heading) or "<span class=unseen>value</span>"}</th>'
             for c in sheet.columns]  # fmt: skip
    heads += ['<th scope="col">runs</th>'] if linked else []
    at = least.index(bars) if bars in least else -1
    numbers = [v for line in sheet.lines if isinstance(v := line.cells[at], int | float)] if at >= 0 else []
    most = max(numbers, default=0)
    first = next((k for k, c in enumerate(sheet.columns) if c.name in ("label", "variant", "name")), 0)
    folded = any(c.name in wide for c in sheet.columns)
    body = []
    for number, line in enumerate(sheet.lines):
        before = _spark([r.get(bars) for r in past.get(line.runs[0], ())]) if past and line.runs else ""
        cells = [
            _cell(line, k, c, runs, head=k == first, bar=most if k == at else 0, wide=c.name in wide,
                  spark=before if k == at else "", to=ids[number] if ids and k == first else "",
                  leads=not (private and c.name == "label"), heading=c.heading if folded and c.name not in wide else "")
            for k, c in enumerate(sheet.columns)
        ]  # fmt: skip
        if linked:
            cells.append(f"<td>{' '.join(_run(n, runs) for n in line.runs)}</td>")
        at_line = f' id="{ids[number]}"' if ids else ""
        body.append(f"<tr{at_line}>{''.join(cells)}</tr>")
    title = _escaped(sheet.caption or sheet.title or sheet.label)
    other = f' id="{own}"' if own else ""
    return (
        f'<div class="wide"{other} tabindex="0" role="group" aria-labelledby="{name}-title">'
        f'<table id="{name}"><caption id="{name}-title"><span>{title}</span></caption>\n'
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{chr(10).join(body)}\n</tbody></table></div>"
    )


def _cut(sheet: Sheet) -> Sheet:
    more = len(sheet.lines) - MOST
    if more <= 0:
        return sheet
    return Sheet(
        sheet.title, sheet.label, sheet.columns, list(sheet.lines[:MOST]), sheet.caption,
        (f"{more} more lines are in the files, or choose fewer", *sheet.notes), sheet.alike,
    )  # fmt: skip


#: what notes call options of the command line, and pages do not have or call otherwise
_OPTIONS = {"--where": "a filter", "add to --columns": "add to the columns", "--sources": "steelyard compare --sources",
            "--mixed": "steelyard compare --mixed"}  # fmt: skip
_OPTION = re.compile("|".join(rf"(?<!compare ){o}\b" for o in _OPTIONS))


def notes(sheet: Sheet) -> Sequence[str]:
    """What stands below a table."""
    return [_OPTION.sub(lambda found: _OPTIONS[found[0]], n) for n in _cut(sheet).notes]


def _numeric(c: Column) -> str:
    return "" if c.digits is None else ' class="n"'


def _run(number: int, runs: Mapping[int, str]) -> str:
    return f'<a href="{escape(runs[number])}">{number}</a>' if number in runs else str(number)


def _cell(
    line: Line,
    k: int,
    c: Column,
    runs: Mapping[int, str],
    *,
    head: bool,
    bar: float,
    wide: bool,
    spark: str,
    to: str,
    leads: bool = True,
    heading: str = "",
) -> str:
    value = line.cells[k]
    said = f' data-heading="{_escaped(heading)}"' if heading else ""  # of a line that a narrow window folds
    if c.name == "run" and isinstance(value, int):
        return f"<td{said}>{_run(value, runs)}</td>"
    if isinstance(value, str):
        inner = _escaped(value)
        if to := (_leads(c.name, value) if leads else "") or (f"#{to}" if to else ""):
            inner = f'<a href="{escape(to)}">{inner}</a>'
        tag = ' class="text"' if wide or len(value) > 60 else ""
    else:
        inner, tag = text(value, c, _THOUSANDS), _numeric(c)
        if to:
            inner = f'<a href="#{to}">{inner}</a>'
        if bar > 0 and value is not None and value > 0:
            inner = f"{spark}{_bar(value / bar)}{inner}"
    mark = _MARKS[line.marks.get(c.name, "")] if line.marks else ""
    return f'<th scope="row"{tag}>{inner}{mark}</th>' if head else f"<td{tag}{said}>{inner}{mark}</td>"


@lru_cache(1 << 14)
def _leads(column: str, value: str) -> str:
    """The page of what a cell names."""
    if column == "label":
        return address.implementation(value)
    if column in _OPERATED and value:
        return address.path("operate", _OPERATED[column], value)
    if column in ("target", "family", "variant") and " " not in value and "," not in value:
        return address.path({"target": "targets", "family": "families", "variant": "variants"}[column], value)
    return ""


def _bar(share: float) -> str:
    return (
        '<svg class="bar" width="60" height="8" aria-hidden="true" focusable="false">'
        f'<rect width="{60 * share:.1f}" height="8"/></svg>'
    )


#: of a small line in pixels
_SPARK_W, _SPARK_H = 48, 12


def _spark(past: Sequence[Value]) -> str:
    """What a figure was before, as a small line that leads to its history; nothing of a figure without one."""
    numbers = [v for v in past if isinstance(v, int | float)]
    if len(numbers) < 2:
        return ""
    low, span = min(numbers), (max(numbers) - min(numbers)) or 1
    step, height = _SPARK_W / (len(numbers) - 1), _SPARK_H - 2
    route = " ".join(f"{k * step:.1f},{1 + height - (v - low) / span * height:.1f}" for k, v in enumerate(numbers))
    return (
        f'<a href="#history" class="spark" aria-label="{len(numbers)} runs, history"><svg width="{_SPARK_W}" '
        f'height="{_SPARK_H}" aria-hidden="true" focusable="false"><polyline points="{route}"/></svg></a>'
    )


#: of a line chart in pixels: the whole, and where its axes are
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 700, 300, 70, 24, 170, 40
_SIZES = (1, 2, 5)
#: points of a line that are marked, if it has no more
_MARKED = 40


def chart(points: Sequence[Point], title: str) -> str:
    """Cycles by bytes of message (and of associated data, where there are no others), a line for each operation."""
    lines: dict[str, list[tuple[int, int]]] = {}
    for name, only in ((" without AD", lambda p: p.adlen == 0), (" of AD", lambda p: p.mlen == 0 and p.adlen)):
        for p in filter(only, points):
            lines.setdefault(f"{p.operation}{name}", []).append((max(p.adlen, p.mlen), p.cycles))
    return _drawn({n: sorted(of) for n, of in lines.items() if len(of) > 1}, title, "bytes")


def vectors(points: Sequence[Point], title: str) -> str:
    """Cycles of every known answer by its number, a line for each operation."""
    lines: dict[str, list[tuple[int, int]]] = {}
    for p in points:
        of = lines.setdefault(p.operation, [])
        of.append((len(of) + 1, p.cycles))
    return _drawn({n: of for n, of in lines.items() if len(of) > 1}, title, "known answer")


def _drawn(lines: Mapping[str, list[tuple[int, int]]], title: str, below: str) -> str:
    """A chart of cycles by what stands below it. Points of a line that has few are marked."""
    if not lines:
        return ""
    right = max(x for of in lines.values() for x, _ in of) or 1
    high = max(y for of in lines.values() for _, y in of) or 1
    plot_w, plot_h = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + value / right * plot_w

    def y(value: float) -> float:
        return _TOP + plot_h - value / high * plot_h

    parts = [f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_escaped(title)}">']
    for tick in _ticks(high):
        parts.append(f'<path class="grid" d="M{_LEFT} {y(tick):.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{_short(tick)}</text>')
    for tick in _ticks(right):
        parts.append(f'<text x="{x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(tick)}</text>')
    parts.append(f'<text x="{_LEFT + plot_w / 2:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">{below}</text>')
    parts.append('<text x="4" y="12">cycles</text>')
    digits = 0 if sum(map(len, lines.values())) > 400 else 1
    low = 0.0  # names stand one below the other, from that of the slowest line on
    for k, (name, of) in enumerate(sorted(lines.items(), key=lambda line: -line[1][-1][1])):
        route = " ".join(f"{x(a):.{digits}f},{y(b):.{digits}f}" for a, b in of)
        parts.append(f'<polyline class="line c{k % 6}" points="{route}"/>')
        parts += [
            f'<circle class="c{k % 6}" cx="{x(a):.1f}" cy="{y(b):.1f}" r="2"/>' for a, b in of if len(of) <= _MARKED
        ]
        low = max(y(of[-1][1]) + 4, low + 14)
        at = x(of[-1][0]) + 8
        parts.append(f'<circle class="c{k % 6}" cx="{at:.1f}" cy="{low - 4:.1f}" r="3"/>')
        parts.append(f'<text x="{at + 8:.1f}" y="{low:.1f}">{_escaped(name)}</text>')
    return "".join(parts) + "</svg>"


def _ticks(most: float) -> list[float]:
    """At most six round numbers up to ``most``, which has at most 64 bits."""
    step = next(s * 10**e for e in range(20) for s in _SIZES if most / (s * 10**e) <= 5)
    return [k * step for k in range(int(most / step) + 1)]


def _short(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}"
