"""Workers that have no database: they take jobs over HTTP, with the key of their machine. Runs in a makers' process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from .. import __version__
from ..model.errors import UserError, cut, unknown
from ..model.metric import metric
from ..model.primitive import PRIMITIVES
from ..model.record import Record
from ..model.workload import KNOWN, workload
from ..store import Store
from ..store.errors import LeaseLost
from ..store.floor import Worker
from ..store.operating import Yard
from ..store.operators import Operators
from ..store.queue import Queue, Task
from . import address, api
from . import wirework as words
from .reply import Reply, Sent
from .respond import explained, wrong_answer

#: characters of a worker's name
_NAME = 120
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
        if asked.version != __version__:
            raise UserError(
                f"here is Steelyard {__version__}, the worker has {cut(asked.version, 30)}; install the same"
            )
        if not 0 < len(asked.worker) <= _NAME:
            raise UserError(f"a worker's name has 1 to {_NAME} characters")
        queue = _queue(store, f"{machine} {asked.worker}", machine)
        return Reply(200, api.JSON, msgspec.json.encode(_DONE_BY[deed](store, queue, asked)))
    except LeaseLost as e:
        return wrong_answer(409, "", str(e))
    except Exception as e:
        return explained(e, "a worker", wrong_answer)


@lru_cache(256)
def _queue(store: Store, worker: str, machine: str) -> Queue:
    """Kept, because it remembers which leases of others have not been beaten for."""
    return Queue(store, worker, machine)


def _take(store: Store, queue: Queue, asked: words.TakeAsked) -> words.Work:
    return words.Work(queue.begin(asked.targets))


def _beat(store: Store, queue: Queue, asked: words.JobAsked) -> words.Heard:
    queue.beat(asked.job)
    return words.Heard()


def _close(store: Store, queue: Queue, asked: words.CloseAsked) -> words.Heard:
    if (asked.state == "done") != (asked.record is not None):
        raise UserError("a job that is done has a record, and no other job has")
    task = queue.task(asked.job)
    if asked.record is not None and task is not None and (wrong := _wrong(asked.record, task)):
        raise UserError(wrong)
    queue.close(asked.job, asked.state, asked.detail, asked.record, asked.log)
    return words.Heard()


def _wrong(record: Record, task: Task) -> str:
    """Why this record cannot be the task's; empty where it can. Its figures are taken on trust."""
    setup = record.setup
    known = {name: getattr(task, name) for name in _SAME}
    known |= {"flags": " ".join(task.flags), "board": bool(task.on), "sources": task.sources}
    asked = workload(task.workload if PRIMITIVES[task.primitive].sized else KNOWN)
    said = {name: getattr(setup, field) for name, field in _SAME.items()}
    said |= {"flags": setup.flags, "board": setup.device != "simulator"}
    said |= {"sources": task.sources and setup.implementation_digest}
    if other := [n for n in known if known[n] != said[n]] or ["workload"] * (setup.workload != asked.text):
        return f"{other[0]}: this record is of another job"
    if not record.final or (record.ok and record.verification is None):
        return "a job that is done is verified, or fails by no fault of a machine"
    if any((p.adlen, p.mlen) not in asked.sizes or p.cycles < 0 for p in record.points):
        return "points: a size that the workload does not have, or a time below zero"
    for name in record.metrics:
        metric(name)
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
    "beat": _beat,
    "close": _close,
    "give-back": _give_back,
    "present": _present,
    "absent": _absent,
}
