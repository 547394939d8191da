"""The whole way: bundled implementations on every target, again and again, and after a kill."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.building import firmware, image
from steelyard.model.record import Record
from steelyard.model.target import load_target
from steelyard.model.workload import workload
from steelyard.pipeline import Job, Pipeline, nocrypt, resolve
from steelyard.sources import discover
from tests.conftest import ROOT, STANDARD, Bench, the_target

TINYJAMBU = ROOT / "ciphers/crypto_aead/tinyjambu"


def jobs(load: str = "0/0,0/16,0/64,16/0") -> list[Job]:
    fast = discover(TINYJAMBU / "tinyjambu128v2/fast").implementations[0]
    targets = [the_target(name) for name in STANDARD]
    return [Job(i, t, ("-Os",), workload(load)) for t in targets for i in (nocrypt("crypto_aead"), fast)]


def figures(record: Record) -> Record:
    """What must not change from run to run."""
    return replace(record, seconds=0.0, finished=None, host="")


def test_end_to_end(bench: Bench) -> None:
    seen: list[tuple[Job, bool]] = []
    pipeline = Pipeline(bench.store, threads=2)
    first = pipeline.campaign(jobs(), lambda job, _, kept: seen.append((job, kept)))
    assert {kept for _, kept in seen} == {False}
    for job, record in zip(jobs(), first, strict=True):
        assert (record.setup, record.failure) == (resolve(job).setup, None)
        assert record.verification is not None
        assert record.verification.vectors == 1089
        assert bench.store.get(record.id or 0) == record
        assert record.metrics["rom"] >= record.metrics["rom_encrypt"] >= 0
    bases, ciphers = first[::2], first[1::2]
    for base, cipher in zip(bases, ciphers, strict=True):
        assert cipher.verification is not None
        assert cipher.verification.ext_vectors + cipher.verification.skipped == 20
        assert cipher.metrics["rom"] >= cipher.metrics["image_rom"] - base.metrics["image_rom"] > 0
        assert cipher.metrics["cycles_encrypt_mean"] > 10 * base.metrics["cycles_encrypt_mean"]
        assert {p.operation for p in cipher.points} == {"encrypt", "decrypt", "reject"}

    seen.clear()
    again = Pipeline(bench.store, threads=2).campaign(jobs(), lambda job, _, kept: seen.append((job, kept)))
    assert again == first
    assert {kept for _, kept in seen} == {True}

    forced = Pipeline(bench.store, threads=1, force=True).campaign(jobs(), lambda *_: None)
    assert [figures(r) for r in forced] == [figures(r) for r in first]
    assert {r.id for r in forced}.isdisjoint({r.id for r in first})
    assert bench.store.runs() == sorted(forced, key=lambda r: -(r.id or 0))


def test_workloads_do_not_share_records() -> None:
    """Two long lists with the same number of sizes."""
    texts = [",".join(f"0/{m}" for m in range(first, first + 300)) for first in (0, 1)]
    keys = {resolve(replace(jobs()[0], workload=workload(text))).setup.key for text in texts}
    assert len(keys) == 2


def test_after_a_kill_the_rest_is_run_and_nothing_twice(bench: Bench) -> None:
    uno = the_target("uno")
    found = discover(TINYJAMBU).implementations
    every = [Job(i, uno, ("-Os",), workload("kat")) for i in (nocrypt("crypto_aead"), *found)]
    command = [sys.executable, "-m", "steelyard", "run", str(TINYJAMBU), "-t", "uno", "-w", "kat", "--flags=-Os", "-j1"]
    bench.store.close()
    campaign = subprocess.Popen(
        [*command, "--db", str(bench.database)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 60
        while len(stored(bench.database)) < 2 and campaign.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
    finally:
        campaign.send_signal(signal.SIGKILL)
    assert campaign.wait() == -signal.SIGKILL
    before = stored(bench.database)
    assert 2 <= len(before) < len(every)

    kept: list[bool] = []
    records = Pipeline(bench.store, threads=2).campaign(every, lambda *last: kept.append(last[2]))
    assert sum(kept) == len(before)
    assert all(r.ok for r in records)
    assert sorted(stored(bench.database)) == sorted(r.id for r in records if r.id)
    assert before <= set(stored(bench.database))


def stored(database: Path) -> set[int]:
    """Ids in the database, read without the store."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
            return {row[0] for row in connection.execute("select id from run")}
    except sqlite3.OperationalError:
        return set()


def test_a_missing_compiler_is_a_record(bench: Bench) -> None:
    job = jobs()[-1]
    spec = job.target.toolchain.but(name="none", compiler="no-such-gcc")
    target = load_target(job.target.name).but(toolchain=spec)
    record = Pipeline(bench.store, threads=1).weigh(replace(job, target=target))
    assert record.failure is not None
    assert (record.failure.reason, record.failure.detail) == ("no-toolchain", f"no-such-gcc not found: {spec.fix}")
    assert "doctor" in record.failure.next_action


def test_a_compiler_that_cannot_make_the_harness_stops_no_other_target(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "RECIPE", "broken")
    monkeypatch.setattr(firmware, "RECIPE", "broken")
    monkeypatch.setattr(firmware, "_HARNESS", ("-fno-such-option",))
    [record] = Pipeline(bench.store, threads=1).campaign(jobs("kat")[:1], lambda *_: None)
    assert record.failure is not None
    assert record.failure.reason == "no-toolchain"
    assert "-fno-such-option" in record.failure.detail
    assert not record.final, "tried again the next time"
