"""The time of a virtual lab: picoseconds since its start at the wall's pace times a speed, alike in all processes."""

from __future__ import annotations

import time

from msgspec import Struct

#: picoseconds of a second
SECOND = 10**12


class Clock(Struct, frozen=True):
    """``epoch`` is the start by :func:`time.monotonic_ns`, which all processes of a machine share."""

    epoch: int
    speed: float = 1.0

    def now(self) -> int:
        """Picoseconds since the start."""
        return int((time.monotonic_ns() - self.epoch) * self.speed * 1000)

    def wait(self, until: int, most: float) -> float:
        """Seconds of the wall from now to ``until``, from 0 to ``most``."""
        return min(max((until - self.now()) / (SECOND * self.speed), 0.0), most)
