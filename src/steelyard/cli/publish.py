"""``steelyard publish``: stored results as tables, on the console or in a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from rich.text import Text

from ..analyse import expression, order
from ..analyse.rows import Row, check_column, derive, needed, newest
from ..model.metric import DERIVED
from ..model.record import Point
from ..publish import felics, formats
from ..publish.results import DEFAULT, flat, tables
from ..publish.sheet import Sheet, text
from . import select
from .console import stderr, stdout, table
from .output import Output

#: most lines of all tables on the console; every table may have the second number
MAX_LINES, MIN_LINES = 300, 30
# where the terminal is narrow: a comparison without its change says little
_DROP = ("new/old", "old", "new")
_MARKS = {"better": (" ▾", "green"), "worse": (" ▴", "red"), "": ("", "")}


def publish_command(
    what: list[str],
    columns: str,
    where: str,
    sort: str,
    all_runs: bool,
    caption: str,
    label: str,
    out: Output,
    db: str | None,
) -> int:
    """Prints or writes the tables; 1 when no record is left to show."""
    if out.format == "felics.json":
        return _felics(what, where, all_runs, out, db)
    chosen = [check_column(c.strip()) for c in columns.split(",") if c.strip()]
    by = order.keys(sort) if sort else [("target", False), ("primitive", False), ("cycles_encrypt_mean", False)]
    by += [] if sort else [("cycles_hash_mean", False)]
    flat_ = out.format in formats.FLAT
    usual = () if chosen else tuple(n for names in DEFAULT.values() for n in names)
    columns_ = None if flat_ and not chosen else [*chosen, *usual, *(n for n, _ in by)]
    found = order.ordered(stored(what, where, columns_, all_runs, db), by)
    if not found:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    sheets = [flat(found, chosen)] if flat_ else tables(found, chosen, caption=caption, label=label)
    if out.console:
        print_sheets(sheets)
    else:
        out.tables(sheets)
    return 0


def _felics(what: Sequence[str], where: str, all_runs: bool, out: Output, db: str | None) -> int:
    """Writes a result file of FELICS-AE's."""
    chosen = {r["run"] for r in stored(what, where, list(felics.FIGURES.values()), all_runs, db)}
    with select.store(db, existing=True) as store:
        records = store.runs(newest_only=not all_runs, points=False, metrics=felics.FIGURES.values())
    out.put(felics.render(r for r in records if r.id in chosen)[0])
    return 0


#: columns that the database itself compares
_LABEL = re.compile(r"[^*?\[/]+/[^*?\[]+")
_INDEXED = ("target", "variant", "implementation", "primitive", "flags")


def stored(what: Sequence[str], where: str, columns: Sequence[str] | None, all_runs: bool, db: str | None) -> list[Row]:
    """Rows of stored records that names and filter leave, with what ``columns`` need; None means all metrics.

    ``what`` are patterns for family, variant, ``variant/implementation``, a run's number, or a path.
    """
    test = expression.parse(where) if where.strip() else None
    names = {*(columns or ()), *(test.columns if test else ())}
    metrics, sizes = needed(names)
    known = {n: v for n, v in test.required.items() if n in _INDEXED} if test else {}
    if len(what) == 1 and _LABEL.fullmatch(what[0]) and not select.exists_at(what[0]):
        known["variant"], known["implementation"] = what[0].split("/", 1)
    with select.store(db, existing=True) as store:
        found = store.table(
            newest_only=not all_runs, points=sizes, metrics=None if columns is None else metrics, **known
        )
    if columns is None or names & DERIVED.keys():
        found = derive(found)
    if what:
        found = _meant(found, what)
    if test:
        found = [r for r in found if test.test(r)]
    return found if all_runs else newest(found)


_WHOLE = ("primitive", "variant", "implementation", "digest")


def _meant(found: list[Row], what: Sequence[str]) -> list[Row]:
    """Rows that some word names; a path names what lies there now."""
    kept = [{id(r) for r in found if named(r, w)} for w in what]
    for w, rows in zip(what, kept, strict=True):
        if not rows and select.exists_at(w):
            now = {(i.primitive, i.variant, i.name, i.digest) for i, _ in select.implementations([w])[0]}
            rows |= {id(r) for r in found if tuple(r[n] for n in _WHOLE) in now}
    every = set().union(*kept)
    return [r for r in found if id(r) in every]


def points_of(rows: Sequence[Row], db: str | None) -> dict[int, list[Point]]:
    """All points of the runs behind these rows."""
    with select.store(db, existing=True) as store:
        return store.points([r["run"] for r in rows if isinstance(r["run"], int)])


def named(row: Row, pattern: str) -> bool:
    """Whether a row is the run of this number, or has a family, variant or label like this."""
    if pattern.isdecimal():
        return bool(row["run"] == int(pattern[:20]))
    return any(fnmatchcase(str(row[n]), pattern) for n in ("family", "variant", "label", "primitive"))


def print_sheets(sheets: Sequence[Sheet]) -> None:
    """Sheets on the console; what has no room says so."""
    console = stdout()
    limit = max(MIN_LINES, MAX_LINES // max(1, len(sheets)))
    for sheet in sheets:
        body = []
        for line in sheet.lines[:limit]:
            cells: list[str | Text] = []
            for value, c in zip(line.cells, sheet.columns, strict=True):
                mark, style = _MARKS[line.marks.get(c.name, "")]
                shown = text(value, c)
                cells.append(Text(shown + mark, style=style) if mark else shown)
            body.append(cells)
        left = next((k for k, c in enumerate(sheet.columns) if c.digits is not None), len(sheet.columns))
        heads = [c.heading for c in sheet.columns]
        console.print(table(sheet.title, heads, body, left=left, drop=_DROP, complete="--out FILE"))
        if (more := len(sheet.lines) - limit) > 0:
            console.print(f"and {more} more lines; --out FILE has all of them")
        for note in sheet.notes:
            console.print(note, style="dim")
        console.print()
