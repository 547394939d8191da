"""What revisions cost, one below the other: a table for each target, primitive and device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..analyse import inputs
from ..model.metric import metric
from ..model.row import CONTEXT, Row, Value, grouped
from .results import DEFAULT, ON, column, fewer, heading, run_of
from .sheet import Column, Line, Mark, Sheet

#: what tells the lines of one history from those of another
_APART = ("label", "flags", "workload", "compiler")
#: what else may change between two runs of one name, and how to say so: the compiler, and the template, which are
#: the harness and the target's own files
OF_LAB = {"compiler": "compiler", "harness": "harness", "timing_model": "timing model"}
CHANGES = {"digest": "sources", **OF_LAB}


def changed(before: Row, row: Row, names: Mapping[str, str] = CHANGES) -> list[str]:
    """What changed between two runs of one name."""
    return [f"{text} {_short(row[n])}" for n, text in names.items() if n in before and before[n] != row[n]]


def _short(value: object) -> str:
    """Of a digest its beginning."""
    text = str(value)
    return text[:8] if len(text) == 64 else text


def tables(rows: Sequence[Row], columns: Sequence[str], parents: Mapping[int, int] | None = None) -> list[Sheet]:
    """``rows`` in the order of their revisions, which they name in ``revision`` and ``subject``; marks say how a
    figure stands to that of the revision before, or where ``parents`` are given, by ``order``, to that of the nearest
    that has one."""
    groups = grouped(rows, lambda r: (str(r["target"]), str(r["primitive"]), str(r.get("device"))))
    sheets = []
    for (target, primitive, device), group in sorted(groups.items()):
        apart = [n for n in _APART if len({r[n] for r in group}) > 1]
        metrics = [column(n) for n in columns or DEFAULT[primitive]]
        shown = [Column("revision", "revision"), Column("subject", "subject")]
        shown += [Column(n, CONTEXT[n]) for n in apart] + metrics
        known = {(row.get("order"), *(row[n] for n in apart)): row for row in group}
        last: dict[tuple[object, ...], Row] = {}
        lines = []
        for row in sorted(group, key=lambda r: [str(r[n]) for n in apart]):
            key = tuple(row[n] for n in apart)
            past = (known.get((at, *key)) for at in _past(row.get("order"), parents or {}))
            before = last.get(key) if parents is None else next(filter(None, past), None)
            marks = {c.name: _mark(before or row, row, c.name) for c in metrics}
            last[key] = row
            lines.append(Line([row.get(c.name) for c in shown], run_of(row), marks))
        notes = fewer(group, [c.name for c in metrics], called="revision")
        label = "-".join(["history", target, primitive, *([device] if device in ON else ())])
        sheets.append(Sheet(heading(group), label, shown, lines, notes=notes))
    return sheets


def _past(order: Value, parents: Mapping[int, int]) -> Iterator[int]:
    """The first parents of a revision, the nearest first."""
    while isinstance(order, int) and order in parents:
        order = parents[order]
        yield order


def _mark(before: Row, row: Row, name: str) -> Mark:
    old, new = before.get(name), row.get(name)
    if name in CONTEXT or not isinstance(old, int | float) or not isinstance(new, int | float) or old == new:
        return ""
    m = metric(name)
    if m.known and fewer([before, row], [name]):  # means of other calls
        return ""
    if abs(new - old) <= max(inputs.apart(before, row, name)):
        return ""
    return "" if m.lower is None else "better" if (new < old) is m.lower else "worse"
