"""Copies what was handed in, with its queue, from one database to another: the move of a service to another server."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text, update

from . import schema
from .engine import explained
from .leasing import repeated
from .queue import RUNNING, WAITING
from .store import Store

_package, _submission, _job, _attempt = schema.package, schema.submission, schema.job, schema.job_attempt
#: tables whose rows keep their number, which names of runs have in them
_NUMBERED = (_submission,)


def move(source: Store, to: Store) -> int:
    """Adds the submissions that ``to`` lacks, with packages, jobs and attempts, each package in a transaction of its
    own; how many submissions. Runs have to be there already, for jobs name them. What runs waits: leases are not
    copied. A submission keeps its number where that is free. Raises :class:`StoreError`."""
    theirs = {run: number for number, run in to.known().items()}
    runs = {number: theirs[run] for number, run in source.known().items() if run in theirs}
    with explained(source._name), source._engine.connect() as mine:
        packages = mine.execute(select(_package.c.id, _package.c.digest).order_by(_package.c.id)).all()
    numbers: dict[int, int] = {}
    for package in packages:
        work = partial(_add, rows=_of(source, package.id), runs=runs, known=dict(numbers))
        with explained(to._name):
            numbers |= repeated(to._engine, work)
    return len(numbers)


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


def _add(
    connection: Connection, rows: dict[str, list[Any]], runs: dict[int, int], known: dict[int, int]
) -> dict[int, int]:
    """Adds what lacks of a package; the new number of each submission that was added, by its old one."""
    (package,) = rows["package"]
    at = connection.execute(
        select(_package.c.id, _package.c.size).where(_package.c.digest == package["digest"])
    ).first()
    number = _inserted(connection, _package, package) if at is None else int(at.id)
    if at is not None and not at.size and package["size"]:
        filled = {"size": package["size"], "content": package["content"]}
        connection.execute(update(_package).where(_package.c.id == number).values(filled))
    numbers: dict[int, int] = {}
    for s in rows["submission"]:
        if connection.execute(select(_submission.c.id).where(_submission.c.token == s["token"])).first() is None:
            both = known | numbers
            older = {name: both.get(s[name]) for name in ("previous_id", "first_id")}
            numbers[s["id"]] = _inserted(connection, _submission, {**s, **older, "package_id": number})
    for j in rows["job"]:
        if connection.execute(select(_job.c.id).where(_job.c.identity == j["identity"])).first() is not None:
            continue
        state = WAITING if j["state"] == RUNNING else j["state"]
        made = _inserted(connection, _job, {**j, "package_id": number, "state": state, "run_id": runs.get(j["run_id"])})
        for a in rows["attempt"]:
            if a["job_id"] == j["id"]:
                _inserted(connection, _attempt, {**a, "job_id": made})
    return numbers


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
