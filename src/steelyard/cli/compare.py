"""``steelyard compare``: two sets of results, setup by setup."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence, Set
from math import inf, nan
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import click
from msgspec.structs import replace

from ..analyse import expression, files
from ..analyse.answer import has_figures, means_over, workload_name
from ..analyse.compare import METRICS, Change, Comparison, Words, compare, needed, sides, usual
from ..analyse.inputs import judges, known, of_calls, with_known
from ..analyse.rows import check_columns, rows
from ..analyse.summary import summary
from ..model.errors import UserError, WorkError, counted, cut, refuse
from ..model.metric import metric
from ..model.record import Record
from ..model.row import Made, Row, grouped, made_by
from ..model.target import target_names
from ..publish import comparison, felics, formats
from . import options, select
from .answers import found, say_empty
from .console import stderr
from .options import command

#: files of tables, which hold no records
_OTHER_FILES = tuple(f".{ending}" for ending in formats.MODULES)
_FAIL = re.compile(r"\s*([\w@/]+)\s*>\s*(\d+(?:\.\d+)?)\s*%\s*")


class Compare(options.Weighing, frozen=True, kw_only=True):
    """What ``compare`` is asked."""

    old: str
    new: str
    revisions: bool
    workload: tuple[str, ...]
    where: str
    columns: str
    threshold: str
    fail_on: tuple[str, ...]
    sources: bool
    mixed: bool
    everything: bool


@command(
    Compare,
    click.argument("old", metavar="OLD", help="Names, a filter, a run's number, a .json of run -o, or a revision."),
    click.argument("new", metavar="NEW", help="The same, for the other side."),
    click.argument("what", nargs=-1, metavar="[PATH|NAME]...", help="With --revisions: what to weigh in each."),
    options.flag("--revisions", help="OLD and NEW are git revisions: weigh both, each in its own copy."),
    options.targets,
    options.flags,
    options.workloads,
    options.where,
    options.metrics,
    options.text("--threshold", default="0%", metavar="PERCENT", help="Ignore changes up to this percentage."),
    click.option(
        "--fail-on",
        multiple=True,
        metavar="RULE",
        help="Exit with 1 on METRIC>PERCENT%, any>PERCENT% or worse, where that cannot be said, and where NEW is no "
        "longer verified, or with --revisions gone. Measured energy and power have to change by more than the root of "
        "the sum of both uncertainties' squares. Repeatable.",
    ),
    options.flag("--sources", help="Pair different sources too: the newest of each side."),
    options.flag("--mixed", help="Pair different compilers, harnesses or models too; marked."),
    options.flag("--everything", help="Show unchanged metrics too."),
    options.tables,
    options.db,
)
def verb(ask: Compare) -> int:
    """Compare two sets of results, implementations, flag sets, compilers or revisions, setup by setup."""
    return _answer(ask, *(_of_revisions(ask) if ask.revisions else _of_stored(ask)))


def _of_revisions(ask: Compare) -> tuple[Comparison, tuple[str, ...]]:
    """Weighs what is asked for as both revisions hold it."""
    from .revisions import Revisions  # most comparisons weigh nothing

    refuse({"--where": ask.where, "--sources": ask.sources, "--mixed": ask.mixed}, "not with --revisions; leave it out")
    metrics = _compared(ask)
    weighing = Revisions.of(ask, ask.workload)
    both = [weighing.of_revision(revision) for revision in (ask.old, ask.new)]
    named = metrics if ask.columns else _limited(ask)
    say_empty(named, [with_known(r, named) for rows in both for r in rows], ask.db)
    threshold = _fraction(ask.threshold)
    made = compare(*both, metrics=metrics, threshold=threshold, about=["revision"], wanted=named, beside=["workload"])
    return replace(made, sources=(*made.sources, *weighing.lost(ask.old, ask.new))), ()


def _of_stored(ask: Compare) -> tuple[Comparison, tuple[str, ...]]:
    """Compares what is stored, or in files; and says what was left out."""
    weighed = {" ".join(ask.what): ask.what, "--target": ask.target, "--flags": ask.flags, "--workload": ask.workload}
    refuse(weighed, "only with --revisions; for stored runs write --where, such as 'target == uno'")
    metrics = _compared(ask)
    test = expression.parse(ask.where) if ask.where.strip() else None
    stored: list[Sequence[Row]] = []
    asked: list[Words] = []
    sources = [_source(side) for side in (ask.old, ask.new)]
    made = {made_by(r) for s in sources for r in s.records}
    if made and not all(s.is_file for s in sources):
        with select.store(ask.db, existing=True) as store:
            made |= store.made()
    for side in sources:
        some, mentioned = _rows_of(side, [*needed(metrics), *(test.columns if test else ())], ask.db, made)
        stored.append([r for r in some if test.test(r)] if test else some)
        asked.append(mentioned)
    (old, new), about, left_out = sides(asked, stored)
    named = metrics if ask.columns else _limited(ask)
    say_empty(named, [with_known(r, named) for r in (*old, *new)], ask.db)
    each = all(s.is_file for s in sources) and "workload" not in about and _same_workloads(old, new)
    compared = compare(
        old,
        new,
        metrics=metrics,
        threshold=_fraction(ask.threshold),
        mixed=ask.mixed,
        sources=ask.sources,
        about=about,
        wanted=named,
        beside=["workload"] if each else (),
    )
    return compared, left_out


def _same_workloads(old: Sequence[Row], new: Sequence[Row]) -> bool:
    """Whether what both sides have was weighed in the same workloads, as by one campaign at two times: all are compared
    then."""
    a, b = (grouped(rows, itemgetter("primitive", "label", "target", "device")) for rows in (old, new))
    return all({r.get("workload") for r in a[k]} == {r.get("workload") for r in b[k]} for k in a.keys() & b.keys())


def _answer(ask: Compare, result: Comparison, left_out: Sequence[str]) -> int:
    """Gives a comparison, what was left out, and what it comes to; 1 when ``--fail-on`` says so, or when nothing could
    be compared."""
    limits = [_limit(text) for text in ask.fail_on]
    nothing = result.is_empty
    unpaired = comparison.unpaired(result)
    if ask.out.flat:
        flat = comparison.flat(result, everything=ask.everything)
        ask.out.give([flat, *(unpaired if ask.out.format == "json" else ())])
    else:
        ask.out.give([*comparison.tables(result, everything=ask.everything), *unpaired])
    neither = sum(not any(p.figured) for p in result.failed)
    left = f"{len(result.missing)} only old, {len(result.added)} only new, {len(result.refused)} refused"
    if result.unlike:
        left = f"{len(result.unlike)} {comparison.unlike(result)} on one side only, {left}"
    if neither:
        left = f"{neither} without figures on both sides, {left}"
    said = "nothing but nocrypt" if nothing and result.pairs else counted(len(result.pairs), "setup")
    ask.out.remark([*left_out, *(summary(result) if not nothing else ()), f"{said} compared, {left}"])
    if nothing and not (limits and result.lost):
        stderr().print("nothing could be compared; steelyard list runs shows what is stored")
        return 1
    if not limits:
        return 0
    was = {True: "was verified", False: "had figures"}
    failed = [f"{_at(p.new)} {was[p.verified[0]]}, and now is {p.new['outcome']}" for p in result.lost]
    if ask.revisions:  # both sides are all that was asked for; of what is stored the new one may have been narrowed
        gone = filter(has_figures, result.missing)
        of = ((r, was[r.get("outcome", "verified") == "verified"]) for r in gone)
        failed += [f"{_at(r)} {word}, and {ask.new} has no result of it" for r, word in of]
    if ask.revisions or (_is_file(ask.old) and _is_file(ask.new)):
        failed += result.sources  # what was left out may be worse
        failed += (f"workload {workload_name(w)}, which both sides have, was not compared" for w in result.workloads)
    else:
        failed += result.past
    failed += _unjudged(result, {name for name, _ in limits}, _compared(ask), named=bool(ask.columns))
    failed += _untold(result, limits)
    failed += (text for name, percent in limits if (text := _hit(result, name, percent)))
    for text in failed:
        stderr().print(f"--fail-on: {text}", style="bold red")
    return 1 if failed else 0


def _at(row: Row) -> str:
    return f"{row['label']} on {row['target']}"


def _unjudged(result: Comparison, names: Set[str], metrics: Collection[str], *, named: bool) -> Iterator[str]:
    """Why it cannot be said whether what a limit ``names``, or any of the ``metrics`` that were to be compared, got
    worse: what was not compared is not unchanged, nor is what was ``named`` and nothing has."""
    for old, new, differs in result.refused:
        if not (has_figures(old) or has_figures(new)):
            continue
        yield f"{_at(new)} cannot be compared: {' and '.join(differs)} differ{'s' * (len(differs) == 1)}"
    compared, told = {ch.metric for p in result.pairs for ch in p.changes}, set[str]()
    for pair in result.pairs:
        left_out = [n for n in pair.left_out if "any" in names or n in names]
        if any(metric(n).known for n in left_out) and pair.without_means:
            known = f"{means_over(pair.old) or 'no'} known answers, and now over {means_over(pair.new) or 'none'}"
            yield f"means of {_at(pair.new)} were over {known}, so nobody can compare them"
            left_out = [n for n in left_out if not metric(n).known]
        told.update(left_out)
        if left_out:
            yield f"{', '.join(left_out)} of {_at(pair.new)} were of other sizes, so nobody can compare them"
        one_side = [n for n in sorted(names) if (pair.old.get(n) is None) != (pair.new.get(n) is None)]
        if "any" in names:  # what is gone may be worse
            asked = usual(pair.new, metrics, {*names, *(metrics if named else ())})
            one_side += [n for n in asked if pair.old.get(n) is not None and pair.new.get(n) is None]
        told.update(one_side)
        if "any" in names and not (pair.changes or left_out or one_side):
            yield f"{_at(pair.new)} has no metric on both sides that is compared; name some by --columns"
        if one_side:
            yield f"one side of {_at(pair.new)} has no {', '.join(dict.fromkeys(one_side))}"
    for name in sorted({*names, *(metrics if named and "any" in names else ())} - {"any", *compared, *told}):
        if all(None in (pair.old.get(name), pair.new.get(name)) for pair in result.pairs):
            sides = [row.get(name) for pair in result.pairs for row in (pair.old, pair.new)]
            yield f"nothing that was compared has {name}{' on both sides' * any(s is not None for s in sides)}"


def _untold(result: Comparison, limits: Sequence[tuple[str, float]]) -> Iterator[str]:
    """What may be worse by more than a limit, or is so by other inputs, where no mean tells."""
    for pair in result.pairs:
        told = {ch.metric: ch for ch in pair.changes}
        for ch in pair.changes:
            asked = [p for n, p in limits if n == ch.metric or (n == "any" and not ch.beside)]
            doubted = [j for n in judges(ch.metric) if (j := told.get(n)) and j.untold]
            if any(_nobody_tells(ch, p, doubted, known(ch.metric) in told) for p in asked):
                why = "time depends on the inputs, which are others on either side"
                other = "means" if of_calls(ch.metric) else known(ch.metric)
                yield f"nobody can say whether {ch.metric} of {_at(pair.new)} is worse: {why}; name {other} instead"


def _nobody_tells(ch: Change, percent: float, doubted: Sequence[Change], judged: bool) -> bool:
    """Whether a change may be above a limit where means that judge it are ``doubted``, or none has ``judged`` it."""
    if ch.hidden and _more(ch, ch.hidden, percent) and any(_more(j, 0.0, percent) for j in doubted):
        return True
    hidden = 0.0 if judged else ch.hidden
    surely = ch.verdict == "worse" and _more(ch, 0.0, percent)  # which is said already
    return bool(ch.untold or hidden) and _more(ch, hidden, percent) and not surely


class _Source(NamedTuple):
    """One side of a comparison: what the user calls it, and of a file of results its records, or its rows where it is
    FELICS-AE's."""

    side: str
    is_file: bool = False
    records: Sequence[Record] = ()
    rows: Sequence[Row] = ()


def _is_file(side: str) -> bool:
    return side.endswith(".json")


def _source(side: str) -> _Source:
    if not _is_file(side):
        return _Source(side)
    path = Path(side)
    document = files.load(path)
    if felics.is_felics(document):
        return _Source(side, True, (), felics.rows(path, document))
    return _Source(side, True, files.records(path, document))


def _rows_of(
    source: _Source, columns: Sequence[str], db: str | None, made: Collection[Made]
) -> tuple[list[Row], Words]:
    """All rows that one side of a comparison means, and what it says of which column.

    A file of results, the number of a run, a filter, or a pattern of names. ``made`` is what made the rows of files on
    either side.
    """
    side = source.side
    if source.is_file:
        # what is in a file is what was measured then, whatever sources that were
        return [*source.rows, *rows(source.records, made)], {("revision", "==", side)}
    is_filter = expression.is_filter(side)
    names, where = ([], side) if is_filter else ([side], "")
    stored = found(names, where, columns, db, every=True, beside=made).rows
    if not stored:
        raise _unknown(side, is_filter)
    if side.isdecimal():
        return stored, {("run", "==", side)}
    return stored, set(expression.parse(side).texts) if is_filter else set()


def _unknown(side: str, is_filter: bool) -> UserError:
    """Why a side means no run, and what to do."""
    if side in target_names():
        return UserError(f"{side}: is a target; write 'target == {side}'")
    if not is_filter and side.endswith(_OTHER_FILES) and select.exists_at(side):
        return UserError(f"{side}: only .json holds all that a comparison needs; write results with -o FILE.json")
    if not is_filter and select.exists_at(side):
        return WorkError(f"{side}: its present content was never run; weigh it with steelyard run {shlex.quote(side)}")
    return WorkError(f"{cut(side)}: no stored run matches; steelyard run makes them, steelyard list runs shows them")


def metrics_of(columns: str) -> tuple[str, ...]:
    """The metrics that ``--columns`` names, or the usual ones."""
    names = check_columns(columns)
    for name in names:
        metric(name)  # a context column is not a metric
    return tuple(names) or (*METRICS, *felics.FIGURES.values())


def _limited(ask: Compare) -> tuple[str, ...]:
    """The metrics that ``--fail-on`` names."""
    return tuple(dict.fromkeys(name for name, _ in map(_limit, ask.fail_on) if name != "any"))


def _compared(ask: Compare) -> tuple[str, ...]:
    """The metrics to be compared: those of the tables, and those that ``--fail-on`` names besides."""
    return tuple(dict.fromkeys((*metrics_of(ask.columns), *_limited(ask))))


def _fraction(text: str) -> float:
    """``1%`` or ``1`` as 0.01."""
    number = text.strip().removesuffix("%").strip()
    try:
        value = float(number)
    except ValueError:
        value = nan
    if not 0 <= value < inf:
        raise UserError(f"--threshold {text!r}: write a percentage such as 1%")
    return value / 100


def _limit(text: str) -> tuple[str, float]:
    if text.strip() == "worse":
        return "any", 0.0
    found = _FAIL.fullmatch(text)
    if not found:
        raise UserError(f"--fail-on {text!r}: write METRIC>PERCENT%, such as cycles_encrypt_mean>1%, or worse")
    if found[1] == "any":
        return "any", float(found[2])
    named = metric(found[1])
    if named.lower is None:
        raise UserError(f"--fail-on {text!r}: neither more nor less of {named.name} is better; name another metric")
    return named.name, float(found[2])


def _hit(result: Comparison, name: str, percent: float) -> str:
    """What is worse by more than a limit: a metric, or a mean that judges where other inputs may hide it; empty where
    nothing is."""
    hidden = ""
    for pair in result.pairs:
        by = f"worse by more than {percent:g} %: {_at(pair.new)}"
        asked = [ch for ch in pair.changes if ch.metric == name or (name == "any" and not ch.beside)]
        worse = {ch.metric for ch in pair.changes if ch.verdict == "worse" and _more(ch, 0.0, percent)}
        if found := next((ch.metric for ch in asked if ch.metric in worse), None):
            return f"{found} is {by}"
        for ch in (ch for ch in asked if ch.hidden and _more(ch, ch.hidden, percent)):
            if surely := next((n for n in judges(ch.metric) if n in worse), None):
                hidden = hidden or f"{surely} is {by}; other inputs hide {ch.metric}"
    return hidden


def _more(ch: Change, hidden: float, percent: float) -> bool:
    """Whether a metric may have got worse by more than ``percent``, where this much is ``hidden``."""
    worse = ch.new - ch.old if metric(ch.metric).lower else ch.old - ch.new
    return 100 * (worse + hidden) > percent * abs(ch.old)
