"""Copies what was handed in, with its queue, from one database to another: the move of a service to another server, and
its backup, copied again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text, update

from steelyard.model.errors import cut

from . import schema
from .engine import explained
from .leasing import repeated
from .operating import credited, unpublished
from .operators import note
from .queries import DELETED
from .queue import DONE, FAILED, RUNNING, WAITING
from .store import Store
from .submissions import OFFERED, PRIVATE, PUBLISHED, WITHDRAWN, emptied
from .task import readable, task_of
from .types import stored

_package, _submission, _job, _attempt = schema.package, schema.submission, schema.job, schema.job_attempt
#: tables whose rows keep their number, which names of runs have in them
_NUMBERED = (_submission,)
#: what becomes of a submission, in the order in which it may; what becomes of a job
_COURSE = (PRIVATE, OFFERED, PUBLISHED, WITHDRAWN)
_ENDED = (DONE, FAILED)
#: states that rows of a table have
_STATES = {_submission: _COURSE, _job: (WAITING, RUNNING, *_ENDED)}
_TABLES = {"package": _package, "submission": _submission, "job": _job, "attempt": _attempt}
#: what changes of a job
_WORKED = ("state", "priority", "attempts", "detail", "ready", "record", "log")


def damaged(source: Store) -> Iterator[str]:
    """Names each row of what was handed in that no version writes, and says what is wrong with it."""
    for package in _packages(source):
        yield from _sound(_of(source, package.id))[1]


def _sound(rows: Mapping[str, list[Any]]) -> tuple[dict[str, list[Any]], list[str]]:
    """The rows of a package that can be read, and what is wrong with the others."""
    kept: dict[str, list[Any]] = {}
    wrong = []
    for name, table in _TABLES.items():
        of = [(row, _wrong(table, row)) for row in rows[name]]
        kept[name] = [row for row, why in of if not why]
        wrong += [f"{table.name} {row['id']}: {why}" for row, why in of if why]
    return kept, wrong


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
    if table is _package and row["size"] and hashlib.sha256(row["content"]).hexdigest() != row["digest"]:
        return "its content is not the one that was handed in"
    return ""


def _packages(source: Store) -> Sequence[Any]:
    with explained(source._name), source._engine.connect() as mine:
        return mine.execute(select(_package.c.id, _package.c.digest).order_by(_package.c.id)).all()


def move(source: Store, to: Store, left_out: Callable[[str], None] = lambda what: None) -> int:
    """Adds the submissions that ``to`` lacks, with packages, jobs and attempts, and brings those that are there to
    where they have got, each package in a transaction of its own; how many were added. What is further in ``to`` stays.
    Runs have to be there already, for jobs name them. What runs waits: leases are not copied. A submission keeps its
    number where that is free. Rows that are damaged are ``left_out``, each of which is named, with what belongs to
    them. Raises :class:`StoreError`."""
    theirs = {run: number for number, run in to.known().items()}
    runs = {number: theirs[run] for number, run in source.known().items() if run in theirs}
    numbers: dict[int, int] = {}
    added = 0
    for package in _packages(source):
        rows, wrong = _sound(_of(source, package.id))
        for what in wrong:
            left_out(what)
        if not rows["package"]:
            continue
        work = partial(_package_of, rows=rows, runs=runs, to=to)
        with explained(to._name):
            made, known, logs = repeated(to._engine, work)
        to.drop_blobs(logs)
        added += made
        numbers |= known
    with explained(source._name), source._engine.connect() as mine:
        query = select(_submission.c.id, _submission.c.previous_id, _submission.c.first_id)
        older = mine.execute(query.where(_submission.c.first_id.is_not(None))).all()
    with explained(to._name):  # when all are there: a zip may be handed in again as the next version of another
        repeated(to._engine, lambda connection: _linked(connection, older, numbers))
    return added


def _of(source: Store, package: int) -> dict[str, list[Any]]:
    """All rows of a package."""
    mine = select(_job.c.id).where(_job.c.package_id == package)
    queries = {
        "package": select(_package).where(_package.c.id == package),
        "submission": select(_submission).where(_submission.c.package_id == package).order_by(_submission.c.id),
        "job": select(_job).where(_job.c.package_id == package).order_by(_job.c.id),
        "attempt": select(_attempt).where(_attempt.c.job_id.in_(mine)).order_by(_attempt.c.id),
    }
    with explained(source._name), source._engine.connect() as connection:
        return {name: [dict(r._mapping) for r in connection.execute(query)] for name, query in queries.items()}


def _package_of(
    connection: Connection, rows: Mapping[str, list[Any]], runs: Mapping[int, int], to: Store
) -> tuple[int, dict[int, int], set[str]]:
    """Adds what lacks of a package, and brings the rest to where it has got: one that was deleted has no results here
    either. How many submissions were added, the number here of each by its own, and logs that no run may have now."""
    (package,) = rows["package"]
    at = connection.execute(select(_package.c.id).where(_package.c.digest == package["digest"])).scalar()
    number = _inserted(connection, _package, package) if at is None else int(at)
    numbers: dict[int, int] = {}
    added, logs = 0, set[str]()
    for s in sorted(rows["submission"], key=lambda s: s["state"] != WITHDRAWN):  # what was public before counts there
        there = connection.execute(select(_submission).where(_submission.c.token == s["token"])).first()
        if there is None:
            own = {"package_id": number, "previous_id": None, "first_id": None}
            numbers[s["id"]] = _inserted(connection, _submission, {**s, **own})
            added += 1
            continue
        numbers[s["id"]] = there.id
        if there.state in _COURSE and _COURSE.index(s["state"]) > _COURSE.index(there.state):
            which = _submission.c.id == there.id
            connection.execute(update(_submission).where(which).values(state=s["state"]))
            if s["state"] == WITHDRAWN:
                if there.state == PUBLISHED:
                    logs |= unpublished(connection, number, there.found, runs.values())[1]
                    note(connection, "", "", DELETED, f"submission {there.id}", "where it was copied from")
                emptied(connection, which, number)
                credited(connection, to)
    mine = _submission.c.package_id == number
    if connection.execute(select(_submission.c.id).where(mine, _submission.c.state != WITHDRAWN)).first() is None:
        return added, numbers, logs  # nobody wants its jobs
    filled = {"size": package["size"], "content": package["content"]}  # where it was handed in again
    connection.execute(update(_package).where(_package.c.id == number, _package.c.size == 0).values(filled))
    for j in rows["job"]:
        _job_of(connection, j, [a for a in rows["attempt"] if a["job_id"] == j["id"]], number, runs.get(j["run_id"]))
    return added, numbers, logs


def _job_of(connection: Connection, job: Mapping[str, Any], attempts: list[Any], package: int, run: int | None) -> None:
    """Adds a job with its attempts, or those that are new and what came of them."""
    state = WAITING if job["state"] == RUNNING else job["state"]
    task = task_of(job["task"])
    of = (
        task.run if task.file else None
    )  # the same zip by another name is run once; what nobody can read is only itself
    mine = connection.execute(select(_job).where(_job.c.package_id == package)).all()
    there = next((r for r in mine if r.identity == job["identity"] or task_of(r.task).run == of), None)
    if there is None:
        number = _inserted(connection, _job, {**job, "package_id": package, "state": state, "run_id": run})
        known: dict[tuple[str, int], Any] = {}
    else:
        number = there.id
        tries = connection.execute(select(_attempt).where(_attempt.c.job_id == number)).all()
        known = {(a.worker, a.begun): a for a in tries}
        ended = (there.state in _ENDED, max((a.ended or 0 for a in tries), default=0))
        theirs = (state in _ENDED, max((a["ended"] or 0 for a in attempts), default=0))
        if ended[1] < theirs[1] or ended < theirs:
            values = {**{name: job[name] for name in _WORKED}, "state": state, "run_id": run}
            connection.execute(update(_job).where(_job.c.id == number).values(values))
        elif there.run_id is None and run is not None and ended == theirs:  # it was published since
            connection.execute(update(_job).where(_job.c.id == number).values(run_id=run))
    for a in attempts:
        old = known.get((a["worker"], a["begun"]))
        if old is None:
            _inserted(connection, _attempt, {**a, "job_id": number})
        elif old.ended is None and a["ended"] is not None:
            came = {name: a[name] for name in ("ended", "outcome", "detail", "log")}
            connection.execute(update(_attempt).where(_attempt.c.id == old.id).values(came))


def _linked(connection: Connection, older: Sequence[Any], numbers: Mapping[int, int]) -> None:
    """Names the older versions of submissions that have none here."""
    for s in older:
        values = {"previous_id": numbers.get(s.previous_id), "first_id": numbers.get(s.first_id)}
        mine = (_submission.c.id == numbers.get(s.id), _submission.c.first_id.is_(None))
        connection.execute(update(_submission).where(*mine).values(values))


def _inserted(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    """Inserts a row under its own number if that is free and means something, else under a new one; the number."""
    values = dict(row)
    taken = connection.execute(select(table.c.id).where(table.c.id == row["id"])).first()
    keeps = table in _NUMBERED and taken is None
    if not keeps:
        del values["id"]
    made = connection.execute(insert(table).values(values)).inserted_primary_key
    assert made is not None
    if keeps and connection.dialect.name == "postgresql":  # whose own numbers do not notice
        most = connection.execute(select(func.max(table.c.id))).scalar_one()
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :most)"), {"name": table.name, "most": most}
        )
    return int(made[0])
