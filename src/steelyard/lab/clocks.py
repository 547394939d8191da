"""How far clocks of boards are from what they are called, as ``boards check`` measured them.

It is a file in the folder of a board (:meth:`.config.Board.kept_clock`). What ``lab.toml`` says itself wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from math import ceil
from pathlib import Path

import msgspec
from msgspec import Struct

from ..device.counter import DRIFT, MOST
from ..model import whole
from ..model.metric import CLOCK

#: whose word it is on a clock that nobody measured
NEVER = "never measured"
#: what a record's note says of a clock
_SAID = re.compile(r".* clock (?P<ppm>[+-]\S+) ppm(?:, measured \S+ by .*, within (?P<within>\d+))?")


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
        if found.measured == measured and adapter in ("", found.adapter) and abs(found.ppm) <= MOST * 1e6:
            return found
    return None


def keep(file: Path, measured: tuple[str, ...], adapter: str, *, ppm: float, within: float, instrument: str) -> None:
    """Keeps what was measured today. :class:`OSError` where that cannot be written."""
    made = Kept(ppm, within, datetime.now(UTC).date().isoformat(), instrument, measured, adapter)
    whole.put(file, msgspec.json.encode(made))


def uncertainty(device: str, notes: Iterable[str], shown: float | None) -> dict[str, float]:
    """``clock_uncertainty`` of a record, out of its note that names board and clock: within how many parts per million
    the clock was measured. A word of ``lab.toml``'s, or none, is good for the fraction that the run's own calls have
    ``shown``, where the chip counted them as well, and else for nothing that is known."""
    for note in notes:
        if note.startswith(f"{device} ") and (said := _SAID.match(note)):
            return {CLOCK: float(said["within"])} if said["within"] else {CLOCK: ceil(shown * 1e6)} if shown else {}
    return {}


def holds(known: str, ppm: float, notes: Iterable[str]) -> bool:
    """Whether the note that begins with what is ``known`` of a board names no other clock than ``ppm``, by more than a
    run lets pass."""
    said = (_SAID.match(note) for note in notes if note.startswith(known))
    return all(abs(float(s["ppm"]) - ppm) <= DRIFT * 1e6 for s in said if s)
