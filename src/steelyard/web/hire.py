"""Workers that have no database: they take jobs over HTTP, with the key of their machine. Runs in a makers' process."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from .. import __version__
from ..building import harness_digest
from ..device import timing_model
from ..measure import why_not
from ..model.errors import UserError, cut, unknown
from ..model.primitive import PRIMITIVES
from ..model.record import Record, Setup
from ..model.target import Target, load_target
from ..model.workload import KNOWN, workload
from ..store import Store, StoreError
from ..store.dates import dated
from ..store.errors import LeaseLost
from ..store.floor import Worker
from ..store.operating import Yard
from ..store.operators import Operators
from ..store.queue import Queue
from ..store.task import Task
from ..store.tenure import Others
from ..store.writing import rows_of
from . import address, api
from . import wirework as words
from .reply import Reply, Sent
from .respond import explained, wrong_answer

#: characters of a worker's name, or a target's or board's; how many of them a worker has
_NAME, _MANY = 120, 1000
#: characters of a log, and of all that is said in words of a run
_LOG, _WORDS = 4 << 20, 1 << 20
#: how long ago a run may have ended, by the clock of its machine; a digest
_CLOCKS, _HASH = timedelta(days=1), re.compile(r"[0-9a-f]{64}")
#: what of a record a task says
_SAME = {"primitive": "primitive", "family": "family", "variant": "variant", "name": "implementation",
         "target": "target"}  # fmt: skip


def answer(store: Store, sent: Sent) -> Reply:
    """What a worker gets. Raises :class:`UserError` for what it may not ask."""
    names = address.segments(sent.path)[3:]
    try:
        machine = Operators(store).machine(sent.session) if sent.session else None
        if machine is None:
            return wrong_answer(401, "", "this is not the key of a worker; steelyard queue key makes one")
        deed = "/".join(names)
        if deed not in words.DEEDS:
            raise unknown("deed of a worker", deed, words.DEEDS)
        try:
            asked = msgspec.json.decode(sent.content, type=words.DEEDS[deed][0])
        except msgspec.MsgspecError as e:
            raise UserError(str(e)) from e
        if not _fits(msgspec.to_builtins(asked)):
            raise UserError("a number has more than 64 bits")
        if asked.version != __version__:
            raise UserError(
                f"here is Steelyard {__version__}, the worker has {cut(asked.version, 30)}; install the same"
            )
        if not 0 < len(asked.worker) <= _NAME:
            raise UserError(f"a worker's name has 1 to {_NAME} characters")
        if (named := _named(asked)) and (len(named) > _MANY or max(map(len, named)) > _NAME):
            raise UserError(f"a worker has at most {_MANY} targets and boards, with names of {_NAME} characters")
        queue = _queue(store, f"{machine} {asked.worker}", machine)
        return Reply(200, api.JSON, msgspec.json.encode(_DONE_BY[deed](store, queue, asked)))
    except LeaseLost as e:
        return wrong_answer(409, "", str(e))
    except Exception as e:
        return explained(e, "a worker", wrong_answer)


def _fits(value: object) -> bool:
    """Whether every number fits into a column of the database."""
    if isinstance(value, Mapping):
        return all(_fits(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return all(map(_fits, value))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def _named(asked: words.WorkAsked) -> list[str]:
    """What a worker names of what it has."""
    boards = asked.boards if isinstance(asked, words.PresentAsked) else ()
    targets = asked.targets if isinstance(asked, words.TakeAsked) else ()
    return [*targets, *(name for b in boards for name in (b.name, b.target))]


@cache
def _others(store: Store) -> Others:
    """One for all workers, however they are called: which leases have not been beaten for."""
    return Others()


@lru_cache(256)
def _queue(store: Store, worker: str, machine: str) -> Queue:
    """Kept, because it remembers when this worker looked at what others run. Who is forgotten looks again."""
    return Queue(store, worker, machine, _others(store))


def _take(store: Store, queue: Queue, asked: words.TakeAsked) -> words.Work:
    return words.Work(queue.begin(asked.targets))


def _left(store: Store, queue: Queue, asked: words.TakeAsked) -> words.Left:
    return words.Left(queue.left(asked.targets))


def _beat(store: Store, queue: Queue, asked: words.JobAsked) -> words.Heard:
    queue.beat(asked.job)
    return words.Heard()


def _close(store: Store, queue: Queue, asked: words.CloseAsked) -> words.Heard:
    if (asked.state == "done") != (asked.record is not None):
        raise UserError("a job that is done has a record, and no other job has")
    if len(asked.log) > _LOG or len(asked.detail) > _WORDS:
        raise UserError(f"a log has at most {_LOG} characters, a detail {_WORDS}")
    task = queue.task(asked.job)
    if asked.record is not None and task is not None and (wrong := _wrong(asked.record, task)):
        raise UserError(wrong)
    queue.close(asked.job, asked.state, asked.detail, asked.record, asked.log)
    return words.Heard()


def _wrong(record: Record, task: Task) -> str:
    """Why this record cannot be the task's; empty where it can. Its cycles are taken on trust."""
    setup = record.setup
    known = {name: getattr(task, name) for name in _SAME}
    known |= {"flags": " ".join(task.flags), "board": bool(task.on), "sources": task.sources}
    asked = workload(task.workload if PRIMITIVES[task.primitive].sized else KNOWN)
    said = {name: getattr(setup, field) for name, field in _SAME.items()}
    said |= {"flags": setup.flags, "board": setup.device != "simulator"}
    said |= {"sources": task.sources and setup.implementation_digest}
    if other := [n for n in known if known[n] != said[n]] or ["workload"] * (setup.workload != asked.text):
        return f"{other[0]}: this record is of another job"
    target = load_target(task.target)
    finished = dated(record).finished
    if finished is None or finished.tzinfo is None or datetime.now(UTC) - finished > _CLOCKS:
        return "finished: this is not now; set the machine's clock"
    if not 0 <= record.seconds <= _CLOCKS.total_seconds():
        return "seconds: no run takes so long"
    return _of_another(setup, target) or why_not(record, asked, target) or _too_long(record)


def _too_long(record: Record) -> str:
    """What of a record the database has no room for: it would be lost when its submission is published."""
    said = (*record.notes, record.failure.detail if record.failure else "")
    if sum(map(len, said)) > _WORDS:
        return f"notes: more than {_WORDS} characters, with the detail of a failure"
    try:
        rows_of(record)
    except StoreError as e:
        return str(e)
    return ""


def _of_another(setup: Setup, target: Target) -> str:
    """What of a setup is another than this Steelyard has; only compilers may differ."""
    tool, specs = setup.toolchain, (*target.toolchains, target.preferred, target.substitute)
    if tool.name not in {s.name for s in specs if s} or not (_HASH.fullmatch(tool.sha256) and tool.version):
        return f"toolchain: is none of those that weigh on {target.name}"
    here = {"harness": harness_digest(), "target_digest": target.digest}
    if setup.device == "simulator":
        here["timing_model"] = timing_model(target)
    if other := [name for name, value in here.items() if getattr(setup, name) != value]:
        return f"{other[0]}: of another Steelyard than this server's; install the same"
    return ""


def _give_back(store: Store, queue: Queue, asked: words.JobAsked) -> words.Heard:
    queue.give_back(asked.job)
    return words.Heard()


def _present(store: Store, queue: Queue, asked: words.PresentAsked) -> words.Paused:
    worker = Worker(queue.worker, queue.machine, asked.targets, asked.boards, asked.version, 0)
    return words.Paused(tuple(Yard(store).present(worker)))


def _absent(store: Store, queue: Queue, asked: words.WorkAsked) -> words.Heard:
    Yard(store).absent(queue.worker)
    return words.Heard()


#: what is done about each of :data:`.wirework.DEEDS`
_DONE_BY: Mapping[str, Callable[[Store, Queue, Any], Struct]] = {
    "take": _take,
    "left": _left,
    "beat": _beat,
    "close": _close,
    "give-back": _give_back,
    "present": _present,
    "absent": _absent,
}
