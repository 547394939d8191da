"""Campaigns on HyperQueue: a server and two workers here, and what becomes of a campaign when any of it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steelyard.farm import batch, hq
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.store import Keeper, Store
from tests import toys
from tests.cli.conftest import Cli, cli
from tests.conftest import the_target, write
from tests.store.conftest import Make, make

__all__ = ["cli", "make"]

_SERVER = """
import sys, time
from hyperqueue.cluster import LocalCluster, WorkerConfig
with LocalCluster(server_dir=sys.argv[1]) as cluster:
    for _ in range(2):
        cluster.start_worker(WorkerConfig(cores=1))
    print("started", flush=True)
    time.sleep(3600)
"""
WORDS = ("run", "mine", "-t", "uno", "-w", "16/0", "--flags=-O1;-O2;-Os", "--engine", "hq", "--batch", "1")
#: four implementations and nocrypt with three flag sets
RUNS = 15


class Server:
    """HyperQueue with two workers, in a process that may be killed, with all that it has started."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self.start()

    def start(self) -> None:
        words = [sys.executable, "-c", _SERVER, str(self._folder)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self.process.stdout is not None
        while self.process.stdout.readline() != "started\n":
            assert self.process.poll() is None

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("hyperqueue", reason="HyperQueue is not installed: pip install hyperqueue")
    the_target("uno")
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HQ_SERVER_DIR", str(tmp_path / "server"))
    for name in ("ref", "a", "b", "c"):
        write(
            tmp_path / "mine" / "crypto_aead" / "toy1" / name,
            toys.files() | {"more.h": f"/* {name} */\n", "LWC_AEAD_KAT_128_128.txt": toys.kat()},
        )
    made = Server(tmp_path / "server")
    yield made
    made.kill()


def results() -> dict[str, Any]:
    """What nodes have written, by key."""
    found = [line for f in (paths.home() / "hq").glob("*/*/*/*.results") for line in batch.whole(f.read_bytes())[0]]
    assert len(found) == len({line.key for line in found}), "a run was done twice"
    return {line.key: line.record for line in found}


def count(db: Path) -> int:
    if not db.exists():
        return 0
    with Store.open(db) as store:
        return len(store.runs(newest_only=False))


@pytest.mark.parametrize("odd", [b"\0" * 40, b"{}", b'{"key": 1}', b"\xff\xfe", b"[" * 5000, b'{"key": "a", "rec'])
def test_a_line_that_is_no_result_is_a_run_that_is_to_be_done(odd: bytes, make: Make) -> None:
    """A disk that lost its power, a node that wrote into another's file: no campaign ends by it."""
    line = msgspec.json.encode(batch.Result("k", make(), ""))
    data = b"\n".join([line, odd, line, b""]) + line[:50]
    found, length = batch.whole(data)
    assert [r.key for r in found] == ["k", "k"]
    assert data[length:] == line[:50]


def test_a_campaign_on_a_cluster_is_the_same_as_here(server: Server, cli: Cli, tmp_path: Path) -> None:
    there = cli(" ".join([*WORDS[:-1], "4", "--db", "there.db", "--json"]))
    assert there.code == 0, there.out[:3000]
    here = cli(" ".join([*WORDS[:-4], "--db", "here.db"]))
    assert here.code == 0, here.err
    with Store.open("there.db") as one, Store.open("here.db") as other:
        mine, its = ({r.setup.key: r for r in s.runs(newest_only=False)} for s in (one, other))
        assert len(mine) == len(one.runs(newest_only=False)) == RUNS
        assert {k: r.metrics for k, r in mine.items()} == {k: r.metrics for k, r in its.items()}
        assert all(r.ok for r in mine.values())
    assert not any((paths.home() / "hq").glob("*/*")), "nothing is left behind"
    again = cli(" ".join([*WORDS[:-1], "4", "--db", "there.db"]))
    assert again.code == 0
    assert count(Path("there.db")) == RUNS


@pytest.mark.long
def test_after_a_kill_of_everything_nothing_is_done_twice(server: Server, cli: Cli, tmp_path: Path) -> None:
    """SIGKILL of who submitted, then of the server with its workers, while runs are done."""
    db = tmp_path / "k.db"
    words = [sys.executable, "-m", "steelyard", *WORDS, "--db", str(db)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as first:
        deadline = time.monotonic() + 240
        while len(done := results()) < 3:
            assert first.poll() is None, first.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        first.kill()
        server.kill()
    assert len(done := results()) < RUNS, "all was done before the kill"
    server.start()
    again = cli(" ".join([*WORDS, "--db", str(db)]))
    assert again.code == 0, again.err
    with Store.open(db) as store:
        runs = store.runs(newest_only=False)
    assert len(runs) == RUNS
    finished = {r.setup.key: r.finished for r in runs}
    assert {k: r.finished for k, r in done.items()} == {k: finished[k] for k in done}


@pytest.mark.long
def test_who_comes_back_goes_on_with_what_the_server_still_has(server: Server, cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "k.db"
    words = [sys.executable, "-m", "steelyard", *WORDS, "--db", str(db)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as first:
        deadline = time.monotonic() + 240
        every = (paths.home() / "hq").glob
        while not (found := [f for f in every("*/*/0000/submitted.json") if b"null" not in f.read_bytes()]):
            assert first.poll() is None, first.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        first.kill()
    waves = found[0].parent.parent

    def submit(self: Any, wave: Path, given: Any) -> None:
        raise AssertionError(f"{len(given.resources)} batches are submitted again")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hq.Cluster, "_submit", submit)
        again = cli(" ".join([*WORDS, "--db", str(db)]))
    assert again.code == 0, again.err
    assert count(db) == RUNS
    assert not waves.exists()


_DIES = """
import os, runpy, signal
from steelyard.farm import hq
write = hq._write
def dies(wave, given):
    if given.job is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    write(wave, given)
hq._write = dies
runpy.run_module("steelyard", run_name="__main__")
"""


def test_who_does_not_know_whether_a_wave_was_taken_has_nothing_done_twice(
    server: Server, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL, twice, after HyperQueue took a wave and before that was written down."""
    words = [*(w.replace("-O1;-O2;-Os", "-O1") for w in WORDS), "--db", str(tmp_path / "k.db")]
    for _ in range(2):
        died = subprocess.run([sys.executable, "-c", _DIES, *words], cwd=tmp_path, capture_output=True, timeout=240)
        assert died.returncode == -signal.SIGKILL, died.stderr
    monkeypatch.setattr(hq, "shutil", SimpleNamespace(rmtree=lambda *_, **__: None))
    again = cli(" ".join(words))
    assert again.code == 0, again.err
    assert len(results()) == count(tmp_path / "k.db") == RUNS // 3
    [wave] = (paths.home() / "hq").glob("*/*/*/")
    assert len(list(wave.glob("*.job"))) == RUNS // 3


@pytest.mark.parametrize(("taken", "begun"), [(None, True), (2, True), (2, False)])
def test_a_wave_that_is_done_needs_no_worker(
    taken: int | None, begun: bool, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody knew whether it was taken, where it waits a second time at a server that has no worker more, and
    where its runs were made elsewhere."""
    monkeypatch.setattr(hq, "_server", lambda: "here")

    class Endless:
        over, error = False, ""

        def __init__(self, wave: Path) -> None:
            pass

        def join(self, timeout: float) -> None:
            raise AssertionError("waits for what is done")

    monkeypatch.setattr(hq, "_Waiting", Endless)
    record = make()
    hq._write(tmp_path, hq._Submitted("here", taken, ["", ""]))
    for number in (0, 1):
        (tmp_path / f"{number}.jobs").touch()
        if begun:
            (tmp_path / f"{number}.end").touch()
    line = msgspec.json.encode(batch.Result("k", replace(record, id=None, log=""), ""))
    (tmp_path / "0-x.results").write_bytes(line + b"\n")
    with Store.open(tmp_path / "k.db") as store:
        cluster = object.__new__(hq.Cluster)
        cluster.keeper = Keeper(store)
        kept = {key: record for key, record in cluster._taken(tmp_path, {}, {}) if taken is None or not begun}
        run: Any = SimpleNamespace(job=None)
        cluster._waited(tmp_path, {"k": run}, kept, lambda *_: None)
    assert list(kept) == ["k"]


def test_a_batch_is_of_one_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is begun again, for its node died."""
    begun = []
    for job in ("7", "8", "7"):
        monkeypatch.setenv("HQ_JOB_ID", job)
        begun.append(batch._begins(tmp_path, 0))
    assert begun == [True, False, True]
    assert batch.begun_by(tmp_path) == {7}


def test_a_second_result_of_a_campaign_is_not_stored(make: Make, tmp_path: Path) -> None:
    """However it came to be; but what a machine made fail is no result."""
    right = make()
    assert right.finished is not None
    again = replace(right, host="there", finished=right.finished + timedelta(minutes=1))
    failed = replace(right, failure=Failure(Reason.DISK_FULL, "no space"))
    for name, first, runs in (("a", right, 1), ("b", failed, 2)):
        wave = tmp_path / name
        wave.mkdir()
        for k, record in enumerate((first, again)):
            line = msgspec.json.encode(batch.Result("k", replace(record, id=None, log=""), ""))
            (wave / f"{k}-x.results").write_bytes(line + b"\n")
        with Store.open(tmp_path / f"{name}.db") as store:
            cluster = object.__new__(hq.Cluster)
            cluster.keeper = Keeper(store)
            kept: dict[str, Any] = {}
            for k in (0, 1):  # as they come
                (wave / f"{1 - k}-x.results").rename(wave / f"{1 - k}-x.later")
                for key, record in cluster._taken(wave, {}, kept):
                    kept[key] = record
                (wave / f"{1 - k}-x.later").rename(wave / f"{1 - k}-x.results")
            assert len(store.runs(newest_only=False)) == runs


def test_half_a_line_is_done_again(tmp_path: Path) -> None:
    """Whoever is killed while he writes leaves no result that nobody can read."""
    the_target("uno")
    from tests.made_up import record

    line = batch.Result("k", record("toy1/ref"), "said")
    import msgspec

    data = msgspec.json.encode(line) + b"\n"
    assert batch.whole(data + data[: len(data) // 2]) == ([line], len(data))
    assert batch.whole(data[:-1]) == ([], 0)


def test_without_a_server_it_is_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hyperqueue", reason="HyperQueue is not installed: pip install hyperqueue")
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HQ_SERVER_DIR", str(tmp_path / "none"))
    refused = cli("run nocrypt -t uno --engine hq --db x.db")
    assert refused.code == 2
    assert "no server of HyperQueue answers" in refused.err
    assert "--batch: is of --engine hq" in cli("run nocrypt -t uno --batch 3").err


def test_boards_are_resources_of_workers() -> None:
    from steelyard import lab
    from steelyard.cli.plan import plan
    from steelyard.model.campaign import Campaign
    from steelyard.pipeline import resolve

    station = lab.load(paths.ROOT / "docs" / "guides" / "lab.toml").board("pill-1")
    jobs = plan(Campaign(implementations=("nocrypt",), workloads=("16/0",)), on=[station]).jobs
    simulated = plan(Campaign(implementations=("nocrypt",), workloads=("16/0",), targets=("bluepill",))).jobs
    made = [(resource, len(some)) for resource, some in hq._batches(map(resolve, [*jobs, *simulated]), 1)]
    assert set(made) == {("steelyard-bluepill", 1), ("", 1)}


def test_a_machine_s_failure_is_no_later_run(make: Make) -> None:
    right = make()
    assert right.finished is not None
    later = right.finished + timedelta(days=1)
    failed = replace(make(finished=later, host="there"), failure=Failure(Reason.DISK_FULL, "no space"))
    assert not hq._there(failed, right)
    assert hq._there(replace(right, finished=later, host="there"), right)
