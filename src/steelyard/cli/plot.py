"""``steelyard plot``: a figure from stored results, and its table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analyse.answer import run_number, short
from ..model.errors import UserError
from ..publish import figure, formats, results
from .answers import asked, points_of, say
from .console import stderr


def plot_command(name: str, what: Sequence[str], where: str, title: str, out: Path | None, db: str | None) -> int:
    """Writes the figure and its table; 1 when there is nothing to draw."""
    kind = figure.load(name)
    out = out or Path(f"{name}.svg")
    ending = out.suffix[1:].lower()
    if ending not in figure.FORMATS:
        raise UserError(f"{out}: end the name in one of {', '.join('.' + f for f in figure.FORMATS)}")
    answer = asked(what, where, kind.metrics, db, every=kind.all_runs, workload=kind.workload)
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    rows.sort(key=run_number)
    if kind.workload and not any(short(str(r["workload"])) == kind.workload for r in rows):
        say([f"no run of workload {kind.workload} is among these, so that sizes lack: run --workload {kind.workload}"])
    if kind.of_points:
        points = points_of(rows, db)
        data = figure.of_points(rows, points)
        left = [str(r["label"]) for r in rows if r["run"] not in points]
        say([f"without points, so not drawn: {', '.join(sorted(set(left)))}"] if left else [])
    elif kind.rows == "places":
        data = figure.of_places(rows)
    else:
        data = figure.of_records(rows, over_time=kind.all_runs)
    if not data:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    draw(name, data, title, out, results.shared(rows, ("flags", "workload")))
    say(answer.notes)
    return 0


def draw(name: str, data: figure.Data, title: str, out: Path, context: Sequence[str] = ()) -> None:
    """Writes a figure, with its context below the title, and its table beside it."""
    kind = figure.load(name)
    formats.save(out, figure.draw(figure.specification(kind, data, title, context), out.suffix[1:].lower()))
    numbers = out.with_suffix(".csv")
    formats.save(numbers, formats.render([figure.table(kind, data)], "csv"))
    stderr().print(f"wrote {out} and its table {numbers}: {kind.note}")
