"""``steelyard compare``: two sets of results, setup by setup."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..analyse import expression, files
from ..analyse.compare import METRICS, Comparison, compare, summary
from ..analyse.rows import check_columns, rows
from ..model.errors import UserError, WorkError, counted, cut
from ..model.metric import metric
from ..model.row import Row
from ..model.target import target_names
from ..publish import comparison, felics
from . import select
from .answers import found, say_empty
from .console import stderr, stdout
from .output import Output
from .publish import print_sheets

_FAIL = re.compile(r"\s*([\w@/]+)\s*>\s*(-?\d+(?:\.\d+)?)\s*%\s*")


def compare_command(
    old: str,
    new: str,
    where: str,
    columns: str,
    threshold: str,
    fail_on: Sequence[str],
    sources: bool,
    mixed: bool,
    everything: bool,
    out: Output,
    db: str | None,
) -> int:
    """Prints the comparison; 1 when ``fail_on`` says so, or when nothing could be compared."""
    metrics = metrics_of(columns)
    test = expression.parse(where) if where.strip() else None
    sides: list[list[Row]] = []
    asked: list[Words] = []
    for side in (old, new):
        some, mentioned = rows_of(side, [*metrics, *(test.columns if test else ())], db)
        sides.append([r for r in some if test.test(r)] if test else some)
        asked.append(mentioned)
    about = {column for column, _, _ in asked[0] ^ asked[1]}
    if "target" in about:
        about |= {"compiler", "timing_model"}  # which a target brings along
    if columns:
        say_empty(metrics, [r for side in sides for r in side], db)
    limit = fraction(threshold)
    result = compare(
        *sides,
        metrics=metrics,
        threshold=limit,
        mixed=mixed,
        sources=sources,
        about=about,
        wanted=metrics if columns else (),
    )
    return show(result, fail_on, everything, out)


def show(result: Comparison, fail_on: Sequence[str], everything: bool, out: Output) -> int:
    """Prints or writes a comparison, then what it comes to."""
    limits = [_limit(text) for text in fail_on]
    sheets = [*comparison.tables(result, everything=everything), *comparison.unpaired(result)]
    if out.console:
        print_sheets(sheets)
    else:
        out.tables(sheets)
    console = stdout() if out.console else stderr()
    for sentence in summary(result):
        console.print(sentence)
    left = f"{len(result.missing)} only old, {len(result.added)} only new, {len(result.refused)} refused"
    console.print(f"{counted(len(result.pairs), 'setup')} compared, {left}")
    if not result.pairs:
        stderr().print("nothing could be compared; steelyard list runs shows what is stored")
        return 1
    failed = [text for text, hit in ((f, _hit(result, *f)) for f in limits) if hit]
    for name, percent in failed:
        stderr().print(f"--fail-on: {name} grew by more than {percent:g} %", style="bold red")
    return 1 if failed else 0


#: what the words for one side say of which column; where the other side says otherwise the comparison is about it
Words = set[tuple[str, str, str]]


def rows_of(side: str, columns: Sequence[str], db: str | None) -> tuple[list[Row], Words]:
    """All rows that one side of a comparison means, and what it says of which column.

    A file of results, the number of a run, a filter, or a pattern of names.
    """
    if side.endswith(".json"):
        path = Path(side)
        document = files.load(path)
        rows_ = felics.rows(path, document) if felics.is_felics(document) else rows(files.records(path, document))
        # what is in a file is what was measured then, whatever sources that were
        return rows_, {("origin", "==", side)}
    is_filter = bool(re.search(r"[=<>~!]", side))
    made = found([] if is_filter else [side], side if is_filter else "", [*columns, "spread_percent"], db)
    if not made:
        raise _unknown(side, is_filter)
    if side.isdecimal():
        return made, {("run", "==", side)}
    return made, set(expression.parse(side).texts) if is_filter else set()


def _unknown(side: str, is_filter: bool) -> UserError:
    """Why a side means no run, and what to do."""
    if side in target_names():
        return UserError(f"{side}: is a target; write 'target == {side}'")
    if not is_filter and select.exists_at(side):
        return WorkError(f"{side}: what lies there now was never run; weigh it with steelyard run {shlex.quote(side)}")
    return WorkError(f"{cut(side)}: no stored run matches; steelyard run makes them, steelyard list runs shows them")


def metrics_of(columns: str) -> tuple[str, ...]:
    """The metrics that ``--columns`` names, or the usual ones."""
    names = check_columns(columns)
    for name in names:
        metric(name)  # a context column is no metric
    return tuple(names) or (*METRICS, *felics.FIGURES.values())


def fraction(text: str) -> float:
    """``1%`` or ``1`` as 0.01."""
    number = text.strip().removesuffix("%").strip()
    try:
        value = float(number)
    except ValueError:
        raise UserError(f"--threshold {text!r}: write a percentage such as 1%") from None
    return value / 100


def _limit(text: str) -> tuple[str, float]:
    if text.strip() == "worse":
        return "any", 0.0
    found = _FAIL.fullmatch(text)
    if not found:
        raise UserError(f"--fail-on {text!r}: write METRIC>PERCENT%, such as cycles_encrypt_mean>1%, or worse")
    return ("any" if found[1] == "any" else metric(found[1]).name), float(found[2])


def _hit(result: Comparison, name: str, percent: float) -> bool:
    return any(
        ch.verdict == "worse" and (ch.ratio is None or 100 * (ch.ratio - 1) > percent)
        for pair in result.pairs
        for ch in pair.changes
        if name in ("any", ch.metric)
    )
