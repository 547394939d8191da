"""Who works, what is paused, and so why a job waits."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, func, or_, select

from . import schema
from .queue import ATTEMPTS, BOARD, DONE, PAUSE, WAITING, now

#: microseconds after which a worker that says nothing is not there
GONE = 60_000_000
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
    """A process that takes jobs. ``job`` is what it works on; ``seen`` in microseconds since 1970."""

    name: str
    machine: str
    targets: tuple[str, ...]
    boards: tuple[Board, ...]
    version: str
    seen: int
    job: int | None = None

    @property
    def alive(self) -> bool:
        """Whether it has said so lately."""
        return abs(now() - self.seen) < GONE


class Floor:
    """Who works and what is paused at one moment: why jobs wait."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._paused = {h.subject: h for h in connection.execute(select(_hold)).all()}
        self._workers = [w for w in workers(connection) if w.alive]
        ended = select(_attempt.c.begun, _attempt.c.ended).where(_attempt.c.outcome == DONE)
        recent = connection.execute(ended.order_by(_attempt.c.id.desc()).limit(_RECENT)).all()
        self._usual = sum(a.ended - a.begun for a in recent) / len(recent) / 1e6 if recent else 0.0

    def why(self, r: Any) -> str:
        """What stands between a job and its run; nothing where it does not wait. Names no machine."""
        if r.state != WAITING:
            return ""
        if (hold := self._paused.get(f"target {r.target}")) is not None:
            return f"{r.target} is paused{f': {hold.why}' if hold.why else ''}"
        able = [w for w in self._workers if r.target in w.targets]
        if not able:
            lacks = f"no worker with a {r.target} that works" if r.target.endswith(f" {BOARD}") else ""
            return f"{lacks or f'no worker that has the compiler of {r.target}'} is there"
        at_work = [w for w in able if f"machine {w.machine}" not in self._paused]
        if not at_work:
            return f"all workers for {r.target} are paused"
        if now() < r.ready <= now() + PAUSE * ATTEMPTS:
            return f"tried again in {(r.ready - now()) / 1e6:.0f} s, after {r.detail}"
        ahead = _ahead(self._connection, r)
        workers = f"{len(at_work)} worker{'s' if len(at_work) > 1 else ''} for {r.target}"
        if not ahead:
            return f"next; {workers}"
        seconds = ahead * self._usual / len(at_work)
        soon = "" if not self._usual else f"; about {max(1, seconds / 60):.0f} min" if seconds > 90 else "; soon"
        return f"{ahead} run{'s' if ahead > 1 else ''} before it, {workers}{soon}"


def workers(connection: Connection) -> list[Worker]:
    """Workers, the last seen first."""
    leases = connection.execute(select(schema.lease.c.holder, schema.lease.c.key)).all()
    at = {h: int(key.removeprefix(_QUEUE)) for h, key in leases if key.removeprefix(_QUEUE).isdecimal()}
    rows = connection.execute(select(_worker).order_by(_worker.c.seen.desc())).all()
    return [
        Worker(r.name, r.machine, msgspec.json.decode(r.targets, type=tuple[str, ...]),
               msgspec.json.decode(r.boards, type=tuple[Board, ...]), r.version, r.seen, at.get(r.name))
        for r in rows
    ]  # fmt: skip


def _ahead(connection: Connection, row: Any) -> int:
    """How many jobs that wait go before this one."""
    before = or_(_job.c.priority < row.priority, (_job.c.priority == row.priority) & (_job.c.id < row.id))
    return int(connection.execute(select(func.count()).where(_job.c.state == WAITING, before)).scalar_one())
