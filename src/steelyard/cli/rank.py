"""``steelyard rank``: orders of merit over stored results."""

from __future__ import annotations

from collections.abc import Sequence

import click
from msgspec.structs import replace

from ..analyse import rank
from ..analyse.rows import check_columns
from ..model.errors import UserError, unknown
from ..model.metric import metric
from ..model.row import Row, grouped
from ..publish import ranking
from ..publish.results import distinct, without_figures
from ..publish.sheet import Sheet
from ..verify.known import readings
from ..verify.knownblock import known_block
from . import options
from .answers import asked, complete, say_empty
from .console import say, stderr
from .options import command

#: how many of each metric are shown where nobody says
TOP = 10
KINDS = ("top", "places", "merit", "score", "pareto")


class Rank(options.Answering, frozen=True, kw_only=True):
    """What ``rank`` is asked."""

    kind: str
    by: str
    top: int | None
    relative_to: str
    unit: bool
    variants: bool
    group_by: str
    minus_nocrypt: bool
    paper: bool


@command(
    Rank,
    click.argument("what", nargs=-1, metavar="[NAME]...", help="Families, variants or implementations. Default: all."),
    options.text(
        "--kind",
        "-k",
        default="top",
        metavar="KIND",
        help="top, places, merit (FELICS), score (El-Hajj, Fadlallah), pareto.",
    ),
    options.text("--by", "-b", metavar="METRICS", help="Comma-separated. Default: cycles, ROM, RAM."),
    options.where,
    options.number("--top", "-n", help=f"How many of each. Default: {TOP} with top, else all."),
    options.text("--relative-to", metavar="NAME", help="Variant or variant/implementation that counts as 100 %."),
    options.flag("--unit", help="Relative as reference over figure: more is better."),
    options.flag("--variants", help="Of each variant only its best implementation, by metric."),
    options.text("--group-by", metavar="SIZE", help="key, nonce, tag or block: a ranking for each size."),
    options.flag("--minus-nocrypt", help="Subtract the baseline's cycles first."),
    options.flag("--paper", help="With score: the paper's columns, which count time more than once."),
    options.tables,
    options.db,
)
def verb(ask: Rank) -> int:
    """Rank stored results: the first of each metric, relative to a reference, figures of merit, Pareto fronts."""
    if ask.kind not in KINDS:
        raise unknown("ranking", ask.kind, KINDS)
    metrics = check_columns(ask.by)
    for name in metrics:
        metric(name)
    if ask.kind == "score" and not metrics:
        metrics = list(rank.SCORE_PAPER if ask.paper else rank.SCORE_DISTINCT)
    say(_ignored(ask, metrics))
    usual = ranking.CATALOGUE if ask.kind == "places" else ranking.USUAL
    used = [*metrics, *(m.replace("encrypt", "hash") for m in metrics)] or [
        *dict.fromkeys(n for names in usual.values() for n in names)
    ]
    answer = asked(ask.what, ask.where, used, ask.db, wanted=used if ask.by else ())
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    if ask.minus_nocrypt:
        rows = _minus_nocrypt(rows, used)
    rows = [r for r in rows if r["variant"] != "nocrypt"]
    if not rows:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    empty = set(used) - {n for n in used if any(r.get(n) is not None for r in rows)}
    missing = [m for m in metrics if {m, m.replace("encrypt", "hash")} <= empty]
    say_empty(missing if ask.by else (), rows, ask.db)
    if missing and set(missing) == set(metrics):
        return 1
    if ask.relative_to and not any(ranking.is_called(r, ask.relative_to) for r in rows):
        raise UserError(f"--relative-to {ask.relative_to}: no stored run of it among those ranked; run it too")
    sheets: list[Sheet] = []
    for title, part in _grouped(rows, ask.group_by):
        sheets += [replace(s, title=f"{title}{s.title}") for s in _ranked(part, metrics, ask)]
    if ask.kind == "places":
        sheets += without_figures(complete([r for r in answer.rows if r["outcome"] != "verified"], ask.db))
    ask.out.give(distinct(sheets), notes=answer.notes)
    return 0


def _ranked(rows: Sequence[Row], metrics: Sequence[str], ask: Rank) -> list[Sheet]:
    """The tables of one kind of ranking."""
    if ask.kind == "top":
        return ranking.tops(rows, metrics, ask.top or TOP, ask.relative_to, unit=ask.unit, variants=ask.variants)
    if ask.kind == "places":
        return ranking.places(rows, metrics, ask.top, variants=ask.variants)
    if ask.kind == "merit":
        return ranking.merits(rows, metrics, ask.top, variants=ask.variants)
    if ask.kind == "score":
        return ranking.scores(rows, metrics, ask.top, variants=ask.variants)
    return ranking.fronts(rows, metrics)


def _ignored(ask: Rank, metrics: Sequence[str]) -> list[str]:
    """Options that this ranking does nothing with."""
    kind = ask.kind
    scored = kind == "score" and list(metrics) in (list(rank.SCORE_PAPER), list(rank.SCORE_DISTINCT))
    given = (
        ("--top", bool(ask.top) and kind == "pareto", "a front is shown whole"),
        ("--variants", ask.variants and kind == "pareto", "a front is over all implementations"),
        ("--relative-to", bool(ask.relative_to) and kind != "top", "only --kind top is relative"),
        ("--unit", ask.unit and not (ask.relative_to and kind == "top"), "it needs --kind top and --relative-to"),
        ("--minus-nocrypt", ask.minus_nocrypt and not _timed(metrics), "no metric of --by is in cycles"),
        ("--paper", ask.paper and not scored, "it means the columns of --kind score without --by"),
    )
    return [f"{option} is ignored: {why}" for option, hit, why in given if hit]


def _timed(metrics: Sequence[str]) -> bool:
    """Whether the baseline can be subtracted from one of them, or from the usual ones."""
    return not metrics or any(metric(n).unit.startswith("cycles") for n in metrics)


def _minus_nocrypt(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Rows with the baseline's cycles of the same target and flags taken off."""
    base = {(r["target"], r["primitive"], r["flags"]): r for r in rows if r["variant"] == "nocrypt"}
    made = []
    lost: set[str] = set()
    for r in rows:
        baseline = base.get((r["target"], r["primitive"], r["flags"]))
        if baseline is None:
            lost.add(f"{r['target']} {r['primitive']} {r['flags']}")
        mine: Row = dict(r)
        for n in (n for n in names if _timed([n])):
            v, b = rank.value(r, n), rank.value(baseline, n) if baseline else None
            mine[n] = None if v is None or b is None else v - b
        made.append(mine)
    if lost:
        said = f"--minus-nocrypt: nocrypt is not among the rows of {', '.join(sorted(lost))}"
        say([f"{said}, which have no cycles then; name it too"])
    return made


#: sizes that rankings can be apart by
_SIZES = ("key", "nonce", "tag", "block")


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    """Rows by the size of key, nonce, tag or block, with a title for each group."""
    if not group:
        return [("", list(rows))]
    if group not in _SIZES:
        raise unknown("group", group, _SIZES)

    def bits(r: Row) -> int:
        if r["primitive"] == "crypto_block":
            known = known_block(str(r["variant"]))
            return 8 * {"key": known.key, "block": known.block}.get(group, 0) if known else -1
        found = readings(r["primitive"], str(r["variant"]))  # type: ignore[arg-type]
        return 8 * {"key": found[0].key, "nonce": found[0].npub, "tag": found[0].out}.get(group, 0) if found else -1

    parts = grouped(rows, bits)
    return [(f"{group} {n} bits, " if n >= 0 else f"{group} not known, ", p) for n, p in sorted(parts.items())]
