"""Whole campaigns on two boards through the real tools, while something goes wrong: nothing that was finished is lost,
nothing is stored twice, other runs go on, and what is stored as verified is the simulator's."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.lab import Lab, aside, attempt
from steelyard.lab.lock import is_held, port_of
from steelyard.model.implementation import Implementation
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.pipeline import Job, Pipeline
from steelyard.store import Store
from tests import toys
from tests.conftest import ROOT, Bench, the_target, write

from .wired import Wired, behind_wires, wired

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
#: kills of a scheduler, and packages that wait for it at any time
KILLS, WAITING = 30, 4


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, list[int]]]:
    with behind_wires(tmp_path_factory.mktemp("behind")) as found:
        yield found


@pytest.fixture
def there(behind: tuple[Lab, list[int]], tmp_path: Path) -> Iterator[Wired]:
    with wired(behind, tmp_path / "lab") as found:
        yield found


def package(bench: Bench, name: str, **hooks: str) -> Implementation:
    """A package with its known answers."""
    made = bench.package(variant=name, **hooks)
    write(made.folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    return bench.package(variant=name, **hooks)


def jobs(bench: Bench, lab: Lab, packages: Sequence[Implementation]) -> list[Job]:
    """Each of the packages on either of the boards."""
    both = tuple(map(lab.board, "ab"))
    return [replace(bench.job(p, the_target("uno"), "0/16"), on=both) for p in packages]


def reasons(records: list[Record]) -> list[Reason | None]:
    return [r.failure.reason if r.failure else None for r in records]


def leases(store: Store) -> int:
    """How many there are."""
    with store._engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM lease").scalar() or 0)


def check(records: list[Record], todo: list[Job], store: Store, simulated: Store) -> None:
    """All are verified, each is stored once, and their points are the simulator's to the sample."""
    assert reasons(records) == [None] * len(todo)
    times = Counter(r.setup.key for r in store.runs(newest_only=False) if r.final)
    assert set(times.values()) == {1}
    assert {r.setup.key for r in records} <= times.keys()
    for record, job in zip(records, todo, strict=True):
        ours = Pipeline(simulated, threads=1).weigh(replace(job, on=(), target=the_target("uno")))
        assert len(record.points) == len(ours.points) > 0
        for a, b in zip(record.points, ours.points, strict=True):
            assert abs(a.cycles - b.cycles) <= 2 * max(job.on[0].cycles_per_sample, 1)


def test_a_call_that_never_returns_costs_nobody_else(there: Wired, bench: Bench) -> None:
    """The firmware is stuck in a loop of the package's. A reset frees the board, which proves that it works; the second
    attempt ends the same way, and so the package is what hangs."""
    hangs = package(bench, "hangs", in_encrypt="if (n == 7) for (;;) {}")
    todo = jobs(bench, there.lab, [hangs, package(bench, "good1"), package(bench, "good2")])
    stuck, *good = Pipeline(bench.store, max_cycles=10**6).campaign(todo, lambda *_: None)
    assert stuck.failure is not None
    assert (stuck.failure.reason, stuck.metrics, stuck.points) == (Reason.RUNAWAY, {}, ())
    said = r"([ab]): no answer from (\S+) after 1000000 cycles and 2 s"
    found = re.fullmatch(said, stuck.failure.detail)
    assert found, stuck.failure.detail
    assert found[2] == str(there.lab.boards[found[1]].port)
    assert "look for an endless loop" in stuck.failure.next_action
    [note] = [n for n in stuck.notes if n.startswith("attempt")]
    assert re.fullmatch("attempt 1 ended with runaway: " + said, note)
    check(good, todo[1:], bench.store, bench.store)
    logs = [log for name in "ab" for log in attempt.logs(there.lab.boards[name])]
    proofs = [log for log in logs if log.what == "nocrypt, to prove the board"]
    assert proofs
    assert {log.reason for log in proofs} == {""}
    assert aside.read(there.lab.boards["a"]) is aside.read(there.lab.boards["b"]) is None
    assert leases(bench.store) == 0


@pytest.mark.long
def test_a_disk_that_fills_up(there: Wired, bench: Bench, disk: Callable[[str], Path], tmp_path: Path) -> None:
    """Under the database and the home, when the first run was stored and the other board is in the middle of one."""
    place = disk("12m")
    with pytest.MonkeyPatch.context() as patch, Store.open(place / "results.db") as store:
        patch.setenv("STEELYARD_HOME", str(place / "home"))
        todo = jobs(bench, there.lab, [package(bench, f"v{k}") for k in range(5)])
        stored: dict[str, int | None] = {}

        def fill(job: Job, record: Record, kept: bool) -> None:
            if not stored:
                stored[record.setup.key] = record.id
                with (place / "filler").open("ab", buffering=0) as file, suppress(OSError):
                    while file.write(bytes(512)):
                        pass

        full = Pipeline(store)
        records = full.campaign(todo, fill)
        assert set(reasons(records)) <= {None, Reason.DISK_FULL, Reason.NO_BASELINE}
        unstored = [r for r in records if r.id is None]
        assert 0 < len(unstored) <= len(full.keeper.waiting)
        assert "free some" in full.keeper.why
        assert all(r.failure.next_action == "free some disk space and run again" for r in records if r.failure)
        assert aside.read(there.lab.boards["a"]) is aside.read(there.lab.boards["b"]) is None
        (place / "filler").unlink()
        [first] = stored.items()
        again = Pipeline(store).campaign(todo, lambda *_: None)
        assert first in {(r.setup.key, r.id) for r in again}
        with Store.open(tmp_path / "simulated.db") as simulated:
            check(again, todo, store, simulated)
        assert leases(store) == 0


@pytest.mark.long
def test_thirty_kills_of_a_scheduler_with_the_real_tools(behind: tuple[Lab, list[int]], bench: Bench) -> None:
    """Flashers and sigrok-cli are left as they are. Each kill comes in the middle of a run on a board, and more than
    one run finishes between the first and the last; test_kills.py has boards that take less time."""
    seed = int(os.environ.get("STEELYARD_KILLS") or random.SystemRandom().randrange(10**6))
    print(f"STEELYARD_KILLS={seed}")
    dice = random.Random(seed)
    own, _ = behind
    packages: list[Implementation] = []
    finished: set[int] = set()
    where = ["--on", "lab", "--lab", str(own.folder / "lab.toml"), "--db", str(bench.database)]
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def command() -> list[str]:
        words = ["run", *(str(p.folder) for p in packages), *where, "-w", "0/16", "--flags=-Os"]
        return [sys.executable, "-m", "steelyard", *words]

    def final() -> set[int]:
        return {r.id for r in bench.store.runs(newest_only=False) if r.final and r.id}

    def on_boards(since: float) -> int:
        """Calls that the runs on both boards have had answered, since so many seconds after 1970."""
        there = [now for name in "ab" if is_held(port_of(own.boards[name])) and (now := attempt.now(own.boards[name]))]
        return sum(now.calls for now in there if now.begun >= since and now.purpose.what.startswith("toy"))

    for k in range(KILLS):
        while len(packages) < len(finished) + WAITING:
            packages.append(package(bench, f"toy{len(packages)}"))
        begun, wanted = time.time(), len(finished) + (k % 3 == 2)  # every third time it finishes one before
        process = subprocess.Popen(command(), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        most = dice.randrange(1, 250)  # of the 534 that a run has
        while len(final()) < wanted or on_boards(begun) < most:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.02)
        time.sleep(0.2 * dice.random())
        assert process.poll() is None
        busy = on_boards(begun)
        process.kill()
        process.wait()
        now = final()
        assert busy or now > finished, "the kill came between two runs"
        assert finished <= now
        finished = now
    assert len(finished) >= KILLS // 3
    subprocess.run(command(), env=env, check=True, stdout=subprocess.DEVNULL)
    todo = jobs(bench, own, packages)
    kept: list[bool] = []
    records = Pipeline(bench.store).campaign(todo, lambda job, record, stored: kept.append(stored))
    assert all(kept)
    check(records, todo, bench.store, bench.store)
    assert finished <= final()
    assert leases(bench.store) == 0
