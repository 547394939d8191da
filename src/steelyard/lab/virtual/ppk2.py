"""A Nordic PPK2 behind a pseudo-terminal, as far as ppk2-api asks for it. No description of the protocol is published;
the commands are those that this client sends."""

from __future__ import annotations

import errno
import os

from .clock import SECOND
from .pty import Port
from .supply import Current

START, STOP, RUN, VOLTS, MODE, DESCRIBE, RESISTOR = 0x06, 0x07, 0x0C, 0x0D, 0x11, 0x19, 0x12
#: bytes after a command
ARGUMENTS = {RUN: 1, VOLTS: 2, MODE: 1, RESISTOR: 5}
#: ohms of the shunt of each range; a reading is of so many volts over it
OHMS = (1031.64, 101.65, 10.15, 0.94, 0.043)
STEP, FULL = 4 * 1.8 / 163840, (1 << 14) - 1
PERIOD = SECOND // 100_000
#: bytes on their way to the host; no more time passes before they are gone
_BUFFER = 1 << 15
#: samples at once
_MOST = 4000


#: calibration: gains of square and reading, offsets, and the user's gain
_GAINS = {"GS": 0, "GI": 1, "O": 0, "S": 0, "I": 0, "UG": 1}


def description() -> str:
    """What it says of itself, calibration included."""
    lines = ["Calibrated: 1", *(f"R{n}: {ohms}" for n, ohms in enumerate(OHMS))]
    lines += [f"{name}{n}: {value}" for name, value in _GAINS.items() for n in range(len(OHMS))]
    return "\n".join([*lines, "HW: 9173", "IA: 56", "END"])


def sample(amperes: float, counter: int, bits: int) -> bytes:
    """A sample in the finest range that has room for it."""
    ranges = [n for n, ohms in enumerate(OHMS) if amperes * ohms / STEP <= FULL]
    chosen = ranges[0] if ranges else len(OHMS) - 1
    value = min(max(round(amperes * OHMS[chosen] / STEP), 0), FULL)
    return (value | chosen << 14 | counter << 18 | bits << 24).to_bytes(4, "little")


class Ppk2:
    """See :class:`.supply.Played`. The trigger pin is digital input 0."""

    def __init__(self, port: Port, current: Current) -> None:
        self._port, self._current = port, current
        self._asked = bytearray()
        self._out = bytearray()
        self._running = False
        self._counter = 0

    def files(self) -> list[int]:
        """The port, while somebody has it open."""
        return [self._port.events, *([self._port.master] if self._port.is_open else [])]

    def behind(self, now: int) -> int:
        """Where samples are wanted, the time of the latest."""
        return self._current.time if self._running else now

    def go_on(self, reached: int) -> None:
        """See the interface."""
        if self._port.opened() or not self._port.is_open:
            self._running = False
            self._out.clear()
        self._asked += self._port.read()
        while self._asked and len(self._asked) > (wanted := ARGUMENTS.get(self._asked[0], 0)):
            command = self._asked[0]
            del self._asked[: 1 + wanted]
            self._do(command, reached)
        if not self._running:
            self._current.mean(max(reached, self._current.time))
            self._send()
            return
        for _ in range(_MOST):
            if self._current.time + PERIOD > reached or len(self._out) > _BUFFER:
                break
            amperes = self._current.mean(self._current.time + PERIOD)
            self._counter = (self._counter + 1) % 64
            self._out += sample(amperes, self._counter, self._current.trigger)
        self._send()

    def _do(self, command: int, reached: int) -> None:
        if command == DESCRIBE:
            self._out += description().encode()
        elif command == START:
            self._current.mean(max(reached, self._current.time))
            self._running = True
        elif command == STOP:
            self._running = False

    def _send(self) -> None:
        try:
            while self._out:
                del self._out[: os.write(self._port.master, self._out[:4096])]
        except BlockingIOError:
            pass
        except OSError as e:
            if e.errno != errno.EIO:  # nobody has it open
                raise
