"""Holds leases: beats while a run goes on, waits for others, takes over from those that have ended."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from steelyard.model import paths

from .errors import StoreError
from .store import Store

if TYPE_CHECKING:
    from .leasing import Lease, Then

#: seconds between two beats of a holder, and after which a lease without one is nobody's; of a look at another's
BEAT, STALE, LOOK = 10.0, 60.0, 1.0


class Tenure:
    """The leases of one process. Where the database does not answer work goes on without: a record is worth more."""

    def __init__(self, store: Store, holder: str = "") -> None:
        self._store = store
        self._holder = holder
        #: leases of others that this process met, and since when each has not beaten
        self._others: dict[str, tuple[Lease, float]] = {}
        self._mine: set[int] = set()
        self._lock = Lock()
        self._beats = Event()

    def held(self, key: str, over: Event) -> AbstractContextManager[int | None]:
        """The number of a lease of the run with this key, which is waited for until ``over`` is set; it ends with the
        block. None where there is none."""
        return self.kept(self._claimed(key, over))

    @contextmanager
    def kept(self, number: int | None) -> Iterator[int | None]:
        """Beats for a lease, if there is one, and ends it."""
        if number is None:
            yield None
            return
        with self._lock:
            self._mine.add(number)
            if not self._beats.is_set():
                self._beats.set()
                Thread(target=self._beat, name="leases", daemon=True).start()
        try:
            yield number
        finally:
            with self._lock:
                self._mine.discard(number)
            with suppress(StoreError):
                self._store.end(number)

    def _claimed(self, key: str, over: Event) -> int | None:
        """A number, which is waited for."""
        while not over.is_set():
            try:
                number = self.attempt(key)
            except StoreError:
                return None
            if number is not None:
                return number
            over.wait(LOOK)
        raise KeyboardInterrupt

    def attempt(self, key: str, then: Then | None = None) -> int | None:
        """The number of a lease, if nobody else has one; whoever has one and does not beat for too long loses it.
        ``then`` is done in the transaction that makes it."""
        seen, since = self._others.get(key, (None, 0.0))
        stale = seen if seen is not None and time.monotonic() - since > STALE else None
        found = self._store.claim(key, self._holder or _holder(), stale, then)
        if found.mine:
            self._others.pop(key, None)
            return found.number
        if seen != found:
            self._others[key] = found, time.monotonic()
        return None

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT)
            with self._lock:
                mine = list(self._mine)
                if not mine:
                    self._beats.clear()
                    return
            with suppress(StoreError):
                self._store.beat(mine)


def _holder() -> str:
    """Who holds leases: all processes of a ``STEELYARD_HOME``, in which a file lock says who works on a run. So what
    one that was killed has left can be had at once."""
    home = hashlib.sha256(str(paths.home()).encode(errors="surrogateescape")).hexdigest()[:16]
    return f"{platform.node()[:200]} {home}"
