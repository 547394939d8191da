"""One value for each key, made once by however many threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from steelyard.model.once import Once


def test_threads_that_ask_together_get_what_one_of_them_made() -> None:
    start, made = Barrier(8), list[int]()

    def make(n: int) -> object:
        made.append(n)
        return object()

    once = Once(make, key=lambda n: n % 2)

    def ask(n: int) -> object:
        start.wait()
        return once(n)

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(ask, range(8)))
    assert sorted(n % 2 for n in made) == [0, 1]
    assert len(set(values)) == 2
    assert values[0] is values[2] is not values[1]


def test_what_could_not_be_made_is_tried_again() -> None:
    tries = iter([ValueError("no compiler yet"), 7])

    def make() -> int:
        got = next(tries)
        if isinstance(got, Exception):
            raise got
        return got

    once = Once(make)
    with pytest.raises(ValueError, match="no compiler yet"):
        once()
    assert once() == once() == 7
    once.cache_clear()
    with pytest.raises(StopIteration):
        once()
