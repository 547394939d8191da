"""The queue: runs that packages wait for. Any worker takes one, under a lease (``leasing.py``), and the end of that
lease and what came of the run are stored together: a worker that was only suspended stores nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Engine, bindparam, delete, insert, or_, select, text, update

from steelyard.model.record import Record

from . import naming, schema
from .dates import dated, now
from .engine import explained
from .errors import LeaseLost, StoreError
from .leasing import Then, anew, ended, repeated
from .naming import PUBLISHED
from .publishing import to_runs
from .store import Store
from .task import BOARD, Task, detail_of, record_of, task_of
from .tenure import Others, Tenure
from .values import storable
from .writing import row_of

WAITING, RUNNING, DONE, FAILED = "waiting", "running", naming.DONE, naming.FAILED
#: times that a job is taken: by a worker that dies, or whose machine fails it; microseconds until it is taken again
ATTEMPTS, PAUSE = 3, 30_000_000
#: jobs that a worker looks at for one that it can have; seconds between two looks at those that others run, which cost
#: more than to take one that waits
_LOOKED_AT, _LOOK = 20, 5.0
#: what an attempt is called while it goes on, and where another followed without its end
UNDER_WAY, DIED, GIVEN_BACK = "running", "died", "given back"
_job, _package, _submission, _attempt = schema.job, schema.package, schema.submission, schema.job_attempt
#: statements of each claim and return, which are made once: making them takes longer than databases take for them.
#: ``_TO_BEGIN`` waits for whoever changes the job, and reads what they left, also where a transaction has an older view
_HELD = text(f"SELECT subject FROM hold UNION ALL SELECT version_num FROM {schema.REVISION_TABLE}")
_CANDIDATES = text(
    "SELECT id FROM job WHERE state = :state AND target IN :targets AND (ready <= :now OR ready > :late) "
    f"ORDER BY priority, id LIMIT {_LOOKED_AT}"
).bindparams(bindparam("targets", expanding=True))
_LEFT = text(f"SELECT task FROM job WHERE state IN ('{WAITING}', '{RUNNING}') AND target IN :targets").bindparams(
    bindparam("targets", expanding=True)
)
_JOB = select(_job.c.id, _job.c.task, _job.c.target, _job.c.state, _job.c.attempts, _job.c.package_id)
_TO_BEGIN = _JOB.where(_job.c.id == bindparam("number")).with_for_update()
#: the first one that waits, apart from those that others are just taking
_NEXT = (
    _JOB.where(
        _job.c.state == WAITING,
        _job.c.target.in_(bindparam("targets", expanding=True)),
        or_(_job.c.ready <= bindparam("now"), _job.c.ready > bindparam("late")),
        _job.c.id.not_in(bindparam("other", expanding=True)),
    )
    .order_by(_job.c.priority, _job.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_CONTENT = select(_package.c.content).where(_package.c.id == bindparam("number"))
_DIED = text("UPDATE job_attempt SET ended = :now, outcome = :died WHERE job_id = :number AND ended IS NULL")
_BEGIN = text("UPDATE job SET state = :state, attempts = :attempts WHERE id = :number")
_ATTEMPT = insert(_attempt)
_ENDED = text(
    "UPDATE job_attempt SET ended = :now, outcome = :outcome, detail = :detail, log = :log "
    "WHERE job_id = :number AND ended IS NULL"
)
_TOUCH = text("UPDATE package SET size = size WHERE id = (SELECT package_id FROM job WHERE id = :number)")
#: the package of a job, if what comes of it is public
_PUBLIC = text(
    "SELECT job.package_id FROM job JOIN submission ON submission.package_id = job.package_id "
    "WHERE job.id = :number AND submission.state = :state"
)


class Mine(Struct, frozen=True):
    """What a worker has to say of a job to be known as the one who has it."""

    number: int
    lease: int
    attempt: int


class Taken(Mine, frozen=True):
    """A job that is ours while its lease is."""

    task: Task
    content: bytes


class Job(Struct, frozen=True):
    """A job as it stands; ``why`` it waits, and ``run`` is its public record."""

    number: int
    task: Task
    state: str
    attempts: int
    detail: str
    record: Record | None
    run: int | None
    why: str = ""


def _key(number: int) -> str:
    """The key of a job's leases."""
    return f"queue {number}"


def touch(connection: Connection, which: ColumnElement[bool]) -> None:
    """Makes transactions on a package take turns: each begins so, before it reads, and the later one waits."""
    connection.execute(update(_package).where(which).values(size=_package.c.size))


def put(connection: Connection, package: int, tasks: Sequence[Task], priority: int = 0) -> int:
    """Adds the jobs of a package that are not there yet, under whatever name of the zip; how many. One that waits goes
    before others where it is now asked for with a higher priority."""
    rows = connection.execute(select(_job.c.id, _job.c.task).where(_job.c.package_id == package)).all()
    there, added = {task_of(r.task).run: int(r.id) for r in rows}, 0
    for k, task in enumerate(tasks):
        if (number := there.get(task.run)) is not None:
            later = (_job.c.id == number, _job.c.state == WAITING, _job.c.priority > priority + k)
            connection.execute(update(_job).where(*later).values(priority=priority + k))
        else:
            values = {
                "identity": task.identity,
                "package_id": package,
                "task": msgspec.json.encode(task).decode(),
                "target": task.place,
                "priority": priority + k,
                "state": WAITING,
                "attempts": 0,
                "detail": "",
                "ready": 0,
            }
            made = connection.execute(insert(_job).values(row_of(_job, values))).inserted_primary_key
            assert made is not None
            there[task.run] = int(made[0])  # a zip may have the same sources in two folders
            added += 1
    return added


def jobs(connection: Connection, package: int, why: Callable[[Any], str]) -> list[Job]:
    """The jobs of a package, in the order in which they are taken, and ``why`` each waits."""
    rows = connection.execute(
        select(_job).where(_job.c.package_id == package).order_by(_job.c.priority, _job.c.id)
    ).all()
    made = []
    for r in rows:
        task, record = task_of(r.task), record_of(r.record)
        made.append(Job(r.id, task, r.state, r.attempts, detail_of(r), record, r.run_id, why(r)))
    return made


def removed(connection: Connection, which: ColumnElement[bool]) -> None:
    """Deletes jobs, with what is known of their attempts."""
    numbers = connection.execute(select(_job.c.id).where(which)).scalars().all()
    connection.execute(delete(_attempt).where(_attempt.c.job_id.in_(numbers)))
    connection.execute(delete(_job).where(_job.c.id.in_(numbers)))


def _asked(targets: Collection[str]) -> dict[str, Any]:
    """What is asked of jobs on these targets. A pause that ends later than any was meant to is of a clock that was set
    back."""
    return {"targets": sorted(targets), "now": now(), "late": now() + PAUSE * ATTEMPTS}


def _apart(engine: Engine) -> Engine:
    """The engine for claims: on MariaDB who locks a job would otherwise keep others from beginning those after it."""
    return engine if engine.dialect.name == "sqlite" else engine.execution_options(isolation_level="READ COMMITTED")


def pauses(target: str) -> tuple[str, ...]:
    """What an operator pauses so that jobs on a target wait: it, and for its boards, ``TARGET board``, all of it."""
    return tuple(dict.fromkeys((f"target {target}", f"target {target.removesuffix(f' {BOARD}')}")))


class Queue:
    """The queue as a ``worker`` sees it, who has a name that no other has. Queues of one process share ``others``."""

    def __init__(self, store: Store, worker: str, machine: str = "", others: Others | None = None) -> None:
        self._store, self.worker, self.machine = store, worker, machine or worker
        self._tenure = Tenure(store, worker, others)
        self._looked = -math.inf

    def begin(self, targets: Collection[str]) -> Taken | None:
        """A job on one of these targets, whose worker beats for it with :meth:`beat`, and ends it with :meth:`close` or
        :meth:`give_back`. Raises :class:`StoreError`."""
        if time.monotonic() - self._looked > _LOOK:  # at those of who may have died, which were there before
            self._looked = time.monotonic()
            if (left := self._first(targets, (RUNNING,))) is not None:
                return left
        with explained(self._store._name):
            taken = repeated(_apart(self._store._engine), lambda connection: self._next(connection, targets))
        return taken if taken is not None else self._first(targets, (WAITING, RUNNING))

    def _first(self, targets: Collection[str], states: Sequence[str]) -> Taken | None:
        """The first job in these states that nobody has."""
        for number in self._candidates(targets, states):
            made = list[Taken | None]()
            lease = self._tenure.attempt(_key(number), self._begun(number, made))
            if lease is not None:
                if made[-1] is not None:
                    return made[-1]
                self._store.end(lease)
        return None

    def _next(self, connection: Connection, targets: Collection[str]) -> Taken | None:
        """The first job that waits. Nobody has a lease of it: a job waits, or has one, from one transaction on. All
        that is read is read after the job is ours: on MariaDB it is as it was when the first of it was read."""
        asked, other = _asked(targets), list[int]()
        while asked["targets"]:
            r = connection.execute(_NEXT, {**asked, "other": other}).first()
            if r is None:
                return None
            if not other:
                asked["targets"] = self._allowed(targets, connection)
            if r.target in asked["targets"]:
                lease = anew(connection, _key(r.id), self.worker)
                taken = self._taken(connection, r, lease)
                if taken is not None:
                    return taken
                ended(connection, lease)
            other.append(r.id)
        return None

    def beat(self, mine: Mine) -> None:
        """Says that its worker is alive. Raises :class:`LeaseLost`."""
        of = (schema.lease.c.id == mine.lease, schema.lease.c.holder == self.worker)

        def work(connection: Connection) -> None:
            if connection.execute(update(schema.lease).where(*of).values(beats=schema.lease.c.beats + 1)).rowcount != 1:
                raise LeaseLost("another worker has taken over this job")

        with explained(self._store._name):
            repeated(self._store._engine, work)

    def task(self, mine: Mine) -> Task | None:
        """What a job is of."""
        query = select(_job.c.task).where(_job.c.id == mine.number)
        with explained(self._store._name), self._store._engine.connect() as connection:
            found = connection.execute(query).scalar()
        return None if found is None else msgspec.json.decode(found, type=Task)

    @contextmanager
    def taken(self, targets: Collection[str]) -> Iterator[Taken | None]:
        """A job on one of these targets, which is ours within the block; None where none can be had. Raises
        :class:`StoreError`."""
        taken = self.begin(targets)
        with self._tenure.kept(None if taken is None else taken.lease):
            yield taken

    def _allowed(self, targets: Collection[str], connection: Connection) -> list[str]:
        """Those of the targets that are not paused; none where the machine is. Raises :class:`StoreError` where the
        database was migrated meanwhile: who does not know its schema takes nothing from it."""
        held = set(connection.execute(_HELD).scalars())
        if schema.HEAD not in held:
            found = ", ".join(sorted(h for h in held if " " not in h))
            raise StoreError(
                f"{self._store._name} has schema {found} now, this worker knows {schema.HEAD}; "
                "install the server's version of Steelyard and start it again"
            )
        if f"machine {self.machine}" in held:
            return []
        return sorted(t for t in targets if not held.intersection(pauses(t)))

    def left(self, targets: Collection[str]) -> bool:
        """Whether jobs on these targets, if no operator paused them, wait for a time or are others', who may yet die.
        Raises :class:`StoreError`."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            mine = self._allowed(targets, connection)
            if not mine:
                return False
            tasks = connection.execute(_LEFT, {"targets": mine}).scalars()
            return any(task_of(t).file for t in tasks)  # one that this version cannot read is never taken

    def _candidates(self, targets: Collection[str], states: Sequence[str]) -> list[int]:
        """Jobs in these states: that wait, as another just looked at them, that others run, as far as we know."""
        found: list[int] = []
        with explained(self._store._name), self._store._engine.connect() as connection:
            mine = self._allowed(targets, connection)
            for state in states if mine else ():
                found += connection.execute(_CANDIDATES, {"state": state, **_asked(mine)}).scalars()
        return found

    def _begun(self, number: int, made: list[Taken | None]) -> Then:
        """What makes of a lease the job, where it is still to be run, and None of others. One that was begun too often
        is not: who began it died."""

        def work(connection: Connection, lease: int) -> None:
            made.append(None)
            r = connection.execute(_TO_BEGIN, {"number": number}).first()
            if r is not None and r.state in (WAITING, RUNNING):
                made[-1] = self._taken(connection, r, lease)

        return work

    def _taken(self, connection: Connection, r: Any, lease: int) -> Taken | None:
        """The job of a row, begun under this lease."""
        try:
            task = msgspec.json.decode(r.task, type=Task)
        except msgspec.MsgspecError:  # of a newer version's server: a newer worker does it
            return None
        # also one that was copied under way, which counts as none
        connection.execute(_DIED, {"number": r.id, "now": now(), "died": DIED})
        if r.attempts >= ATTEMPTS:
            detail = "its worker died each time that it was tried"
            connection.execute(update(_job).where(_job.c.id == r.id).values(state=FAILED, detail=detail))
            return None
        connection.execute(_BEGIN, {"number": r.id, "state": RUNNING, "attempts": r.attempts + 1})
        begun = {"job_id": r.id, "worker": self.worker, "begun": now(), "outcome": UNDER_WAY, "detail": ""}
        connection.execute(_ATTEMPT, row_of(_attempt, begun))
        content = connection.execute(_CONTENT, {"number": r.package_id}).scalar_one()
        return Taken(r.id, lease, r.attempts + 1, task, content)

    def close(self, taken: Mine, state: str, detail: str = "", record: Record | None = None, log: str = "") -> None:
        """Says what came of it: ``done`` with a record, ``failed`` with the reason, or ``waiting`` for another try.
        Raises :class:`LeaseLost`, and stores nothing, where another has taken over."""
        values: dict[str, Any] = {"state": state, "detail": storable(detail)}
        if record is not None:
            values["record"] = msgspec.json.encode(dated(record)).decode()
        if state == WAITING:
            values["ready"] = now() + PAUSE * min(max(taken.attempt, 1), ATTEMPTS)  # a worker may say anything
        self._close(taken, values, state, log)

    def give_back(self, taken: Mine) -> None:
        """Lets another worker have it at once; this does not count as an attempt."""
        self._close(taken, {"state": WAITING, "attempts": _job.c.attempts - 1, "ready": 0}, GIVEN_BACK)

    def _close(self, taken: Mine, values: dict[str, Any], outcome: str, log: str = "") -> None:
        number = taken.number
        over = {"outcome": outcome, "detail": values.get("detail", ""), "log": storable(log) or None}

        def work(connection: Connection) -> None:
            connection.execute(_TOUCH, {"number": number})
            if not ended(connection, taken.lease, _key(number), self.worker):
                raise LeaseLost("another worker has taken over this job")
            connection.execute(update(_job).where(_job.c.id == number).values(values))
            connection.execute(_ENDED, {"number": number, "now": now(), **over})
            if "record" not in values:
                return
            package = connection.execute(_PUBLIC, {"number": number, "state": PUBLISHED}).scalar()
            if package is not None:
                to_runs(connection, package, self._store.put_blob, fresh=(number,))

        with explained(self._store._name):
            repeated(self._store._engine, work)
