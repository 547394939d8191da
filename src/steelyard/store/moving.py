"""Copies a service, with what was handed in and its queue, to a database that becomes what it is: the move to another
server, and a backup that is made again and again.

A copy follows its source, and its submissions have the same numbers: what is deleted there is deleted here. So a
database where somebody handed in or ran anything since is no copy, and nothing is done to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Select, Table, delete, func, insert, select, text, update

from steelyard.model.errors import UserError, cut
from steelyard.model.origin import submission

from . import audit, copying, schema
from .audit import note
from .engine import explained
from .leasing import repeated
from .operating import removed
from .publishing import credit
from .queries import DELETED, Identity, batches
from .queue import DONE, FAILED, RUNNING, WAITING
from .reading import Reader, wrong
from .store import Store
from .submissions import OFFERED, PRIVATE, PUBLISHED, WITHDRAWN
from .task import readable, record_of, task_of
from .types import stored

_package, _submission, _job, _attempt = schema.package, schema.submission, schema.job, schema.job_attempt
#: what becomes of a submission, in the order in which it may
_COURSE = (PRIVATE, OFFERED, PUBLISHED, WITHDRAWN)
#: states that rows of a table have
_STATES = {_submission: _COURSE, _job: (WAITING, RUNNING, DONE, FAILED)}
_TABLES = {"package": _package, "submission": _submission, "job": _job, "attempt": _attempt}
#: what tells a row of a table from all others, whatever its number
_KEYS = {_package: ("digest",), _submission: ("token",), _job: ("identity",), _attempt: ("job_id", "worker", "begun")}


class Moved(Struct, frozen=True):
    """What a copy did: to ``runs``, ``submissions`` that are new there, runs that were ``deleted`` as they are in the
    source, and which rows of the source are ``damaged`` and left out."""

    runs: copying.Copied
    submissions: int
    deleted: int
    damaged: tuple[str, ...]


def move(source: Store, to: Store, step: Callable[[int, int], None] = lambda done, of: None) -> Moved:
    """Makes what was handed in the same in ``to`` as it is in ``source``, package by package, each in a transaction of
    its own; deletes what it has of submissions that were deleted; and copies runs (:func:`.copying.copy`, which calls
    ``step``). What a kill leaves is continued by the next call. What runs waits: leases are not copied.

    Raises :class:`UserError`, and does nothing, where ``to`` is no older copy; and :class:`StoreError`.
    """
    added, deleted, damaged = 0, 0, list[str]()
    with explained(source._name), source._engine.connect() as mine:  # one transaction: one state of it
        if numbers := set(mine.execute(select(_submission.c.id)).scalars()):
            every = Reader(mine).known(checked=False)
            with explained(to._name), to._engine.connect() as there:
                why = _own(mine, there, set(every.values()), numbers)
            if why:
                raise UserError(f"{to._name} is no older copy of {source._name}: {why}; give an empty database")
            theirs = {run: number for number, run in to.known().items()}
            runs = {number: theirs[run] for number, run in every.items() if run in theirs}
            for rows in _handed_in(mine):
                sound, odd = _sound(rows)
                damaged += odd
                if sound["package"]:
                    work = partial(_package_of, rows=sound, runs=runs, whole=not odd)
                    with explained(to._name):
                        added += repeated(to._engine, work)
            with explained(to._name):
                older = mine.execute(select(_submission.c.id, _submission.c.previous_id, _submission.c.first_id)).all()
                repeated(to._engine, partial(_linked, older=older))
            deleted = _forget(to, every.values(), numbers)
    copied = copying.copy(source, to, step)
    if numbers:
        _named_again(source, to)
    with explained(to._name):  # newer sources at a path, whose older ones may be somebody's published ones
        repeated(to._engine, lambda connection: credit(connection, to.put_blob))
    return Moved(copied, added, deleted, tuple(damaged))


def damaged(source: Store) -> Iterator[str]:
    """Names each row of what was handed in that no version writes, and says what is wrong with it."""
    with explained(source._name), source._engine.connect() as mine:
        for rows in _handed_in(mine):
            yield from _sound(rows)[1]


def _sound(rows: Mapping[str, list[Any]]) -> tuple[dict[str, list[Any]], list[str]]:
    """The rows of a package that can be read, and what is wrong with the others."""
    kept: dict[str, list[Any]] = {}
    odd = []
    for name, table in _TABLES.items():
        of = [(row, _wrong(table, row)) for row in rows[name]]
        kept[name] = [row for row, why in of if not why]
        odd += [f"{table.name} {row['id']}: {why}" for row, why in of if why]
    return kept, odd


def _wrong(table: Table, row: Mapping[str, Any]) -> str:
    """What is wrong with a row; empty where nothing is."""
    for column in table.columns:
        value = row[column.name]
        if type(value) not in stored(column):
            return f"its {column.name} is of type {type(value).__name__}"
    if table in _STATES and row["state"] not in _STATES[table]:
        return f"its state is {cut(row['state'], 20)!r}"
    if table is _submission and row["state"] != WITHDRAWN and not readable(row["found"]):
        return "what was found in it cannot be read"
    if table is _job and not task_of(row["task"]).file:
        return "its task cannot be read"
    if table is _job and row["record"] is not None and record_of(row["record"]) is None:
        return "its record cannot be read"
    if table is _package and row["size"] and hashlib.sha256(row["content"]).hexdigest() != row["digest"]:
        return "its content is not the one that was handed in"
    return ""


def _handed_in(mine: Connection) -> Iterator[dict[str, list[Any]]]:
    """All rows of each package."""
    for package in mine.execute(select(_package.c.id).order_by(_package.c.id)).scalars().all():
        jobs = select(_job.c.id).where(_job.c.package_id == package)
        queries: dict[str, Select[Any]] = {
            "package": select(_package).where(_package.c.id == package),
            "submission": select(_submission).where(_submission.c.package_id == package).order_by(_submission.c.id),
            "job": select(_job).where(_job.c.package_id == package).order_by(_job.c.id),
            "attempt": select(_attempt).where(_attempt.c.job_id.in_(jobs)).order_by(_attempt.c.id),
        }
        yield {name: [dict(r._mapping) for r in mine.execute(query)] for name, query in queries.items()}


def _own(mine: Connection, there: Connection, known: Collection[Identity], numbers: Collection[int]) -> str:
    """What a database has of its own, so that it is no older copy; empty where it has nothing. ``known`` are the
    source's runs, ``numbers`` its submissions'."""
    s = _submission.c
    query = select(s.token, s.id, s.state, _package.c.digest).join(_package, _package.c.id == s.package_id)
    ours = {r.token: r for r in mine.execute(query)}
    theirs = there.execute(query.order_by(s.id)).all()
    live = set()
    for r in theirs:
        of = ours.get(r.token)
        if of is None or (of.id, of.digest) != (r.id, r.digest):
            return f"its submission {r.id} is another"
        if r.state in (PUBLISHED, WITHDRAWN) and of.state in _COURSE[: _COURSE.index(r.state)]:
            return f"its submission {r.id} is {r.state} already"
        if WITHDRAWN not in (r.state, of.state):
            live.add(r.digest)
    jobs = select(_job.c.identity, _package.c.digest).join(_package, _package.c.id == _job.c.package_id)
    tried = jobs.add_columns(_attempt.c.worker, _attempt.c.begun).join(_attempt, _attempt.c.job_id == _job.c.id)
    ended = tried.where(_attempt.c.ended.is_not(None))
    for what, found in (("jobs", jobs), ("attempts", tried), ("attempts", ended)):
        before = {tuple(r) for r in mine.execute(found)}
        if any(r.digest in live and tuple(r) not in before for r in there.execute(found)):
            return f"it has {what} of its own"
    # what came of submissions of others, under the same numbers
    if not theirs and _named(Reader(there).known().values(), numbers) - set(known):
        return "it has runs of another's submissions"
    return ""


def _named(runs: Collection[Identity], numbers: Collection[int]) -> set[Identity]:
    """Those of the runs that came of the submissions with these numbers."""
    return {run for run in runs if (of := submission(run.origin)) is not None and of.first in numbers}


def _package_of(connection: Connection, rows: Mapping[str, list[Any]], runs: Mapping[int, int], whole: bool) -> int:
    """Makes the rows of a package the same; how many submissions were added. Where the source has damaged ones, and so
    is not ``whole``, those that it seems to lack stay."""
    numbers: dict[tuple[Table, int], int] = {}
    before = set(connection.execute(select(_submission.c.token)).scalars())
    for table, of in ((_package, "package"), (_submission, "submission"), (_job, "job"), (_attempt, "attempt")):
        for row in rows[of]:
            values = dict(row)
            if table is _submission:  # older versions may not be there yet
                del values["previous_id"], values["first_id"]
            if table in (_submission, _job):
                values["package_id"] = numbers[_package, rows["package"][0]["id"]]
            if table is _job:
                if row["state"] == RUNNING:  # the attempt goes on there, and may be made here
                    values |= {"state": WAITING, "attempts": max(0, row["attempts"] - 1)}
                if row["run_id"] is not None:  # or it is copied after this
                    values["run_id"] = runs.get(row["run_id"])
            if table is _attempt:
                if (_job, row["job_id"]) not in numbers:
                    continue  # of a damaged one
                values["job_id"] = numbers[_job, row["job_id"]]
            numbers[table, row["id"]] = _put(connection, table, values)
    if whole:
        at = numbers[_package, rows["package"][0]["id"]]
        jobs, tried = select(_job.c.id).where(_job.c.package_id == at), select(_attempt.c.id)
        for table, every in ((_attempt, tried.where(_attempt.c.job_id.in_(jobs))), (_job, jobs)):
            kept = {number for (of, _), number in numbers.items() if of is table}
            for batch in batches(sorted(set(connection.execute(every).scalars()) - kept)):
                connection.execute(delete(table).where(table.c.id.in_(batch)))
    return len({s["token"] for s in rows["submission"]} - before)


def _put(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    """Adds a row, or makes the one with its key the same; its number. That of a submission is the source's, for names
    of runs have it."""
    row = dict(values)
    key = (table.c[name] == row[name] for name in _KEYS[table])
    old = connection.execute(select(table).where(*key)).first()
    if table is not _submission:
        del row["id"]
    if old is not None:
        if new := {name: value for name, value in row.items() if old._mapping[name] != value}:
            connection.execute(update(table).where(table.c.id == old.id).values(new))
        return int(old.id)
    made = connection.execute(insert(table).values(row)).inserted_primary_key
    assert made is not None
    if table is _submission and connection.dialect.name == "postgresql":  # whose own numbers do not notice
        most = connection.execute(select(func.max(table.c.id))).scalar_one()
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :most)"), {"name": table.name, "most": most}
        )
    return int(made[0])


def _linked(connection: Connection, older: Sequence[Any]) -> None:
    """Names the older versions of submissions."""
    there = connection.execute(select(_submission.c.id, _submission.c.previous_id, _submission.c.first_id)).all()
    numbers = {r.id for r in there}
    for r in set(older) - set(there):
        if {r.previous_id, r.first_id} <= {None, *numbers}:  # else of a damaged one
            values = {"previous_id": r.previous_id, "first_id": r.first_id}
            connection.execute(update(_submission).where(_submission.c.id == r.id).values(values))


def _forget(to: Store, known: Collection[Identity], numbers: Collection[int]) -> int:
    """Deletes the runs of these submissions that the source does not know any more; how many. What may be one that is
    damaged there stays, and what a deletion there named by another of its submissions is named so here: the copy of it
    may be older than other runs of its setup, and would not come again."""
    odd = [run for run in known if wrong(Identity._fields, run)]
    theirs = {run: number for number, run in to.known().items()}
    named = {run._replace(origin=""): run.origin for run in set(known) - theirs.keys()}
    gone, renamed, lines = dict[int, int](), dict[int, str](), set[int]()
    for run in _named(theirs, numbers) - set(known):
        of = submission(run.origin)
        assert of is not None
        if (origin := named.get(run._replace(origin=""))) is not None:
            renamed[theirs[run]] = origin
            lines.add(of.first)
        elif not any(_may_be(run, other) for other in odd):
            gone[theirs[run]] = of.first

    def rename(connection: Connection) -> None:
        for number, origin in renamed.items():
            connection.execute(update(schema.run).where(schema.run.c.id == number).values(origin=origin))
        if renamed:
            audit.renamed(connection, lines, len(renamed), "where it was copied from")

    with explained(to._name):
        repeated(to._engine, rename)
    for batch in batches(sorted(gone)):

        def work(connection: Connection, batch: Sequence[int] = tuple(batch)) -> set[str]:
            connection.execute(update(_job).where(_job.c.run_id.in_(batch)).values(run_id=None))
            for number in sorted({gone[run] for run in batch}):
                note(connection, "", "", DELETED, f"submission {number}", "where it was copied from")
            return removed(connection, batch)

        with explained(to._name):
            logs = repeated(to._engine, work)
        to.drop_blobs(logs)
    return len(gone)


def _may_be(run: Identity, odd: Identity) -> bool:
    """Whether a run is the same as one that is damaged, in all that can be read of that."""
    every = zip(Identity._fields, run, odd, strict=True)
    return all(mine == its for name, mine, its in every if not wrong([name], [its]))


def _named_again(source: Store, to: Store) -> None:
    """Names the runs of finished jobs that were not there when the jobs were copied."""
    theirs = {run: number for number, run in to.known().items()}
    mine = {number: theirs[run] for number, run in source.known().items() if run in theirs}
    query = select(_job.c.identity, _job.c.run_id).where(_job.c.run_id.is_not(None))
    with explained(source._name), source._engine.connect() as connection:
        runs = {identity: mine[run] for identity, run in connection.execute(query) if run in mine}

    def work(connection: Connection) -> None:
        lacking = select(_job.c.id, _job.c.identity).where(_job.c.run_id.is_(None), _job.c.state == DONE)
        for r in connection.execute(lacking).all():
            if r.identity in runs:
                connection.execute(update(_job).where(_job.c.id == r.id).values(run_id=runs[r.identity]))

    with explained(to._name):
        repeated(to._engine, work)
