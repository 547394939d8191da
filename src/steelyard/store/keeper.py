"""Keeps records on their way into the store, so that a failing database does not end a campaign."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

from msgspec.structs import replace

from steelyard.model.origin import is_revision
from steelyard.model.record import Record

from . import values
from .dates import dated
from .errors import LeaseLost, StoreError
from .store import Store
from .tenure import Tenure


class Keeper:
    """Stores records at once. Records that the store does not take are kept and tried again: with later records, after
    a pause when the database is locked, and at the end."""

    def __init__(self, store: Store) -> None:
        self.store = store
        #: why the latest attempt to store one failed
        self.why = ""
        #: records that are not stored yet, by their setup's key
        self.waiting: dict[str, Record] = {}
        self._leases: dict[str, int | None] = {}
        #: logs of records that are not stored yet, as ``record.log`` names them, by the setup's key
        self._logs: dict[str, tuple[str, str]] = {}
        #: records that were stored with a later one, since nobody asked
        self._late: dict[str, Record] = {}
        self._tenure = Tenure(store)
        self._next_try = 0.0
        self._lock = Lock()

    def find(self, keys: Iterable[str], origins: Iterable[str] = ()) -> dict[str, Record]:
        """Stored records that need not be made again, by key, for jobs with these origins: for what lies at a path
        others than those of revisions, if there are any. Raises :class:`StoreError`."""
        found = self.store.find(keys, revisions=any(map(is_revision, origins)))
        return {key: record for key, record in found.items() if record.final}

    def find_one(self, key: str, origin: str = "") -> Record | None:
        """The record for one key; None when there is none, or the store does not answer."""
        try:
            return self.find([key], [origin]).get(key)
        except StoreError:
            return None

    @contextmanager
    def leased(self, key: str, over: Event) -> Iterator[int | None]:
        """The number of the lease of a run, which nobody else has meanwhile, on any machine with this database. A
        record that still waits at the end is stored without: twice is better than not at all."""
        with self._tenure.held(key, over) as number:
            try:
                yield number
            finally:
                with self._lock:
                    if key in self.waiting:
                        self._leases[key] = None

    def add(self, record: Record, lease: int | None = None) -> Record:
        """Stores a record of the run that we have a ``lease`` of, if we have one. Returns it with its id, unchanged
        when it could not be stored yet, or another's where that has taken over."""
        record = dated(record)
        with self._lock:
            self.waiting[record.setup.key], self._leases[record.setup.key] = record, lease
            if time.monotonic() < self._next_try:
                return record
            self._late |= self._store()
            return self._late.pop(record.setup.key, record)

    def again(self) -> dict[str, Record]:
        """Tries to store the waiting records; returns those that now are, by key, and those that were stored with later
        ones."""
        with self._lock:
            late, self._late = self._late, {}
            return late | self._store()

    def _store(self) -> dict[str, Record]:
        stored: dict[str, Record] = {}
        for key, record in list(self.waiting.items()):
            try:
                digest, text = self._logs.get(key, ("", ""))
                log = text if digest == record.log else None
                stored[key] = replace(record, id=self.store.add(record, self._leases[key], log))
                del self.waiting[key]
                self._logs.pop(key, None)
            except LeaseLost as e:
                del self.waiting[key]
                self._logs.pop(key, None)
                text = f"not stored: {e}"
                stored[key] = self.find_one(key) or replace(record, notes=(*record.notes, text))
            except (StoreError, OSError) as e:
                self.why = str(e)
                if "locked" in self.why:  # then it is locked for all others too
                    self._next_try = time.monotonic() + values.BUSY_SECONDS
                    break
        return stored

    def with_log(self, record: Record, text: str) -> Record:
        """The record with ``text`` as its log, or with a note that the log could not be stored."""
        try:
            digest = self.store.put_blob(text)
        except (StoreError, OSError) as e:
            return replace(record, notes=(*record.notes, f"its log could not be stored: {e}"))
        self._logs[record.setup.key] = digest, text
        return replace(record, log=digest)
