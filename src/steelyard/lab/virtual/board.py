"""A virtual board: a simulated chip with its boot loader behind a pseudo-terminal, its trigger pin on an analyzer.

The board has a time of its own. It goes with the wall's while the firmware waits, and with the chip's cycles while it
works; bytes need their bit times on the line. Where this machine is too slow the board is late, and its figures are the
same.
"""

from __future__ import annotations

import select
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Protocol

from ... import _native
from ...device import frame
from ...model.target import Target
from .analyzer import EDGE, LEAD, LEAVE, MARK
from .clock import SECOND, Clock
from .loader import Loader
from .pty import Port
from .supply import TRIGGER, WORK

#: seconds of the wall between two looks at line and clock
TICK = 0.001
#: picoseconds that the chip runs between two looks at the line
SLICE = SECOND // 1000
#: picoseconds from one word to the meter to the next
TELL = SECOND // 200
#: seconds after which a board that is idle looks seldom, and of the wall between two such looks; its time is that much
#: ahead meanwhile, for the analyzer waits for all boards
DOZES, DOZE = 0.3, 0.04
#: bits of a byte on the line: start, eight, stop
BITS = 10
#: seconds of the wall that a boot loader waits for a command: flashers know no other time, and begin late on a busy
#: machine. Who speaks to the firmware has not to wait for that: what pins say elsewhere, here his first byte says
PATIENCE = 5
#: picoseconds after its start in which the firmware is not expected to listen yet
STARTS = SECOND // 20
#: times as long once a flasher has begun, whom a busy machine may keep waiting
BUSY = 20
#: how far a serial port's rate may be from the line's until bytes are not what they were: half a bit in ten
GARBLES = 0.05
#: received bytes that a serial port holds, at the least of all chips; an AVR's has a FIFO of two (ATmega328P data
#: sheet DS40002061B, 20.7), besides a shift register whose grace until the next start bit is left out here
HELD, HELD_BY_AVR = 1, 2
#: what requests to the firmware begin with, and nothing that a flasher says
_HARNESS = bytes((frame.SYNC,))
#: what the firmware says before its serial port goes on at the second rate
_HASTENS = frame.encode(frame.HASTEN | frame.ANSWER)
_ELF = struct.Struct("<16s2HI3II6H")
_SEGMENT = struct.Struct("<8I")
_SECTION = struct.Struct("<10I")


def raw_image(flash: bytes, base: int) -> bytes:
    """Flash content as an ELF file without symbols: silicon knows of none."""
    offset = _ELF.size + _SEGMENT.size
    names = offset + len(flash)  # one empty name, and the header of the section that holds it
    sizes = (_ELF.size, _SEGMENT.size, 1, _SECTION.size, 1, 0)
    head = _ELF.pack(b"\x7fELF\1\1\1", 2, 0, 1, base, _ELF.size, names + 1, 0, *sizes)
    segment = _SEGMENT.pack(1, offset, base, base, len(flash), len(flash), 5, 1)
    return head + segment + flash + b"\0" + _SECTION.pack(0, 3, 0, 0, names, 1, 0, 0, 1, 0)


class Chip:
    """A simulated chip with a serial line and a trigger pin. All times are picoseconds."""

    def __init__(self, target: Target, baud: int, fast_baud: int = 0, clock_error_ppm: float = 0.0) -> None:
        #: the simulator; a debug port looks into it
        self.native = _native.Simulator(target.chip)
        self._config = target.chip
        #: stopped by its debug port: time goes on, cycles do not
        self.halted = False
        self._base = target.chip.flash.base
        #: cycles in a second of its own clock, which is not quite what its crystal says
        self._hz = round(target.board_hz * (1 + clock_error_ppm / 1e6))
        self._held = HELD_BY_AVR if target.toolchain.family == "avr" else HELD
        self._divides = target.wiring.serial_divides if target.wiring else 1
        #: what a byte takes on the line: after a reset, and once the firmware has said that it hastens
        self._slow, self._fast = (SECOND * BITS // b if b else 0 for b in (baud, fast_baud))
        self._byte, self._said = self._slow, b""
        self._begin = 0  # when cycle 0 was, had the chip never waited
        self._came: deque[tuple[int, int]] = deque()
        self._line_in = self._line_out = 0
        self._high = self._runs = self._waits = False
        self.time = 0
        #: bytes on the line to the host, with the time of their last bit, and edges of the trigger pin
        self.sent: deque[tuple[int, int]] = deque()
        self.edges: list[tuple[int, int]] = []
        #: when it began and ended to work, in pairs
        self.work: list[tuple[int, int]] = []

    @property
    def idle(self) -> bool:
        """Whether nothing goes on until somebody wants something: the line is quiet, the firmware waits or is held."""
        return not self._came and not self.sent and (self._waits or self.halted or not self._runs)

    def start(self, flash: bytes) -> None:
        """Resets the chip with this in its flash, and lets it go. RAM keeps its content, peripherals nothing."""
        self.hold()
        content = self.native.read(self._config.ram.base, self._config.ram.size)
        self.native = _native.Simulator(self._config)
        self.native.load(raw_image(flash, self._base))
        self.native.write(self._config.ram.base, content)
        self._runs, self._begin, self.halted, self._waits = True, self.time, False, False
        self._byte, self._said = self._slow, b""

    def hold(self) -> None:
        """Holds it in reset: the pin falls, and what was on the line is lost."""
        self._runs = False
        self._came.clear()
        self.sent.clear()
        if self._high:
            self._edge(self.time, 0)

    def receive(self, data: bytes, later: int = 0) -> None:
        """Puts bytes on the line to the chip, at once or ``later``."""
        for byte in data:
            self._line_in = max(self._line_in, self.time + later) + self._byte
            self._came.append((self._line_in, byte))

    def send(self, data: bytes) -> None:
        """Puts bytes on the line from the chip."""
        for byte in self._heard(data):
            self._line_out = max(self._line_out, self.time) + self._byte
            self.sent.append((self._line_out, byte))
            self._said = (self._said + bytes((byte,)))[-len(_HASTENS) :]
            if self._said == _HASTENS and self._fast:
                self._byte = self._fast

    def arrived(self) -> bytes:
        """Takes the bytes whose last bit has come."""
        due = bytearray()
        while self._came and self._came[0][0] <= self.time:
            due.append(self._came.popleft()[1])
        return self._heard(bytes(due))

    def _heard(self, data: bytes) -> bytes:
        """What becomes of bytes on the line, if the firmware's divider makes neither rate of it out of the chip's real
        clock."""
        bit = self.native.bit if data else None
        if bit is None:
            return data
        took = SECOND * BITS * bit * self._divides / self._hz
        right = any(abs(took / byte - 1) <= GARBLES for byte in (self._slow, self._fast) if byte)
        return data if right else bytes(b ^ 0x5A for b in data)

    def run(self, until: int) -> None:
        """Time goes on until then, and the chip works or waits."""
        if self.halted and self.time < until:
            self._begin += until - self.time
            self.time = until
        while self._runs and self.time < until:
            room = max(self._held - self.native.waiting, 0)
            due = self.arrived()[:room]  # what the firmware does not fetch in time is lost
            end = until if self._waits and not due else min(until, self.time + SLICE)
            if self._came:
                end = min(end, self._came[0][0])
            try:
                waits = self.native.run(due, max((end - self.time) * self._hz // SECOND, 1))
            except _native.SimulatorFault:  # it hangs, as a chip would
                self._runs = False
                break
            self._pulses()
            self.work.append((self.time, 1))
            self.time = max(self.time, self._at(self.native.cycles))
            self.work.append((self.time, 0))
            self.send(self.native.pending())
            self._waits = waits
            if waits and self.time < end:
                self._begin += end - self.time
                self.time = end
        self.time = max(self.time, until)

    def _at(self, cycle: int) -> int:
        return self._begin + cycle * SECOND // self._hz

    def _pulses(self) -> None:
        for rise, fall in self.native.pulses():
            if not self._high:
                self._edge(self._at(rise), 1)
            if fall is not None:
                self._edge(self._at(fall), 0)

    def _edge(self, at: int, level: int) -> None:
        self.edges.append((at, level))
        self._high = bool(level)


class _Leave:
    """How far an instrument lets the board go on, so that it is not left behind."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire, self._told, self.limit = wire, b"", 0

    def until(self, time: int) -> int:
        """The latest word; an older one will do while ``time`` is far from it."""
        if self.limit - time > LEAD // 2:
            return self.limit
        try:
            self._told += self._wire.recv(1 << 14, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return self.limit
        whole = len(self._told) // LEAVE.size * LEAVE.size
        if whole:
            self.limit = LEAVE.unpack_from(self._told, whole - LEAVE.size)[0]
            self._told = self._told[whole:]
        return self.limit


class Probe(Protocol):
    """A debug probe's end at the board."""

    @property
    def sockets(self) -> Sequence[socket.socket]:
        """Where something may come."""

    @property
    def busy(self) -> bool:
        """Whether it has work that nobody must wait for."""

    def serve(self) -> None:
        """Does what was asked for, and goes on with its work."""


class Board:
    """The chip, its boot loader, its serial port and the wire from its trigger pin to the analyzer."""

    def __init__(
        self,
        chip: Chip,
        loader: Callable[[], Loader] | None,
        flash: bytearray,
        port: Port,
        probe: Probe | None = None,
        boot_port: Port | None = None,
        touches: bool = False,
        reset_pin: Path | None = None,
    ) -> None:
        self._chip, self._loader, self._flash, self._port, self._probe = chip, loader, flash, port, probe
        #: what it is, while it has the line, and whether a flasher has begun
        self._boot: Loader | None = None
        self._begun = False
        #: where the boot loader listens, after each reset or only when a touch called it
        self._boot_line, self._touches, self._called = boot_port or port, touches, False
        self._own_line = boot_port is not None
        self._ports = (port, boot_port) if boot_port else (port,)
        #: a file that resets it by being there; else opening the port does
        self._reset_pin = reset_pin

    def play(self, clock: Clock, wire: socket.socket, pin: int, meter: socket.socket | None = None) -> None:
        """Goes on for ever, with an analyzer at the pin, and perhaps a ``meter`` in the supply."""
        chip = self._chip
        self._patience = int(PATIENCE * SECOND * clock.speed)
        self._quiet, self._dozes = chip.time, False
        ahead = int(DOZE * SECOND * clock.speed)
        leaves = self._leaves = [_Leave(w) for w in (wire, meter) if w is not None]
        if not self._own_line:  # else it has the program that it is sold with, whose USB hears a touch
            self._reset()
        drawn: list[tuple[int, int, int]] = []
        due_at = 0
        while True:
            self._look(clock)
            now = clock.now() + (ahead if self._dozes else 0)
            self._go_on(min(now, *(leave.until(chip.time) for leave in leaves)))
            marks = [(at, level, pin) for at, level in chip.edges]
            wire.sendall(b"".join(EDGE.pack(*m) for m in (*marks, (chip.time, MARK, pin))))
            if meter is not None:
                drawn += [(at, level, TRIGGER) for at, level in chip.edges]
                drawn += [(at, level, WORK) for at, level in chip.work]
                if chip.time >= due_at:
                    told = (*sorted(drawn, key=itemgetter(0)), (chip.time, MARK, 0))
                    meter.sendall(b"".join(EDGE.pack(*m) for m in told))
                    drawn, due_at = [], chip.time + TELL
            chip.edges.clear()
            chip.work.clear()
            if not chip.idle or self._boot is not None:
                self._quiet = chip.time
            self._dozes = chip.time - self._quiet > DOZES * SECOND * clock.speed
            due = bytearray()
            while chip.sent and chip.sent[0][0] <= chip.time:
                due.append(chip.sent.popleft()[1])
            if due:
                self._port.write(bytes(due))

    def _look(self, clock: Clock) -> None:
        """Waits for a tick, or for what happens at the port."""
        files = [n for p in self._ports for n in (p.events, *([p.master] if p.is_open else []))]
        probe = self._probe
        limit = min(leave.limit for leave in self._leaves)
        behind = clock.now() - self._chip.time > SLICE and self._chip.time < limit
        waits: list[int | socket.socket] = [*files, *(probe.sockets if probe else [])]
        rest = DOZE if self._dozes else TICK
        ready, _, _ = select.select(waits, [], [], 0.0 if behind or (probe and probe.busy) else rest)
        if ready:
            self._quiet, self._dozes = self._chip.time, False
        if probe and (probe.busy or any(s in ready for s in probe.sockets)):
            probe.serve()
        opened = [port for port in self._ports if port.events in ready and port.opened()]
        self._called |= (touched := self._touches and self._boot_line.touched())
        if touched or (self._port in opened and not probe and self._reset_pin is None):
            self._reset()
        if self._reset_pin is not None and self._reset_pin.exists():
            self._reset_pin.unlink()
            self._reset()
        if ready and (self._boot or self._own_line):
            self._load(self._boot_line.read())
        if ready and (not self._boot or self._own_line):
            self._hear(self._port.read())

    def _load(self, data: bytes) -> None:
        """The boot loader has the line. Its bytes need no bit times: flashers go by the wall's time, figures do not."""
        if not data or self._boot is None:
            return
        if not self._begun and data[:1] == _HARNESS:
            self._hear(data)
            return
        self._begun = True
        self._boot_line.write(b"".join(self._boot.feed(byte) for byte in data))
        self._until = self._chip.time + BUSY * self._patience

    def _hear(self, data: bytes) -> None:
        """The firmware has the line, or gets it from a boot loader that nobody spoke to."""
        waits = self._boot is not None and not self._begun and data[:1] == _HARNESS
        if waits:
            self._start()
        self._chip.receive(data, STARTS if waits else 0)

    def _reset(self) -> None:
        self._chip.hold()
        comes = self._own_line or self._called or not self._touches
        self._boot, self._begun = self._loader() if self._loader and comes else None, False
        if self._own_line:  # USB finds it anew
            self._boot_line.unplug()
            self._boot_line.plug()
        if self._boot is None:
            self._chip.start(bytes(self._flash))
        self._until = self._chip.time + self._patience

    def _go_on(self, now: int) -> None:
        """Lets time go on towards ``now``, a slice at the most."""
        chip = self._chip
        chip.run(now if self._dozes else min(now, chip.time + SLICE))
        if self._boot and (self._boot.over or chip.time > self._until):
            self._start()

    def _start(self) -> None:
        """The boot loader hands over."""
        assert self._boot is not None
        self._boot.leave()
        self._boot, self._called = None, False
        if self._own_line:
            self._boot_line.unplug()
        self._chip.start(bytes(self._flash))
