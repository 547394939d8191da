"""``steelyard rank``: orders of merit over stored results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import click
from msgspec.structs import replace

from ..analyse import rank
from ..analyse.answer import BUNDLED, came_from, recency
from ..analyse.choose import block_bytes, further_cycles, key_bytes
from ..analyse.rows import check_columns
from ..model.errors import UserError, counted, unknown
from ..model.metric import further, metric, of_sizes, size_of
from ..model.options import of_baseline
from ..model.row import Row, Value, grouped
from ..publish import ranking
from ..publish.results import GROUP, some, without_figures
from ..publish.sheet import Sheet, distinct
from ..verify.known import readings
from . import options
from .answers import asked, complete, found, say_empty
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
    columns = [*used, *(_OF_SIZES if ask.group_by or ask.minus_nocrypt else ())]
    answer = asked(ask.what, ask.where, columns, ask.db, wanted=used if ask.by else (), ranked=True)
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    bits = {r["run"]: _bits(r, ask.group_by) for r in rows} if ask.group_by else {}
    if ask.minus_nocrypt:
        rows = _minus_nocrypt(rows, used, found(["nocrypt"], "", columns, ask.db, every=True).rows)
    rows = rank.apart([r for r in rows if r["variant"] != "nocrypt"])
    if not rows:
        there = [r for r in answer.rows if r["variant"] != "nocrypt"]
        text = f"{counted(len(there), 'matching run')}, none of them verified; steelyard publish says why"
        which = "no run but nocrypt's, the baseline, matches" if answer.rows else "no stored run matches"
        makes = "steelyard rtl makes runs of hardware" if ask.kind == "sizes" else "steelyard run makes them"
        stderr().print(text if there else f"{which}; {makes}")
        say(answer.notes if answer.rows else ())
        return 1
    empty = set(used) - {n for n in used if any(r.get(n) is not None for r in rows)}
    missing = [m for m in metrics if not {m, m.replace("encrypt", "hash")} & (set(used) - empty)]
    say_empty(missing if ask.by else (), rows, ask.db)
    if missing and set(missing) == set(metrics):
        return 1
    if ask.relative_to and not any(ranking.is_called(r, ask.relative_to) for r in rows):
        raise UserError(f"--relative-to {ask.relative_to}: no stored run of it among those ranked; run it too")
    less = ("cycles: those of nocrypt are subtracted",) if ask.minus_nocrypt and _timed(metrics) else ()
    sizeless = _sizeless(rows, ask.group_by, bits)
    sheets: list[Sheet] = []
    for title, part in _grouped(rows, ask.group_by, bits):
        given = {"unit": ask.unit, "variants": ask.variants}
        made = ranking.ranked(ask.kind, part, metrics, ask.top, ask.relative_to, **given, among=rows)
        sheets += [replace(s, title=f"{title}{s.title}", notes=(*s.notes, *less)) for s in made]
    if not sheets:
        none = {
            "sizes": "it is of hardware, and none of these runs has its throughput at all sizes",
            "joint": "none of these families has both software and hardware with 64 and 1536 bytes",
        }
        why = "; ".join(sizeless) or none.get(ask.kind, "nothing is ranked")
        stderr().print(f"rank --kind {ask.kind}: {why}", soft_wrap=True)
        return 1
    ranked = any(s.lines for s in sheets)
    if ask.kind == "places":
        sheets += without_figures(complete([r for r in answer.rows if r["outcome"] != "verified"], ask.db))
    left = (*ranking.of_authors(rows), *ranking.unjudged(answer.rows), *sizeless)
    ask.out.give(distinct(sheets), notes=(*answer.notes, *left))
    if not ranked:
        why = f"no run here has {', '.join(missing)}" if missing else "each table says why"
        stderr().print(f"rank --kind {ask.kind}: nothing is ranked; {why}", soft_wrap=True)
    return 0 if ranked else 1


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


def _minus_nocrypt(rows: Sequence[Row], names: Sequence[str], among: Sequence[Row]) -> list[Row]:
    """Rows with the cycles taken off that the baseline, of which these are all runs, has on the same target, by what
    else figures of one table share: with the same flags, or those that a run gives it, and the same workload, or what
    depends on none."""
    good = (r for r in among if r["outcome"] == "verified" and came_from(r) == BUNDLED)
    base = grouped(good, _table)
    made = []
    lost: set[str] = set()
    for r in rows:
        own = " ".join(of_baseline(str(r["flags"]).split()))
        flags = dict.fromkeys((r["flags"], own))
        bases = [b for f in flags for b in sorted(base.get(_table({**r, "flags": f}), ()), key=recency(), reverse=True)]
        alike = [b for b in bases if b["workload"] == r["workload"]]
        if not bases:
            other = any(_SETUP(b) == _SETUP(r) for of in base.values() for b in of)
            why = " with their compiler, harness and timing model" if other else ""
            lost.add(f"{r['target']} {r['primitive']} {r['flags']}{why}")
        mine: Row = dict(r)
        for n in (n for n in names if _timed([n])):
            # a call of one size takes as long whatever else is of its workload
            fitting = alike if of_sizes(n) and not size_of(n) else [*alike, *bases]
            v, b = rank.value(r, n), next((b for of in fitting if (b := _of_baseline(of, n, r)) is not None), None)
            mine[n] = None if v is None or b is None else v - b
            if bases and not fitting and v is not None:
                lost.add(f"{r['target']} {r['primitive']} {r['flags']} with workload {r['workload']}")
        made.append(mine)
    if lost:
        said = f"--minus-nocrypt: nocrypt is not among the rows of {', '.join(sorted(lost))}"
        say([f"{said}, which have no cycles then; name it too, or run both again"])
    return made


def _of_baseline(baseline: Row, name: str, row: Row) -> float | None:
    """The baseline's figure for a row: its blocks have a size of their own, so a byte's is over the row's block."""
    if row["primitive"] != "crypto_block" or not name.endswith("_per_byte"):
        return rank.value(baseline, name)
    cycles, block = further_cycles(baseline, name.removesuffix("_per_byte")), block_bytes(row)
    return cycles / block if cycles is not None and block else None


#: sizes that rankings can be apart by
_SIZES = ("key", "nonce", "tag", "block")
#: those that a primitive has; "tag" is a hash's digest
_HAS = {"crypto_block": ("key", "block"), "crypto_hash": ("tag",), "crypto_cxof": ("tag",)}
#: what says the sizes of a block cipher that nobody knows, and what a baseline takes off its bytes
_OF_SIZES = ("key_bytes", *further("encrypt"), *further("decrypt"), "encrypt_per_byte")


def _bits(row: Row, size: str) -> int | None:
    """Bits of key, nonce, tag or block; -1 where nobody knows, None where the primitive has no such thing."""
    if size not in _SIZES:
        raise unknown("group", size, _SIZES)
    primitive, variant = str(row["primitive"]), str(row["variant"])
    if size not in _HAS.get(primitive, ("key", "nonce", "tag")):
        return None
    if primitive == "crypto_block":
        found = {"key": key_bytes, "block": block_bytes}[size](row)
        return -1 if found is None else 8 * found
    known = readings(primitive, variant)  # type: ignore[arg-type]
    return 8 * {"key": known[0].key, "nonce": known[0].npub, "tag": known[0].out}[size] if known else -1


def _sizeless(rows: Sequence[Row], size: str, bits: Mapping[Value, int | None]) -> list[str]:
    """What is in no group, because it has no such size."""
    names = sorted({str(r["label"]) for r in rows if size and bits[r["run"]] is None})
    return [f"without {size}, so not ranked: {some(names)}"] if names else []


def _grouped(rows: Sequence[Row], size: str, bits: Mapping[Value, int | None]) -> list[tuple[str, list[Row]]]:
    """Rows by the size of key, nonce, tag or block, with a title for each group."""
    if not size:
        return [("", list(rows))]
    parts: dict[int, list[Row]] = {}
    for r in rows:
        if (n := bits[r["run"]]) is not None:
            parts.setdefault(n, []).append(r)
    return [(f"{size} {n} bits, " if n >= 0 else f"{size} not known, ", p) for n, p in sorted(parts.items())]
