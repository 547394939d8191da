"""``steelyard publish``: stored results as tables, on the console or in a file."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from rich.text import Text

from ..analyse import order
from ..analyse.rows import check_columns
from ..model.errors import UserError, refuse, unknown
from ..model.row import CONTEXT
from ..publish import felics, formats, pivot
from ..publish.results import DEFAULT, flat, tables
from ..publish.sheet import Sheet, text
from .answers import asked, say, say_empty
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
    across: str,
    caption: str,
    label: str,
    out: Output,
    db: str | None,
) -> int:
    """Prints or writes the tables; 1 when no record is left to show, or when none has what was asked for or sorted by.

    ``across`` is a context column whose values become the columns of a table for each metric.
    """
    looks = {"--caption": caption, "--label": label}
    if out.format == "felics.json":
        shape = {"--columns": columns, "--sort": sort, "--pivot": across}
        refuse(shape | looks, "not in FELICS-AE's result files, whose form is fixed; leave it out")
        return _felics(what, where, all_runs, out, db)
    chosen = check_columns(columns)
    if across and across not in CONTEXT:
        raise unknown("column", across, CONTEXT)
    if across:
        refuse(looks, "not with --pivot, whose titles say metric and column; leave it out")
    measured = [c for c in chosen if c not in CONTEXT]
    if across and len(measured) < len(chosen):
        raise UserError("--pivot takes metrics alone as --columns, such as rom,encrypt@16/64: one table for each")
    by = order.keys(sort) if sort else [("target", False), ("primitive", False), ("cycles_encrypt_mean", False)]
    by += [] if sort else [("cycles_hash_mean", False)]
    flat_ = out.format in formats.FLAT and not across
    usual = () if chosen else tuple(n for names in DEFAULT.values() for n in names)
    columns_ = None if flat_ and not chosen else [*chosen, *usual, *(n for n, _ in by)]
    keys = [n for n, _ in by if n not in CONTEXT] if sort else []
    wanted = (*measured, *keys)
    answer = asked(what, where, columns_, db, all_runs=all_runs, apart=(across,) if across else (), wanted=wanted)
    found = order.ordered(answer.rows, by)
    if not found:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    empty = say_empty(wanted, found, db)
    if across:
        sheets = pivot.tables(found, across, measured, sorted_by=bool(sort))
    else:
        sheets = [flat(found, chosen)] if flat_ else tables(found, chosen, caption=caption, label=label)
    present(sheets, answer.notes, out)
    return 1 if any(k in empty for k in keys) or (measured and set(measured) <= set(empty)) else 0


def present(sheets: Sequence[Sheet], notes: Sequence[str], out: Output) -> None:
    """Sheets on the console, or in the format asked for with the notes below each of them."""
    if not out.console:
        out.tables([replace(s, notes=(*s.notes, *notes)) for s in sheets])
        say(notes)
        return
    print_sheets(sheets)
    for note in notes:
        stdout().print(note, style="dim")


def _felics(what: Sequence[str], where: str, all_runs: bool, out: Output, db: str | None) -> int:
    """Writes a result file of FELICS-AE's."""
    answer = asked(what, where, list(felics.FIGURES.values()), db, all_runs=all_runs, workload="felics-ae")
    out.put(felics.render(answer.rows))
    return 0


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
        heads = [c.heading for c in sheet.columns]
        console.print(table(sheet.title, heads, body, left=sheet.left, drop=_DROP, complete="--out FILE"))
        if (more := len(sheet.lines) - limit) > 0:
            console.print(f"and {more} more lines; --out FILE has all of them")
        for note in sheet.notes:
            console.print(note, style="dim")
        console.print()
