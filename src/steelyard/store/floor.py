"""Who works, what is paused, and so why a job waits."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, or_, select, text

from . import schema
from .dates import now
from .queue import ATTEMPTS, DONE, PAUSE, WAITING, pauses
from .task import BOARD

T = TypeVar("T")

#: microseconds after which a worker that says nothing is not there
GONE = 60_000_000
#: the time by a server's clock, in microseconds since 1970
_CLOCKS = {
    "postgresql": text("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"),
    "mariadb": text("SELECT UNIX_TIMESTAMP() * 1000000"),
    "mysql": text("SELECT UNIX_TIMESTAMP() * 1000000"),
}
#: finished attempts from which the usual time of a job is taken
_RECENT = 50
#: how keys of leases of jobs begin
_QUEUE = "queue "
_job, _attempt, _worker, _hold = schema.job, schema.job_attempt, schema.worker, schema.hold


class Board(Struct, frozen=True):
    """A board at a worker's machine; ``aside`` says why it gets no run, if it gets none."""

    name: str
    target: str
    aside: str


class Worker(Struct, frozen=True):
    """A process that takes jobs. ``job`` is what it works on; ``seen`` in microseconds since 1970; ``alive`` whether it
    has said lately that it is there."""

    name: str
    machine: str
    targets: tuple[str, ...]
    boards: tuple[Board, ...]
    version: str
    seen: int
    job: int | None = None
    alive: bool = True


class Floor:
    """Who works and what is paused at one moment: why jobs wait."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._paused = {h.subject: h for h in connection.execute(select(_hold)).all()}
        self._workers = [w for w in workers(connection) if w.alive]
        ended = select(_attempt.c.begun, _attempt.c.ended).where(_attempt.c.outcome == DONE)
        rows = connection.execute(ended.order_by(_attempt.c.id.desc()).limit(_RECENT))
        took = [r.ended - r.begun for r in rows if 0 < r.begun <= (r.ended or 0)]  # another is damaged
        self._lines: dict[frozenset[str], list[tuple[int, int]]] = {}
        self._usual = sum(took) / len(took) / 1e6 if took else 0.0

    def why(self, r: Any) -> str:
        """What stands between a job and its run; nothing where it does not wait. Names no machine."""
        if r.state != WAITING:
            return ""
        for subject in pauses(r.target):
            if (hold := self._paused.get(subject)) is not None:
                return f"{subject.removeprefix('target ')} is paused{f': {hold.why}' if hold.why else ''}"
        able = [w for w in self._workers if r.target in w.targets]
        if not able:
            lacks = f"no worker with a {r.target} that works" if r.target.endswith(f" {BOARD}") else ""
            return f"{lacks or f'no worker that has the compiler of {r.target}'} is there"
        at_work = [w for w in able if f"machine {w.machine}" not in self._paused]
        if not at_work:
            return f"all workers for {r.target} are paused"
        if not (free := [w for w in at_work if self._has_free(w, r.target)]):
            of = (f"board {w.machine}/{b.name}" for w in at_work for b in w.boards if f"{b.target} {BOARD}" == r.target)
            why = next((self._paused[s].why for s in of if self._paused[s].why), "")
            return f"all boards for {r.target} are paused{f': {why}' if why else ''}"
        at_work = free
        if now() < r.ready <= now() + PAUSE * ATTEMPTS:
            return f"tried again in {(r.ready - now()) / 1e6:.0f} s, after {r.detail}"
        theirs = frozenset(t for w in at_work for t in w.targets if not self._paused.keys() & pauses(t))
        ahead = bisect_left(self._line(theirs), (r.priority, r.id))
        workers = f"{len(at_work)} worker{'s' if len(at_work) > 1 else ''} for {r.target}"
        if not ahead:
            return f"next; {workers}"
        seconds = ahead * self._usual / len(at_work)
        soon = "" if not self._usual else f"; about {max(1, seconds / 60):.0f} min" if seconds > 90 else "; soon"
        return f"{ahead} run{'s' if ahead > 1 else ''} before it, {workers}{soon}"

    def _has_free(self, worker: Worker, target: str) -> bool:
        """Whether a worker has a board for a target that is not paused; one that is simulated needs none."""
        of = [b for b in worker.boards if f"{b.target} {BOARD}" == target]
        return not of or any(f"board {worker.machine}/{b.name}" not in self._paused for b in of)

    def _line(self, targets: frozenset[str]) -> list[tuple[int, int]]:
        """The jobs that workers for these targets may be given now, in their order."""
        if targets not in self._lines:
            due = or_(_job.c.ready <= now(), _job.c.ready > now() + PAUSE * ATTEMPTS)
            query = select(_job.c.priority, _job.c.id).where(_job.c.state == WAITING, due, _job.c.target.in_(targets))
            found = self._connection.execute(query.order_by(_job.c.priority, _job.c.id))
            self._lines[targets] = [(priority, number) for priority, number in found]
        return self._lines[targets]


def clock(connection: Connection) -> int:
    """Microseconds since 1970 by the clock of the database: those of machines that share it may be minutes apart."""
    asked = _CLOCKS.get(connection.dialect.name)
    return now() if asked is None else int(connection.execute(asked).scalar_one())


def workers(connection: Connection) -> list[Worker]:
    """Workers, the last seen first."""
    leases = connection.execute(select(schema.lease.c.holder, schema.lease.c.key)).all()
    at = {h: int(key.removeprefix(_QUEUE)) for h, key in leases if key.removeprefix(_QUEUE).isdecimal()}
    rows = connection.execute(select(_worker).order_by(_worker.c.seen.desc())).all()
    at_last = clock(connection)
    return [
        Worker(r.name, r.machine, _read(r.targets, tuple[str, ...]), _read(r.boards, tuple[Board, ...]), r.version,
               r.seen, at.get(r.name), abs(at_last - r.seen) < GONE)
        for r in rows
    ]  # fmt: skip


def _read(text: str, kind: type[T]) -> T:
    """What a worker said of itself; nothing where that is of another version's words, or damaged."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError:
        return kind()
