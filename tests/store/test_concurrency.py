"""Many writers, and writers that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import URL

from steelyard.store import Store
from steelyard.store.values import REVISION_TABLE

from .conftest import RECORD, Make
from .servers import emptied

WRITER = """
import sys
from msgspec.structs import replace
from itertools import count
from steelyard.store import Store
from tests.store.conftest import RECORD

path, who, times = sys.argv[1:]
with Store.open(path) as store:
    for i in range(int(times)) if int(times) else count():
        setup = replace(RECORD.setup, flags=f"{who} {i}", target=f"t{i % 3}")
        print(store.add(replace(RECORD, setup=setup)), flush=True)
"""


def start(database: str, who: str, times: int) -> subprocess.Popen[str]:
    """A process that adds records and prints their ids; 0 times is for ever."""
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, database, who, str(times)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_four_processes_add_to_a_database_none_of_them_found(database: str) -> None:
    writers = [start(database, f"w{i}", 25) for i in range(4)]
    ids: list[int] = []
    for writer in writers:
        out, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
        ids += map(int, out.split())
    assert len(set(ids)) == 100
    with Store.open(database) as store:
        records = store.runs()
    assert len({r.setup.key for r in records}) == 100
    assert all(replace(r, setup=RECORD.setup) == RECORD for r in records)


@pytest.mark.parametrize("lost", [f"DELETE FROM {REVISION_TABLE}", f"DROP TABLE {REVISION_TABLE}, point"])
def test_a_database_whose_maker_was_killed_is_made(servers: Callable[[str], URL], lost: str) -> None:
    """MariaDB commits each table as it is made."""
    database = emptied(servers("mariadb")).render_as_string(hide_password=False)
    with Store.open(database) as store, store._engine.begin() as connection:
        connection.exec_driver_sql(lost)
    with Store.open(database) as store:
        assert store.get(store.add(RECORD)) == RECORD


def test_threads_share_a_store(database: str, make: Make) -> None:
    _shared_by_threads(database, make)


def test_threads_share_a_store_in_memory(make: Make) -> None:
    _shared_by_threads(":memory:", make)


def _shared_by_threads(where: str, make: Make) -> None:
    with Store.open(where) as store:
        records = [make(flags=f"-D{i}", target=f"t{i % 5}") for i in range(60)]
        with ThreadPoolExecutor(12) as pool:
            ids = list(pool.map(store.add, records))
            found = list(pool.map(store.get, ids))
        assert found == records
        assert len(store.find(r.setup.key for r in records)) == 60


def test_a_killed_writer_loses_no_finished_record(database: str) -> None:
    writer = start(database, "victim", 0)
    assert writer.stdout is not None
    ids = [int(writer.stdout.readline()) for _ in range(20)]
    os.kill(writer.pid, signal.SIGKILL)
    ids += map(int, writer.communicate()[0].split())
    with Store.open(database) as store:
        stored = store.runs()
        assert {r.id for r in stored} >= set(ids)
        assert all(replace(r, setup=RECORD.setup) == RECORD for r in stored)
        assert store.add(RECORD) > max(ids)
