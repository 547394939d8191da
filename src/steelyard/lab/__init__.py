"""Lab: everything that has a plug. Boards, flashers and instruments of the user's ``lab.toml``."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock

from ..model.call import DeviceError
from ..model.reasons import Failure
from . import meter
from .analyzer import Analyzer
from .config import Board, Instrument, Lab, Station, find, load
from .energy import look, power
from .link import BoardLink, board_of

__all__ = [
    "Board",
    "BoardLink",
    "Instrument",
    "Lab",
    "Station",
    "board_of",
    "find",
    "let_go",
    "load",
    "look",
    "opened",
    "power",
]

_analyzers: dict[str, Analyzer] = {}
_lock = Lock()


@contextmanager
def opened(station: Station, image: Path, max_cycles: int, over: Event) -> Iterator[BoardLink]:
    """The board with ``image`` in its flash, for one user at a time. What fails inside names the board.

    :class:`DeviceError` with the part's name when something is missing.
    """
    try:
        with meter.opened(station.meter, over) as stream:  # first, because it may be what powers the board
            link = BoardLink(station, image, _analyzer(station.instrument), max_cycles, over)
            link.meter = stream
            try:
                yield link
            finally:
                link.close()
    except DeviceError as e:
        raise DeviceError(Failure(e.failure.reason, f"{station.board.name}: {e.failure.detail}")) from e


def _analyzer(instrument: Instrument) -> Analyzer:
    """The instrument, which samples for all boards of this process."""
    with _lock:
        found = _analyzers.get(instrument.driver)
        if found is not None and not found.alive:
            _analyzers.pop(instrument.driver).close()
            found = None
        if found is None:
            found = _analyzers[instrument.driver] = Analyzer(instrument)
        return found


def let_go() -> None:
    """Ends all sampling."""
    with _lock:
        while _analyzers:
            _analyzers.popitem()[1].close()


atexit.register(let_go)
