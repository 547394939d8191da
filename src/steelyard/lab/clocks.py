"""How far clocks of boards are from what they are called, as ``boards check`` measured them.

It is a file ``clock`` in the folder of a board (:attr:`.config.Board.files`). What ``lab.toml`` says itself wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..device.counter import DRIFT
from ..model import whole
from ..model.metric import CLOCK

if TYPE_CHECKING:
    from .config import Board, Instrument

#: parts per million that a clock may be off: one that is further off does not hold a serial line
MOST = 50_000
#: whose word it is on a clock that nobody measured
NEVER = "never measured"
#: where udev names adapters by what they say of themselves
BY_ID = Path("/dev/serial/by-id")


class Kept(Struct, frozen=True):
    """A clock was ``ppm`` faster than its target's by the time of an instrument, ``within`` so many, on that day. It is
    believed as long as board and instrument are the ``measured`` ones, as far as anybody can tell."""

    ppm: float
    within: float
    day: str
    instrument: str
    measured: tuple[str, ...]

    @property
    def origin(self) -> str:
        """Where it comes from, for records and tables."""
        return f"measured {self.day} by {self.instrument}, within {self.within:.0f}"


def kept(board: Board, instrument: Instrument, lab: Path) -> Kept | None:
    """What is known of the clock of a board of the file ``lab``; None where nobody measured it with this instrument, or
    it may be another board."""
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(_file(board).read_bytes(), type=Kept)
        if found.measured == _measured(board, instrument, lab) and abs(found.ppm) <= MOST:
            return found
    return None


def keep(board: Board, instrument: Instrument, lab: Path, ppm: float, within: float) -> None:
    """Keeps what was measured today. :class:`OSError` where that cannot be written."""
    made = Kept(ppm, within, datetime.now(UTC).date().isoformat(), instrument.name, _measured(board, instrument, lab))
    whole.put(_file(board), msgspec.json.encode(made))


def _measured(board: Board, instrument: Instrument, lab: Path) -> tuple[str, ...]:
    """What tells a board and an instrument from all others, as far as ``lab.toml`` and the system know them."""
    its = (board.target, _adapter(board), f"{board.clock_error_ppm:g}")
    return (str(lab), *its, instrument.name, instrument.driver, instrument.at, instrument.clock)


def _adapter(board: Board) -> str:
    """The lasting name of what a board's port leads to, for another one may have the port tomorrow; the port where
    there is none, or nothing is plugged in."""
    port = board.port
    if port.parent != BY_ID:
        with suppress(OSError):
            device = port.resolve(strict=True)
            return next((str(n) for n in sorted(BY_ID.iterdir()) if n.resolve() == device), board.place)
    return board.place


def uncertainty(device: str, notes: Iterable[str], counted: bool) -> dict[str, float]:
    """``clock_uncertainty`` of a record, out of its note that names board and clock: within how many parts per million
    the clock was measured. A word of ``lab.toml``'s, or none, is good for what a run lets pass whose pulses were
    ``counted`` by the chip as well, and else for nothing that is known."""
    for note in notes:
        if said := re.match(rf"{re.escape(device)} .* clock [+-]\S+ ppm(?:, measured \S+ by .*, within (\d+))?", note):
            return {CLOCK: float(said[1])} if said[1] else {CLOCK: DRIFT * 1e6} if counted else {}
    return {}


def _file(board: Board) -> Path:
    return board.files / "clock"
