"""Lab: everything that has a plug. Boards, flashers and instruments of the user's ``lab.toml``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Lock
from typing import IO

from ..model.call import DeviceError
from ..model.reasons import Failure
from . import meter
from .analyzer import Analyzer
from .attempt import INTERRUPTED, Task, begin
from .config import Board, Instrument, Lab, Station, find, load
from .energy import look, power
from .flash import forget
from .link import BoardLink, board_of
from .lock import held, port_of
from .pool import NoBoard, again, borrowed, pools, works
from .proof import proved

__all__ = [
    "Board",
    "BoardLink",
    "Instrument",
    "Lab",
    "NoBoard",
    "Station",
    "Task",
    "again",
    "board_of",
    "borrowed",
    "find",
    "load",
    "look",
    "opened",
    "pools",
    "power",
    "proved",
    "works",
]

#: by driver, those that sample for boards of this process; how many boards each has, and who may change that
_analyzers: dict[str, Analyzer] = {}
_users: Counter[Analyzer] = Counter()
_locks: dict[str, Lock] = {}


@contextmanager
def opened(
    station: Station,
    image: Path,
    max_cycles: int,
    over: Event,
    task: Task | None = None,
    lock: IO[bytes] | None = None,
) -> Iterator[BoardLink]:
    """The board with ``image`` in its flash, for one user at a time: whoever has the ``lock`` of its port, which is
    waited for where it is not given. What fails inside names the board, and is in the log of this attempt at the
    ``task``.

    :class:`DeviceError` with the part's name when something is missing.
    """
    board = station.board
    with nullcontext(lock) if lock else held(port_of(board), str(board.port), over) as mine:
        now = begin(board.name, task or Task("by hand"))
        try:
            with (
                meter.opened(station.meter, over) as stream,  # first, because it may be what powers the board
                _sampled(station.instrument, over) as pulses,
            ):
                link = BoardLink(station, mine, image, pulses, max_cycles, over, now)
                link.meter = stream
                try:
                    yield link
                finally:
                    link.close()
        except DeviceError as e:
            forget(board.port)  # whatever is in it
            named = Failure(e.failure.reason, f"{board.name}: {e.failure.detail}")
            now.end(named)
            raise DeviceError(named) from e
        except KeyboardInterrupt:
            now.end(None, INTERRUPTED)
            raise
        except BaseException as e:
            now.end(getattr(e, "failure", None), type(e).__name__)
            raise
        now.end(None)


@contextmanager
def _sampled(instrument: Instrument, over: Event) -> Iterator[Analyzer]:
    """The instrument, which samples for all boards of this process; where another one has it, it is waited for.

    It is let go with the last board: a campaign that kept it while it waits for a board would wait for ever, where
    another one has the board and waits for the instrument.
    """
    driver = instrument.driver
    lock = _locks.setdefault(driver, Lock())
    with lock:
        found = _analyzers.get(driver)
        if found is not None and not found.alive:
            _analyzers.pop(driver).close()
            found = None
        if found is None:
            found = _analyzers[driver] = Analyzer(instrument, over)
        _users[found] += 1
    try:
        yield found
    finally:
        with lock:
            _users[found] -= 1
            if not _users[found]:
                del _users[found]
                if _analyzers.get(driver) is found:  # or it had ended, and was closed
                    _analyzers.pop(driver).close()
