"""A comparison as tables: one for each target, then what has no partner or no right to one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial

from ..analyse.answer import means_over
from ..analyse.compare import Change, Comparison, Pair
from ..model.errors import counted
from ..model.metric import metric
from ..model.reasons import Reason
from ..model.row import CONTEXT, Row, grouped
from .results import column, lines, run_of, title_of
from .sheet import ANY, Cell, Column, Line, Lines, Mark, Sheet, distinct

_SIGN = {"noise": "~", "same": "="}


def tables(c: Comparison, *, everything: bool = False) -> list[Sheet]:
    """One table for each target: metric, old, new and ratio for every setup, largest changes first. Metrics that
    are the same are left out unless ``everything`` is asked for."""
    shown = [p for p in c.pairs if everything or any(ch.verdict != "same" for ch in p.changes)]
    varying = [n for n in ("flags", "workload") if len({_both(p, n) for p in c.pairs}) > 1]
    if len({_name(p) for p in c.pairs}) < len({(_name(p), p.old.get("primitive")) for p in c.pairs}):
        varying.insert(0, "primitive")  # a name that is both an AEAD's and a hash's
    columns = [column(n) for n in ("label", *varying)]
    columns += [Column("metric", "metric"), Column("old", "old", "", ANY), Column("new", "new", "", ANY)]
    columns += [Column("ratio", "new/old", "", 4), Column("change", "change")]
    sheets = []
    largest = sorted(shown, key=_size, reverse=True)
    places = grouped(largest, lambda p: (_both(p, "target"), p.old.get("device"), p.new.get("device")))
    told = [n for n in _TOLD if n in c.about or n in ("flags", "workload")]
    for (target, old, new), pairs in places.items():
        changes = [(p, ch) for p in pairs for ch in p.changes if everything or ch.verdict != "same"]
        every = {_name(p) for p in pairs}
        one = len(every) == 1  # then it is in the title, for it may be long
        shown_lines = Lines(changes, partial(_line, varying, one))
        title = title_of(target, new) if old == new else target
        notes = [f"old: device {old}, new: device {new}"] if old != new else []
        notes += [f"compared although {_differing(p)}: {p.old['label']}" for p in pairs if p.differs]
        notes += _sides(pairs, [n for n in told if n not in varying])
        notes += _of_several_sources(pairs)
        notes += _unjudged(pairs)
        notes += _fewer(pairs)
        notes += _within(changes, one_side=old != new)
        sheets.append(
            Sheet(
                f"{title}: {every.pop()}" if one else title,
                "-".join(["compare", *_at(pairs[0])]),
                columns[one:],
                shown_lines,
                notes=notes,
            )
        )
    return distinct(sheets)


def _at(p: Pair) -> list[str]:
    """Where the sides of a pair are, as a label says it: targets, and devices where one is not the simulator."""
    targets, devices = ([str(side.get(n)) for side in (p.old, p.new)] for n in ("target", "device"))
    return [*dict.fromkeys(targets), *(dict.fromkeys(devices) if {*devices} - {"simulator", "None"} else ())]


#: context of a pair that stands in every row for machines
_ALL = ("label", "primitive", "target", "flags", "workload")


def flat(c: Comparison, *, everything: bool = False) -> Sheet:
    """All changes as one table for machines: names of metrics, their units, and the change as a number."""
    changes = [(p, ch) for p in c.pairs for ch in p.changes if everything or ch.verdict != "same"]
    others = [n for n in ("target", "device", *_TOLD) if n in c.about]
    columns = [column(n) for n in _ALL] + [Column("other", "compared with"), Column("metric", "metric")]
    columns += [Column("unit", "unit"), Column("old", "old", "", ANY), Column("new", "new", "", ANY)]
    columns += [Column("ratio", "new/old", "", 4), Column("change", "change", "%", 2), Column("verdict", "verdict")]
    columns += [Column("within_error", "smaller than the error")]
    columns += [Column(f"other_{n}", f"{CONTEXT[n]} compared with") for n in others]

    def line(of: tuple[Pair, Change]) -> Line:
        p, ch = of
        change = None if ch.ratio is None else 100 * (ch.ratio - 1)
        context: list[Cell] = [p.old.get(n) for n in _ALL]
        figures: list[Cell] = [ch.metric, metric(ch.metric).unit, ch.old, ch.new, ch.ratio, change, ch.verdict]
        figures.append("yes" if ch.within else None)
        partner = [p.new.get(n) for n in others]
        return Line([*context, p.new["label"], *figures, *partner], (*run_of(p.old), *run_of(p.new)))

    return Sheet("comparison", "comparison", columns, Lines(changes, line))


#: what a table says of both sides, where it is what the comparison is about
_TOLD = ("flags", "workload", "compiler", "harness", "timing_model")


def _both(p: Pair, name: str) -> str:
    """A column's value, or the old side's and the new side's."""
    old, new = (str(r.get(name)) for r in (p.old, p.new))
    if name == "harness":
        old, new = old[:8], new[:8]
    return old if old == new or p.new.get(name) is None else f"{old} -> {new}"


def _sides(pairs: Sequence[Pair], names: Sequence[str]) -> list[str]:
    """What the pairs are of, as far as they share it."""
    said = [(n, {_both(p, n) for p in pairs if p.old.get(n) is not None} - {""}) for n in names]
    text = ", ".join(f"{CONTEXT[n]} {next(iter(of))}" for n, of in said if len(of) == 1)
    return [text] if text else []


def _differing(p: Pair) -> str:
    workload = "workload differs, without what depends on sizes"
    others = [n for n in p.differs if n != "workload"]
    return "; ".join(
        [*([f"{', '.join(others)} differ"] if others else []), *([workload] if len(others) < len(p.differs) else [])]
    )


def _of_several_sources(pairs: Sequence[Pair]) -> list[str]:
    """Says which labels mean other sources on one side than on the other."""
    labels = dict.fromkeys(
        str(p.old["label"])
        for p in pairs
        if p.old["label"] == p.new["label"] and len({p.old.get("digest"), p.new.get("digest")} - {None}) > 1
    )
    return [f"sources differ: {', '.join(labels)}"] if labels else []


def _unjudged(pairs: Sequence[Pair]) -> list[str]:
    """Says whose figures may be of wrong outputs."""
    unknown = [_name(p) for p in pairs if Reason.NO_EXPECTED in (p.old.get("outcome"), p.new.get("outcome"))]
    names = ", ".join(dict.fromkeys(unknown))
    return [f"without known answers, so nobody knows whether it is right: {names}"] if names else []


def _fewer(pairs: Sequence[Pair]) -> list[str]:
    """Says whose means are of other calls on one side than on the other, for RAM has no room for all known answers."""
    few = [(p, means_over(p.old), means_over(p.new)) for p in pairs if p.fewer]
    return [
        f"means over {old or 'no'} and {new or 'no'} known answers{', so not compared' * p.without_means}: {_name(p)}"
        for p, old, new in few
        if old or new
    ]


def _within(changes: Sequence[tuple[Pair, Change]], *, one_side: bool) -> list[str]:
    """Says how many differences a chip may not have, and of how many this is not known. Where the sides are of two
    devices, only ``one_side`` is simulated."""
    timed = [ch for _, ch in changes if ch.verdict in ("better", "worse") and metric(ch.metric).timed]
    units = {metric(ch.metric).unit for ch in timed}
    what = " and ".join(["cycles"] * bool(units - {"µJ"}) + ["modelled energy"] * ("µJ" in units))
    within = sum(ch.within for ch in timed)
    unknown = sum(ch.unjudged for ch in timed)
    notes = []
    if within:
        about = "smaller than the median error of simulated cycles here (steelyard targets --errors): a chip may differ"
        notes.append(f"±: {within} of {counted(len(timed), 'difference')} in {what}, {about}")
    if unknown:
        about = "no error is known of the model on such code (docs/claims.md): a chip may differ in small ones"
        how = f"{'is' if unknown == 1 else 'are'} simulated{' on one side' * one_side}"
        notes.append(f"{unknown} of {counted(len(timed), 'difference')} in {what} {how}, and {about}")
    return notes


def _line(varying: Sequence[str], one: bool, of: tuple[Pair, Change]) -> Line:
    p, ch = of
    return Line(_cells(p, ch, varying)[one:], (*run_of(p.old), *run_of(p.new)), {"change": _mark(ch)})


def _name(p: Pair) -> str:
    label, other = str(p.old["label"]), str(p.new["label"])
    return label if label == other else f"{label} -> {other}"


def _size(p: Pair) -> float:
    """The largest change of a pair, as a fraction."""
    ratios = [ch.ratio for ch in p.changes]
    return max([1.0 if r is None else abs(r - 1) for r in ratios], default=0.0)


def unlike(c: Comparison) -> str:
    """What one side only of some setups is."""
    return "verified" if any(any(p.verified) for p in c.unlike) else "with figures"


def unpaired(c: Comparison) -> list[Sheet]:
    """Setups that one side only has verified, those without a partner, and pairs that were refused."""
    sheets = []
    if c.unlike:
        columns = [column(n) for n in _ALL]
        columns += [Column("old_outcome", "old outcome"), Column("new_outcome", "new outcome")]
        outcomes = Lines(c.unlike, _outcomes)
        sheets.append(Sheet(f"{unlike(c)} on one side only", "unlike", columns, outcomes))
    for title, rows in (("only in the old results", c.missing), ("only in the new results", c.added)):
        if rows:
            columns = [column(n) for n in (*_ALL, "run")]
            sheets.append(Sheet(title, title.replace(" ", "-"), columns, lines(rows, columns)))
    if c.refused:
        columns = [column("label"), column("target"), Column("why", "differs in")]
        columns += [Column("old", "old"), Column("new", "new")]
        refused = Lines([(a, b, n) for a, b, names in c.refused for n in names], lambda x: _refused(*x))
        names_ = {n for _, _, names in c.refused for n in names}
        notes = ["not compared: their figures differ for more reasons than one"]
        notes += ["--sources compares different sources"] if "digest" in names_ else []
        notes += ["--mixed compares the others all the same"] if names_ - {"digest"} else []
        sheets.append(Sheet("cannot be compared", "refused", columns, refused, notes=["; ".join(notes)]))
    return sheets


def _outcomes(p: Pair) -> Line:
    cells = [*(p.old.get(n) for n in _ALL), p.old.get("outcome"), p.new.get("outcome")]
    return Line(cells, (*run_of(p.old), *run_of(p.new)))


def _refused(a: Row, b: Row, name: str) -> Line:
    cells = [a["label"], a["target"], name, _short(a, name), _short(b, name)]
    return Line(cells, (*run_of(a), *run_of(b)))


def _short(row: Row, name: str) -> str:
    value = str(row.get(name))
    return value[:12] if name in ("digest", "harness") else value


def _cells(p: Pair, ch: Change, varying: Sequence[str]) -> list[str | float | int | None]:
    ratio = ch.ratio
    percent = f"{100 * (ratio - 1):+.2f} %" if ratio is not None else "-" if ch.old else "new"
    sign = f" {_SIGN[ch.verdict]}" if ch.verdict in _SIGN else " ±" if ch.within else ""
    context = [_value(_both(p, n)) for n in varying]
    old, new = (round(v, metric(ch.metric).digits) for v in (ch.old, ch.new))
    return [_name(p), *context, _title(ch.metric), old, new, ratio, percent + sign]


@cache
def _title(name: str) -> str:
    m = metric(name)
    return f"{m.title} ({m.unit})" if m.unit else m.title


@cache
def _value(value: str) -> str:
    """Without the number and the hash of a workload's sizes."""
    return re.sub(r" \([^()]*\)", "", value)


def _mark(ch: Change) -> Mark:
    return ch.verdict if ch.verdict in ("better", "worse") else ""
