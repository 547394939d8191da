"""A worker: takes jobs from the queue, weighs what was handed in, and puts the records back."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Timer

from msgspec import Struct
from msgspec.structs import replace

from ..jobs import Job
from ..model.errors import UserError
from ..model.record import Record
from ..model.target import load_target
from ..model.workload import workload
from ..pipeline import Pipeline
from ..sources import discover
from ..sources.limits import HANDED_IN
from ..store import Store, StoreError
from ..store.errors import LeaseLost
from ..store.queue import ATTEMPTS, DONE, FAILED, WAITING, Queue, Taken

#: seconds between two looks at an empty queue, and that a run may take; cycles that a call may take
LOOK, SECONDS, CYCLES = 1.0, 900.0, 1 << 28
#: characters of a log
_LOG = 1 << 20


class Done(Struct, frozen=True):
    """What became of a job."""

    number: int
    label: str
    target: str
    state: str
    detail: str


def work(
    store: Store,
    targets: Collection[str],
    say: Callable[[Done | StoreError], None],
    over: Event,
    *,
    until_empty: bool = False,
) -> None:
    """Takes jobs on these targets one by one, and says what became of each, until ``over`` is set, or the queue is
    empty. Errors of the database are said and waited for. A job that Ctrl-C interrupts goes back at once."""
    queue = Queue(store, f"{platform.node()[:150]} {os.getpid()} {secrets.token_hex(8)}")
    with TemporaryDirectory(prefix="steelyard-work-") as folder, Store.open(Path(folder, "results.db")) as own:
        while not over.is_set():
            try:
                with queue.taken(targets) as taken:
                    if taken is not None:
                        say(_worked(queue, own, taken))
            except StoreError as e:
                say(e)
                taken = None
            if taken is None:
                if until_empty:
                    return
                over.wait(LOOK)


def _worked(queue: Queue, own: Store, taken: Taken) -> Done:
    """Does a job, and puts back what came of it."""
    late, t = Event(), taken.task

    def done(state: str, detail: str = "", record: Record | None = None, log: str = "") -> Done:
        try:
            queue.close(taken, state, detail, record, log)
        except LeaseLost as e:
            state, detail = "lost", str(e)
        return Done(taken.number, f"{t.variant}/{t.name}", t.target, state, detail)

    try:
        with TemporaryDirectory(prefix="steelyard-work-") as folder:
            pipeline = Pipeline(own, threads=1, max_cycles=CYCLES)

            def stop() -> None:
                late.set()
                pipeline.over.set()

            timer = Timer(SECONDS, stop)
            timer.start()
            try:
                record = pipeline.weigh(_job(taken, Path(folder)))
            finally:
                timer.cancel()
    except UserError as e:
        if isinstance(e, StoreError):
            raise
        return done(FAILED, str(e))
    except KeyboardInterrupt:
        if late.is_set():
            return done(FAILED, f"not done after {SECONDS:.0f} s")
        queue.give_back(taken)
        raise
    if record.failure is not None and not record.final:
        detail = f"{record.failure.reason}: {record.failure.detail}"
        if taken.attempt < ATTEMPTS:
            return done(WAITING, f"attempt {taken.attempt}, {detail}; another follows")
        return done(FAILED, f"the machine's fault, {ATTEMPTS} times: {detail}")
    log = own.get_blob(record.log)[:_LOG].decode(errors="replace") if record.log else ""
    digest = hashlib.sha256(log.encode()).hexdigest() if log else ""
    return done(DONE, "", replace(record, id=None, log=digest), log)


def _job(taken: Taken, folder: Path) -> Job:
    """The job of a task, unpacked into ``folder``. :class:`UserError` where this version finds something else."""
    t = taken.task
    if hashlib.sha256(taken.content).hexdigest() != t.package:
        raise UserError("the zip is not the one that was handed in; hand it in again")
    place = folder / t.file
    place.write_bytes(taken.content)
    found = discover(place, limits=HANDED_IN, cache=folder / "unpacked")
    for i in found.implementations:
        if (i.primitive, i.family, i.variant, i.name, i.digest) == (t.primitive, t.family, t.variant, t.name, t.digest):
            return Job(i, load_target(t.target), t.flags, workload(t.workload))
    raise UserError("this version of Steelyard finds other implementations in the zip; hand it in again")
