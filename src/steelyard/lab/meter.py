"""A power meter as a stream of (t, V, I[, digital bits]), whatever reads it.

A thread takes what comes. Nobody waits for a fixed time: who asks gets samples when they came, or hears that the meter
is silent.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Condition, Event, Thread
from typing import Protocol

from msgspec import Struct, field

from ..model.call import DeviceError
from ..model.reasons import Failure, Reason
from .lock import held
from .metering import VOLTS, Metered

#: seconds of the wall without a sample before the meter counts as silent
PATIENCE = 10.0
#: seconds of the wall that a wait may take besides ten times what the meter is looked at
ENDLESS = 120.0
#: samples that are kept at the most: three minutes of the fastest meter would not help anybody
MOST = 20_000_000
#: seconds that a meter's clock shows at the most, besides which a sample's time still counts: some thousand years
LATEST = 1e11


class Samples(Struct):
    """Columns of the same length: seconds of the meter's own clock, volts, amperes; a byte of digital inputs for each
    where the meter has any; watts, where the meter gives these and amperes follow from them. What the meter says is out
    of its range, in whatever words, is infinity."""

    t: list[float] = field(default_factory=list)
    v: list[float] = field(default_factory=list)
    i: list[float] = field(default_factory=list)
    bits: bytearray = field(default_factory=bytearray)
    w: list[float] = field(default_factory=list)

    @property
    def read(self) -> list[float]:
        """What the meter gave, in whose steps it rounds: watts, else amperes."""
        return self.w or self.i

    def add(self, other: Samples) -> None:
        """Appends those of ``other``."""
        self.t += other.t
        self.v += other.v
        self.i += other.i
        self.bits += other.bits
        self.w += other.w


class Unsound(Exception):
    """Samples that no meter in order gives."""


class Driver(Protocol):
    """What a module of ``meters/`` has to offer, made as ``Driver(metered)``. Whatever it raises, as its library
    does, means that the meter is lost; :class:`Unsound`, that it is there."""

    #: whether the times of samples are when they came here, not the meter's own
    by_host: bool

    def start(self) -> None:
        """Begins to sample."""

    def read(self) -> Samples:
        """What came since the last time; waits for it a fifth of a second at the most."""

    def stop(self) -> None:
        """Ends sampling."""

    def close(self) -> None:
        """Lets go of the meter."""


class Stream:
    """The samples of one meter, between :meth:`start` and :meth:`stop`."""

    def __init__(self, metered: Metered, over: Event | None = None) -> None:
        self.metered = metered
        self.samples = Samples()
        self._changed = Condition()
        self._latest = 0.0
        #: samples so far
        self.count = 0
        self._running = False
        self._trouble: DeviceError | None = None
        self._thread: Thread | None = None
        self._lock = held(metered.place, f"meter {metered.name}", over)
        try:
            if missing := metered.kind.missing:
                raise ValueError(missing)
            module = import_module(f".meters.{metered.kind.module}", __package__)
            self._driver: Driver = module.Driver(metered)
        except Exception as e:  # of any library
            self._lock.close()
            raise self._gone(e) from None

    def start(self) -> None:
        """Begins to sample; nothing is there of what was before."""
        self.samples, self._latest = Samples(), -math.inf
        self._trouble = None
        try:
            self._driver.start()
        except Exception as e:
            raise self._gone(e) from None
        self._running = True
        self._thread = Thread(target=self._read, name=f"meter {self.metered.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends sampling."""
        self._running = False
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            try:
                self._driver.stop()
            except Exception as e:
                raise self._gone(e) from None

    def _read(self) -> None:
        try:
            while self._running:
                came = self._driver.read()
                if came.t:
                    _check(came, self.metered, self.latest())
                    with self._changed:
                        self.samples.add(came)
                        self.count += len(came.t)
                        if len(self.samples.t) > MOST:
                            raise ValueError(f"more than {MOST} samples at once: choose a lower rate")
                        self._changed.notify_all()
        except Unsound as e:
            self._trouble = self.unsound(str(e))
        except Exception as e:
            self._trouble = self._gone(e)
        finally:
            with self._changed:
                self._changed.notify_all()

    def wait(self, there: Callable[[], bool], over: Event) -> None:
        """Waits until what samples bring is ``there``. :class:`DeviceError` when none come any more."""
        alive = Alive(self)
        with self._changed:
            while not there():
                if over.is_set():
                    raise KeyboardInterrupt
                alive.look()
                self._changed.wait(0.1)

    @property
    def by_host(self) -> bool:
        """Whether the times of samples are when they came."""
        return self._driver.by_host

    def taken(self) -> Samples:
        """Takes the samples that came."""
        with self._changed:
            taken, self.samples = self.samples, Samples()
        if taken.t:
            self._latest = taken.t[-1]
        return taken

    def latest(self) -> float:
        """The time of the latest sample, by the meter's clock."""
        there = self.samples.t
        return there[-1] if there else self._latest

    def hush(self) -> None:
        """Ends sampling, whatever the meter says."""
        with suppress(DeviceError):
            self.stop()

    def check(self) -> None:
        """:class:`DeviceError` when the meter has ended."""
        if self._trouble is not None:
            raise self._trouble

    def lost(self, text: str) -> DeviceError:
        """The meter is not there."""
        return DeviceError(Failure(Reason.METER_LOST, f"meter {self.metered.name}: {text}"))

    def _gone(self, error: Exception) -> DeviceError:
        if isinstance(error, OSError) and error.errno:
            return self.lost(f"{self.metered.meter.port}: {os.strerror(error.errno)}")
        return self.lost(" ".join(str(error).split())[:200] or type(error).__name__)

    def unsound(self, text: str) -> DeviceError:
        """It is there, and says something that is not a measurement."""
        return DeviceError(Failure(Reason.POWER_LOST, f"meter {self.metered.name}: {text}"))

    def close(self) -> None:
        """Lets go of the meter."""
        self.hush()
        with suppress(Exception):  # unplugged: it is closed
            self._driver.close()
        self._lock.close()


class Alive:
    """Whether a meter goes on, while somebody waits for its samples."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._count, self._begin = -1, time.monotonic()
        self._since = self._begin

    def look(self) -> None:
        """:class:`DeviceError` when it has ended, is silent, or its time does not go on."""
        self._stream.check()
        now = time.monotonic()
        if self._stream.count != self._count:
            self._count, self._since = self._stream.count, now
        elif now - self._since > PATIENCE:
            raise self._stream.lost(f"is silent: no sample for {PATIENCE:g} s")
        if now - self._begin > ENDLESS + 10 * self._stream.metered.meter.seconds:
            raise self._stream.unsound("its time does not go on, or much too slowly: look at the column of times")


def _check(came: Samples, metered: Metered, latest: float) -> None:
    """:class:`Unsound` for samples that cannot be right."""
    if any(map(math.isnan, (*came.v, *came.i))) or not all(abs(t) <= LATEST for t in came.t):
        raise Unsound("sends what is not a number")
    if came.t != sorted(came.t) or came.t[0] < latest:
        raise Unsound("its time goes backwards: it was reset, or lines are damaged")
    amperes, volts = max(came.i, key=abs), max(came.v, key=abs)
    if abs(amperes) >= metered.most:  # where a range ends, meters go on saying so whatever flows
        raise Unsound(
            f"{amperes:g} A is out of its range of {metered.most:g} A: choose another range, or look for a short"
        )
    if abs(volts) > VOLTS:
        raise Unsound(f"{volts:g} V is out of the range of a supply, {VOLTS:g} V: look at its columns and its range")


def current(watts: float, volts: float) -> float:
    """Amperes that make these watts; none without voltage, and no number where the watts are out of range then."""
    return watts / volts if volts else watts * 0.0


@contextmanager
def opened(metered: Metered | None, over: Event) -> Iterator[Stream | Failure | None]:
    """The meter for one user at a time; why it is not there, when it is not: cycles can be measured without."""
    if metered is None:
        yield None
        return
    try:
        stream = Stream(metered, over)
    except DeviceError as e:
        yield e.failure
        return
    try:
        yield stream
    finally:
        stream.close()


def mean(values: Sequence[float]) -> float:
    """The mean of some values."""
    return math.fsum(values) / len(values)
