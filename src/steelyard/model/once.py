"""One value for each key, however many threads ask for it at the same time; one worker, however many processes."""

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

#: seconds after which who waits for another process does the work itself: that one may be stopped
PATIENCE = 600.0
_PAUSE = 0.05
P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A function that makes each value once: who asks for one that another thread is making waits for it.

    ``key`` tells from the arguments which value is meant; without it they are the key themselves. What could not be
    made (``make`` raised) is tried again by the next who asks.
    """

    def __init__(self, make: Callable[P, T], key: Callable[P, Hashable] | None = None) -> None:
        self._make = make
        self._key = key
        self._values: dict[Hashable, T] = {}
        self._locks: dict[Hashable, Lock] = {}
        update_wrapper(self, make)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The value."""
        key: Any = self._key(*args, **kwargs) if self._key else (args, tuple(kwargs.items()))
        with self._locks.setdefault(key, Lock()):
            if key not in self._values:
                self._values[key] = self._make(*args, **kwargs)
            return self._values[key]

    def cache_clear(self) -> None:
        """Forgets every value."""
        self._values.clear()


@contextmanager
def alone(name: str, over: Event | None = None) -> Iterator[None]:
    """Inside is one process or thread of those with the same ``STEELYARD_HOME`` and ``name``; others wait, but not when
    it is ``over``.

    The lock is one byte of one file, at a place that the name's hash gives; the kernel takes it back when its holder
    ends, however that came (fcntl(2), "Open file description locks"). Where files cannot be locked nobody waits.
    """
    at = int.from_bytes(hashlib.sha256(name.encode(errors="surrogateescape")).digest()[:7]) << 3
    wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0)
    file = -1
    try:
        with suppress(OSError):  # a full disk, a folder that is not ours
            folder = paths.home() / "cache"
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / "locks", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            _wait(file, wanted, over or Event())
        yield
    finally:
        if file >= 0:
            os.close(file)


def _wait(file: int, wanted: bytes, over: Event) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and not over.is_set():
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, wanted)
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: another has it
            over.wait(_PAUSE)
        else:
            return
