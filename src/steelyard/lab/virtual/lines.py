"""A meter that sends a line for each reading: the mean since the one before."""

from __future__ import annotations

from ..metering import COLUMNS, Metered
from .clock import SECOND
from .pty import Port
from .supply import Current


class Lines:
    """See :class:`.supply.Played`."""

    def __init__(self, port: Port, metered: Metered, volts: float, current: Current) -> None:
        self._port, self._current, self._volts = port, current, volts
        self._columns = [(COLUMNS[c], c) for c in metered.columns]
        self._period = int(SECOND / metered.rate)

    def files(self) -> list[int]:
        """Who opens the port."""
        return [self._port.events]

    def behind(self, now: int) -> int:
        """Nobody waits for such a meter: it sends whether somebody listens or not."""
        return now

    def go_on(self, reached: int) -> None:
        """See the interface."""
        self._port.opened()
        self._port.read()
        while self._current.time + self._period <= reached:
            amperes = self._current.mean(self._current.time + self._period)
            if self._port.is_open:
                self._port.write(self._line(amperes).encode())

    def _line(self, amperes: float) -> str:
        now = {"t": self._current.time / SECOND, "v": self._volts, "i": amperes, "w": self._volts * amperes}
        words = []
        for (role, scale), _ in self._columns:
            words.append(str(self._current.trigger) if role == "bits" else f"{now[role] / scale:.6f}" if scale else "0")
        return ",".join(words) + "\r\n"
