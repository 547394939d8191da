"""``steelyard plot``: a figure from stored results, and its table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ..analyse.answer import recency
from ..model.errors import WorkError, counted
from ..model.primitive import PRIMITIVES
from ..publish import figure, results
from ..publish.figures import figure_names
from ..publish.ranking import unjudged
from ..publish.sheet import Sheet
from . import options
from .answers import asked, points_of
from .console import say, stderr
from .options import command
from .output import FIGURES, TABLES, Output, output_of

#: metrics that only runs with sizes have, of which points are drawn
_OF_POINTS = ("encrypt_per_byte", "hash_per_byte")


class Plot(options.Answering, frozen=True, kw_only=True):
    """What ``plot`` is asked."""

    name: str
    title: str


@command(
    Plot,
    click.argument("name", metavar="FIGURE", help=f"{', '.join(figure_names())}."),
    options.weighed,
    options.where,
    options.text("--title", metavar="TEXT", help="Title. Default: the figure's."),
    options.output(
        *FIGURES,
        *TABLES,
        usual="svg",
        help="File, or - for standard output. A figure with its table beside it: .svg .png .pdf, or .vl.json for its "
        "Vega-Lite; else the table alone. Default: FIGURE.svg",
    ),
    options.db,
)
def verb(ask: Plot) -> int:
    """Draw a figure from stored results, and write its table beside it."""
    name, db = ask.name, ask.db
    kind = figure.load(name)
    wanted = _OF_POINTS if kind.of_points else ()  # a workload without sizes leaves nothing to draw
    columns = (*kind.metrics, *wanted)
    answer = asked(
        ask.what, ask.where, columns, db, every=kind.all_runs, workload=kind.workload, wanted=wanted, ranked=True
    )
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    rows.sort(key=recency())
    verified = counted(len(rows), "verified run")
    if rows and (why := figure.lacking(kind, rows)):
        raise WorkError(f"plot {name}: {why}; run: steelyard run NAME --workload {kind.workload}")
    points = points_of(answer, rows, db) if kind.of_points else {}
    data = figure.data_of(kind, rows, points)
    if not data:
        rows = [r for r in rows if r["run"] in points] if kind.of_points else rows
        there = "steelyard list runs shows what there is"
        if rows:
            need = "it draws hardware, which steelyard rtl weighs" if "lut" in kind.metrics else there
            text = f"plot {name}: nothing to draw in {counted(len(rows), 'matching run')}; {need}. {kind.note}"
        elif any(r["outcome"] == "verified" for r in answer.rows):
            sized = any(PRIMITIVES[p].sized for r in answer.rows if (p := str(r["primitive"])) in PRIMITIVES)
            text = f"plot {name}: {verified}, none of them with sizes; "
            text += "steelyard run --workload default makes some" if sized else "block ciphers have none"
        elif answer.rows:
            text = f"plot {name}: {counted(len(answer.rows), 'matching run')}, none of them verified; {there}"
        else:
            text = f"no stored run matches; {there}"
        stderr().print(text, soft_wrap=True)
        return 1
    say([left] if (left := figure.left_out(kind, rows, data)) else [])
    context = results.shared(figure.marked(rows, data), ("flags", "workload"))
    out = output_of(Path(f"{name}.svg"), "", False, FIGURES) if ask.out.console else ask.out
    draw(name, data, out, title=ask.title, context=context)
    say([*unjudged(answer.rows, "drawn"), *answer.notes])
    return 0


def draw(name: str, data: figure.Data, out: Output, *, title: str = "", context: Sequence[str] = ()) -> None:
    """Writes a figure, with its context below the title, and its table beside it when it goes to a file; or the table
    alone, where that is the format."""
    kind = figure.load(name)
    numbers = figure.table(kind, data, title)
    if out.format not in FIGURES:
        out.give([numbers])
        return
    give_figure(figure.specification(kind, data, title, context), numbers, out)
    if out.path is not None:
        stderr().print(kind.note)


def give_figure(spec: dict[str, Any], numbers: Sheet, out: Output) -> None:
    """Writes the figure of ``spec``, and its numbers beside it when it goes to a file."""
    out.put(figure.draw(spec, out.format.removeprefix("vl.")))
    if out.table is not None:
        Output(out.table, "csv").give([numbers])
