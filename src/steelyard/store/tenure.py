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
#: seconds after which a lease that nobody looks at is forgotten: it has ended
_FORGOTTEN = 3600.0


class Others:
    """Leases of others that a process met, and since when each has not beaten, by the clock of this process. They are
    no more than there were leases within an hour."""

    def __init__(self) -> None:
        #: by keys: a lease, since when it is so, and when it was looked at, in seconds
        self._met: dict[str, tuple[Lease, float, float]] = {}

    def stale(self, key: str) -> Lease | None:
        """The lease of this key, if it has not beaten for too long."""
        lease, since, _ = self._met.get(key, (None, 0.0, 0.0))
        return lease if lease is not None and time.monotonic() - since > STALE else None

    def meet(self, key: str, lease: Lease) -> None:
        """Notes that it was looked at."""
        now = time.monotonic()
        before = self._met.get(key)
        if before is None:
            for other, (*_, looked) in list(self._met.items()):
                if now - looked > _FORGOTTEN:
                    self._met.pop(other, None)
        self._met[key] = lease, before[1] if before is not None and before[0] == lease else now, now

    def forget(self, key: str) -> None:
        """Notes that it is not another's any more."""
        self._met.pop(key, None)


class Tenure:
    """The leases of one process. Where the database does not answer work goes on without: a record is worth more.
    Who takes leases for several holders gives all of them the same ``others``."""

    def __init__(self, store: Store, holder: str = "", others: Others | None = None) -> None:
        self._store = store
        self._holder = holder
        self._others = Others() if others is None else others
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
        found = self._store.claim(key, self._holder or _holder(), self._others.stale(key), then)
        if found.mine:
            self._others.forget(key)
            return found.number
        self._others.meet(key, found)
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
