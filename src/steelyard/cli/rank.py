"""``steelyard rank``: orders of merit over stored results."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyse import rank
from ..analyse.rows import Row, check_column
from ..model.errors import UserError, unknown
from ..model.metric import metric
from ..publish import ranking
from ..publish.results import distinct
from ..verify.known import known
from .console import stderr
from .output import Output
from .publish import print_sheets, stored

KINDS = ("top", "places", "merit", "score", "pareto")


def rank_command(
    what: Sequence[str],
    kind: str,
    by: str,
    where: str,
    top: int,
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
    metrics = [check_column(c.strip()) for c in by.split(",") if c.strip()]
    for name in metrics:
        metric(name)
    if kind == "score" and not metrics:
        metrics = list(rank.SCORE_PAPER if paper else rank.SCORE_DISTINCT)
    if kind == "places" and not metrics:
        metrics = list(ranking.CATALOGUE)
    used = [*metrics, *(m.replace("encrypt", "hash") for m in metrics)] or [
        *dict.fromkeys(n for names in ranking.USUAL.values() for n in names)
    ]
    every = stored(what, where, used, False, db)
    rows = [r for r in every if r["outcome"] == "verified"]
    if less_nocrypt:
        rows = _less_nocrypt(rows, used)
    rows = [r for r in rows if r["variant"] != "nocrypt"]
    if not rows:
        stderr().print("no stored run matches; steelyard run makes them")
        return 1
    if variants:
        groups: dict[tuple[object, object], list[Row]] = {}
        for r in rows:
            groups.setdefault((r["target"], r["primitive"]), []).append(r)
        first = metrics[0] if metrics else ""
        rows = [b for (_, p), g in groups.items() for b in rank.best_of_variant(g, first or ranking.USUAL[str(p)][0])]
    sheets = []
    for title, part in _grouped(rows, group):
        if kind == "top":
            made = ranking.tops(part, metrics, top, reference, unit)
        elif kind == "places":
            made = ranking.places(part, metrics)
        elif kind == "merit":
            made = ranking.merits(part, metrics)
        elif kind == "score":
            made = ranking.scores([r for r in part if r["primitive"] == "crypto_aead"], metrics)
        else:
            made = ranking.fronts(part, metrics)
        sheets += [type(s)(f"{title}{s.title}", s.label, s.columns, s.lines, s.caption, s.notes) for s in made]
    if reference and not any(reference in (r["label"], r["variant"]) for r in rows):
        raise UserError(f"--relative-to {reference}: no stored run of it among those ranked; run it too")
    if kind == "places":
        sheets += ranking.without_figures([r for r in every if r["outcome"] != "verified"])
    sheets = distinct(sheets)
    if out.console:
        print_sheets(sheets)
    else:
        out.tables(sheets)
    return 0


def _less_nocrypt(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Rows with the baseline's cycles of the same target and flags taken off."""
    base = {(r["target"], r["primitive"], r["flags"], r["workload"]): r for r in rows if r["variant"] == "nocrypt"}
    made = []
    for r in rows:
        less = base.get((r["target"], r["primitive"], r["flags"], r["workload"]))
        mine = dict(r)
        for n in (n for n in names if metric(n).unit.startswith("cycles")):
            v, b = rank.value(r, n), rank.value(less, n) if less else None
            mine[n] = None if v is None or b is None else v - b
        made.append(mine)
    return made


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    """Rows by key size, nonce or tag, with a title for each group."""
    if not group:
        return [("", list(rows))]
    if group not in ("key", "nonce", "tag"):
        raise unknown("group", group, ("key", "nonce", "tag"))
    parts: dict[int, list[Row]] = {}
    for r in rows:
        found = known(r["primitive"], str(r["variant"]))  # type: ignore[arg-type]
        size = {"key": found[0].key, "nonce": found[0].npub, "tag": found[0].out}[group] if found else -1
        parts.setdefault(8 * size, []).append(r)
    return [(f"{group} {n} bits, " if n >= 0 else f"{group} not known, ", p) for n, p in sorted(parts.items())]
