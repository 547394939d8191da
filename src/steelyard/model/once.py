"""One value for each key, however many threads ask for it at the same time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

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
