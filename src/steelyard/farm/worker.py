"""A worker: takes jobs from the queue, weighs what was handed in, and puts the records back."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread, Timer
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from .. import __version__, building
from ..jobs import Job
from ..lab import Board, Station, aside
from ..lab.aside import Kind
from ..model.errors import UserError, cut
from ..model.record import Record
from ..model.target import load_target
from ..model.workload import workload
from ..pipeline import Pipeline
from ..sources import discover
from ..sources.limits import HANDED_IN
from ..store import Store, StoreError, floor
from ..store.errors import LeaseLost, Refused
from ..store.floor import Worker
from ..store.operating import Yard, forget
from ..store.queue import ATTEMPTS, DONE, FAILED, WAITING, Mine, Queue, Taken
from ..store.task import BOARD

#: seconds between two words of a worker that is there; what the mark of a board says that operators paused
PRESENT, PAUSED = 10.0, "paused on the scheduler's page"
#: seconds between two looks at an empty queue, and that a run may take; cycles that a call may take
LOOK, SECONDS, CYCLES = 1.0, 900.0, 1 << 28
#: seconds that a run on boards may take, which others may have meanwhile
ON_BOARDS = 3600.0
#: seconds that a result waits for a database that does not answer
PATIENCE = 600.0
#: characters of a log
_LOG = 1 << 20
#: boards that are alike
Stations = tuple[Station, ...]


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
    boards: Callable[[], tuple[Board, ...]] = tuple,
    lab: Mapping[str, Stations] = {},
) -> None:
    """Takes jobs on these targets one by one, and says what became of each, until ``over`` is set, or none is left to
    wait for, those of other workers, which may die, included. Errors of the database are said and waited for. A job
    that Ctrl-C interrupts goes back at once. Tells operators that it is there, and what this machine's ``boards`` do;
    those of ``lab`` are for jobs of its targets."""
    machine = platform.node()[:150]
    line = _Here(store, f"{machine} {name()}", machine)
    work_for(line, targets, say, over, until_empty=until_empty, boards=boards, lab=lab)


def name() -> str:
    """What tells this worker from all others of its machine."""
    return f"{os.getpid()} {secrets.token_hex(8)}"


class Jobs(Protocol):
    """A queue, wherever it is."""

    def taken(self, targets: Collection[str]) -> AbstractContextManager[Taken | None]:
        """See :class:`Queue`."""

    def close(self, taken: Mine, state: str, detail: str = "", record: Record | None = None, log: str = "") -> None:
        """See :class:`Queue`."""

    def give_back(self, taken: Mine) -> None:
        """See :class:`Queue`."""

    def left(self, targets: Collection[str]) -> bool:
        """See :class:`Queue`."""

    def present(self, targets: tuple[str, ...], boards: tuple[floor.Board, ...]) -> Sequence[str]:
        """Says that the worker is there; which of its boards are paused."""

    def absent(self) -> None:
        """Says that it has ended."""


class _Here(Queue):
    """The queue of a database that this process has."""

    def present(self, targets: tuple[str, ...], boards: tuple[floor.Board, ...]) -> Sequence[str]:
        """Says that the worker is there; which of its boards are paused."""
        return Yard(self._store).present(Worker(self.worker, self.machine, targets, boards, __version__, 0))

    def absent(self) -> None:
        """Says that it has ended."""
        Yard(self._store).absent(self.worker)


def work_for(
    queue: Jobs,
    targets: Collection[str],
    say: Callable[[Done | StoreError], None],
    over: Event,
    *,
    until_empty: bool = False,
    boards: Callable[[], tuple[Board, ...]] = tuple,
    lab: Mapping[str, Stations] = {},
) -> None:
    """See :func:`work`, with a queue that may be elsewhere."""
    targets = sorted((*targets, *(f"{t} {BOARD}" for t in lab)))
    with (
        _present(queue, tuple(targets), boards),
        TemporaryDirectory(prefix="steelyard-work-") as folder,
        Store.open(Path(folder, "results.db")) as own,
    ):
        while not over.is_set():
            try:
                free = [t for t in targets if _free(t, lab)]
                with queue.taken(free) as taken:
                    if taken is not None:
                        say(_worked(queue, own, taken, targets, say, lab))
                if taken is None and until_empty and not queue.left(free):
                    return
            except StoreError as e:
                say(e)
                taken = None
            if taken is None:
                over.wait(LOOK)


def said_of(boards: Iterable[Board]) -> tuple[floor.Board, ...]:
    """What operators are told of boards: their names, and why some get no run."""
    marks = ((board, aside.read(board)) for board in boards)
    return tuple(floor.Board(b.name, b.target, m.detail or "released" if m else "") for b, m in marks)


def _free(target: str, lab: Mapping[str, Stations]) -> bool:
    """Whether what is called so is simulated, or has a board that no operator paused: a job waits for the others."""
    stations = lab.get(target.removesuffix(f" {BOARD}")) if target.endswith(f" {BOARD}") else None
    return stations is None or any(all(m.kind is not Kind.PAUSED for m in aside.marks(s.board)) for s in stations)


@contextmanager
def _present(queue: Jobs, targets: tuple[str, ...], boards: Callable[[], tuple[Board, ...]]) -> Iterator[None]:
    """Says every few seconds that a worker is there, and sets boards aside that are paused."""
    over = Event()

    def say() -> None:
        mine = boards()
        paused = queue.present(targets, said_of(mine))
        for board in mine:
            if board.name in paused:  # each time: something else may be plugged in
                aside.put(board, aside.Mark(time.time(), detail=PAUSED, kind=Kind.PAUSED))
            else:
                aside.lift_own(board, Kind.PAUSED)

    def again() -> None:
        while not over.wait(PRESENT):
            with suppress(StoreError, OSError):
                say()

    with suppress(StoreError, OSError):  # of a database that does not answer work() says so
        say()
    thread = Thread(target=again, name="present", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(StoreError):
            queue.absent()


def _worked(
    queue: Jobs,
    own: Store,
    taken: Taken,
    targets: Collection[str],
    say: Callable[[Done | StoreError], None],
    lab: Mapping[str, Stations] = {},
) -> Done:
    """Does a job, and puts back what came of it."""
    late, t = Event(), taken.task

    def done(state: str, detail: str = "", record: Record | None = None, log: str = "") -> Done:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                queue.close(taken, state, detail, record, log)
            except LeaseLost as e:
                state, detail = "lost", str(e)
            except Refused as e:
                if record is None:
                    raise
                state = WAITING if taken.attempt < ATTEMPTS else FAILED  # another machine may do better
                detail, record = f"attempt {taken.attempt}, its record is refused: {e}", None
                continue
            except StoreError as e:  # what is done need not be done again, if the database comes back in time
                if time.monotonic() > until:
                    raise
                say(e)
                time.sleep(LOOK)
                continue
            return Done(taken.number, f"{t.variant}/{t.name}", t.place, state, detail)

    try:
        with TemporaryDirectory(prefix="steelyard-work-") as folder:
            pipeline = Pipeline(own, threads=1, max_cycles=CYCLES)

            def stop() -> None:
                late.set()
                pipeline.over.set()

            timer = Timer(ON_BOARDS if t.on else SECONDS, stop)
            timer.start()
            try:
                job = _job(taken, targets, Path(folder), lab)
                with building.apart(job.implementation):
                    record = pipeline.weigh(job)
            finally:
                timer.cancel()
    except UserError as e:
        if isinstance(e, StoreError):
            raise
        return done(FAILED, str(e))
    except KeyboardInterrupt:
        if late.is_set():
            return done(FAILED, f"not done after {ON_BOARDS if t.on else SECONDS:.0f} s")
        queue.give_back(taken)
        raise
    log = own.get_blob(record.log)[:_LOG].decode(errors="replace") if record.log else ""
    if record.id is not None:  # it is not ours to keep, and a job that is repeated is done again
        forget(own, record.id)
    if record.failure is not None and not record.final:
        detail = f"{record.failure.reason}: {record.failure.detail}"
        if taken.attempt < ATTEMPTS:
            return done(WAITING, f"attempt {taken.attempt}, {detail}; another follows", log=log)
        return done(FAILED, f"the machine's fault, {ATTEMPTS} times: {detail}", log=log)
    digest = hashlib.sha256(log.encode()).hexdigest() if log else ""
    return done(DONE, "", replace(record, id=None, log=digest), log)


def _job(taken: Taken, targets: Collection[str], folder: Path, lab: Mapping[str, Stations]) -> Job:
    """The job of a task, unpacked into ``folder``. :class:`UserError` where this version finds something else, and for
    another target than was asked for: on some, code runs on this machine."""
    t = taken.task
    if t.place not in targets:
        raise UserError(f"{cut(t.place)}: no job on this was asked for; hand the zip in again")
    if hashlib.sha256(taken.content).hexdigest() != t.package:
        raise UserError("the zip is not the one that was handed in; hand it in again")
    place = folder / t.file
    place.write_bytes(taken.content)
    found = discover(place, limits=HANDED_IN, cache=folder / "unpacked")
    for i in found.implementations:
        if (i.primitive, i.family, i.variant, i.name, i.digest) == (t.primitive, t.family, t.variant, t.name, t.digest):
            return Job(i, load_target(t.target), t.flags, workload(t.workload), on=lab[t.target] if t.on else ())
    raise UserError("this version of Steelyard finds other implementations in the zip; hand it in again")
