"""Pulses from a logic analyzer: ``sigrok-cli`` samples without end, and boards ask for the pulses of their channels.

A thread reads one instrument for all boards. Nobody waits for a fixed time: who asks gets pulses when they were
seen, or hears that the instrument has looked on for long enough and saw none.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Event, Thread
from typing import Protocol

from ..model.call import DeviceError
from ..model.errors import counted
from ..model.reasons import Failure, Reason
from .config import Instrument
from .edges import Edges
from .lock import held
from .sigrok import Sampling

#: seconds that the instrument looks on for a pulse, by its own samples
LOOK_ON = 3.0
#: seconds of the wall without a sample before it counts as lost
PATIENCE = 30.0
#: pulses of a channel that are kept: more than that between two calls is noise, and one is too many
MOST = 10_000
_CHUNK = 1 << 20


class Pulses(Protocol):
    """Where a board gets the pulses of a channel from, as (rising edge, falling edge) in samples."""

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        """Takes the oldest ``count`` pulses, and waits for them. :class:`DeviceError` when they do not come."""

    def drop(self, channel: str) -> int:
        """Takes all that have been seen; how many there were."""


class Analyzer:
    """``sigrok-cli`` at one instrument; it samples until :meth:`close`. With ``over`` one that another process has is
    waited for."""

    def __init__(self, instrument: Instrument, over: Event | None = None) -> None:
        self._instrument = instrument
        self._edges = Edges((1 << len(instrument.channels)) - 1)
        self._rose: dict[int, int] = {}
        self._seen: dict[str, deque[tuple[int, int]]] = {name: deque(maxlen=MOST) for name in instrument.channels}
        self._changed = Condition()
        #: it has ended, and why; or it has been silent for too long
        self._over, self._why, self._silent = False, "", False
        self._lock = held(f"instrument {instrument.driver}", f"instrument {instrument.name}", over)
        rate = ("--config", f"samplerate={instrument.samplerate}")
        try:
            self._sampling = Sampling(instrument.driver, instrument.channels, *rate, "--output-format", "binary")
        except FileNotFoundError:
            self._lock.close()
            raise self._lost("sigrok-cli is not installed: apt install sigrok-cli") from None
        self._thread = Thread(target=self._read, name=f"analyzer {instrument.name}", daemon=True)
        self._thread.start()
        try:
            with self._changed:
                self._wait(lambda: self._edges.count > 0)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether it still samples, as far as anybody has seen."""
        return not self._over and not self._silent

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        """See :class:`Pulses`."""
        seen = self._seen[channel]
        with self._changed:
            end = self._edges.count + LOOK_ON * self._instrument.samplerate
            self._wait(lambda: len(seen) >= count or self._edges.count > end)
            if len(seen) < count:
                level = "high" if self._instrument.channels.index(channel) in self._rose else "low"
                text = f"channel {channel} of {self._instrument.name} stays {level}: {len(seen)} of "
                text += counted(count, "pulse")
                if others := [c for c, queue in self._seen.items() if c != channel and queue]:
                    text += f"; there were some on {', '.join(others)}: were boards or wires swapped?"
                raise DeviceError(Failure(Reason.PULSES_LOST, text))
            return [seen.popleft() for _ in range(count)]

    def drop(self, channel: str) -> int:
        """See :class:`Pulses`."""
        with self._changed:
            count = len(self._seen[channel])
            self._seen[channel].clear()
            return count

    def _wait(self, there: Callable[[], bool]) -> None:
        """Waits for what samples bring; :class:`DeviceError` when none come any more."""
        count, since = self._edges.count, time.monotonic()
        while not there():
            if self._over:
                raise self._lost(self._why)
            if self._edges.count != count:
                count, since = self._edges.count, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                self._silent = True
                raise self._lost(f"no sample for {PATIENCE:g} s")
            self._changed.wait(1.0)

    def _lost(self, text: str) -> DeviceError:
        return DeviceError(Failure(Reason.ANALYZER_LOST, f"{self._instrument.name}: {text}"))

    def _read(self) -> None:
        file = self._sampling.output.fileno()
        level = 0
        try:
            while data := os.read(file, _CHUNK):
                with self._changed:
                    for at, levels in self._edges.feed(data):
                        self._edge(at, levels & ~level, level & ~levels)
                        level = levels
                    self._changed.notify_all()
        finally:
            why = self._sampling.end()
            with self._changed:
                self._over, self._why = True, why
                self._changed.notify_all()

    def _edge(self, at: int, risen: int, fallen: int) -> None:
        for bit, name in enumerate(self._instrument.channels):
            if risen >> bit & 1:
                self._rose[bit] = at
            elif fallen >> bit & 1:
                self._seen[name].append((self._rose.pop(bit), at))

    def close(self) -> None:
        """Ends sampling; the next one may have the instrument."""
        self._sampling.interrupt()
        self._thread.join()
        self._sampling.close()
        self._lock.close()
