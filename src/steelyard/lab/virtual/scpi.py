"""A supply (Rigol DP832) and a multimeter (HP 34401A) that speak SCPI over TCP, as far as sigrok asks for it.

A reading is the mean since the one before.
"""

from __future__ import annotations

import socket
from contextlib import suppress

from .supply import Current

SUPPLY, METER = "scpi-pps", "scpi-dmm"
_NAMES = {SUPPLY: "RIGOL TECHNOLOGIES,DP832,DP8A000000001,00.01.14", METER: "HEWLETT-PACKARD,34401A,0,10-5-2"}


class Scpi:
    """See :class:`.supply.Played`. A supply's first channel feeds the board."""

    def __init__(self, kind: str, address: tuple[str, int], volts: float, current: Current) -> None:
        self._kind, self._volts, self._current = kind, volts, current
        self._door = socket.create_server(address)
        self._door.setblocking(False)
        self._host: socket.socket | None = None
        self._asked = b""
        self._channel = "1"
        self._amperes = self._charge = 0.0
        self._span = 0

    def files(self) -> list[int]:
        """The door, and the host."""
        return [self._door.fileno(), *([self._host.fileno()] if self._host else [])]

    def behind(self, now: int) -> int:
        """Nobody waits for such a meter."""
        return now

    def go_on(self, reached: int) -> None:
        """See the interface."""
        span = max(reached - self._current.time, 0)
        self._charge += self._current.mean(self._current.time + span) * span
        self._span += span
        with suppress(BlockingIOError):
            host = self._door.accept()[0]
            if self._host is not None:
                self._host.close()
            self._host, self._asked = host, b""
            host.setblocking(False)
        if self._host is None:
            return
        try:
            data = self._host.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._asked = (self._asked + data).split(b"\n")
        try:
            for line in lines:
                answer = self._answer(line.decode("ascii", "replace").strip().lstrip(":").upper())
                if answer is not None:
                    self._host.sendall(answer.encode() + b"\n")
        except OSError:
            data = b""
        if not data or len(self._asked) > 4096:
            self._host.close()
            self._host = None

    def _answer(self, asked: str) -> str | None:
        if asked == "*IDN?":
            return _NAMES[self._kind]
        if asked.startswith("INST:NSEL "):
            self._channel = asked.split()[1]
        if not asked.endswith("?"):
            return None
        fed = self._kind == METER or self._channel == "1"
        if asked.startswith(("READ", "MEAS:CURR", "FETC")):
            if self._span and fed:
                self._amperes = self._charge / self._span
                self._charge = self._span = 0
            return f"{self._amperes if fed else 0.0:.9E}"
        known = {"*OPC?": "1", "FUNC?": '"CURR"', "CONF?": '"CURR +1.000000E-01,+1.000000E-07"'}
        volts = self._volts if fed else 0.0
        known |= {"MEAS:VOLT?": f"{volts:.6f}", "MEAS:POWE?": f"{volts * self._amperes:.9f}"}
        return known.get(asked, "0")
