"""Many targets at one view: one metric, implementation x target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from rich.console import RenderableType

from ..model.record import Record
from .console import number, stdout, table

#: one or two targets are seen at once without it
_FEWEST = 3


def matrices(title: str, metric: str, records: Sequence[Record]) -> Iterator[RenderableType]:
    """Tables of what is verified and has the metric, where that is on three targets or more; nocrypt is left out.

    The least come first, by the geometric mean of their ratios to each target's least. Targets for which a line has no
    room follow in a further table.
    """
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for r in records:
        if r.ok and r.setup.variant != "nocrypt" and metric in r.metrics:
            row = cells.setdefault((r.setup.label, r.setup.flags, r.setup.implementation_digest), {})
            row[r.setup.target] = r.metrics[metric]
    targets = sorted({target for row in cells.values() for target in row})
    if len(targets) < _FEWEST:
        return
    least = {t: min(row[t] for row in cells.values() if t in row) for t in targets}

    def order(key: tuple[str, str, str]) -> tuple[float, tuple[str, str, str]]:
        ratios = [log(value / least[t]) for t, value in cells[key].items() if value > 0 and least[t] > 0]
        return sum(ratios) / max(len(ratios), 1), key

    keys = sorted(cells, key=order)
    heads = 2 if len({flags for _, flags, _ in keys}) > 1 else 1
    if heads == 1:
        title += f", {keys[0][1]}"
    names = ["implementation", "flags"][:heads]
    columns = {t: [number(cells[k].get(t)) for k in keys] for t in targets}
    margin = sum(max([len(names[n]), *(len(k[n]) for k in keys)]) + 3 for n in range(heads))
    for part in _lines(columns, stdout().width - margin):
        rows = [[*key[:heads], *(columns[t][n] for t in part)] for n, key in enumerate(keys)]
        yield table(title, [*names, *part], rows, left=heads)


def _lines(columns: dict[str, list[str]], room: int) -> Iterator[list[str]]:
    """Names of columns, as many at a time as ``room`` characters hold, and one at least."""
    part: list[str] = []
    left = room
    for name, cells in columns.items():
        width = max(map(len, [name, *cells])) + 3
        if part and width > left:
            yield part
            part, left = [], room
        part.append(name)
        left -= width
    yield part
