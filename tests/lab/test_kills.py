"""A scheduler that is killed at any moment has lost the runs in progress, and nothing else."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter

import pytest
from msgspec.structs import replace

from steelyard.lab.lock import is_held, port_of
from steelyard.pipeline import Pipeline
from tests.conftest import ROOT, Bench, the_target

from .test_pool import Boards, described, jobs, play, weighed

#: two boards, one of which fails now and then; says a word whenever something happens
SCHEDULER = """
import random, sys
from pathlib import Path
import pytest
from steelyard.model.reasons import Reason
from steelyard.pipeline import Pipeline
from tests.conftest import Bench
from tests.lab.test_pool import Boards, described, jobs, play

folder, count = Path(sys.argv[1]), int(sys.argv[2])
boards = Boards()
def now(_):
    print("opened", flush=True)
    return random.choice([None] * 9 + [Reason.BOARD_LOST])
boards.behave = {"a": now, "b": lambda _: now(_) and None}
with pytest.MonkeyPatch.context() as patch:
    play(boards, patch, folder / "home")
    bench = Bench(folder)
    Pipeline(bench.store).campaign(jobs(bench, described(folder), count), lambda *_: print("stored", flush=True))
"""


#: runs that are ahead at least: more than end between five words and a fifth of a second
AHEAD = 7


@pytest.mark.parametrize("kills", [5, pytest.param(30, marks=pytest.mark.long)])
def test_kills_lose_nothing_and_store_nothing_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch, kills: int) -> None:
    """Which moments they were is printed where the test fails; STEELYARD_KILLS repeats them as far as this machine
    does."""
    seed = int(os.environ.get("STEELYARD_KILLS") or random.SystemRandom().randrange(10**6))
    print(f"STEELYARD_KILLS={seed}")
    dice = random.Random(seed)
    folder = bench.folder.parent
    there = described(folder)
    play(Boards(), monkeypatch, folder / "home")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    finished: set[int] = set()
    count = 0
    for _ in range(kills):
        count = len(finished) + AHEAD
        words = [sys.executable, "-c", SCHEDULER, str(folder), str(count)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths})
        assert process.stdout is not None
        for _ in range(dice.randint(1, 5)):
            assert process.stdout.readline(), "it ended before it was killed"
        time.sleep(dice.random() * 0.2)
        assert process.poll() is None, "it ended before it was killed"
        process.kill()
        process.communicate()
        assert not any(is_held(port_of(board)) for board in there.boards.values())
        final = {r.id for r in bench.store.runs(newest_only=False) if r.final and r.id}
        assert finished <= final
        finished = final
    todo = jobs(bench, there, count)
    records = weighed(bench, todo)
    assert [r.failure for r in records] == [None] * count
    times = Counter(r.setup.key for r in bench.store.runs(newest_only=False) if r.final)
    assert set(times.values()) == {1}
    for record, job in zip(records, todo, strict=True):
        simulated = Pipeline(bench.store, threads=1).weigh(replace(job, on=(), target=the_target("uno")))
        assert record.points == simulated.points
    with bench.store._engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM lease").scalar() == 0
