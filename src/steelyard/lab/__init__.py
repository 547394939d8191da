"""Lab: everything that has a plug. Boards, flashers and instruments of the user's ``lab.toml``."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Lock
from typing import IO

from ..model.call import DeviceError
from ..model.reasons import Failure
from . import meter
from .analyzer import Analyzer
from .attempt import Task, begin
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
    "let_go",
    "load",
    "look",
    "opened",
    "pools",
    "power",
    "proved",
    "works",
]

_analyzers: dict[str, Analyzer] = {}
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
            with meter.opened(station.meter, over) as stream:  # first, because it may be what powers the board
                link = BoardLink(station, mine, image, _analyzer(station.instrument, over), max_cycles, over, now)
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
        except BaseException as e:
            now.end(getattr(e, "failure", None), type(e).__name__)
            raise
        now.end(None)


def _analyzer(instrument: Instrument, over: Event) -> Analyzer:
    """The instrument, which samples for all boards of this process; where another one has it, it is waited for."""
    with _locks.setdefault(instrument.driver, Lock()):
        found = _analyzers.get(instrument.driver)
        if found is not None and not found.alive:
            _analyzers.pop(instrument.driver).close()
            found = None
        if found is None:
            found = _analyzers[instrument.driver] = Analyzer(instrument, over)
        return found


def let_go() -> None:
    """Ends all sampling."""
    while _analyzers:
        _analyzers.popitem()[1].close()


atexit.register(let_go)
