"""What it takes to claim a job and to return it, where eight processes want one of ten thousand; no job may be done
twice."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlalchemy import func, select

from steelyard.model.record import Record, Setup, Toolchain, Verification
from steelyard.store import Store, schema
from steelyard.store.queue import DONE, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk, Given
from steelyard.store.task import Task
from tests.store.servers import SERVERS, emptied

WORKERS = 8
TARGET, FILE = "uno", "toy.zip"
RECORD = Record(
    Setup("crypto_aead", "toy", "toy1", "ref", "1" * 64, TARGET, "2" * 64, "simulator",
          Toolchain("gcc", "gcc 1", "3" * 64), "-O3", "default", "4" * 64, "model/1"),
    None, {"rom": 500, "cycles_encrypt_mean": 1000.0}, (), (), Verification("known", 1089, 20, 0),
)  # fmt: skip


@contextmanager
def database(name: str) -> Iterator[str]:
    """An empty database of this kind; servers are started for it."""
    if name == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder, "queue.db"))
        return
    with SERVERS[name]() as url:
        yield emptied(url).render_as_string(hide_password=False)


def work(place: str, n: int) -> tuple[list[int], list[float], float]:
    """Takes and returns jobs until there are none: their numbers, seconds of each, and of the processor for all."""
    numbers, taken = list[int](), list[float]()
    with Store.open(place) as store:
        line, begun = Queue(store, f"w{n}"), time.process_time()
        while True:
            at = time.perf_counter()
            mine = line.begin([TARGET])
            if mine is None:
                if not _open(store):
                    return numbers, taken, time.process_time() - begun
                time.sleep(0.05)
                continue
            line.close(mine, DONE, record=RECORD)
            taken.append(time.perf_counter() - at)
            numbers.append(mine.number)


def _open(store: Store) -> int:
    with store._engine.connect() as connection:
        job = schema.job.c
        return int(connection.execute(select(func.count()).where(job.state != DONE)).scalar_one())


def lines(name: str, jobs: int) -> list[tuple[str, str, str, str]]:
    """What was measured with one kind of database."""
    try:
        with database(name) as place:
            return _measured(name, place, jobs)
    except BaseException as e:
        if type(e).__name__ != "Skipped":  # the server is not installed
            raise
        return [(f"{name}: {e}", "", "", "")]


def _measured(name: str, place: str, jobs: int) -> list[tuple[str, str, str, str]]:
    given = Given(FILE, b"PK" + os.urandom(2000), json.dumps({}), "MIT", "10.0.0.1")
    tasks = [
        Task(package=given.digest, file=FILE, primitive="crypto_aead", family="toy", variant="toy1", name=f"n{k}",
             digest="1" * 64, target=TARGET, flags=("-O3",), workload="default")
        for k in range(jobs)
    ]  # fmt: skip
    with Store.open(place) as store:
        Desk(store).hand_in(given, tasks, Quota(share=jobs, jobs=jobs))
    begun = time.perf_counter()
    with get_context("spawn").Pool(WORKERS) as pool:
        found = pool.starmap(work, [(place, n) for n in range(WORKERS)], chunksize=1)
    seconds = time.perf_counter() - begun
    numbers = sorted(n for done, _, _ in found for n in done)
    with Store.open(place) as store, store._engine.connect() as connection:
        attempts = connection.execute(select(func.count()).select_from(schema.job_attempt)).scalar_one()
        leases = connection.execute(select(func.count()).select_from(schema.lease)).scalar_one()
    assert numbers == sorted(set(numbers)), "a job was done twice"
    assert (len(numbers), attempts, leases) == (jobs, jobs, 0), (len(numbers), attempts, leases)
    each = [s for _, taken, _ in found for s in taken]
    used = sum(cpu for _, _, cpu in found)
    what = f"{name}: {jobs} jobs once each, {WORKERS} processes: claim and return of one"
    return [
        (what, f"{1000 * seconds / jobs:.2f} ms", f"{1000 * used / jobs:.2f} ms", "5 ms"),
        (f"{name}: what one process waits for both, median", f"{1000 * median(each):.1f} ms", "", ""),
    ]
