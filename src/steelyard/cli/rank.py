"""``steelyard rank``: orders of merit over stored results."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..analyse import rank
from ..analyse.rows import check_columns
from ..model.errors import UserError, unknown
from ..model.metric import metric
from ..model.row import Row
from ..publish import ranking
from ..publish.results import distinct
from ..publish.sheet import Sheet
from ..verify.known import readings
from .answers import asked, say, say_empty
from .console import stderr
from .output import Output
from .publish import present

#: how many of each metric are shown where nobody says
TOP = 10
KINDS = ("top", "places", "merit", "score", "pareto")


def rank_command(
    what: Sequence[str],
    kind: str,
    by: str,
    where: str,
    top: int | None,
    reference: str,
    unit: bool,
    variants: bool,
    group: str,
    less_nocrypt: bool,
    paper: bool,
    out: Output,
    db: str | None,
) -> int:
    """Prints or writes the rankings; 1 when there is nothing to rank."""
    if kind not in KINDS:
        raise unknown("ranking", kind, KINDS)
    metrics = check_columns(by)
    for name in metrics:
        metric(name)
    if kind == "score" and not metrics:
        metrics = list(rank.SCORE_PAPER if paper else rank.SCORE_DISTINCT)
    if kind == "places" and not metrics:
        metrics = list(ranking.CATALOGUE)
    say(_ignored(kind, top, reference, unit, variants, paper, metrics))
    used = [*metrics, *(m.replace("encrypt", "hash") for m in metrics)] or [
        *dict.fromkeys(n for names in ranking.USUAL.values() for n in names)
    ]
    answer = asked(what, where, used, db, wanted=used if by else ())
    rows = [r for r in answer.rows if r["outcome"] == "verified"]
    if less_nocrypt:
        rows = _less_nocrypt(rows, used)
    rows = [r for r in rows if r["variant"] != "nocrypt"]
    if not rows:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    empty = set(used) - {n for n in used if any(r.get(n) is not None for r in rows)}
    missing = [m for m in metrics if {m, m.replace("encrypt", "hash")} <= empty]
    say_empty(missing if by else (), rows, db)
    if missing and set(missing) == set(metrics):
        return 1
    if reference and not any(ranking.is_called(r, reference) for r in rows):
        raise UserError(f"--relative-to {reference}: no stored run of it among those ranked; run it too")
    sheets: list[Sheet] = []
    for title, part in _grouped(rows, group):
        if kind == "top":
            made = ranking.tops(part, metrics, top or TOP, reference, unit, variants)
        elif kind == "places":
            made = ranking.places(part, metrics, top, variants)
        elif kind == "merit":
            made = ranking.merits(part, metrics, top, variants)
        elif kind == "score":
            made = ranking.scores([r for r in part if r["primitive"] == "crypto_aead"], metrics, top, variants)
        else:
            made = ranking.fronts(part, metrics)
        sheets += [replace(s, title=f"{title}{s.title}") for s in made]
    if kind == "places":
        sheets += ranking.without_figures([r for r in answer.rows if r["outcome"] != "verified"])
    present(distinct(sheets), answer.notes, out)
    return 0


def _ignored(
    kind: str, top: int | None, reference: str, unit: bool, variants: bool, paper: bool, metrics: Sequence[str]
) -> list[str]:
    """Options that this ranking does nothing with."""
    scored = kind == "score" and list(metrics) in (list(rank.SCORE_PAPER), list(rank.SCORE_DISTINCT))
    given = (
        ("--top", bool(top) and kind == "pareto", "a front is shown whole"),
        ("--variants", variants and kind == "pareto", "a front is over all implementations"),
        ("--relative-to", bool(reference) and kind != "top", "only --kind top is relative"),
        ("--unit", unit and not (reference and kind == "top"), "it needs --kind top and --relative-to"),
        ("--paper", paper and not scored, "it means the columns of --kind score without --by"),
    )
    return [f"{option} is ignored: {why}" for option, hit, why in given if hit]


def _less_nocrypt(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Rows with the baseline's cycles of the same target and flags taken off."""
    base = {(r["target"], r["primitive"], r["flags"]): r for r in rows if r["variant"] == "nocrypt"}
    made = []
    lost: set[str] = set()
    for r in rows:
        less = base.get((r["target"], r["primitive"], r["flags"]))
        if less is None:
            lost.add(f"{r['target']} {r['primitive']} {r['flags']}")
        mine: Row = dict(r)
        for n in (n for n in names if metric(n).unit.startswith("cycles")):
            v, b = rank.value(r, n), rank.value(less, n) if less else None
            mine[n] = None if v is None or b is None else v - b
        made.append(mine)
    if lost:
        said = f"--less-nocrypt: nocrypt is not among the rows of {', '.join(sorted(lost))}"
        say([f"{said}, which have no cycles then; name it too"])
    return made


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    """Rows by key size, nonce or tag, with a title for each group."""
    if not group:
        return [("", list(rows))]
    if group not in ("key", "nonce", "tag"):
        raise unknown("group", group, ("key", "nonce", "tag"))
    parts: dict[int, list[Row]] = {}
    for r in rows:
        found = readings(r["primitive"], str(r["variant"]))  # type: ignore[arg-type]
        size = {"key": found[0].key, "nonce": found[0].npub, "tag": found[0].out}[group] if found else -1
        parts.setdefault(8 * size, []).append(r)
    return [(f"{group} {n} bits, " if n >= 0 else f"{group} not known, ", p) for n, p in sorted(parts.items())]
