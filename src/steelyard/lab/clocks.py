"""How far clocks of boards are from what they are called: what ``boards check`` measured, kept beside ``lab.toml``.

It is a file ``STEELYARD_HOME/lab/BOARD.clock``. What ``lab.toml`` says itself wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from ..device.counter import DRIFT
from ..model import paths, whole
from ..model.metric import CLOCK

#: parts per million that a clock may be off: one that is further off does not hold a serial line
MOST = 50_000


class Kept(Struct, frozen=True):
    """A clock was ``ppm`` faster than its target's by the time of an instrument, ``within`` so many, on that day. It is
    believed as long as the board's ``target`` and its instrument, as its record says it, are the same."""

    ppm: float
    within: float
    day: str
    instrument: str
    title: str
    target: str

    @property
    def origin(self) -> str:
        """Where it comes from, for records and tables."""
        return f"measured {self.day} by {self.instrument}, within {self.within:.0f}"


def kept(board: str, target: str, instrument: str, title: str) -> Kept | None:
    """What is known of a board's clock; None where nobody measured it with this instrument, of that name and title."""
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(_file(board).read_bytes(), type=Kept)
        if (found.target, found.instrument, found.title) == (target, instrument, title) and abs(found.ppm) <= MOST:
            return found
    return None


def keep(board: str, target: str, instrument: str, title: str, ppm: float, within: float) -> None:
    """Keeps what was measured today. :class:`OSError` where that cannot be written."""
    made = Kept(ppm, within, datetime.now(UTC).date().isoformat(), instrument, title, target)
    whole.put(_file(board), msgspec.json.encode(made))


def uncertainty(device: str, notes: Iterable[str], counted: bool) -> dict[str, float]:
    """``clock_uncertainty`` of a record, out of its note that names board and clock: within how many parts per million
    the clock was measured. A word of ``lab.toml``'s, or none, is good for what a run lets pass whose pulses were
    ``counted`` by the chip as well, and else for nothing that is known."""
    for note in notes:
        if said := re.match(rf"{re.escape(device)} .* clock [+-]\S+ ppm(?:, measured \S+ by .*, within (\d+))?", note):
            return {CLOCK: float(said[1])} if said[1] else {CLOCK: DRIFT * 1e6} if counted else {}
    return {}


def _file(board: str) -> Path:
    return paths.home() / "lab" / f"{board}.clock"
