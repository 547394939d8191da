"""Pages that are asked: tables, comparisons, rankings, figures, as the verbs of the command line answer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ...analyse import compare as comparing
from ...analyse import expression, order, rank
from ...analyse.answer import recency
from ...analyse.summary import summary
from ...model.errors import UserError, counted, cut, unknown
from ...model.row import CONTEXT, Row, grouped
from ...publish import comparison, figure, pivot, ranking, results
from ...publish.figures import figure_names
from .. import address, ask
from ..page import Block, Field, Links, NotThereError, Page, Table, Text
from .view import FIND, NAMES, View, bars, figure_of, nearest, not_there, noted, remarks

SIDES = {"": "nothing", "target": "targets", "flags": "flags", "compiler": "compilers"}
#: what a page may be asked
TABLES = (
    NAMES,
    FIND,
    Field("columns", "columns", "run,label,rom,encrypt@16/64"),
    Field("sort", "sort by", "rom,-cycles_encrypt_mean"),
    Field("all", "runs", choices={"": "those that count", "yes": "all"}),
    Field("pivot", "side by side", choices=SIDES),
)
WHOLE = TABLES[:-1]
COMPARE = (
    Field("old", "old", "ascon128v12/small, a filter, or a run's number"),
    Field("new", "new", "ascon128v12/fast"),
    FIND,
    Field("columns", "metrics", "rom,cycles_encrypt_mean"),
    Field("everything", "show", choices={"": "what changed", "yes": "all metrics"}),
)
RANK = (
    Field("kind", "ranking", choices=ranking.KINDS),
    Field("by", "by", "rom,ram,encrypt@16/64"),
    NAMES,
    FIND,
    Field("top", "how many", str(ranking.TOP)),
    Field("relative", "relative to", "aes128gcm"),
    Field("variants", "of each variant", choices={"": "all", "yes": "its best"}),
)
FEW = (NAMES, FIND)


def tables(v: View) -> Page:
    """Tables as ``publish`` makes them: names, filter, columns, order, pivot."""
    what, where, across = ask.names(v.text("what")), v.text("where"), v.text("pivot")
    chosen = ask.metrics_of(v.text("columns")) if across else ask.columns(v.text("columns"))
    if across and across not in CONTEXT:
        raise unknown("column", across, CONTEXT)
    sort = order.keys(v.text("sort"))
    by = [*sort, *results.ORDER]
    measured = [n for n in (*chosen, *(n for n, _ in sort)) if n not in CONTEXT]
    answer = v.rows.answer(
        what, where, [*(chosen or results.USUAL), *(n for n, _ in by)], all_runs=v.text("all") == "yes",
        wanted=measured, apart=(across,) if across else (), ranked=bool(across),
    )  # fmt: skip
    found = order.ordered(answer.rows, by)
    if across:
        sheets = pivot.verified(found, across, chosen, sorted_by=bool(v.text("sort")))
    else:
        keys = [n for n, _ in sort if n not in CONTEXT]
        sheets = results.tables(found if chosen else v.complete(found), chosen, more=keys)
    form = v.form("/tables", "Show", TABLES)
    blocks: list[Block] = [form, *(Table(s, bars=bars(s), wide=("detail",)) for s in sheets)]
    if found and not across:
        flat = address.path("results", **{f.name: v.text(f.name) for f in WHOLE})
        blocks.append(Links([("all of it as one table, with every metric", flat)], "for programs"))
    return Page("Tables", [*blocks, *remarks(answer, found)])


def whole(v: View) -> Page:
    """All rows as one table, with all that tells them apart; all metrics where no columns are named."""
    chosen = ask.columns(v.text("columns"))
    sort = order.keys(v.text("sort"))
    by = [*sort, *results.ORDER]
    asked = [*chosen, *(n for n, _ in by)] if chosen else None
    measured = [n for n in (*chosen, *(n for n, _ in sort)) if n not in CONTEXT]
    answer = v.rows.answer(
        ask.names(v.text("what")), v.text("where"), asked, all_runs=v.text("all") == "yes", wanted=measured, whole=True
    )
    found = order.ordered(answer.rows, by)
    sheet = replace(results.flat(found, chosen), title="Results")
    return Page("Results", [Table(sheet), *remarks(answer, found)], trail=[("tables", "/tables")])


def compare(v: View) -> Page:
    """Two sides, setup by setup."""
    asked = [v.text("old"), v.text("new")]
    form = v.form("/compare", "Compare", COMPARE)
    lead = "Two names, filters or runs: what changed from one to the other, where it may be said at all."
    if not all(asked):
        return Page("Compare", [form], lead)
    metrics = ask.metrics_of(v.text("columns")) or list(comparing.METRICS)
    words: list[comparing.Words] = []
    rows: list[Sequence[Row]] = []
    for side in asked:
        is_filter = expression.is_filter(side)
        names, where = ((), side) if is_filter else ((side,), "")
        some = v.rows.found(names, where, comparing.needed(metrics), every=True).rows
        if v.text("where"):
            test = expression.parse(v.text("where"))
            more = {r["run"] for r in v.rows.found(names, v.text("where"), sorted(test.columns), every=True).rows}
            some = [r for r in some if r["run"] in more]
        if not some:
            raise NotThereError(f"{cut(side)}: no stored run matches; {nearest(v, side)}")
        rows.append(some)
        said = {("run", "==", side)} if side.isdecimal() else set(expression.parse(side).texts) if is_filter else set()
        words.append(said)
    (old, new), about, left_out = comparing.sides(words, rows)
    found = comparing.compare(old, new, metrics=metrics, about=about, wanted=metrics if v.text("columns") else ())
    everything = v.text("everything") == "yes"
    sheets = [*comparison.tables(found, everything=everything), *comparison.unpaired(found)]
    of = "nothing but nocrypt" if found.is_empty and found.pairs else counted(len(found.pairs), "setup")
    told = [*(summary(found) if not found.is_empty else ()), f"{of} compared", *left_out]
    blocks: list[Block] = [form, *map(noted, told), *(Table(s) for s in sheets)]
    if found.pairs:
        blocks.append(Table(comparison.flat(found, everything=everything), folded="all of it as one table"))
    return Page(f"{cut(asked[0], 60)} against {cut(asked[1], 60)}", blocks, lead)


def rankings(v: View) -> Page:
    """Orders of merit."""
    kind, reference, top = v.text("kind") or "top", v.text("relative"), v.text("top")
    metrics = ranking.metrics_of(kind, ask.metrics_of(v.text("by")))
    if top and not (top.isdecimal() and 1 <= int(top[:9]) <= 10_000):
        raise UserError(f"top {cut(top, 20)!r}: write a number from 1 to 10000")
    used = ranking.needed(kind, metrics)
    answer = v.rows.answer(
        ask.names(v.text("what")), v.text("where"), used, wanted=used if v.text("by") else (), ranked=True
    )
    rows = rank.apart([r for r in answer.rows if r["outcome"] == "verified" and r["variant"] != "nocrypt"])
    if reference and not any(ranking.is_called(r, reference) for r in rows):
        raise NotThereError(f"{cut(reference)}: no run of it among those ranked; {nearest(v, reference)}")
    each = v.text("variants") == "yes"
    sheets = ranking.ranked(kind, rows, metrics, int(top) if top else None, reference, variants=each)
    form = v.form("/rank", "Rank", RANK, kind=kind)
    made = [Table(s, bars=bars(s)) for s in sheets]
    left = map(Text, (*ranking.of_authors(rows), *ranking.unjudged(answer.rows)))
    return Page("Ranking", [form, *made, *remarks(answer, rows), *left])


def trade_offs(v: View) -> Page:
    """Time against ROM, and what nothing beats in all."""
    what, where = ask.names(v.text("what")), v.text("where")
    answer = v.rows.answer(what, where, (*figure.load("tradeoff").metrics, *ranking.needed("pareto", ())), ranked=True)
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    blocks: list[Block] = [v.form("/trade-offs", "Show", FEW)]
    for (name, primitive), of in sorted(grouped(rows, lambda r: (str(r["target"]), str(r["primitive"]))).items()):
        blocks += figure_of(v, "tradeoff", of, answer, f"tradeoff-{name}-{primitive}", results.heading(of))
    fronts = ranking.fronts([r for r in rows if r["variant"] != "nocrypt"], ())
    return Page("Trade-offs", [*blocks, *map(Table, fronts), *remarks(answer, rows)])


def figures(v: View) -> Page:
    """The figures that ``plot`` draws."""
    links = [(figure.load(n).title, address.path("figures", n)) for n in figure_names()]
    return Page("Figures", [Links(links, "figures")])


def one_figure(v: View, name: str) -> Page:
    """A figure of what is asked, with its table."""
    if name not in figure_names():
        raise not_there("figure", name, figure_names())
    kind = figure.load(name)
    what, where = ask.names(v.text("what")), v.text("where")
    answer = v.rows.answer(what, where, kind.metrics, every=kind.all_runs, workload=kind.workload, ranked=True)
    rows = sorted((r for r in answer.rows if r["outcome"] == "verified"), key=recency())
    form = v.form(f"/figures/{name}", "Draw", FEW)
    why = figure.lacking(kind, rows)
    blocks = [Text(f"{why[0].upper()}{why[1:]}.")] if why else figure_of(v, name, rows, answer, name, kind.title)
    return Page(kind.title, [form, *blocks, *remarks(answer, rows)], kind.note, [("figures", "/figures")])
