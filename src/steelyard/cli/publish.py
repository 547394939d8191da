"""``steelyard publish``: stored results as tables, on the console or in a file."""

from __future__ import annotations

from ..analyse import order
from ..analyse.rows import check_columns
from ..model.errors import UserError, counted, refuse, unknown
from ..model.row import CONTEXT
from ..publish import felics, pivot, results
from . import options
from .answers import asked, complete, say_empty
from .console import say, stderr
from .options import command
from .output import TABLES


class Publish(options.Answering, frozen=True, kw_only=True):
    """What ``publish`` is asked. ``pivot`` is a context column whose values become the columns of a table for each
    metric."""

    columns: str
    sort: str
    all_runs: bool
    pivot: str
    caption: str
    label: str


@command(
    Publish,
    options.weighed,
    options.columns,
    options.where,
    options.text("--sort", metavar="COLUMNS", listed=True, help="Columns to sort by; -COLUMN sorts down."),
    options.flag("--all-runs", help="Include runs that newer ones replace."),
    options.text(
        "--pivot",
        metavar="COLUMN",
        help="One metric at a glance: the values of this column, such as target, side by side.",
    ),
    options.text("--caption", metavar="TEXT", help="Caption; {target} and {primitive} are filled in."),
    options.text("--label", metavar="TEXT", help="Label, for LaTeX and HTML; the same names are filled in."),
    options.output(*TABLES, "felics.json"),
    options.db,
)
def verb(ask: Publish) -> int:
    """Publish stored results as tables: on the console, or in a file for paper, spreadsheet or program."""
    looks = {"--caption": ask.caption, "--label": ask.label}
    if ask.out.format == "felics.json":
        shape = {"--columns": ask.columns, "--sort": ask.sort, "--pivot": ask.pivot}
        refuse(shape | looks, "not in FELICS-AE's result files, whose form is fixed; leave it out")
        figures = list(felics.FIGURES.values())
        answer = asked(ask.what, ask.where, figures, ask.db, all_runs=ask.all_runs, workload="felics-ae")
        ask.out.put(felics.render(answer.rows))
        say(answer.notes)
        return 0
    if not ask.pivot and (ask.out.console or ask.out.flat):
        refuse(looks, "only tables of documents have one: .tex .md .html; name such a file with -o, or leave it out")
    chosen = check_columns(ask.columns)
    measured = [c for c in chosen if c not in CONTEXT]
    if ask.pivot:
        if ask.pivot not in CONTEXT:
            raise unknown("column", ask.pivot, CONTEXT)
        refuse(looks, "not with --pivot, whose titles say metric and column; leave it out")
        if len(measured) < len(chosen):
            raise UserError("--pivot takes metrics alone as --columns, such as rom,encrypt@16/64: one table for each")
    asked_for = order.keys(ask.sort) if ask.sort else []
    by = [*asked_for, *results.ORDER]  # what is equal, or has no value, stands as it does without --sort
    keys = [n for n, _ in asked_for if n not in CONTEXT]
    wanted = (*measured, *keys)
    flat = ask.out.flat and not ask.pivot
    columns = None if flat and not chosen else [*(chosen or results.USUAL), *(n for n, _ in by)]
    apart = (ask.pivot,) if ask.pivot else ()
    answer = asked(
        ask.what, ask.where, columns, ask.db, all_runs=ask.all_runs, apart=apart, wanted=wanted, ranked=bool(ask.pivot)
    )
    found = order.ordered(answer.rows, by)
    if not found:
        stderr().print("no stored run matches; steelyard list runs shows what there is")
        return 1
    empty = say_empty(wanted, found, ask.db)
    failed = sum(r["outcome"] != "verified" for r in found) if (chosen or ask.pivot) and not flat else 0
    lost = [f"{counted(failed, 'run')} without verified figures; publish without columns says why"] if failed else []
    if ask.pivot:
        sheets = pivot.verified(found, ask.pivot, measured, sorted_by=bool(ask.sort))
        if not sheets:
            text = f"{counted(len(found), 'matching run')}, none of them verified; publish without --pivot says why"
            stderr().print(text, soft_wrap=True)
            return 1
    elif flat:
        sheets = [results.flat(found, chosen)]
    else:
        found = found if chosen else complete(found, ask.db)
        sheets = results.tables(found, chosen, caption=ask.caption, label=ask.label, more=keys)
    ask.out.give(sheets, notes=[*answer.notes, *lost])
    return 1 if any(k in empty for k in keys) or (measured and set(measured) <= set(empty)) else 0
