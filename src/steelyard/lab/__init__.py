"""Lab: everything that has a plug. Boards, flashers and instruments of the user's ``lab.toml``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event

from ..model.call import DeviceError
from ..model.reasons import Reason
from . import meter
from .analyzer import Analyzer
from .attempt import INTERRUPTED, PROOF, Attempt, Purpose, begin
from .away import Away, AwayLink, Hold, hold
from .clocks import uncertainty
from .config import Board, Instrument, Lab, Station
from .description import find, load
from .energy import look, power, weighed
from .flash import by_hand, forget, kind_of
from .hosts import described, stations
from .image import intel_hex, made
from .link import BoardLink, board_of, clock_holds
from .lock import has_to_be_of
from .plugs import missing, told
from .pool import (
    BOARDLESS,
    UNSEEN,
    NoBoard,
    accuses,
    again,
    borrowed,
    earlier,
    how_often,
    pools,
    returned,
    unvouched,
    works,
)
from .proof import DELAY, clock, keep_clock, proved

__all__ = [
    "BOARDLESS",
    "DELAY",
    "PROOF",
    "UNSEEN",
    "AwayLink",
    "Board",
    "BoardLink",
    "Hold",
    "Instrument",
    "Lab",
    "NoBoard",
    "Purpose",
    "Station",
    "accuses",
    "again",
    "board_of",
    "borrowed",
    "by_hand",
    "clock",
    "clock_holds",
    "described",
    "earlier",
    "find",
    "how_often",
    "intel_hex",
    "keep_clock",
    "kind_of",
    "load",
    "look",
    "made",
    "missing",
    "opened",
    "pools",
    "power",
    "proved",
    "returned",
    "stations",
    "uncertainty",
    "unvouched",
    "weighed",
    "works",
]


@contextmanager
def opened(
    station: Station,
    image: Path,
    max_cycles: int,
    over: Event,
    purpose: Purpose | None = None,
    lock: Hold | None = None,
) -> Iterator[BoardLink | AwayLink]:
    """The board with ``image`` in its flash, for one user at a time: whoever has the ``lock`` of its port, which is
    waited for where it is not given. What fails inside names the board, and is in the log of this attempt at the
    ``purpose``.

    :class:`DeviceError` with the part's name when something is missing.
    """
    board = station.board
    with nullcontext(lock) if lock else hold(station, over) as mine:
        station = station.timed()  # it may be another adapter that came back
        now = begin(board, purpose or Purpose("by hand"))
        try:
            with _linked(station, image, max_cycles, over, now, mine) as link:
                yield link
        except DeviceError as e:
            forget(board.port)  # whatever is in it
            named = told(station, e.failure)
            now.end(named)
            raise type(e)(named) from e
        except KeyboardInterrupt:
            now.end(None, INTERRUPTED)
            raise
        except BaseException as e:
            now.end(getattr(e, "failure", None), type(e).__name__)
            raise
        now.end(None)


@contextmanager
def _linked(
    station: Station, image: Path, max_cycles: int, over: Event, now: Attempt, mine: Hold
) -> Iterator[BoardLink | AwayLink]:
    """The board's link, wherever it is."""
    if isinstance(mine, Away):
        with mine.opened(image, max_cycles, over, now) as link:
            yield link
        return
    has_to_be_of(mine, station.board)
    with (
        meter.opened(station.meter, over) as stream,  # first, because it may be what powers the board
        Analyzer(station.instrument, over) as pulses,
    ):
        wired = BoardLink(station, mine, image, pulses, max_cycles, over, now)
        wired.meter = stream
        try:
            yield wired
            wired.settle()
        except DeviceError as e:
            if e.failure.reason in (Reason.PROTOCOL, Reason.RUNAWAY):
                wired.slow_down()
            raise
        finally:
            wired.close()
