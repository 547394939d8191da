"""Makes runs of finished jobs whose submissions are published, unless the same is public as somebody else's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, func, select, text, update

from steelyard.model.origin import is_revision, line, replaced_by, submission, version
from steelyard.model.record import Record

from . import schema
from .dates import MINUTE, dated, ended, is_later, newest_last
from .errors import StoreError
from .naming import DONE, FAILED, PUBLISHED, origins, settle
from .queries import Which, by_ids, by_keys, filtered
from .reading import Reader
from .task import BOARD, Task, record_of, task_of
from .values import storable
from .writing import append

#: stores a log in a transaction; what an implementation on a target is called: primitive, variant, name, target
Put = Callable[[str, Connection], str]
Of = tuple[str, ...]
_job, _attempt, _submission = schema.job, schema.job_attempt, schema.submission
#: packages that are public, with records that are not runs: the same was public already
_SAME = (
    select(_job.c.package_id, _job.c.task)
    .join(_submission, _submission.c.package_id == _job.c.package_id)
    .where(_submission.c.state == PUBLISHED, _job.c.record.is_not(None), _job.c.run_id.is_(None))
    .order_by(_job.c.package_id)
)
#: runs that a path had there before of other sources
_EARLIER = text(
    "SELECT run.id FROM implementation JOIN setup ON setup.implementation_id = implementation.id "
    "JOIN target ON target.id = setup.target_id JOIN run ON run.setup_id = setup.id "
    "WHERE implementation.variant = :variant AND implementation.name = :name "
    "AND implementation.primitive = :primitive AND implementation.digest <> :digest "
    "AND target.name = :target AND setup.device = :device AND run.origin = :origin LIMIT 1"
)
#: what the compilers said where a job was done: its last attempt has it, or the job itself, of an older version
LOG = func.coalesce(
    _job.c.log,
    select(_attempt.c.log)
    .where(_attempt.c.job_id == _job.c.id, _attempt.c.outcome == DONE)
    .order_by(_attempt.c.id.desc())
    .limit(1)
    .correlate(_job)
    .scalar_subquery(),
).label("log")


def to_runs(
    connection: Connection,
    package: int,
    put: Put,
    fresh: Collection[int] | None = None,
    of: Collection[Of] | None = None,
) -> int:
    """Makes runs of the finished jobs of published packages that are none yet; how many. A record that cannot be
    stored ends its job, and no other, and stays with it. What is public already as somebody else's stays his: the same
    sources, set up in the same way, with the same figures. Where jobs are ``fresh``, what the others made takes the
    place of no later run: it was public before, or is left out of a copy for it. Jobs of others than
    it is said ``of`` wait. In the end all runs of the package's lines are named by what is published."""
    named_by = origins(connection, package)
    if not named_by:
        return 0
    rows = connection.execute(
        select(_job.c.id, _job.c.task, _job.c.record, LOG).where(
            _job.c.package_id == package, _job.c.state == DONE, _job.c.record.is_not(None), _job.c.run_id.is_(None)
        )
    ).all()
    mine = [
        (r, names, record)
        for r in rows
        if (of is None or _of(task_of(r.task)) in of)
        and (names := [origin for origin, offers in named_by.items() if task_of(r.task).implementation in offers])
        and (record := record_of(r.record)) is not None
    ]
    made = 0
    for r, names, record in mine:
        if not (named := _named(connection, record, names, late=fresh is not None and r.id not in fresh)):
            continue
        public = replace(dated(record), origin=named, log="")
        try:
            public = replace(public, log=put(r.log, connection) if r.log else "")
        except StoreError:  # a figure is worth more than what compilers said
            public = replace(public, notes=(*public.notes, "its log could not be stored"))
        try:
            with connection.begin_nested():  # what of it was inserted before it is refused goes too
                values: dict[str, Any] = {"run_id": append(connection, public)}
        except StoreError as e:
            values = {"state": FAILED, "detail": storable(f"its record cannot be stored: {e}")}
        made += "run_id" in values
        connection.execute(update(_job).where(_job.c.id == r.id).values(values))
    at = {of for r, _, record in mine if r.id in (fresh or ()) for of in (task_of(r.task).target, record.setup.target)}
    if replaced := settle(connection, package, at):
        credit(connection, put, replaced)
    return made


def credit(connection: Connection, put: Put, of: Collection[Of] | None = None) -> None:
    """Makes runs of published records that were public as somebody else's, who is gone, or has gone on to other
    sources; of all, or ``of`` some implementations on targets."""
    query = _SAME
    if of is not None:  # thousands may wait
        query = query.where(_job.c.target.in_({at for *_, t in of for at in (t, f"{t} {BOARD}")}))
    some = [r.package_id for r in connection.execute(query) if of is None or _of(task_of(r.task)) in of]
    for package in dict.fromkeys(some):
        to_runs(connection, package, put, (), of)


def stored(connection: Connection, record: Record, put: Put) -> None:
    """Makes runs of what was public as earlier sources of the path that a ``record``, which was just stored, is of."""
    s = record.setup
    if submission(record.origin) is None:
        of = {"primitive": s.primitive, "variant": s.variant, "name": s.implementation, "target": s.target}
        asked = {name: storable(text) for name, text in of.items()}
        others = {"digest": s.implementation_digest, "device": s.device, "origin": storable(record.origin)}
        if connection.execute(_EARLIER, {**asked, **others}).first() is not None:
            credit(connection, put, {tuple(asked.values())})


def _of(task: Task) -> Of:
    return task.primitive, task.variant, task.name, task.target


def _gone_on(connection: Connection, known: Record) -> bool:
    """Whether the run of a record counts in no answer any more, for its path or line has other sources there by now:
    see ``newest`` in ``analyse/answer.py``."""
    if submission(known.origin) is not None:
        return replaced_by(known.origin) is not None
    s = known.setup
    equal = {"primitive": s.primitive, "family": s.family, "variant": s.variant, "target": s.target}
    there = filtered({**equal, "implementation": s.implementation}, newest_only=True)
    where = f"{there.where} AND run.origin = :origin AND setup.device = :device"
    values = {**there.values, "origin": known.origin, "device": s.device}
    query = Which(where, values).select("run.id, run.finished, implementation.digest")
    every = connection.execute(text(query.sql), dict(query.values)).all()
    newest = max(every, key=lambda r: (ended(r.finished) // MINUTE, r.id), default=None)
    return newest is not None and newest.digest != s.implementation_digest


def _named(connection: Connection, record: Record, names: Sequence[str], *, late: bool) -> str:
    """What of these ``names`` a record is public by: that of the line that its setup's run is of, else the first. Empty
    where the run that counts for its setup is of another line, and says the same; or counts before it, as a machine's
    failure does not: as a newer version's, which went back to these sources, or where the record is ``late`` and ended
    before it. Who has gone on to other sources keeps nobody's out."""
    known, counts = _counting(connection, record.setup.key)
    if known is None:
        return names[0]
    named = next((n for n in names if line(n) == line(known.origin)), "")
    newer = (named and version(known.origin) > version(named)) or (counts and late and is_later(known, record))
    if (counts and not named and _says(known) == _says(record)) or (newer and (known.final or not record.final)):
        return ""
    return named or names[0]


def _counting(connection: Connection, key: str) -> tuple[Record | None, bool]:
    """The run of a setup that answers show (``of_setups`` in ``analyse/answer.py``), and whether it counts there: a run
    of a path or line that has gone on does not. None where there is no run that can be read."""
    query = by_keys([key]).select("run.id")
    numbers = connection.execute(text(query.sql), dict(query.values)).scalars().all()
    every = [
        (not _gone_on(connection, r), *newest_last(r), r)
        for number in numbers
        if (r := _readable(connection, number)) is not None and not is_revision(r.origin)
    ]
    counts, *_, known = max(every, key=itemgetter(0, 1, 2, 3), default=(False, None))
    return known, counts


def _readable(connection: Connection, number: int) -> Record | None:
    with suppress(StoreError, ValueError, TypeError, LookupError, OverflowError):
        return next(iter(Reader(connection).records(by_ids([number]))), None)
    return None


def _says(record: Record) -> tuple[object, ...]:
    return (record.metrics, record.points, record.vector_cycles, record.failure, record.verification)
