"""Rows from the store for the verbs that answer: what names and filter leave, and which words of them met nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from ..analyse.answer import Answer, Together, answered
from ..analyse.rows import NAMES, named
from ..analyse.selection import Found, Selection
from ..model.errors import meant
from ..model.metric import size_of
from ..model.record import Point
from ..model.row import CONTEXT, Made, Row
from ..publish import results
from . import select
from .console import say

_LABEL = re.compile(r"[^*?\[/]+/[^*?\[]+")
#: sizes that are listed where one is asked for that no run has
_LISTED = 12
#: a column, how it is compared, and the text that it is compared with
Asked = tuple[str, str, str]


def asked(
    what: Sequence[str],
    where: str,
    columns: Sequence[str] | None,
    db: str | None,
    *,
    all_runs: bool = False,
    every: bool = False,
    apart: Collection[str] = (),
    workload: str = "",
    wanted: Collection[str] = (),
    together: Together = "",
    options: Collection[Asked] = (),
    ranked: bool = False,
) -> Answer:
    """The rows of an answer, with what ``columns`` need; None means all metrics.

    ``what`` are patterns for family, variant, ``variant/implementation``, or a run's number; the rest is
    :func:`answered`'s.
    """
    rows, older = found(
        what, where, columns, db, all_runs=all_runs, every=every, wanted=wanted, options=options, apart=apart
    )
    answer = answered(
        rows,
        what,
        all_runs=all_runs,
        workload=workload,
        apart=apart,
        every=every,
        wanted=wanted,
        together=together,
        older=older,
        ranked=ranked,
    )
    if not answer.rows:  # which is all that is said of what was left out
        say(answer.notes)
    return answer


def found(
    what: Sequence[str],
    where: str,
    columns: Sequence[str] | None,
    db: str | None,
    *,
    all_runs: bool = False,
    every: bool = False,
    beside: Collection[Made] = (),
    wanted: Collection[str] = (),
    options: Collection[Asked] = (),
    apart: Collection[str] = (),
) -> Found:
    """All rows that names and filter leave, the newest run of each setup, of ``every`` generation or of the newest
    sources; says which words mean nothing stored. What is ``beside`` them made other rows of the answer. The filter has
    ``options`` that nobody wrote there."""
    selection = Selection(what, where, columns, all_runs=all_runs, every=every, wanted=wanted, apart=apart)
    known, test = dict(selection.equal), selection.test
    if len(what) == 1 and _LABEL.fullmatch(what[0]) and not select.is_place(what[0]):
        known["variant"], known["implementation"] = what[0].split("/", 1)
    with select.store(db, existing=True) as store:
        stored = selection.stored(store, [known], beside)
        left = selection.passed(_meant(stored, what) if what else stored)
        if not left.rows and known:  # what there is apart from what was looked for
            stored = store.rows(points=selection.sizes, metrics=selection.metrics)
    _say_unknown(what, test.texts if test else (), stored, options)
    if test and not left.rows:
        say_empty([n for n in test.columns if n not in CONTEXT], stored, db)
    return left


#: what tells the implementations of a path
_WHOLE = ("primitive", "variant", "implementation", "digest")


def _meant(found: list[Row], what: Sequence[str]) -> list[Row]:
    """Rows that some word names; a path names what lies there now."""
    kept = [{id(r) for r in found if named(r, w)} for w in what]
    for w, rows in zip(what, kept, strict=True):
        if not rows and select.is_place(w):
            from ..pipeline import identity  # few answers need to know what is in a folder

            now = {(i.primitive, i.variant, i.name, identity(i)) for i, _ in select.implementations([w])[0]}
            rows |= {id(r) for r in found if tuple(r[n] for n in _WHOLE) in now}
    every = set().union(*kept)
    return [r for r in found if id(r) in every]


def points_of(answer: Answer, rows: Sequence[Row], db: str | None) -> Mapping[int, Sequence[Point]]:
    """See :meth:`Answer.points`."""
    with select.store(db, existing=True) as store:
        return answer.points(store, rows)


def complete(rows: Sequence[Row], db: str | None) -> list[Row]:
    """See :func:`results.complete`."""
    with select.store(db, existing=True) as store:
        return results.complete(rows, store)


def _say_unknown(what: Sequence[str], texts: Sequence[Asked], rows: Sequence[Row], options: Collection[Asked]) -> None:
    """Says of each name, and of each value that a filter compares with, that nothing stored has it."""
    for name in what:
        if not select.is_place(name) and not any(named(r, name) for r in rows):
            near = "" if name.isdecimal() else meant(name.strip("*?"), {str(r[n]) for r in rows for n in NAMES})
            say([f"no stored run is called {name!r}; {near or 'steelyard list runs shows what there is'}"])
    for column, sign, text in dict.fromkeys(texts):
        if any(_has(r.get(column), sign, text) for r in rows):
            continue
        values = {str(v).split(" (")[0] for r in rows if (v := r.get(column)) is not None}
        near = meant(text.strip("*?"), values)
        if sign in ("==", "!=") and text in values:  # such as a workload's, whose sizes stand after it
            near = f'write {column} {"~" if sign == "==" else "!~"} "{text}*", for more stands after the name'
        if sign in ("==", "~"):
            like = "like " if sign == "~" else ""
            from_where = "" if (column, sign, text) in options else "filter: "
            say([f"{from_where}no stored run has a {CONTEXT[column]} {like}{text!r}; {near or _there(values)}"])
        elif near:  # what is left out need not be there, unless it was mistyped
            say([f"filter: no stored run has a {CONTEXT[column]} {text!r} to leave out; {near}"])


def _has(value: object, sign: str, text: str) -> bool:
    if value is None:
        return False
    if sign in ("~", "!~"):
        return fnmatchcase(str(value), text)
    if isinstance(value, str):
        return value == text
    try:
        return value == float(text)
    except ValueError:
        return False


def _there(values: Collection[str]) -> str:
    names = sorted(values)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there are: {', '.join(names[:_LISTED])}{more}" if names else "nothing is stored"


def say_empty(names: Sequence[str], rows: Sequence[Row], db: str | None) -> list[str]:
    """Says which metrics no row has, and which sizes there are instead; returns them."""
    empty = [n for n in dict.fromkeys(names) if n not in CONTEXT and all(r.get(n) is None for r in rows)]
    for name in empty:
        size = size_of(name)
        if size is None:
            say([f"no run here has {name}"])
            continue
        with select.store(db, existing=True) as store:
            verified = [r for r in rows if r["outcome"] == "verified"]  # others have no points
            one = {(r["workload"], r["primitive"]): r["run"] for r in verified}  # of each workload
            points = store.points([run for run in one.values() if isinstance(run, int)])
        operations = (size.operation, "hash")
        sizes = dict.fromkeys(
            f"{p.operation}@{p.adlen}/{p.mlen}" for of in points.values() for p in of if p.operation in operations
        )
        near = sorted(sizes, key=lambda s: _distance(s, name))[:_LISTED]
        there = f"the nearest sizes that are: {', '.join(near)}" if near else "they were run without sizes"
        wanted = f"{size.adlen}/{size.mlen}"
        say([f"no run here has {name}; {there}; steelyard run NAME --workload {wanted} makes it"])
    return empty


def _distance(name: str, wanted: str) -> tuple[bool, int]:
    a, b = size_of(name), size_of(wanted)
    assert a is not None
    assert b is not None
    return a.operation != b.operation, abs(a.adlen - b.adlen) + abs(a.mlen - b.mlen)
