"""Which board a run gets, of those that are alike, and which of them can be trusted.

A board that failed is doubted: before its next run it has to prove itself with an image that is known to be right. If
it cannot, or if the lab's own faults end several of its runs in a row, it is out of order, and the others go on. So
what fails again on a board that has proved itself is the package's doing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import IO

from ..model.call import DeviceError
from ..model.errors import UserError
from ..model.reasons import Failure, Reason
from . import aside
from .aside import Mark
from .config import Station
from .lock import PAUSE, port_of, taken

#: faults in a row after which a board is out of order even if it proves itself; proofs that it may try
FAULTS, PROOFS = 3, 2
#: seconds of the wall that a board's port may be away: it is plugged in again, or restarts
AWAY = 10.0
#: attempts of a run that ends for a reason that is the lab's, or that may be the package's as well
ATTEMPTS = {
    Reason.BOARD_LOST: 3,
    Reason.FLASH_FAILED: 3,
    Reason.ANALYZER_LOST: 3,
    Reason.PROBE_LOST: 3,
    Reason.PULSES_LOST: 2,
    Reason.PROTOCOL: 2,
    Reason.RUNAWAY: 2,
}
_LABS = frozenset(reason for reason, most in ATTEMPTS.items() if most == 3)
Prove = Callable[[Station, IO[bytes]], None]

_doubted: set[str] = set()
_faults: Counter[str] = Counter()
#: boards that this process found out of order
_out: dict[str, Mark] = {}


class NoBoard(DeviceError):
    """All boards that a run could have are set aside."""


def again(failure: Failure, attempt: int) -> bool:
    """Whether a run that ended so, the first time if ``attempt`` is 1, is tried once more."""
    return attempt < ATTEMPTS.get(failure.reason, 1)


def pools(stations: Sequence[Station]) -> dict[str, tuple[Station, ...]]:
    """Boards by target. :class:`UserError` where those of a target are not alike, so that a record would depend on
    which of them was free."""
    made: dict[str, tuple[Station, ...]] = {}
    for s in stations:
        made[s.board.target] = (*made.get(s.board.target, ()), s)
    for target, boards in made.items():
        kinds = {_kind(s): s.board.name for s in reversed(boards)}
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
def borrowed(stations: Sequence[Station], over: Event, prove: Prove) -> Iterator[tuple[Station, IO[bytes]]]:
    """One of the boards, with the lock of its port, for one user at a time on this machine; a free one that is not
    doubted, if there is one. ``prove`` raises :class:`DeviceError` when a board does not work.

    :class:`NoBoard` when all are set aside. How the block ends decides what is thought of the board.
    """
    station, lock = _choose(stations, over, prove)
    name = station.board.name
    with lock:
        try:
            yield station, lock
        except DeviceError as e:
            _doubted.add(name)
            if e.failure.reason in _LABS:
                _faults[name] += 1
                if _faults[name] >= FAULTS:
                    _set_aside(name, e.failure)
            raise
        _faults.pop(name, None)


def _choose(stations: Sequence[Station], over: Event, prove: Prove) -> tuple[Station, IO[bytes]]:
    while not over.is_set():
        there = [s for s in stations if not _is_aside(s.board.name)]
        if not there:
            raise NoBoard(_no_board(stations))
        for station in sorted(there, key=lambda s: s.board.name in _doubted):
            lock = taken(port_of(station.board), str(station.board.port))
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


def _proves(station: Station, lock: IO[bytes], over: Event, prove: Prove) -> bool:
    """Whether a doubted board works; otherwise it is set aside."""
    name = station.board.name
    for left in reversed(range(PROOFS)):
        end = time.monotonic() + AWAY
        while not station.board.port.exists() and time.monotonic() < end and not over.is_set():
            over.wait(PAUSE)
        try:
            prove(station, lock)
        except DeviceError as e:
            if not left:
                _set_aside(name, e.failure)
        else:
            works(name)
            return True
    return False


def works(name: str) -> None:
    """The board of that name has proved itself: it is in order, unless its user wants it."""
    _doubted.discard(name)
    mark = aside.read(name)
    if mark is not None and not mark.released:
        aside.lift(name)


def _set_aside(name: str, failure: Failure) -> None:
    mark = Mark(time.time(), str(failure.reason), failure.detail, failure.next_action)
    _out[name] = mark
    with suppress(OSError):  # a full disk: then others do not know
        aside.put(name, mark)


def _is_aside(name: str) -> bool:
    """Whether a board is not to be used. One that another process found out of order, or that its user believes to work
    again, may prove itself."""
    mark = aside.read(name)
    if mark is not None and (mark.released or mark == _out.get(name)):
        return True
    if _out.pop(name, None) is not None or mark is not None:
        _faults.pop(name, None)
        _doubted.add(name)
    return False


def _no_board(stations: Sequence[Station]) -> Failure:
    marks = [(s.board.name, aside.read(s.board.name) or Mark(0.0)) for s in stations]
    reason = next((m.reason for _, m in marks if m.reason), str(Reason.BOARD_LOST))
    each = "; ".join(
        f"{name} was released: steelyard boards retry {name}"
        if mark.released
        else f"{name} is out of order: {mark.detail.removeprefix(f'{name}: ')}: {mark.remedy}"
        for name, mark in marks
    )
    return Failure(Reason(reason), f"no board is left: {each}")
