"""``steelyard plot``: a figure from stored results, and its table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..publish import figure
from .console import stderr
from .output import Output
from .publish import points_of, stored

#: formats of figures; ``vl.json`` is the Vega-Lite specification, for other tools
FORMATS = ("svg", "png", "pdf", "vl.json")


def plot_command(name: str, what: Sequence[str], where: str, title: str, out: Output, db: str | None) -> int:
    """Writes the figure and its table, or the table alone; 1 when there is nothing to draw."""
    kind = figure.load(name)
    rows = [r for r in stored(what, where, kind.metrics, kind.all_runs, db) if r["outcome"] == "verified"]
    rows.sort(key=lambda r: int(str(r["run"])))
    data = figure.of_points(rows, points_of(rows, db)) if kind.of_points else figure.of_records(rows)
    if not data:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    draw(name, data, title, Output(Path(f"{name}.svg"), "svg") if out.console else out)
    return 0


def draw(name: str, data: figure.Data, title: str, out: Output) -> None:
    """Writes a figure, and its table beside it when it goes to a file; or the table, where that is the format."""
    kind = figure.load(name)
    numbers = [figure.table(kind, data)]
    if out.format not in FORMATS:
        out.tables(numbers)
        return
    out.put(figure.draw(figure.specification(kind, data, title), out.format.removeprefix("vl.")))
    if out.path is not None:
        stem = out.path.name.removesuffix(f".{out.format}")
        Output(out.path.with_name(f"{stem}.csv"), "csv").tables(numbers)
        stderr().print(kind.note)
