"""The supply of a virtual board: its current over the board's own time, for the meters that are played.

While the chip works it draws what its target's data sheet says, besides an idle current that always flows. A board
tells when it begins and ends to work as it tells its edges to the analyzer, and goes on as far as the meter lets it.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Protocol

from .analyzer import LEAD, TICK, Wired
from .clock import Clock

#: what a board's wire to its meter tells of: the trigger pin, and whether the chip works
TRIGGER, WORK = 0, 1


class Current:
    """Amperes, and the level of the trigger pin, over time in picoseconds. Time only goes forward."""

    def __init__(self, idle: float, active: float) -> None:
        self._idle, self._active = idle, active
        self._levels = [0, 0]
        self._events: deque[tuple[int, int, int]] = deque()
        self.time = 0

    @property
    def trigger(self) -> int:
        """The trigger pin's level."""
        return self._levels[TRIGGER]

    def told(self, events: deque[tuple[int, int, int]]) -> None:
        """Takes what the board told."""
        self._events += events
        events.clear()

    def mean(self, until: int) -> float:
        """Mean amperes from the last time up to ``until``."""
        start, worked = self.time, 0
        while self._events and self._events[0][0] <= until:
            at, level, which = self._events.popleft()
            at = max(at, self.time)
            worked += (at - self.time) * self._levels[WORK]
            self.time, self._levels[which] = at, level
        worked += (until - self.time) * self._levels[WORK]
        self.time = until
        return self._idle + self._active * (worked / (until - start) if until > start else self._levels[WORK])


class Played(Protocol):
    """The host's side of a meter."""

    def files(self) -> list[int]:
        """What is to be waited for."""

    def go_on(self, reached: int) -> None:
        """Answers what came, and sends what the time until ``reached`` brings."""

    def behind(self, reached: int) -> int:
        """The time that samples have come to; boards wait for it."""


class Supply:
    """Between one board, at the socket ``wire``, and a meter."""

    def __init__(self, wire: Path, clock: Clock, current: Current, played: Callable[[Current], Played]) -> None:
        self._clock, self._current = clock, current
        self._played = played(current)
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(wire))
        self._door.listen()
        self._board: Wired | None = None

    def serve(self) -> None:
        """Goes on for ever."""
        events = DefaultSelector()
        events.register(self._door, EVENT_READ)
        known: set[int] = set()
        while True:
            files = set(self._played.files())
            for file in files - known:
                events.register(file, EVENT_READ)
            for file in known - files:
                events.unregister(file)
            known = files
            for key, _ in events.select(TICK):
                if key.fileobj is self._door:
                    self._board = Wired(self._door.accept()[0])
                    events.register(self._board.line, EVENT_READ)
                elif self._board is not None and key.fileobj is self._board.line:
                    self._read(events, self._board)
            reached = self._board.time if self._board else self._clock.now()
            self._played.go_on(reached)
            if self._board is not None:
                # a late board would use up all that the clock lets it, and leave a meter that is just started behind
                now = min(self._clock.now(), reached)
                with suppress(OSError):  # which reading will find out
                    self._board.let(self._played.behind(now) + LEAD)

    def _read(self, events: DefaultSelector, board: Wired) -> None:
        try:
            there = board.read()
        except OSError:
            there = False
        self._current.told(board.edges)
        if not there:
            events.unregister(board.line)
            board.line.close()
            self._board = None
