"""``steelyard report``: stored results as one HTML file, or its tables in another format."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyse import order
from ..analyse.rows import check_columns
from ..model import paths
from ..publish import figure, report
from ..publish.figures import figure_names
from ..publish.results import DEFAULT
from . import select
from .answers import asked, points_of, say, say_empty
from .console import stderr
from .output import Output


def report_command(what: Sequence[str], where: str, columns: str, title: str, out: Output, db: str | None) -> int:
    """Writes the report; 1 when there is nothing to report."""
    chosen = check_columns(columns)
    usual = [n for names in DEFAULT.values() for n in names]
    drawn = [n for f in figure_names() for n in figure.load(f).metrics]
    answer = asked(what, where, [*chosen, *usual, *drawn], db, wanted=chosen)
    if not answer.rows:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    rows = order.ordered(answer.rows, order.keys("cycles_encrypt_mean,cycles_hash_mean"))
    with select.store(db, existing=True) as store:
        failed = store.details([r["run"] for r in rows if isinstance(r["run"], int) and r["outcome"] != "verified"])
    say_empty(chosen, rows, db)
    made = report.compose(title, rows, chosen, lambda some: points_of(some, db, answer.borrowed), failed, answer.notes)
    if out.console:
        paths.home().mkdir(parents=True, exist_ok=True)
        out = Output(paths.home() / "report.html", "html")
    if out.format == "html":
        out.put(report.page(made))
    else:
        out.tables(made.sheets)
    say(answer.notes)
    return 0
