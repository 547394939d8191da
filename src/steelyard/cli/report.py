"""``steelyard report``: stored results as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analyse import order
from ..analyse.rows import check_column
from ..model import paths
from ..publish import figure, formats, report
from ..publish.results import DEFAULT
from .console import stderr, stdout
from .publish import stored_records


def report_command(what: Sequence[str], where: str, columns: str, title: str, out: Path | None, db: str | None) -> int:
    """Writes the report and prints its path; 1 when there is nothing to report."""
    chosen = [check_column(c.strip()) for c in columns.split(",") if c.strip()]
    usual = [n for names in DEFAULT.values() for n in names]
    drawn = [n for f in figure.figure_names() for n in figure.load(f).metrics]
    pairs = stored_records(what, where, [*chosen, *usual, *drawn], False, db, points=True)
    if not pairs:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    records = {id(row): record for row, record in pairs}
    rows = order.ordered([row for row, _ in pairs], order.keys("cycles_encrypt_mean,cycles_hash_mean"))
    text = report.render(title, rows, [records[id(r)] for r in rows], chosen)
    path = out or paths.home() / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    formats.save(path, text.encode())
    stdout().print(f"report: {path}", soft_wrap=True)
    return 0
