"""Which board a run gets, of those that are alike, and which of them can be trusted.

A board that failed is doubted: before its next run it has to prove itself with an image that is known to be right. If
it cannot, or if the lab's own faults end several of its runs in a row, it is out of order, and the others go on. So
what fails again on a board that has proved itself is the package's doing. One that says something against a package
proves itself at once, or that was not said.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from ..model.call import DeviceError, Failed
from ..model.errors import UserError, counted
from ..model.reasons import ANSWERED_WRONGLY, LAB, MACHINE, RELEASED, Failure, Reason
from ..model.record import Record
from . import aside
from .aside import Kind, Mark
from .attempt import Purpose, begin
from .away import Away, Hold, Holds
from .config import Board, Station
from .lock import PAUSE, is_of

#: faults in a row after which a board is out of order even if it proves itself; proofs that it may try
FAULTS, PROOFS = 3, 2
#: seconds of the wall that a board's port may be away: it is plugged in again, or restarts
AWAY = 10.0
#: seconds between two looks whether a host is back
KNOCK = 1.0
#: attempts of a run that ends for a reason that is the lab's, or that may be the package's as well
ATTEMPTS = {
    **dict.fromkeys(LAB, 3),
    Reason.PULSES_LOST: 2,
    Reason.PROTOCOL: 2,
    Reason.RUNAWAY: 2,
}
#: what is not the doing of a board that cannot prove itself, such as a full disk
ELSEWHERE = MACHINE - {*ATTEMPTS, Reason.COUNTER_DIFFERS}
#: how a note begins on what a board answered before
EARLIER = "an earlier run of the same setup answered wrongly"
#: what is wrong with a package by its files and the sizes in its image, whichever board has that
BOARDLESS = frozenset({Reason.BAD_KAT, Reason.SIZES_DIFFER, Reason.UNSUPPORTED_SIZE})
#: what a package does to memory that the simulated chip sees for certain, and no board
UNSEEN = frozenset({Reason.STACK_OVERFLOW, Reason.STRAY_WRITE})
#: what to do about one that ends with what packages are told other things of
REVIVE = "reset the board or take its power away for a moment, look at its cable and supply"
Prove = Callable[[Station, Hold], None]

_doubted: set[str] = set()
#: when a board last said something against a package: of those that are free, others are asked first
_accused: dict[str, float] = {}
_faults: Counter[str] = Counter()
#: boards that this process found out of order, and those of them whose mark could not be written
_out: dict[str, Mark] = {}
_untold: set[str] = set()


class NoBoard(DeviceError):
    """All boards that a run could have are set aside."""


def again(failure: Failure, attempt: int) -> bool:
    """Whether a run that ended so, the first time if ``attempt`` is 1, is tried once more."""
    return attempt < ATTEMPTS.get(failure.reason, 1)


def accuses(failure: Failure) -> bool:
    """Whether it is about the package if the board that it comes from is right."""
    return failure.reason not in MACHINE | BOARDLESS and failure.reason not in ATTEMPTS


def unvouched(failure: Failure) -> str:
    """The note on how the calls of a board's run ended on the simulated chip, which was to look at its memory."""
    said = f"its calls on the simulated chip, before the board's, ended with {failure.reason}: {failure.detail}"
    return f"{said}: nobody has seen whether its stack and writes stay within its own memory"


def earlier(record: Record | None) -> list[str]:
    """Notes on wrong answers that boards gave to the same setup before: a right one now does not undo them."""
    if record is None:
        return []
    if record.failure is not None and record.failure.reason in ANSWERED_WRONGLY:
        return [f"{EARLIER} (run {record.id}): {record.failure.reason}: {record.failure.detail}"]
    return [n for n in record.notes if n.startswith(EARLIER)]


def how_often(wrong: Sequence[Failed], attempts: int) -> str:
    """The note on what spoke against a package, in how many of the ``attempts`` that the lab let come to an end."""
    reasons = dict.fromkeys(e.failure.reason for e in wrong)
    what = "an answer was wrong" if ANSWERED_WRONGLY.issuperset(reasons) else f"it ended with {' or '.join(reasons)}"
    times = f"{what} in {len(wrong)} of {counted(attempts, 'attempt')}"
    if len(wrong) == attempts:
        return times
    return f"{times}: look at the board's supply and wires, or for memory that is read before it is written"


def pools(stations: Sequence[Station]) -> dict[str, tuple[Station, ...]]:
    """Boards by target. :class:`UserError` where those of a target are not alike, so that a record would depend on
    which of them was free."""
    made: dict[str, tuple[Station, ...]] = {}
    for s in stations:
        made[s.board.target] = (*made.get(s.board.target, ()), s)
    for target, boards in made.items():
        kinds = {_kind(s): s.board.title for s in reversed(boards)}
        if len(kinds) > 1:
            each = "; ".join(f"{name} has {kind}" for kind, name in reversed(kinds.items()))
            raise UserError(
                f"these boards are all {target}, and their records would differ: {each}; name those that are alike"
            )
    return made


def _kind(s: Station) -> str:
    """What records of a board have that not all have."""
    parts = [s.target.device, s.clock]
    parts += ["a probe"] if s.probe else []
    return ", ".join([*parts, *(["a meter"] if s.meter else [])])


@contextmanager
def borrowed(stations: Sequence[Station], over: Event, prove: Prove) -> Iterator[tuple[Station, Hold]]:
    """One of the boards, with the lock of its port, for one user at a time on this machine; a free one that is not
    doubted, if there is one. ``prove`` raises :class:`DeviceError` when a board does not work.

    :class:`NoBoard` when all are set aside. How the block ends decides what is thought of the board. Where it ends with
    something against the package the board has to prove itself, and if it cannot, that is how the block ends.
    """
    station, lock = _choose(stations, over, prove)
    with lock:
        try:
            yield station, lock
        except Failed as e:
            if accuses(e.failure) and (own := _own(station, lock, prove)) is not None:
                _blame(station.board, own)
                raise DeviceError(own) from e
            _blame(station.board, e.failure)
            raise
        _faults.pop(station.board.name, None)


def _own(station: Station, lock: Hold, prove: Prove) -> Failure | None:
    """Why what a board says against a package means nothing: it fails with nocrypt, too. None where it does not."""
    try:
        prove(station, lock)
    except DeviceError as e:
        reason = e.failure.reason if e.failure.reason in MACHINE else Reason.BOARD_LOST
        return Failure(reason, e.failure.detail)
    return None


def _blame(board: Board, failure: Failure) -> None:
    """A board is doubted, unless it has just proved itself, and out of order where the lab failed it too often."""
    if accuses(failure):
        _accused[board.name] = time.monotonic()
        return
    if failure.reason in BOARDLESS:
        return
    _doubted.add(board.name)
    if failure.reason in LAB:
        _faults[board.name] += 1
        if _faults[board.name] >= FAULTS:
            _set_aside(board, failure)


def _choose(stations: Sequence[Station], over: Event, prove: Prove) -> tuple[Station, Hold]:
    holds = Holds(over)
    try:
        return _chosen(stations, holds, over, prove)
    finally:
        holds.close()


def _chosen(stations: Sequence[Station], holds: Holds, over: Event, prove: Prove) -> tuple[Station, Hold]:
    while not over.is_set():
        there = [s for s in stations if not _is_aside(s.board)]
        if not there:
            raise NoBoard(_no_board(stations))
        for station in sorted(there, key=lambda s: (s.board.name in _doubted, _accused.get(s.board.name, 0.0))):
            lock = _taken(station, holds, over)
            if lock is None:
                continue
            try:
                if station.board.name not in _doubted or _proves(station, lock, over, prove):
                    return station, lock
            except BaseException:
                lock.close()
                raise
            lock.close()
            break  # others may be free by now
        else:
            over.wait(PAUSE)
    raise KeyboardInterrupt


def _taken(station: Station, holds: Holds, over: Event) -> Hold | None:
    """The board, if it is free; :class:`DeviceError` where it is at a host that is not there. For one that is doubted
    the host may come back first; then it is out of order, and there is none."""
    board = station.board
    end = time.monotonic() + AWAY
    while True:
        try:
            return holds.take(station)
        except DeviceError as e:
            failure = Failure(e.failure.reason, f"{board.title}: {e.failure.detail}")
            if board.name not in _doubted:
                begin(board, Purpose(f"ask {board.host}")).end(failure)
                _blame(board, failure)
                raise DeviceError(failure) from e
            if time.monotonic() >= end:
                _set_aside(board, failure)
                return None
            if over.wait(KNOCK):
                raise KeyboardInterrupt from None


def _proves(station: Station, lock: Hold, over: Event, prove: Prove) -> bool:
    """Whether a doubted board works, the lock still is its port's, and nobody wished for it meanwhile; it is set aside
    where it does not work.
    :class:`DeviceError` where that cannot be tried."""
    board = station.board
    for left in reversed(range(PROOFS)):
        if _is_released(board):
            return False
        if not isinstance(lock, Away):
            returned(board.port, over)
            if board.port.exists() and not is_of(lock, board):
                return False
        try:
            prove(station, lock)
        except DeviceError as e:
            if e.failure.reason in ELSEWHERE:
                raise
            if not left:
                _set_aside(board, e.failure)
        else:
            works(board)
            return not _is_released(board) and (isinstance(lock, Away) or is_of(lock, board))
    return False


def returned(port: Path, over: Event) -> None:
    """Waits for a port that is away, as long as it may be plugged in again."""
    end = time.monotonic() + AWAY
    while not port.exists() and time.monotonic() < end and not over.is_set():
        over.wait(PAUSE)


def works(board: Board) -> None:
    """The board has proved itself: it is in order."""
    _doubted.discard(board.name)
    aside.lift(board, Kind.BROKEN, Kind.DOUBTED)


def _set_aside(board: Board, failure: Failure) -> None:
    remedy = failure.next_action if failure.reason in MACHINE else REVIVE
    mark = Mark(time.time(), str(failure.reason), failure.detail, remedy)
    _tell(board, mark)


def _tell(board: Board, mark: Mark) -> None:
    _out[board.name] = mark
    try:
        _out[board.name] = aside.put(board, mark)
        _untold.discard(board.name)
    except OSError:  # a full disk: then others do not know yet
        _untold.add(board.name)


def _is_released(board: Board) -> bool:
    mark = aside.read(board)
    return mark is not None and mark.released


def _is_aside(board: Board) -> bool:
    """Whether a board is not to be used. One that another process found out of order, or that its user believes to work
    again, may prove itself."""
    if board.name in _untold:
        _tell(board, _out[board.name])
    mark = aside.read(board)
    if board.name in _untold:
        return True
    if mark is not None and (mark.released or mark == _out.get(board.name)):
        return True
    if _out.pop(board.name, None) is not None or mark is not None or aside.is_doubted(board):
        _faults.pop(board.name, None)
        _doubted.add(board.name)
    return False


def _no_board(stations: Sequence[Station]) -> Failure:
    marks = [(s.board, aside.read(s.board) or _out.get(s.board.name) or Mark(0.0)) for s in stations]
    # that a board hangs or answers wrongly with nocrypt is not a property of the package that now has no board
    reason = next((m.reason for _, m in marks if m.reason in MACHINE), Reason.BOARD_LOST)
    each = "; ".join(
        f"{board.title} {RELEASED}: steelyard boards retry {board.name}"
        if mark.released
        else f"{board.title} is out of order: {mark.detail.removeprefix(f'{board.title}: ')}: {mark.remedy}"
        for board, mark in marks
    )
    return Failure(Reason(reason), f"no board is left: {each}")
