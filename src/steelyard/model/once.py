"""Does work once: one value for each key among threads, one worker at a time among processes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import update_wrapper
from threading import Event, Lock
from typing import Any, Generic, ParamSpec, TypeVar

from . import paths

#: seconds to wait for another process before doing the work oneself: that process may be suspended
PATIENCE = 600.0
_PAUSE = 0.05
P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A function that computes each value once. A thread that asks for a value in the making waits for it.

    ``key`` maps the arguments to the value's key; without it the arguments are the key. When ``make`` raises, nothing
    is kept, and the next caller tries again. It is used as a decorator: ``@Once``.
    """

    def __init__(self, make: Callable[P, T], key: Callable[P, Hashable] | None = None) -> None:
        self._make = make
        self._key = key
        self._values: dict[Hashable, T] = {}
        self._locks: dict[Hashable, Lock] = {}
        update_wrapper(self, make)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The value for these arguments, computed at the first call. Raises what ``make`` raises."""
        key: Any = self._key(*args, **kwargs) if self._key else (args, tuple(kwargs.items()))
        with self._locks.setdefault(key, Lock()):
            if key not in self._values:
                self._values[key] = self._make(*args, **kwargs)
            return self._values[key]

    def cache_clear(self) -> None:
        """Forgets every value."""
        self._values.clear()


@contextmanager
def alone(name: str, over: Event | None = None, patience: float | None = None) -> Iterator[None]:
    """Admits one process or thread at a time among those with the same ``STEELYARD_HOME`` and ``name``. Others wait, at
    most ``patience`` seconds (:data:`PATIENCE` if left out), and not after ``over`` is set.

    The lock is one byte of one file, at an offset derived from the name. The kernel releases it when its holder ends
    for whatever reason (fcntl(2), "Open file description locks"). Where files cannot be locked, nobody waits.
    """
    at = int.from_bytes(hashlib.sha256(name.encode(errors="surrogateescape")).digest()[:7]) << 3
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0)
    file = -1
    try:
        with suppress(OSError):  # a full disk, or a folder without write permission
            folder = paths.home() / "cache"
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / "locks", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            _wait(file, wanted, over or Event(), PATIENCE if patience is None else patience)
        yield
    finally:
        if file >= 0:
            os.close(file)


def _wait(file: int, wanted: bytes, over: Event, patience: float) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end and not over.is_set():
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, wanted)
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: another process holds it
            over.wait(_PAUSE)
        else:
            return
