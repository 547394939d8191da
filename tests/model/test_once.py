"""One value for each key, made once by however many threads; and one process at a time."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from time import sleep

import pytest

from steelyard.model import once
from steelyard.model.once import Once, alone


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


HOLDER = """
import sys, time
from steelyard.model.once import alone
with alone(sys.argv[1]):
    print("in", flush=True)
    time.sleep(1000)
"""


def test_one_process_at_a_time_is_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it ends, however; other names do not wait, nor does who has no time left."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, "this"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "in\n"
    inside, over = Event(), Event()

    def enter(name: str, over: Event | None = None) -> None:
        with alone(name, over):
            inside.set()

    with alone("that"):
        pass
    waiting = Thread(target=enter, args=("this",))
    waiting.start()
    stopped = Thread(target=enter, args=("this", over))
    stopped.start()
    assert not inside.wait(0.2)
    over.set()
    stopped.join(10)
    assert inside.is_set()
    inside.clear()
    holder.kill()
    holder.communicate()
    waiting.join(10)
    assert inside.is_set()


def test_how_long_others_wait_is_for_the_caller_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    monkeypatch.setattr(once, "PATIENCE", 0.05)
    inside, over = Event(), Event()

    def enter() -> None:
        with alone("this", over, patience=math.inf):
            inside.set()

    with alone("this"):
        with alone("this"):  # who has little patience
            pass
        waiting = Thread(target=enter)
        waiting.start()
        assert not inside.wait(0.2)
    waiting.join(10)
    assert inside.is_set()


def test_threads_exclude_each_other_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    at_work, most = [0], [0]

    def work(_: int) -> None:
        with alone("this"):
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
            sleep(0.002)
            at_work[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(16)))
    assert most == [1]


def test_a_home_that_cannot_be_written_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    with alone("this"), alone("this"):
        pass
