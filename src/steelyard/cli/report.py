"""``steelyard report``: stored results as one HTML file, or its tables in another format."""

from __future__ import annotations

from ..analyse import order
from ..analyse.rows import check_columns
from ..model import paths
from ..publish import figure, ranking, report, results
from ..publish.figures import figure_names
from . import options
from .answers import asked, complete, points_of, say_empty
from .console import say, stderr
from .options import command
from .output import TABLES, Output


class Report(options.Answering, frozen=True, kw_only=True):
    """What ``report`` is asked."""

    columns: str
    title: str


@command(
    Report,
    options.weighed,
    options.where,
    options.columns,
    options.text("--title", default="Steelyard report", metavar="TEXT", help="Title."),
    options.output(
        *(f for f in TABLES if f != "parquet"),  # which holds one table
        usual="html",
        help="File, or - for standard output: .html, or .md .tex .csv .json .xlsx .ods for its tables alone. "
        "Default: .steelyard/report.html",
    ),
    options.db,
)
def verb(ask: Report) -> int:
    """Write stored results as one HTML file: tables, figures, claims, provenance. Other formats have the tables."""
    chosen = check_columns(ask.columns)
    used = [n for f in figure_names() for n in figure.load(f).metrics]
    used += ranking.needed("top", ())
    answer = asked(ask.what, ask.where, [*chosen, *results.USUAL, *used], ask.db, wanted=chosen, ranked=True)
    if not answer.rows:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    rows = complete(order.ordered(answer.rows, order.keys("cycles_encrypt_mean,cycles_hash_mean")), ask.db)
    say_empty(chosen, rows, ask.db)
    made = report.compose(ask.title, rows, chosen, lambda some: points_of(answer, some, ask.db), answer.notes)
    out = ask.out
    if out.console:
        paths.home().mkdir(parents=True, exist_ok=True)
        out = Output(paths.home() / "report.html", "html")
    if out.format == "html":
        out.put(report.page(made))
    else:
        out.give(made.sheets)
    say(answer.notes)
    return 0
