"""A logic analyzer that speaks BeagleLogic's protocol over TCP and samples the pins of virtual boards.

Boards tell their edges in their own time over a UNIX socket, and from time to time how late it is. A sample goes out
when every board has come to its instant, and no board goes on far beyond what went out, so that no load of this machine
moves an edge or keeps one back for long. sigrok's driver
``beaglelogic:conn=tcp-raw/HOST/PORT`` is the other end.
"""

from __future__ import annotations

import socket
import struct
import time
from collections import deque
from contextlib import suppress
from heapq import merge
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from .clock import SECOND, Clock

#: what a board tells: picoseconds; the pin's level, or 2 where only time went on; the pin's number
EDGE = struct.Struct("<qBB")
MARK = 2
#: sigrok's names of a BeagleLogic's channels, the lowest bit first
PINS = ("P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40")
#: what a board is told: the picoseconds up to which it may go on
LEAVE = struct.Struct("<q")
#: picoseconds that a board may be ahead of the samples that went out
LEAD = SECOND // 5
#: bytes of samples on their way to the driver
_BUFFER = 1 << 17
#: seconds of the wall between two looks at the clock
TICK = 0.002
#: what the driver may set; a byte holds a sample of 8 channels
RATES = range(1, 100_000_001)
_BLANK = 1 << 16


class Wired:
    """A board that is connected: how late it is there, and its edges that were not sampled yet."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.time = 0
        self.edges: deque[tuple[int, int, int]] = deque()
        self._rest = b""

    def read(self) -> bool:
        """Takes what came; whether the board is still there."""
        data = self.line.recv(1 << 16)
        data = self._rest + data if data else b""
        whole = len(data) // EDGE.size * EDGE.size
        for at, level, pin in EDGE.iter_unpack(data[:whole]):
            self.time = at
            if level != MARK:
                self.edges.append((at, level, pin))
        self._rest = data[whole:]
        return bool(data)

    def let(self, until: int) -> None:
        """Tells the board how far it may go on; where it does not listen at the moment, the next time."""
        with suppress(BlockingIOError):
            self.line.send(LEAVE.pack(until), socket.MSG_DONTWAIT)


class Analyzer:
    """Serves one driver at a time at ``address``, boards at ``pins``."""

    def __init__(self, address: tuple[str, int], pins: Path, clock: Clock, rate: int) -> None:
        self._clock = clock
        self._settings = {"samplerate": rate, "sampleunit": 1, "triggerflags": 0}
        self._levels = 0
        self._sampled = 0
        self._start = 0
        self._boards: dict[socket.socket, Wired] = {}
        self._driver: socket.socket | None = None
        self._asked = b""
        self._running = False
        self._let_until = 0
        self._events = DefaultSelector()
        self._door = socket.create_server(address)
        self._pins = socket.socket(socket.AF_UNIX)
        self._pins.bind(str(pins))
        self._pins.listen()
        for listener in (self._door, self._pins):
            self._events.register(listener, EVENT_READ)

    def serve(self) -> None:
        """Goes on for ever."""
        sampled = 0.0
        while True:
            for key, _ in self._events.select(TICK):
                where = key.fileobj
                assert isinstance(where, socket.socket)
                if where is self._door:
                    self._welcome(self._door.accept()[0])
                elif where is self._pins:
                    line = self._pins.accept()[0]
                    self._boards[line], self._let_until = Wired(line), 0
                    self._events.register(line, EVENT_READ)
                elif where is self._driver:
                    self._answer(where)
                elif where in self._boards and not self._read(where):
                    self._events.unregister(where)
                    del self._boards[where]
                    where.close()
            if self._running and time.monotonic() - sampled >= TICK:  # boards say more often how late it is
                self._sample()
                sampled = time.monotonic()
            self._let()

    def _let(self) -> None:
        """Lets the boards go on: as far as they like where nobody samples."""
        now = self._clock.now()
        if self._running:
            now = self._start + self._sampled * SECOND // self._settings["samplerate"]
        if 0 <= now + LEAD - self._let_until < LEAD // 8:
            return  # they know nearly as much
        self._let_until = now + LEAD
        for board in self._boards.values():
            with suppress(OSError):  # which reading will find out
                board.let(self._let_until)

    def _read(self, line: socket.socket) -> bool:
        try:
            return self._boards[line].read()
        except OSError:
            return False

    def _welcome(self, driver: socket.socket) -> None:
        if self._driver is not None:
            driver.close()
            return
        driver.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        driver.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._driver, self._asked, self._running = driver, b"", False
        self._events.register(driver, EVENT_READ)

    def _leave(self) -> None:
        assert self._driver is not None
        self._events.unregister(self._driver)
        self._driver.close()
        self._driver, self._running = None, False

    def _answer(self, driver: socket.socket) -> None:
        try:
            said = driver.recv(4096)
        except OSError:
            said = b""
        if not said or len(self._asked) > 4096:
            return self._leave()
        *lines, self._asked = (self._asked + said).split(b"\n")
        for line in lines:
            name, _, value = line.decode("ascii", "replace").strip().partition(" ")
            if name == "get":
                self._begin()
            elif name == "close":
                self._running = False
            elif name and not self._send(f"{self._said(name, value)}\n".encode()):
                return None
        return None

    def _said(self, name: str, value: str) -> object:
        fixed = {"version": "BeagleLogic (virtual)", "memalloc": (1 << 31) - 1, "bufunitsize": 1 << 16}
        if name in fixed:
            return fixed[name]
        if name not in self._settings:
            return "error"
        if value:
            if not value.isdecimal() or (name == "samplerate" and int(value) not in RATES):
                return "error"
            self._settings[name] = int(value)
            return "ok"
        return self._settings[name]

    def _begin(self) -> None:
        """Samples from the boards' now on: what was before is in no stream."""
        self._running, self._sampled = True, 0
        self._start = self._reached()
        self._edges_until(self._start)

    def _reached(self) -> int:
        """How late it is on the slowest board."""
        return min((b.time for b in self._boards.values()), default=self._clock.now())

    def _edges_until(self, end: int) -> list[tuple[int, int, int]]:
        """Takes the edges before ``end``, all boards' in order."""
        taken = []
        for board in self._boards.values():
            mine = []
            while board.edges and board.edges[0][0] <= end:
                mine.append(board.edges.popleft())
            taken.append(mine)
        return list(merge(*taken))

    def _sample(self) -> None:
        """Sends the samples that every board has come to."""
        rate = self._settings["samplerate"]
        count = (self._reached() - self._start) * rate // SECOND
        if count <= self._sampled:
            return
        for at, level, pin in self._edges_until(self._start + count * SECOND // rate):
            first = -((self._start - at) * rate // SECOND)  # the first sample that is not before the edge
            self._level(min(first, count))
            self._levels = self._levels & ~(1 << pin) | level << pin
        self._level(count)

    def _level(self, until: int) -> None:
        """Sends samples of the present levels up to number ``until``."""
        while self._running and self._sampled < until:
            size = min(until - self._sampled, _BLANK)
            self._sampled += size
            self._send(bytes((self._levels,)) * size)

    def _send(self, data: bytes) -> bool:
        assert self._driver is not None
        try:
            self._driver.sendall(data)
        except OSError:
            self._leave()
            return False
        return True
