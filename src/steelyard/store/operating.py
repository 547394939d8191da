"""The queue, its workers and what is handed in, as operators see them, and what they may do about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from steelyard.model.errors import UserError, unknown
from steelyard.model.target import load_target, target_names

from . import queue, schema
from .audit import note
from .dates import now
from .engine import explained
from .floor import Board, Floor, Worker, clock, workers
from .leasing import repeated
from .naming import IMPLEMENTATION, first_of, named_by, settle, sources
from .operators import MOST
from .publishing import credit, to_runs
from .queries import DELETED
from .queue import DONE, FAILED, RUNNING, WAITING
from .store import Store
from .submissions import OFFERED, PRIVATE, PUBLISHED, WITHDRAWN, changed, emptied
from .task import BOARD, Task, detail_of, offered, outcome_of, readable, task_of
from .writing import row_of

#: microseconds after which a worker that says nothing is forgotten
FORGOTTEN = 7 * 86_400_000_000
#: priority of what is run on boards
_LATER = 1 << 20
#: kinds of what may be paused
KINDS = ("target", "machine", "board")
_job, _attempt, _worker, _hold = schema.job, schema.job_attempt, schema.worker, schema.hold
_submission = schema.submission
_T = TypeVar("_T")


class Attempt(Struct, frozen=True):
    """One try of a job; ``ended`` is None while it goes on."""

    worker: str
    begun: int
    ended: int | None
    outcome: str
    detail: str
    log: str | None


class Line(Struct, frozen=True):
    """A job of the queue; ``why`` it waits."""

    number: int
    task: Task
    state: str
    attempts: int
    detail: str
    run: int | None
    why: str = ""


class Hold(Struct, frozen=True):
    """What is paused, by whom, why, and since when (microseconds since 1970)."""

    subject: str
    operator: str
    why: str
    since: int


class Offer(Struct, frozen=True):
    """A submission, without what could lead to its private page."""

    number: int
    name: str
    licence: str
    address: str
    state: str
    created: int


class Yard:
    """What operators see and do. Methods raise :class:`StoreError`, and :class:`UserError` for what is not there."""

    def __init__(self, store: Store, operator: str = "", address: str = "") -> None:
        self._store, self._who = store, (operator, address)

    def _read(self, work: Callable[[Connection], _T]) -> _T:
        with explained(self._store._name), self._store._engine.connect() as connection:
            return work(connection)

    def _done(self, action: str, subject: str, work: Callable[[Connection], _T], detail: str = "") -> _T:
        """Does work and writes down that it was done, both or neither."""

        def both(connection: Connection) -> _T:
            result = work(connection)
            note(connection, *self._who, action, subject, detail)
            return result

        with explained(self._store._name):
            return repeated(self._store._engine, both)

    def counts(self) -> dict[str, int]:
        """How many jobs there are, by state."""
        found = self._read(
            lambda c: c.execute(select(_job.c.state, func.count().label("jobs")).group_by(_job.c.state)).all()
        )
        return {r.state: r.jobs for r in found}

    def lines(self, states: Collection[str], most: int = MOST) -> list[Line]:
        """Jobs in these states, in the order in which they are taken."""
        query = select(_job).where(_job.c.state.in_(sorted(states))).order_by(_job.c.priority, _job.c.id).limit(most)

        def work(connection: Connection) -> list[Line]:
            floor = Floor(connection)
            return [_line(r, floor.why(r)) for r in connection.execute(query)]

        return self._read(work)

    def job(self, number: int) -> tuple[Line, list[Attempt]]:
        """A job and its attempts, the newest first."""

        def work(connection: Connection) -> tuple[Line, list[Attempt]]:
            r = _row(connection, number)
            fields = [_attempt.c[n] for n in Attempt.__struct_fields__]
            tried = connection.execute(
                select(*fields).where(_attempt.c.job_id == number).order_by(_attempt.c.id.desc())
            )
            return _line(r, Floor(connection).why(r)), [Attempt(*a) for a in tried]

        return self._read(work)

    def workers(self) -> list[Worker]:
        """Workers, the last seen first."""
        return self._read(workers)

    def holds(self) -> list[Hold]:
        """What is paused."""
        query = select(*(_hold.c[n] for n in Hold.__struct_fields__)).order_by(_hold.c.subject)
        return self._read(lambda connection: [Hold(*h) for h in connection.execute(query)])

    def offered(self) -> dict[str, int]:
        """How many submissions there are that are not withdrawn, by state."""
        query = select(_submission.c.state, func.count().label("number")).where(_submission.c.state != WITHDRAWN)
        found = self._read(lambda c: c.execute(query.group_by(_submission.c.state)).all())
        return {r.state: r.number for r in found}

    def offers(self, most: int = MOST) -> list[Offer]:
        """What was handed in and is not withdrawn: first what waits for an operator, then the newest."""
        query = (
            select(*(_submission.c[n] for n in ("id", *Offer.__struct_fields__[1:])))
            .where(_submission.c.state != WITHDRAWN)
            .order_by((_submission.c.state != OFFERED), _submission.c.id.desc())
        )
        return self._read(lambda connection: [Offer(*s) for s in connection.execute(query.limit(most))])

    def repeat(self, number: int) -> None:
        """Lets a job that ended be done again; what it becomes is a newer run."""

        def work(connection: Connection) -> None:
            # who repeats it at the same time may be first, and a worker have it by then
            ended = update(_job).where(_job.c.id == number, _job.c.state.in_((DONE, FAILED)))
            if connection.execute(ended.values(_ANEW)).rowcount != 1:
                raise UserError(f"job {number} is {_row(connection, number).state}; only what has ended is repeated")

        self._done("repeated", f"job {number}", work)

    def repeat_failed(self) -> int:
        """Lets all jobs that failed be done again; how many."""
        return self._done(
            "repeated", "all that failed",
            lambda connection: connection.execute(update(_job).where(_job.c.state == FAILED).values(_ANEW)).rowcount,
        )  # fmt: skip

    def pause(self, subject: str, why: str = "") -> None:
        """Gives nothing to a target, a machine or a board that is known, as ``kind name``, until :meth:`resume`. Runs
        go on."""
        kind, _, name = subject.partition(" ")
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
        if not name.strip() or len(subject) > 255:
            raise UserError(f"say which {kind} is to be paused")
        values = {"subject": subject, "operator": self._who[0], "why": why, "since": now()}

        def work(connection: Connection) -> None:
            if name not in (known := _pausable(connection, kind)):
                raise unknown(kind, name, known)
            connection.execute(delete(_hold).where(_hold.c.subject == subject))
            connection.execute(insert(_hold).values(row_of(_hold, values)))

        self._done("paused", subject, work, why)

    def resume(self, subject: str) -> None:
        """Ends a pause."""

        def work(connection: Connection) -> None:
            if connection.execute(delete(_hold).where(_hold.c.subject == subject)).rowcount != 1:
                raise UserError(f"{subject} is not paused")

        self._done("resumed", subject, work)

    def release(self, number: int) -> int:
        """Publishes a submission; how many runs that makes now."""

        def work(connection: Connection) -> int:
            package = changed(connection, _submission.c.id == number, PUBLISHED, (PRIVATE, OFFERED))
            if package is None:
                raise UserError(f"submission {number} is not there, or published already")
            return to_runs(connection, package, self._store.put_blob)

        return self._done("released", f"submission {number}", work)

    def decline(self, number: int) -> None:
        """Gives an offered submission back to its owner."""

        def work(connection: Connection) -> None:
            if changed(connection, _submission.c.id == number, PRIVATE, (OFFERED,)) is None:
                raise UserError(f"submission {number} is not offered for publication")

        self._done("declined", f"submission {number}", work)

    def delete(self, number: int) -> int:
        """Deletes a submission with its results, and what of these was published, with their logs; how many runs that
        were."""
        mine = _submission.c.id == number

        def work(connection: Connection) -> tuple[int, set[str]]:
            s = _submission.c
            before = connection.execute(select(s.found).where(mine)).first()
            package = changed(connection, mine, WITHDRAWN, None)
            if package is None or before is None:
                raise UserError(f"submission {number} is not there")
            gone = unpublished(connection, package, before.found)
            settle(connection, package)
            emptied(connection, mine, package)
            credit(connection, self._store.put_blob)
            return gone

        runs, logs = self._done(DELETED, f"submission {number}", work)
        self._store.drop_blobs(logs)
        return runs

    def boards(self) -> list[str]:
        """The targets of which workers that are there have boards for the queue."""
        end = f" {BOARD}"
        return sorted({t.removesuffix(end) for w in self.workers() if w.alive for t in w.targets if t.endswith(end)})

    def to_boards(self, number: int) -> int:
        """Lets all boards that workers have weigh a submission, after everything that is simulated; how many jobs that
        makes."""
        boards = self.boards()
        if not boards:
            raise UserError("no worker has boards; start steelyard work --boards where a lab is")

        def work(connection: Connection) -> int:
            found = connection.execute(
                select(_submission.c.package_id, _submission.c.found).where(
                    _submission.c.id == number, _submission.c.state != WITHDRAWN
                )
            ).first()
            if found is None:
                raise UserError(f"submission {number} is not there")
            queue.touch(connection, schema.package.c.id == found.package_id)
            texts = connection.execute(select(_job.c.task).where(_job.c.package_id == found.package_id)).scalars()
            offers = offered(found.found)
            tasks = [t for t in map(task_of, texts) if t.implementation in offers and not t.on]
            each: dict[tuple[str, ...], Task] = {}
            own: dict[tuple[tuple[str, ...], str], list[tuple[str, ...]]] = {}
            for t in tasks:
                of = t.primitive, t.family, t.variant, t.name
                each[of] = t
                own.setdefault((of, t.target), []).append(t.flags)
            more = [
                replace(t, target=board, on=BOARD, flags=flags)
                for board in boards
                for of, t in each.items()
                for flags in own.get((of, board)) or [load_target(board).toolchain.default_flags]
            ]
            return queue.put(connection, found.package_id, more, _LATER)

        return self._done("to boards", f"submission {number}", work, ", ".join(boards))

    def present(self, worker: Worker) -> list[str]:
        """Says that a worker is there; the boards of its machine that are paused."""
        values = {"machine": worker.machine, "targets": msgspec.json.encode(worker.targets).decode(),
                  "boards": msgspec.json.encode(worker.boards).decode(), "version": worker.version}  # fmt: skip
        beginning = f"board {worker.machine}/"

        def work(connection: Connection) -> list[str]:
            seen = clock(connection)
            stored = row_of(_worker, {**values, "seen": seen})
            if connection.execute(update(_worker).where(_worker.c.name == worker.name).values(stored)).rowcount != 1:
                known = connection.execute(select(_worker.c.id).where(_worker.c.name == worker.name)).first()
                if known is None:
                    connection.execute(delete(_worker).where(_worker.c.seen < seen - FORGOTTEN))
                    connection.execute(insert(_worker).values({**stored, **row_of(_worker, {"name": worker.name})}))
            paused = connection.execute(select(_hold.c.subject)).scalars()
            return [s.removeprefix(beginning) for s in paused if s.startswith(beginning)]

        with explained(self._store._name):
            return repeated(self._store._engine, work)

    def absent(self, name: str) -> None:
        """Says that a worker has ended."""
        with explained(self._store._name):
            repeated(self._store._engine, lambda c: c.execute(delete(_worker).where(_worker.c.name == name)))


def _pausable(connection: Connection, kind: str) -> set[str]:
    """What of a kind there is to pause: what workers that were seen lately are, have and can do, machines with a key or
    an attempt, this version's targets and those of jobs."""
    there = workers(connection)
    if kind == "board":
        return {f"{w.machine}/{b.name}" for w in there for b in w.boards}
    if kind == "machine":
        keys = connection.execute(select(schema.worker_key.c.machine)).scalars()
        tried = connection.execute(select(_attempt.c.worker).distinct()).scalars()
        return {*(w.machine for w in there), *keys, *(t.split(" ")[0] for t in tried)}
    jobs = connection.execute(select(_job.c.target).distinct()).scalars()
    return {*(t for w in there for t in w.targets), *jobs, *target_names()}


def forget(store: Store, run: int) -> None:
    """Deletes a run and its log."""

    def work(connection: Connection) -> set[str]:
        logs = removed(connection, [run])
        credit(connection, store.put_blob)
        return logs

    with explained(store._name):
        logs = repeated(store._engine, work)
    store.drop_blobs(logs)


_ANEW = {"state": WAITING, "attempts": 0, "ready": 0, "detail": "", "record": None, "log": None, "run_id": None}


def _row(connection: Connection, number: int) -> Any:
    found = connection.execute(select(_job).where(_job.c.id == number)).first()
    if found is None:
        raise UserError(f"there is no job {number}; steelyard queue lists those that are")
    return found


def _line(r: Any, why: str) -> Line:
    detail = "; ".join(filter(None, (detail_of(r), outcome_of(r))))
    return Line(r.id, task_of(r.task), r.state, r.attempts, detail, r.run_id, why)


def unpublished(connection: Connection, package: int, found_in_it: str) -> tuple[int, set[str]]:
    """Deletes the runs of a package's implementations, unless another published submission has them; how many, and
    their logs. What cannot be read keeps no run public: they are known by their origins too."""
    others = select(_submission.c.found).where(_submission.c.package_id == package, _submission.c.state == PUBLISHED)
    public = frozenset[tuple[str, ...]]().union(*map(offered, connection.execute(others).scalars()))
    jobs = connection.execute(select(_job.c.id, _job.c.run_id, _job.c.task).where(_job.c.package_id == package)).all()
    of = {j.id: task_of(j.task) for j in jobs}
    offers = offered(found_in_it) if readable(found_in_it) else {t.implementation for t in of.values() if t.file}
    mine = [j for j in jobs if of[j.id].implementation in offers - public or not (of[j.id].file or public)]
    kept = {j.run_id for j in jobs if of[j.id].implementation in public}
    found = {j.run_id for j in mine if j.run_id is not None}
    found |= _named(connection, package, [of[j.id] for j in mine], {o[:-1] for o in public}) - kept
    runs = sorted(found)
    connection.execute(update(_job).where(_job.c.run_id.in_(runs)).values(run_id=None))
    return len(runs), removed(connection, runs)


def removed(connection: Connection, runs: Sequence[int]) -> set[str]:
    """Deletes runs, with all that no other run has but their logs, which it returns."""
    run, setup, implementation = schema.run, schema.setup, schema.implementation
    of_runs = connection.execute(select(run.c.setup_id, run.c.log).where(run.c.id.in_(runs))).all()
    setups, logs = {r.setup_id for r in of_runs}, {r.log for r in of_runs if r.log}
    for table in schema.PARTS:
        connection.execute(delete(table).where(table.c.run_id.in_(runs)))
    connection.execute(delete(run).where(run.c.id.in_(runs)))
    # what has no run any more has no page either
    used = select(run.c.setup_id).where(run.c.setup_id.in_(setups))
    idle = sorted(setups - set(connection.execute(used).scalars()))
    of = select(setup.c.implementation_id).where(setup.c.id.in_(idle))
    theirs = connection.execute(of).scalars().all()
    connection.execute(delete(setup).where(setup.c.id.in_(idle)))
    used = select(setup.c.implementation_id).where(setup.c.implementation_id.in_(theirs))
    gone = sorted(set(theirs) - set(connection.execute(used).scalars()))
    connection.execute(delete(implementation).where(implementation.c.id.in_(gone)))
    return logs


def _named(
    connection: Connection, package: int, tasks: Sequence[Task], public: Collection[tuple[str, ...]]
) -> set[int]:
    """The runs that have a package's submissions as their origin: those of its ``tasks``, also earlier ones, and those
    of nothing that is ``public`` still or of other versions, whose sources may be the same: what is theirs stays."""
    run, setup, implementation, s = schema.run, schema.setup, schema.implementation, _submission.c
    lines = {r.first_id or r.id for r in connection.execute(select(s.first_id, s.id).where(s.package_id == package))}
    versions = (
        select(_job.c.task)
        .join(_submission, s.package_id == _job.c.package_id)
        .where(s.package_id != package, s.state == PUBLISHED, or_(s.first_id.in_(lines), s.id.in_(lines)))
    )
    mine = set(map(sources, tasks))
    theirs = {sources(task_of(text)) for text in connection.execute(versions).scalars()}
    others = {task[:-1] for task in theirs}
    named = (
        select(run.c.id, run.c.origin, *(implementation.c[n] for n in IMPLEMENTATION))
        .select_from(run.join(setup, run.c.setup_id == setup.c.id).join(implementation))
        .where(named_by(lines))
    )
    found = set()
    for number, origin, *names, digest in connection.execute(named):
        either = {(*names, digest), (*names, "")}  # a task may not say its sources
        its_own = not (tuple(names) in public or either & theirs)
        said = (*names, digest) in mine or ((*names, "") in mine and tuple(names) not in others)
        if first_of(origin) in lines and (said or its_own):
            found.add(number)
    held = select(_job.c.run_id).where(_job.c.run_id.in_(found), _job.c.package_id != package)
    return found - set(connection.execute(held).scalars())


__all__ = ["DONE", "FAILED", "RUNNING", "WAITING", "Attempt", "Board", "Hold", "Line", "Offer", "Worker", "Yard"]
