"""Meters that are asked for each reading."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..meter import Samples


class Polled:
    """Asks ``reading`` for volts and amperes, ``rate`` times in a second. A reading's time is when it was asked for."""

    by_host = True

    def __init__(self, reading: Callable[[], tuple[float, float]], rate: float) -> None:
        self._reading, self._step = reading, 1 / rate
        self._next = 0.0

    def start(self) -> None:
        """See :class:`..meter.Driver`."""
        self._reading()
        self._next = time.monotonic()

    def read(self) -> Samples:
        """See :class:`..meter.Driver`."""
        now = time.monotonic()
        if self._next > now:
            time.sleep(min(self._next - now, 0.2))
            if self._next > time.monotonic():
                return Samples()
        at = time.monotonic()
        self._next = max(self._next + self._step, at)
        volts, amperes = self._reading()
        return Samples([at], [volts], [amperes])

    def stop(self) -> None:
        """See :class:`..meter.Driver`."""
