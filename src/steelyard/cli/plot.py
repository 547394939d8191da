"""``steelyard plot``: a figure from stored results, and its table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..model.errors import UserError
from ..publish import figure, formats
from .console import stderr
from .publish import points_of, stored


def plot_command(name: str, what: Sequence[str], where: str, title: str, out: Path | None, db: str | None) -> int:
    """Writes the figure and its table; 1 when there is nothing to draw."""
    kind = figure.load(name)
    out = out or Path(f"{name}.svg")
    ending = out.suffix[1:].lower()
    if ending not in figure.FORMATS:
        raise UserError(f"{out}: end the name in one of {', '.join('.' + f for f in figure.FORMATS)}")
    rows = [r for r in stored(what, where, kind.metrics, kind.all_runs, db) if r["outcome"] == "verified"]
    rows.sort(key=lambda r: int(str(r["run"])))
    data = figure.of_points(rows, points_of(rows, db)) if kind.of_points else figure.of_records(rows)
    if not data:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    draw(name, data, title, out)
    return 0


def draw(name: str, data: figure.Data, title: str, out: Path) -> None:
    """Writes a figure and its table beside it."""
    kind = figure.load(name)
    formats.save(out, figure.draw(figure.specification(kind, data, title), out.suffix[1:].lower()))
    numbers = out.with_suffix(".csv")
    formats.save(numbers, formats.render([figure.table(kind, data)], "csv"))
    stderr().print(f"wrote {out} and its table {numbers}: {kind.note}")
