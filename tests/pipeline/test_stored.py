"""What is stored and what is run again, as a dry run says it and as a run then does it."""

from __future__ import annotations

import itertools
from unittest import mock

import pytest
from msgspec.structs import replace

from steelyard import verify
from steelyard.cli.plan import CHANGES, forecast
from steelyard.model.inputs import SEED
from steelyard.model.reasons import MACHINE, Failure, Reason
from steelyard.model.record import Record, Setup
from steelyard.model.target import Target
from steelyard.pipeline import MAX_CYCLES, Job, Pipeline
from steelyard.store import Store
from tests import toys
from tests.conftest import Bench

FINE: dict[str, object] = {"metrics": {"cycles_encrypt_mean": 1}}


def failed(reason: Reason, **fields: object) -> dict[str, object]:
    return {"failure": Failure(reason, "so"), **fields}


def again(pipeline: Pipeline, job: Job) -> bool:
    """Whether a run runs the job again."""
    said: list[bool] = []
    pipeline.campaign([job], lambda job, record, kept: said.append(not kept))
    return said == [True]


@pytest.mark.parametrize(
    "fields",
    [
        FINE,
        FINE | {"max_cycles": 30_000},
        FINE | {"max_cycles": 2 * MAX_CYCLES},
        {"metrics": {"power_measured": 1.5, "power_idle_measured": 1.0}},
        {"metrics": {"power_idle_measured": 1.0}},
        FINE | {"notes": ("no energy: power-lost: meter m: all its readings are 0.01",)},
        FINE | {"notes": ("no energy: meter-unreachable: meter m: no such file",)},
        failed(Reason.NO_EXPECTED),
        failed(Reason.KAT_MISMATCH, max_cycles=30_000),
        failed(Reason.RUNAWAY),
        failed(Reason.RUNAWAY, max_cycles=30_000),
        failed(Reason.RUNAWAY, max_cycles=2 * MAX_CYCLES),
        failed(Reason.NO_BASELINE),
    ],
    ids=str,
)
def test_a_dry_run_says_what_a_run_does(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch, fields: dict[str, object]
) -> None:
    """Whatever is stored, and whatever is asked for: seed, cycles, power, and answers that are known by now."""
    job = bench.job(bench.package(toys.files()), uno)
    record: Record = replace(Record(job.plan, None, {}, seed=SEED), **fields)  # type: ignore[arg-type]
    monkeypatch.setattr(Pipeline, "_run", lambda self, job, record: record)  # builds nothing
    # what a meter says too coarsely it says again
    read = "power_idle_measured" in record.metrics or any("power-lost" in n for n in record.notes)
    every = itertools.product((SEED, "mine"), (30_000, MAX_CYCLES, 2 * MAX_CYCLES), (False, True), (False, True))
    for seed, cycles, metered, known in every:
        monkeypatch.setattr(Job, "metered", metered)
        monkeypatch.setattr(verify, "is_known", lambda _, known=known: known)
        reason, allowed = record.failure and record.failure.reason, record.max_cycles or MAX_CYCLES
        runs = (
            seed != SEED
            or reason in MACHINE
            or (reason is None and metered and not read)
            or (reason is Reason.NO_EXPECTED and known)
            or (reason is Reason.RUNAWAY and allowed < cycles)
        )
        with Store.open(":memory:") as store:
            number = store.add(record)
            [said] = forecast(store, [job], seed, cycles)
            assert (said.run, said.why == "stored") == ((None, False) if runs else (number, True))
            assert f"run {number}" in said.why or not runs
            assert again(Pipeline(store, threads=1, seed=seed, max_cycles=cycles), job) is runs


def test_a_run_keeps_what_its_calls_were_allowed(bench: Bench, uno: Target) -> None:
    """A run that ended for it is made again with more, and one that did not is not."""
    job = bench.job(bench.package({**toys.files(), "LWC_AEAD_KAT_128_128.txt": toys.kat()}), uno)
    ended = Pipeline(bench.store, threads=1, max_cycles=1000).weigh(job)
    assert ended.failure is not None
    assert (ended.failure.reason, ended.max_cycles) == (Reason.RUNAWAY, 1000)
    assert Pipeline(bench.store, threads=1, max_cycles=900).weigh(job) == ended
    fine = Pipeline(bench.store, threads=1).weigh(job)
    assert (fine.ok, fine.max_cycles) == (True, None)
    assert Pipeline(bench.store, threads=1, max_cycles=1000).weigh(job) == fine


def test_every_change_since_the_newest_run_of_the_same_name_is_named(bench: Bench, uno: Target) -> None:
    job = bench.job(bench.package(toys.files()), uno)
    for name, text in CHANGES.items():
        value = replace(job.plan.toolchain, sha256="0" * 64) if name == "toolchain" else "0" * 64
        old = Record(replace(job.plan, **{name: value}), None, {}, seed=SEED)
        number = bench.store.add(old)
        assert [(f.run, f.why) for f in forecast(bench.store, [job])] == [(None, f"{text} since run {number}")]


def test_a_boards_timing_model_is_its_analyzers(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    job = bench.job(bench.package(toys.files()), uno)
    number = bench.store.add(Record(replace(job.plan, timing_model="sigrok fx2lafw 16 MHz"), None, {}, seed=SEED))
    board = mock.Mock(clock="sigrok fx2lafw 24 MHz", target=uno)
    [said] = forecast(bench.store, [replace(job, on=(board,))])
    assert said.why == f"another analyzer or sample rate since run {number}"


def test_changes_are_of_all_that_tells_setups_apart() -> None:
    called = {"primitive", "family", "variant", "implementation", "target", "flags", "workload"}
    assert set(CHANGES) == set(Setup.__struct_fields__) - called
