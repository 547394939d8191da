"""How far clocks of boards are from what they are called, as ``boards check`` measured them.

It is a file in the folder of a board (:meth:`.config.Board.kept_clock`). What ``lab.toml`` says itself wins.
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
from ..model import whole
from ..model.metric import CLOCK

#: parts per million that a clock may be off: one that is further off does not hold a serial line
MOST = 50_000
#: whose word it is on a clock that nobody measured
NEVER = "never measured"


class Kept(Struct, frozen=True):
    """A clock was ``ppm`` faster than its target's by the time of an instrument, ``within`` so many, on that day. It is
    believed as long as board and instrument are the ``measured`` ones, and the port leads to that ``adapter``."""

    ppm: float
    within: float
    day: str
    instrument: str
    measured: tuple[str, ...]
    adapter: str

    @property
    def origin(self) -> str:
        """Where it comes from, for records and tables."""
        return f"measured {self.day} by {self.instrument}, within {self.within:.0f}"


def kept(file: Path, measured: tuple[str, ...], adapter: str) -> Kept | None:
    """What ``file`` says of the clock of what is to be ``measured``; None where nobody measured just that. A board that
    is not plugged in has no ``adapter``: it may still be the same."""
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(file.read_bytes(), type=Kept)
        if found.measured == measured and adapter in ("", found.adapter) and abs(found.ppm) <= MOST:
            return found
    return None


def keep(file: Path, measured: tuple[str, ...], adapter: str, *, ppm: float, within: float, instrument: str) -> None:
    """Keeps what was measured today. :class:`OSError` where that cannot be written."""
    made = Kept(ppm, within, datetime.now(UTC).date().isoformat(), instrument, measured, adapter)
    whole.put(file, msgspec.json.encode(made))


def uncertainty(device: str, notes: Iterable[str], counted: bool) -> dict[str, float]:
    """``clock_uncertainty`` of a record, out of its note that names board and clock: within how many parts per million
    the clock was measured. A word of ``lab.toml``'s, or none, is good for what a run lets pass whose pulses were
    ``counted`` by the chip as well, and else for nothing that is known."""
    for note in notes:
        if said := re.match(rf"{re.escape(device)} .* clock [+-]\S+ ppm(?:, measured \S+ by .*, within (\d+))?", note):
            return {CLOCK: float(said[1])} if said[1] else {CLOCK: DRIFT * 1e6} if counted else {}
    return {}
