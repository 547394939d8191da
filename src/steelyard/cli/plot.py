"""``steelyard plot``: a figure from stored results, and its table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analyse.answer import run_number, short
from ..model.errors import WorkError
from ..publish import figure, results
from .answers import asked, points_of, say
from .console import stderr
from .output import Output

#: formats of figures; ``vl.json`` is the Vega-Lite specification, for other tools
FORMATS = ("svg", "png", "pdf", "vl.json")


def plot_command(name: str, what: Sequence[str], where: str, title: str, out: Output, db: str | None) -> int:
    """Writes the figure and its table, or the table alone; 1 when there is nothing to draw."""
    kind = figure.load(name)
    answer = asked(what, where, kind.metrics, db, every=kind.all_runs, workload=kind.workload)
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    rows.sort(key=run_number)
    if rows and kind.workload and not any(short(str(r["workload"])) == kind.workload for r in rows):
        text = f"plot {name}: no run of workload {kind.workload} is among these, and it draws no other"
        raise WorkError(f"{text}; run: steelyard run --workload {kind.workload}")
    if kind.of_points:
        points = points_of(rows, db, answer.borrowed)
        data = figure.of_points(rows, points)
        left = {str(r["label"]) for r in rows if r["run"] not in points and r["variant"] != "nocrypt"}
        say([f"without points, so not drawn: {', '.join(sorted(left))}"] if left else [])
        rows = [r for r in rows if r["run"] in points]
    elif kind.rows == "places":
        data = figure.of_places(rows)
    else:
        data = figure.of_records(rows, over_time=kind.all_runs)
    data = figure.drawn(kind, data)
    if not data:
        lost = f"plot {name}: nothing to draw in the {len(rows)} runs that match. {kind.note}"
        text = lost if rows else "no stored run matches; steelyard list runs shows what there is"
        stderr().print(text, soft_wrap=True)
        return 1
    context = results.shared(rows, ("flags", "workload"))
    draw(name, data, title, Output(Path(f"{name}.svg"), "svg") if out.console else out, context)
    say(answer.notes)
    return 0


def draw(name: str, data: figure.Data, title: str, out: Output, context: Sequence[str] = ()) -> None:
    """Writes a figure, with its context below the title, and its table beside it when it goes to a file; or the table
    alone, where that is the format."""
    kind = figure.load(name)
    numbers = [figure.table(kind, data)]
    if out.format not in FORMATS:
        out.tables(numbers)
        return
    out.put(figure.draw(figure.specification(kind, data, title, context), out.format.removeprefix("vl.")))
    if out.path is not None:
        stem = out.path.name.removesuffix(f".{out.format}")
        Output(out.path.with_name(f"{stem}.csv"), "csv").tables(numbers)
        stderr().print(kind.note)
