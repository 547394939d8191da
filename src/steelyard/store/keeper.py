"""Records on their way into the store. A database that does not take them ends no campaign."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Lock

from msgspec.structs import replace

from steelyard.model.record import Record

from . import values
from .errors import StoreError
from .store import Store


class Keeper:
    """Stores records at once. Those that the store does not take are kept, and tried again: first when the time that
    the store waits for a lock is over once more, and in the end."""

    def __init__(self, store: Store) -> None:
        self.store = store
        #: why the newest of :attr:`waiting` were not stored
        self.why = ""
        #: records that are not stored, by their setup's key
        self.waiting: dict[str, Record] = {}
        self._next_try = 0.0
        self._lock = Lock()

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """Stored records that need not be made again, by key."""
        return {key: record for key, record in self.store.find(keys).items() if record.final}

    def find_one(self, key: str) -> Record | None:
        """The same for one key; nothing where the store does not answer."""
        try:
            return self.find([key]).get(key)
        except StoreError:
            return None

    def add(self, record: Record) -> Record:
        """The record with its number, or as it is where it is not stored yet."""
        with self._lock:
            self.waiting[record.setup.key] = record
            if time.monotonic() < self._next_try:
                return record
            return self._store().get(record.setup.key, record)

    def again(self) -> dict[str, Record]:
        """Tries to store what is not: the records that now are, by key."""
        with self._lock:
            return self._store()

    def _store(self) -> dict[str, Record]:
        stored: dict[str, Record] = {}
        for key, record in list(self.waiting.items()):
            try:
                stored[key] = replace(record, id=self.store.add(record))
                del self.waiting[key]
            except (StoreError, OSError) as e:
                self.why = str(e)
                if "locked" in self.why:  # so are all others
                    self._next_try = time.monotonic() + values.BUSY_SECONDS
                    break
        return stored

    def with_log(self, record: Record, text: str) -> Record:
        """The record with ``text`` as its log, or a note that there is none."""
        try:
            return replace(record, log=self.store.put_blob(text))
        except (StoreError, OSError) as e:
            return replace(record, notes=(*record.notes, f"its log could not be stored: {e}"))
