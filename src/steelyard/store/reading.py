"""Reads records, and rows for answers, from the database."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from sys import intern
from typing import Any

from sqlalchemy import Connection, CursorResult, text

from steelyard.model.errors import UPDATE
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Helper, Point, Record, Setup, Toolchain, Verification
from steelyard.model.row import Made, Row, Value, names_of

from . import queries, schema
from .dates import MINUTE
from .errors import Unreadable
from .queries import Identity, Query, Size, Which
from .task import task_of
from .types import stored
from .values import EPOCH, MICROSECOND

#: metrics and points in one query: each is a join, and databases plan many joins slowly or not at all
_JOINS = 16
#: runs whose figures are read at once, named by number, which is faster than to choose them again; characters of SQL
#: from which on it is not remembered, for it is asked once
_AT_ONCE, _LONG = 5000, 4000
#: types of the values in columns of records, by name, which means one type in all tables: a test wants that. SQLite
#: keeps what it is given. Others are of texts
_TYPES = {c.name: stored(c) for table in schema.OF_RUNS for c in table.columns} | {"run": stored(schema.run.c.id)}
_TEXT = frozenset({str})
#: the years 1 to 9999, in microseconds since 1970
_TIMES = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
_SAY = logging.getLogger(__name__)
#: setups that are read again: a writer may commit after one that got a higher number
_MARGIN = 1000


class Used:
    """What made the figures of the setups up to one: there are many setups, and few of these."""

    def __init__(self) -> None:
        self.last = 0
        self.used: dict[tuple[int, int, str], Made] = {}
        #: runs of which it was said that they cannot be read
        self.told: set[int] = set()


class Reader:
    """Reads through a connection, in its transaction. What was ``seen`` before is not read again."""

    def __init__(self, connection: Connection, seen: Used | None = None) -> None:
        self._connection = connection
        self._seen = seen or Used()

    def _rows(self, query: Query) -> CursorResult[Any]:
        once = {"compiled_cache": None} if len(query.sql) > _LONG else {}
        return self._connection.execute(text(query.sql), query.values, execution_options=once)

    def _columns(self, query: Query) -> dict[str, Sequence[Any]]:
        rows = self._rows(query)
        names = list(rows.keys())
        every = rows.all()  # at once: to iterate asks the driver for each row
        return dict(zip(names, list(zip(*every, strict=True)) or [()] * len(names), strict=True))

    def _of(self, sql: str, ids: Collection[int], **values: str) -> Iterator[Any]:
        """The rows of a query for some runs, in batches of ids."""
        for batch in queries.batches(sorted(ids)):
            found = self._rows(Query(sql.format(ids=queries.numbers(batch)), values)).all()
            if found:
                _check(found[0]._fields, zip(*found, strict=True))
            yield from found

    def _readable(self, sql: str, ids: Collection[int], **values: str) -> Iterator[Any]:
        """The same, without the runs of which a row cannot be read. The first column is the run's number."""
        for batch in queries.batches(sorted(ids)):
            found = self._rows(Query(sql.format(ids=queries.numbers(batch)), values)).all()
            if found:
                columns = list(zip(*found, strict=True))
                lost = self._lost(found[0]._fields, columns, columns[0])
                yield from (row for row in found if row[0] not in lost)

    def _lost(self, names: Iterable[str], columns: Collection[Sequence[Any]], runs: Sequence[int]) -> set[int]:
        """Those of the ``runs`` that cannot be read: one must not hide all others."""
        names = list(names)
        try:
            _check(names, columns)
        except ValueError:
            every = zip(runs, zip(*columns, strict=True), strict=True)
            odd = {run: why for run, row in every if (why := wrong(names, row))}
            for run in sorted(odd.keys() - self._seen.told):
                _SAY.warning("run %d cannot be read and is left out: %s; steelyard db check names all", run, odd[run])
            self._seen.told |= odd.keys()
            return set(odd)
        return set()

    def records(self, which: Which) -> list[Record]:
        """Complete records, in order. Raises :class:`StoreError` for a reason that this version does not know."""
        found = self._rows(which.select(queries.RECORD)).all()
        if found:
            _check(found[0]._fields, zip(*found, strict=True))
        ids = [row.id for row in found]
        metrics: dict[int, dict[str, float]] = {k: {} for k in ids}
        for run_id, metric, whole, fraction in self._of(queries.MEASUREMENTS, ids):
            metrics[run_id][intern(metric)] = fraction if whole is None else whole
        points = _points(self._of(queries.POINTS, ids))
        packed = dict(map(tuple, self._of(queries.VECTOR_CYCLES, ids)))
        helpers: dict[int, list[Helper]] = {}
        for run_id, member, size in self._of(queries.HELPERS, ids):
            helpers.setdefault(run_id, []).append(Helper(member, size))
        return [
            Record(
                _setup(row),
                None if row.reason is None else Failure(_reason(row.reason, row.id), row.detail),
                metrics[row.id],
                tuple(points.get(row.id, ())),
                tuple(helpers.get(row.id, ())),
                _verification(row),
                _notes(row.notes),
                finished=None if row.finished is None else _time(row.finished),
                vector_cycles=packed.get(row.id, b""),
                **{name: getattr(row, name) for name in queries.PLAIN},
            )
            for row in found
        ]

    def rows(
        self,
        which: Which,
        points: Collection[Size],
        metrics: Collection[str] | None,
        beside: Iterable[Made] = (),
        target: str | None = None,
    ) -> list[Row]:
        """Records as rows, in order. Metrics and points that a run lacks are None. Where a target has toolchains of one
        version, or a timing model with other files of the target, here or ``beside``, compiler and timing model say
        which. All records are of ``target`` where one is given, which saves looking at all others."""
        found = self._columns(which.select(queries.ROW))
        if lost := self._lost(found, found.values(), found["run"]):
            kept = [k for k, run in enumerate(found["run"]) if run not in lost]
            found = {name: [values[k] for k in kept] for name, values in found.items()}
        chips, tools = found.pop("target_id"), found.pop("toolchain_id")
        used = self._used(target)
        names = names_of((*(made for _, _, made in used), *beside))
        if names.compilers:
            compilers = {(chip, tool): names.compiler(made) for chip, tool, made in used}
            versions = zip(chips, tools, found["compiler"], strict=True)
            found["compiler"] = [compilers.get((chip, tool), version) for chip, tool, version in versions]
        if names.models:
            models = {(chip, made.timing_model): names.model(made) for chip, _, made in used}
            found["timing_model"] = [models.get(of, of[1]) for of in zip(chips, found["timing_model"], strict=True)]
        columns: dict[str, Sequence[Value]] = {
            name: list(map(intern, values)) if values and isinstance(values[0], str) else values
            for name, values in found.items()
        }
        columns["label"] = [intern(f"{v}/{n}") for v, n in zip(found["variant"], found["implementation"], strict=True)]
        minute = cache(_minute)
        columns["finished"] = [None if time is None else minute(time // MINUTE) for time in found["finished"]]
        if metrics is None:
            every = [row.metric for row in self._rows(queries.metrics(which))]
            metrics = [name for name in every if isinstance(name, str)]
        asked: list[str | Size] = [*sorted(metrics), *sorted(points)]
        lost = set[int]()
        for some in queries.batches(asked, _JOINS):
            columns |= self._figures(found["run"], some, lost)
        made = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return [row for row in made if row["run"] not in lost] if lost else made

    def made(self) -> set[Made]:
        """All that made figures."""
        return {made for _, _, made in self._used()}

    def known(self, *, checked: bool = True) -> dict[int, Identity]:
        """All runs by id; ``checked``, without those that cannot be read."""
        found = self._columns(Query(queries.KNOWN))
        lost = self._lost(found, found.values(), found["id"]) if checked else ()
        every = zip(found.pop("id"), map(Identity, *found.values()), strict=True)
        return {number: run for number, run in every if number not in lost}

    def of_machine(self) -> set[int]:
        """The ids of runs that a machine's failure ended."""
        return set(self._rows(Query(queries.OF_MACHINE)).scalars())

    def orphans(self) -> list[tuple[str, int]]:
        """How many rows of which table belong to no row of another."""
        counted = ((table, self._rows(Query(sql)).scalar_one()) for table, sql in queries.ORPHANS.items())
        return [(table, count) for table, count in counted if count]

    def _used(self, target: str | None = None) -> list[tuple[int, int, Made]]:
        """What made figures, of all targets or of one, with the ids of target and toolchain."""
        seen, asked = self._seen, Query(queries.USED, {"after": max(0, self._seen.last - _MARGIN)})
        if target is not None and not seen.last:
            seen, asked = Used(), Query(queries.USED_BY, {"target": target})
        used = self._rows(asked).all()
        for u in (u for u in used if not wrong(u._fields, u)):
            made = Made(u.target, u.version, u.sha256, u.timing_model, u.target_digest)
            seen.used[u.target_id, u.toolchain_id, u.timing_model] = made
            seen.last = max(seen.last, u.id)
        return [(target, tool, made) for (target, tool, _), made in list(seen.used.items())]

    def _figures(self, ids: Sequence[int], asked: Sequence[str | Size], lost: set[int]) -> dict[str, Sequence[Value]]:
        """Metrics and points by column, in the order of ``ids``. Those that cannot be read join the ``lost``."""
        parts = [self._some_figures(some, asked, lost) for some in queries.batches(ids, _AT_ONCE)]
        return {name: [v for part in parts for v in part[name]] for name in (parts[0] if parts else ())}

    def _some_figures(
        self, ids: Sequence[int], asked: Sequence[str | Size], lost: set[int]
    ) -> dict[str, Sequence[Value]]:
        found = self._columns(queries.figures(ids, asked))
        names = [name.rstrip("0123456789") for name in found]
        lost |= self._lost(names, found.values(), found["run"])
        if found["run"] != ids:  # a run has the same size twice; one of them is taken
            at = {k: index for index, k in enumerate(found["run"])}
            found = {name: [values[at[k]] for k in ids] for name, values in found.items()}
        return {
            what if isinstance(what, str) else "{}@{}/{}".format(*what): _either(
                found[f"whole{k}"], found[f"fraction{k}"]
            )
            for k, what in enumerate(asked)
        }

    def points(self, ids: Collection[int]) -> dict[int, list[Point]]:
        """All points of these runs, by run."""
        return _points(self._readable(queries.POINTS, ids))

    def cycles(self, ids: Collection[int], operation: str) -> dict[int, dict[tuple[int, int], float]]:
        """Cycles of an operation by size (bytes of associated data, of message), by run."""
        found: dict[int, dict[tuple[int, int], float]] = {}
        for run_id, _, adlen, mlen, cycles in self._readable(queries.POINTS_OF, ids, operation=operation):
            found.setdefault(run_id, {})[adlen, mlen] = cycles
        return found

    def details(self, ids: Collection[int]) -> dict[int, str]:
        """Details of failures by run, for those of these runs that failed."""
        return {row.id: row.detail for row in self._readable(queries.DETAILS, ids)}

    def addresses(self, ids: Collection[int]) -> dict[int, tuple[str, int | None]]:
        """By run the key of its setup, and when it finished, in microseconds since 1970."""
        return {row.id: (row.key, row.finished) for row in self._readable(queries.ADDRESSES, ids)}

    def of_setup(self, beginning: str) -> list[tuple[int, str, int | None, str | None]]:
        """The runs of setups whose key begins so: id, key, microseconds since 1970, reason; oldest first."""
        found = self._rows(Query(queries.OF_SETUP, {"low": beginning, "high": f"{beginning}g"}))
        return [(row.id, row.key, row.finished, row.reason) for row in found]

    def of_digest(self, beginning: str, most: int) -> list[tuple[str, str, str]]:
        """The implementations whose digest begins so: variant, name, digest; ``most`` of them."""
        values = {"low": beginning, "high": f"{beginning}g"}
        found = self._rows(Query(queries.OF_DIGEST.format(most=most), values))
        return [(row.variant, row.name, row.digest) for row in found]

    def implementations(self) -> list[tuple[str, str, str, str]]:
        """Primitive, family, variant and name of all that was run, whichever sources."""
        return [(r.primitive, r.family, r.variant, r.name) for r in self._rows(Query(queries.IMPLEMENTATIONS))]

    def targets(self) -> dict[str, int]:
        """How many setups each target has."""
        return {row.name: int(row.setups) for row in self._rows(Query(queries.TARGETS))}

    def first(self) -> int:
        """The run that was stored first of those that are there; 0 where there is none."""
        return int(self._rows(Query(queries.FIRST)).scalar() or 0)

    def last(self) -> int:
        """The newest run; 0 where there is none."""
        return int(self._rows(Query(queries.LAST)).scalar() or 0)

    def since(self, last: int, most: int) -> list[tuple[int, str, str, str, str]]:
        """Of runs newer than one: id, setup's key, family, variant, target; the newest first, ``most`` of them."""
        return [tuple(row) for row in self._rows(Query(queries.SINCE.format(last=last, most=most)))]

    def changes(self) -> int:
        """How often runs of submissions were deleted or renamed."""
        return int(self._rows(Query(queries.CHANGES)).scalar_one())

    def sources(self, submissions: Collection[int]) -> dict[tuple[Value, ...], str]:
        """By submission, primitive, variant and implementation the sources that published ones have, where known."""
        found: dict[tuple[Value, ...], str] = {}
        for some in queries.batches(sorted(submissions)):
            for row in self._rows(Query(queries.SOURCES.format(ids=queries.numbers(some)))):
                task = task_of(row.task)
                found[row.id, task.primitive, task.variant, task.name] = task.sources
        return found

    def logged(self, digests: Collection[str]) -> set[str]:
        """Those of these logs that runs have."""
        parts = queries.batches(sorted(digests))
        return {row.log for some in parts for row in self._rows(queries.logged(some))}

    def latest(self, count: int, equal: Mapping[str, str]) -> list[int]:
        """The newest runs whose columns ``equal`` these values, the newest first."""
        return [row.id for row in self._rows(queries.latest(equal, count))]

    def part(self, equal: Mapping[str, str], newest_only: bool, of: queries.Window) -> list[int]:
        """The ids of a part of the runs, the newest first."""
        return [row.id for row in self._rows(queries.part(equal, newest_only, of))]

    def same_answers(self, record: Record) -> list[int]:
        """Ids of the newest runs of other sources with the same answers."""
        s, v = record.setup, record.verification
        values = {"answers": v.answers if v else "", "primitive": s.primitive, "digest": s.implementation_digest}
        return [row.id for row in self._rows(Query(queries.SAME_ANSWERS, values))]


def _check(names: Iterable[str], columns: Iterable[Sequence[Any]]) -> None:
    """Raises :class:`ValueError` where a column has a value that no version stores there."""
    for name, values in zip(names, columns, strict=True):
        kinds = set(map(type, values))
        if not kinds <= _TYPES.get(name, _TEXT):
            raise ValueError(f"{name} has a value of type {', '.join(sorted(k.__name__ for k in kinds))}")
        # a sum is quick; it is infinite as well where finite values are large
        if float in kinds and not (
            math.isfinite(sum(some := list(filter(None, values)))) or all(map(math.isfinite, some))
        ):
            raise ValueError(f"{name} has a value that is infinite, or not a number")
        if name == "finished" and not all(v in _TIMES for v in values if v is not None):
            raise ValueError("finished has a value that is not a time")


def wrong(names: Iterable[str], row: Sequence[Any]) -> str:
    """Why a row cannot be read; empty where it can."""
    try:
        _check(names, ([value] for value in row))
    except ValueError as e:
        return str(e)
    return ""


def _points(rows: Iterable[Any]) -> dict[int, list[Point]]:
    found: dict[int, list[Point]] = {}
    for run_id, *point in rows:
        found.setdefault(run_id, []).append(Point(*point))
    return found


def _notes(text: str) -> tuple[str, ...]:
    notes = json.loads(text)
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise ValueError("notes are not a list of texts")
    return tuple(notes)


def _setup(row: Any) -> Setup:
    fields = {name: getattr(row, name) for name in Setup.__struct_fields__}
    return Setup(**fields | {"toolchain": Toolchain(row.toolchain, row.version, row.sha256)})


def _verification(row: Any) -> Verification | None:
    if row.verified_with is None:
        return None
    return Verification(row.verified_with, row.vectors, row.ext_vectors, row.skipped, row.answers)


def _either(whole: Sequence[int | None], fraction: Sequence[float | None]) -> Sequence[float | None]:
    """Merges the two columns of a metric, of which most metrics use only one."""
    if fraction.count(None) == len(fraction):
        return whole
    if whole.count(None) == len(whole):
        return fraction
    return [w if f is None else f for w, f in zip(whole, fraction, strict=True)]


def _reason(word: str, run_id: int) -> Reason:
    try:
        return Reason(word)
    except ValueError:
        what = f"record {run_id} failed with {word!r}, which this version does not know"
        raise Unreadable(what, UPDATE) from None


def _time(stored: int) -> datetime:
    return EPOCH + stored * MICROSECOND


def _minute(number: int) -> str:
    return f"{_time(number * MINUTE):%Y-%m-%d %H:%M}"
