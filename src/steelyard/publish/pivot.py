"""One metric at a glance: implementations down, the values of a context column across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from msgspec.structs import replace

from ..analyse.answer import most_known, workload_name
from ..model.row import CONTEXT, Row, Value
from . import ranking
from .results import DEFAULT, column, fewer, measured_on, run_of
from .sheet import Cell, Column, Line, Sheet

#: what tells the lines apart, as far as it differs and is not what stands across
_DOWN = ("label", "target", "device", "flags", "workload")
#: one or two targets are seen at once without a matrix
_FEWEST = 3


def tables(rows: Sequence[Row], across: str, metrics: Sequence[str] = (), *, sorted_by: bool = False) -> list[Sheet]:
    """A table for each primitive and metric (by default the mean cycles). Lines in the order of ``rows`` where it
    is ``sorted_by`` something, else the least first, by the geometric mean of the ratios to each column's least."""
    sheets = []
    for primitive in dict.fromkeys(str(r["primitive"]) for r in rows):
        group = [r for r in rows if r["primitive"] == primitive]
        names = metrics or [DEFAULT[primitive][0]]
        sheets += [_table(group, across, n, primitive, sorted_by) for n in names]
    return [s for s in sheets if s.lines or len(sheets) == 1]


def verified(rows: Sequence[Row], across: str, metrics: Sequence[str] = (), *, sorted_by: bool = False) -> list[Sheet]:
    """The tables of the verified ones among ``rows``: a cell has no room for an outcome. None where none is."""
    good = [r for r in rows if r["outcome"] == "verified"]
    notes = ranking.unjudged(rows, "shown")
    made = tables(good, across, metrics, sorted_by=sorted_by)
    return [replace(sheet, notes=(*sheet.notes, *notes)) for sheet in made]


def matrix(rows: Sequence[Row]) -> list[Sheet]:
    """Mean cycles of all verified implementations by target, where one looks at three targets or more."""
    ranked = [r for r in rows if r["variant"] != "nocrypt"]
    many = len({r["target"] for r in ranked if r["outcome"] == "verified"}) >= _FEWEST
    return verified(ranked, "target") if many else []


def _table(rows: Sequence[Row], across: str, name: str, primitive: str, sorted_by: bool) -> Sheet:
    mine = [r for r in rows if r.get(name) is not None]
    values = sorted({r[across] for r in mine}, key=_order)
    down = [n for n in _down(across) if len({r[n] for r in mine}) > 1 or n in ("label", "variant", "implementation")]
    cells: dict[tuple[Value, ...], dict[Value, Row]] = {}
    hidden = 0
    for r in mine:
        line = cells.setdefault(tuple(r[n] for n in down), {})
        if r[across] in line:
            hidden += 1
        line.setdefault(r[across], r)
    m = column(name)
    keys = list(cells) if sorted_by else _least_first(cells, name)
    lines = [
        Line(
            [*(_text(v, n) for v, n in zip(key, down, strict=True)), *(_cell(line.get(v), name) for v in values)],
            _runs(line),
        )
        for key in keys
        for line in [cells[key]]
    ]
    columns = [column(n) for n in down]
    columns += [Column(_text(v, across), _text(v, across), "", m.digits) for v in values]
    shared = [n for n in ("target", "flags", "workload") if n not in (across, *down)]
    said = ", ".join(f"{CONTEXT[n]} {v}" for n in shared if (v := _one(mine, n)))
    notes = [said] if said else []
    notes += [] if "device" in (across, *down) else measured_on(mine)
    made: dict[tuple[Value, Value], set[Value]] = {}
    for r in mine:
        made.setdefault((r[across], r["target"]), set()).add(r["compiler"])
    compilers = [v for v in values if any(len(of) > 1 for (shown, _), of in made.items() if shown == v)]
    if compilers and across != "compiler":
        notes.append(f"figures of several compilers: {', '.join(_text(v, across) for v in compilers)}")
    most, _ = most_known(mine)
    for value in values:
        some = [r for r in mine if r[across] == value]
        notes += [f"{_text(value, across)}: {few}" for few in fewer(some, [name], most)]
    if hidden:
        notes.append(f"runs without a cell of their own: {hidden}; --where leaves one for each")
    title = f"{primitive}: {m.heading} by {CONTEXT[across]}"
    label = f"{primitive}-{name}-by-{across}".replace("@", "-").replace("/", "-")
    return Sheet(title, label, columns, lines, notes=notes, alike=True)


_Key = tuple[Value, ...]


def _least_first(cells: Mapping[_Key, Mapping[Value, Row]], name: str) -> list[_Key]:
    """Keys by the geometric mean of the ratios of their figures to the least of each column."""
    least: dict[Value, float] = {}
    for line in cells.values():
        for across, row in line.items():
            if (figure := _number(row, name)) > 0:
                least[across] = min(figure, least.get(across, figure))

    def mean(key: _Key) -> tuple[float, list[str]]:
        ratios = [log(figure / least[across]) for across, r in cells[key].items() if (figure := _number(r, name)) > 0]
        return sum(ratios) / max(len(ratios), 1), list(map(str, key))

    return sorted(cells, key=mean)


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return value if isinstance(value, int | float) else 0.0


def _down(across: str) -> list[str]:
    first = {"label": [], "implementation": ["variant"], "variant": ["implementation"]}.get(across, ["label"])
    return [*first, *(n for n in _DOWN[1:] if n != across)]


def _order(value: Value) -> tuple[bool, bool, float, str]:
    """Numbers by size before texts by letter, what is missing last."""
    number = isinstance(value, int | float)
    return value is None, not number, float(value) if isinstance(value, int | float) else 0.0, str(value)


def _text(value: Value, name: str) -> str:
    text = "-" if value is None else str(value)
    return workload_name(text) if name == "workload" else text[:12] if name in ("digest", "harness") else text


def _cell(row: Row | None, name: str) -> Cell:
    return None if row is None else row.get(name)


def _runs(line: dict[Value, Row]) -> tuple[int, ...]:
    return tuple(run for row in line.values() for run in run_of(row))


def _one(rows: Sequence[Row], name: str) -> str:
    values = {str(r[name]) for r in rows}
    return values.pop() if len(values) == 1 else ""
