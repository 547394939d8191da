"""What public runs are named by: of the submissions of their package one that is published, and of its line the newest
that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select, text, update

from steelyard.model.origin import of_submission

from . import schema
from .task import Task, offered, task_of

#: the state of a submission whose finished jobs are runs
PUBLISHED = "published"
#: what of an implementation :func:`sources` has
IMPLEMENTATION = ("primitive", "family", "variant", "name", "digest")
_job = schema.job
_ORIGINS = text(
    "SELECT id, first_id, name, found FROM submission WHERE package_id = :package AND state = :state ORDER BY id"
)
Origins = Sequence[tuple[str, frozenset[tuple[str, ...]]]]


def origins(connection: Connection, package: int) -> Origins:
    """What the published submissions of a package name runs by, and what each offers: lines in the order in which they
    had it, the newest version first."""
    published = connection.execute(_ORIGINS, {"package": package, "state": PUBLISHED}).all()
    lines: dict[int, list[tuple[str, frozenset[tuple[str, ...]]]]] = {}
    for s in published:
        lines.setdefault(s.first_id or s.id, []).insert(0, (of_submission(s.name, s.id, s.first_id), offered(s.found)))
    return [named for versions in lines.values() for named in versions]


def origin_of(task: Task, named_by: Origins) -> str:
    """What of these a run is named by; empty where it is not public."""
    return next((origin for origin, offers in named_by if task.implementation in offers), "")


def again(connection: Connection, package: int) -> None:
    """Names the runs of a package that was handed in again as a newer version of a line by that one: with it the line
    goes back to these sources."""
    lines: dict[int, list[str]] = {}
    for s in connection.execute(_ORIGINS, {"package": package, "state": PUBLISHED}):
        lines.setdefault(s.first_id or s.id, []).append(of_submission(s.name, s.id, s.first_id))
    if older := [origin for versions in lines.values() for origin in versions[:-1]]:
        renamed(connection, package, older)


def renamed(connection: Connection, package: int, gone: Collection[str]) -> None:
    """Names what stays of a package's runs by another of its submissions, where it is named by one that is ``gone``: a
    file's name goes with it."""
    run, setup, implementation = schema.run, schema.setup, schema.implementation
    named_by, known = origins(connection, package), dict[object, str]()
    for job in connection.execute(select(_job.c.run_id, _job.c.task).where(_job.c.package_id == package)).all():
        if origin := origin_of(task := task_of(job.task), named_by):
            known |= {job.run_id: origin, sources(task): origin}
    theirs = (
        select(run.c.id, *(implementation.c[n] for n in IMPLEMENTATION))
        .select_from(run.join(setup, run.c.setup_id == setup.c.id).join(implementation))
        .where(run.c.origin.in_(sorted(gone)))
        .where(run.c.id.not_in(select(_job.c.run_id).where(_job.c.run_id.is_not(None), _job.c.package_id != package)))
    )
    for number, *of in connection.execute(theirs).all():
        if new := known.get(number) or known.get(tuple(of)) or known.get((*of[:-1], "")):
            connection.execute(update(run).where(run.c.id == number).values(origin=new))


def sources(task: Task) -> tuple[str, ...]:
    """What of an implementation a task says, as records do; the last one is empty in old tasks."""
    return task.primitive, task.family, task.variant, task.name, task.sources
