"""``steelyard rank``: orders of merit over stored results."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import click
from msgspec.structs import replace

from ..analyse import rank
from ..analyse.answer import BUNDLED, came_from
from ..analyse.choose import block_bytes, key_bytes
from ..analyse.rows import check_columns
from ..model.errors import UserError, counted, unknown
from ..model.metric import metric
from ..model.row import Row, Value, grouped
from ..publish import ranking
from ..publish.results import GROUP, without_figures
from ..publish.sheet import Sheet, distinct
from ..verify.known import readings
from . import options
from .answers import asked, complete, say_empty
from .console import say, stderr
from .options import command


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
        help="top, places, merit (FELICS), score (El-Hajj, Fadlallah), pareto, sizes (hardware), joint (and software).",
    ),
    options.text("--by", "-b", metavar="METRICS", listed=True, help="Comma-separated. Default: cycles, ROM, RAM."),
    options.where,
    options.number("--top", "-n", help=f"How many of each. Default: {ranking.TOP} with top, else all."),
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
    named = check_columns(ask.by)
    for name in named:
        metric(name)
    paper = rank.SCORE_PAPER if ask.paper and ask.kind == "score" else ()
    metrics = ranking.metrics_of(ask.kind, named or paper)
    say(_ignored(ask, metrics))
    used = ranking.needed(ask.kind, metrics)
    columns = [*used, *(_OF_SIZES if ask.group_by else ())]
    answer = asked(ask.what, ask.where, columns, ask.db, wanted=used if ask.by else ())
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    if ask.minus_nocrypt:
        rows = _minus_nocrypt(rows, used)
    rows = [r for r in rows if r["variant"] != "nocrypt"]
    if not rows:
        there = [r for r in answer.rows if r["variant"] != "nocrypt"]
        some = f"{counted(len(there), 'matching run')}, none of them verified; steelyard publish says why"
        stderr().print(some if there else "no stored run matches; steelyard run makes them")
        return 1
    empty = set(used) - {n for n in used if any(r.get(n) is not None for r in rows)}
    missing = [m for m in metrics if {m, m.replace("encrypt", "hash")} <= empty]
    say_empty(missing if ask.by else (), rows, ask.db)
    if missing and set(missing) == set(metrics):
        return 1
    if ask.relative_to and not any(ranking.is_called(r, ask.relative_to) for r in rows):
        raise UserError(f"--relative-to {ask.relative_to}: no stored run of it among those ranked; run it too")
    less = ("cycles: those of nocrypt are subtracted",) if ask.minus_nocrypt and _timed(metrics) else ()
    sheets: list[Sheet] = []
    for title, part in _grouped(rows, ask.group_by):
        given = {"unit": ask.unit, "variants": ask.variants}
        made = ranking.ranked(ask.kind, part, metrics, ask.top, ask.relative_to, **given, among=rows)
        sheets += [replace(s, title=f"{title}{s.title}", notes=(*s.notes, *less)) for s in made]
    if not sheets:
        none = {
            "sizes": "it is of hardware, and none of these runs has its throughput at all sizes",
            "joint": "none of these families has both software and hardware with 64 and 1536 bytes",
        }
        stderr().print(f"rank --kind {ask.kind}: {none.get(ask.kind, 'nothing is ranked')}")
        return 1
    if ask.kind == "places":
        sheets += without_figures(complete([r for r in answer.rows if r["outcome"] != "verified"], ask.db))
    ask.out.give(distinct(sheets), notes=(*answer.notes, *ranking.of_authors(rows), *ranking.unjudged(answer.rows)))
    return 0


def _ignored(ask: Rank, metrics: Sequence[str]) -> list[str]:
    """Options that this ranking does nothing with."""
    kind = ask.kind
    scored = kind == "score" and list(metrics) in (list(rank.SCORE_PAPER), list(rank.SCORE_DISTINCT))
    given = (
        ("--top", bool(ask.top) and kind == "pareto", "a front is shown whole"),
        ("--variants", ask.variants and kind == "pareto", "a front is over all implementations"),
        ("--by", bool(ask.by) and kind == "sizes", "it is by throughput"),
        ("--variants", ask.variants and kind == "sizes", "it is the best design of each family anyway"),
        ("--by, --top or --variants", bool(ask.by or ask.top or ask.variants) and kind == "joint", "it is by time"),
        ("--relative-to", bool(ask.relative_to) and kind != "top", "only --kind top is relative"),
        ("--unit", ask.unit and not (ask.relative_to and kind == "top"), "it needs --kind top and --relative-to"),
        ("--minus-nocrypt", ask.minus_nocrypt and not _timed(metrics), "no metric of --by is in cycles"),
        ("--paper", ask.paper and not scored, "it means the columns of --kind score without --by"),
    )
    return [f"{option} is ignored: {why}" for option, hit, why in given if hit]


def _timed(metrics: Sequence[str]) -> bool:
    """Whether the baseline can be subtracted from one of them, or from the usual ones."""
    return not metrics or any(metric(n).unit.startswith("cycles") for n in metrics)


def _table(row: Row) -> tuple[Value, ...]:
    """What figures of one table share, and the flags."""
    return *map(row.get, GROUP), row["flags"]


_SETUP = itemgetter("target", "primitive", "flags")


def _minus_nocrypt(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Rows with the cycles taken off that the baseline has with the same flags on the same target, by what else figures
    of one table share."""
    base = {_table(r): r for r in rows if r["variant"] == "nocrypt" and came_from(r) == BUNDLED}
    made = []
    lost: set[str] = set()
    for r in rows:
        baseline = base.get(_table(r))
        if baseline is None:
            other = any(_SETUP(b) == _SETUP(r) for b in base.values())
            why = " with their compiler, harness and timing model" if other else ""
            lost.add(f"{r['target']} {r['primitive']} {r['flags']}{why}")
        mine: Row = dict(r)
        for n in (n for n in names if _timed([n])):
            v, b = rank.value(r, n), rank.value(baseline, n) if baseline else None
            mine[n] = None if v is None or b is None else v - b
        made.append(mine)
    if lost:
        said = f"--minus-nocrypt: nocrypt is not among the rows of {', '.join(sorted(lost))}"
        say([f"{said}, which have no cycles then; name it too, or run both again"])
    return made


#: sizes that rankings can be apart by
_SIZES = ("key", "nonce", "tag", "block")
#: what says the sizes of a block cipher that nobody knows
_OF_SIZES = ("key_bytes", "cycles_encrypt_mean", "encrypt_per_byte")


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    """Rows by the size of key, nonce, tag or block, with a title for each group."""
    if not group:
        return [("", list(rows))]
    if group not in _SIZES:
        raise unknown("group", group, _SIZES)

    def bits(r: Row) -> int:
        if r["primitive"] == "crypto_block":
            size = {"key": key_bytes, "block": block_bytes}.get(group, lambda _: 0)(r)
            return -1 if size is None else 8 * size
        found = readings(r["primitive"], str(r["variant"]))  # type: ignore[arg-type]
        return 8 * {"key": found[0].key, "nonce": found[0].npub, "tag": found[0].out}.get(group, 0) if found else -1

    parts = grouped(rows, bits)
    return [(f"{group} {n} bits, " if n >= 0 else f"{group} not known, ", p) for n, p in sorted(parts.items())]
