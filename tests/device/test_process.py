"""This machine as a target: the same protocol and the same verdicts, measured instead of simulated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from steelyard import pipeline
from steelyard.cli import select
from steelyard.cli.select import implementations
from steelyard.device import process
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import ROOT, Bench, the_target


@pytest.fixture
def host() -> Target:
    return the_target("host")


def test_a_run_on_this_machine(bench: Bench, host: Target) -> None:
    implementation = implementations(["ascon128v12/fast"])[0][0].implementation
    record = bench.weigh(implementation, host, load="0/0,0/64,64/64,0/512", flags="-O2")
    assert record.ok, record.failure
    assert record.verification is not None
    assert record.verification.vectors == 1089
    assert record.setup.device == "process"
    assert 0 <= record.metrics["spread_percent"] < 1000
    cycles = {(p.adlen, p.mlen): p.cycles for p in record.points if p.operation == "encrypt"}
    assert cycles[0, 512] > cycles[0, 0] > 0


def test_stack_is_painted_and_counted(bench: Bench, host: Target) -> None:
    waste = "volatile unsigned char waste[3000]; waste[0] = 1; waste[2999] = waste[0];"
    plain = bench.weigh(bench.package(), host).metrics["stack"]
    deep = bench.weigh(bench.package(variant="toy2", in_encrypt=waste), host).metrics["stack"]
    assert 2900 < deep - plain < 3200


def test_a_crash_and_an_endless_loop_are_results(bench: Bench, host: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    crash = bench.weigh(bench.package(variant="crash", in_encrypt="*(volatile int *)8 = 1;"), host)
    assert crash.failure is not None
    assert (crash.failure.reason, crash.failure.detail) == (Reason.FAULT, "the process ended with signal 11")
    monkeypatch.setattr("steelyard.device.process.PATIENCE", 0.3)
    loop = bench.weigh(bench.package(variant="loop", in_encrypt="for (;;) ;"), host)
    assert loop.failure is not None
    assert loop.failure.reason is Reason.RUNAWAY


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ('for (;;) if (write(1, "line\\n", 5)) {}', Reason.FAULT, "the process writes more than 1 MiB"),
        ('for (;;) if (write(2, "line\\n", 5)) {}', Reason.FAULT, "the process writes more than 1 MiB"),
        ('for (;;) if (write(1, "a", 1)) usleep(1000);', Reason.RUNAWAY, "no end after 1.2 s"),
    ],
    ids=["output", "errors", "slowly"],
)
def test_what_a_process_writes_has_an_end(
    bench: Bench, host: Target, monkeypatch: pytest.MonkeyPatch, code: str, reason: Reason, text: str
) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.4)
    monkeypatch.setattr(process, "ALTOGETHER", 3)
    monkeypatch.setattr(process, "MOST", 1 << 20)
    record = bench.weigh(bench.package(top="#include <unistd.h>", in_encrypt=code), host)
    assert record.failure == Failure(reason, text)


def test_the_memory_of_a_process_has_a_limit(bench: Bench, host: Target) -> None:
    def ok(size: int, variant: str) -> bool:
        code = f"void *volatile all = malloc({size}ul); if (!all) return 1; free(all);"
        files = {**toys.files(top="#include <stdlib.h>", in_encrypt=code), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
        return bench.weigh(bench.package(files, variant=variant), host).ok

    assert ok(64 << 20, "some")
    assert not ok(process.MEMORY, "all")


@pytest.mark.parametrize("pipes", ["12", "1", "2"])
def test_a_process_that_closes_its_pipes_and_goes_on(
    bench: Bench, host: Target, monkeypatch: pytest.MonkeyPatch, pipes: str
) -> None:
    """Where no sandbox holds their other ends, they end before the process does."""
    monkeypatch.setattr(pipeline.building, "confined", lambda _: ())
    monkeypatch.setattr(process, "LAST", 0.1)
    code = "".join(f"close({n}); " for n in pipes) + "for (;;) ;"
    record = bench.weigh(bench.package(top="#include <unistd.h>", in_encrypt=code), host)
    assert record.failure == Failure(Reason.FAULT, "the process closed its pipes and went on")


def test_it_is_weighed_only_when_named() -> None:
    assert "host" not in [t.name for t in select.targets([])]
    assert [t.name for t in select.targets(["host"])] == ["host"]


@pytest.mark.parametrize(
    ("hardware", "quantities"),
    [
        (
            "what == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK",
            {"cycles", "instructions"},
        ),
        ("what == PERF_COUNT_HW_CPU_CYCLES ? 999 : PERF_COUNT_SW_CPU_CLOCK", {"cycles", "instructions"}),
        ("what == PERF_COUNT_HW_CPU_CYCLES ? PERF_COUNT_SW_TASK_CLOCK : 999", {"cycles"}),
    ],
    ids=["both", "no cycles", "no instructions"],
)
def test_the_kernels_counters(bench: Bench, host: Target, tmp_path: Path, hardware: str, quantities: set[str]) -> None:
    """Its clocks replace the counters of the processor, which virtual machines hide."""
    folder = tmp_path / "host"
    shutil.copytree(host.folder, folder)
    text = (ROOT / "harness" / "machine" / "target.c").read_text()
    for old, new in (
        ("PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE"),
        ("attr.config = what", f"attr.config = {hardware}"),
        ("a.value[0] > 1000", "a.value[0] > 10"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "target.c").write_text(text)
    target = host.but(folder=folder)
    if "PERF_COUNT_SW_TASK_CLOCK" in hardware and "core cycles by perf" not in str(pipeline.clock_of(target)):
        pytest.skip("this kernel lets nobody count: sysctl kernel.perf_event_paranoid=2")
    implementation = implementations(["ascon128v12/fast"])[0][0].implementation
    record = bench.weigh(implementation, target, load="0/64", flags="-O2")
    assert record.ok, record.failure
    assert {m.split("_")[0] for m in record.metrics if m.endswith("_encrypt_mean")} == quantities
    assert all(record.metrics[f"{q}_encrypt_mean"] > 0 for q in quantities)


#: work for a key that is not that of the call before
LAST = """
static unsigned char last[16];
static volatile unsigned burnt;
static void prepare(const unsigned char *k)
{
    unsigned i, other = 0;
    for (i = 0; i < 16; i++)
        other |= last[i] ^ k[i], last[i] = k[i];
    if (other)
        for (i = 0; i < 100000; i++)
            burnt += i;
}
"""


def test_a_memo_of_the_last_key_gains_nothing_though_calls_are_repeated(bench: Bench, host: Target) -> None:
    """Each measured call follows one with another key. The work takes about a hundred times as long as the rest."""
    kat = {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
    honest = bench.weigh(bench.package({**toys.files(), **kat}), host, "0/16")
    memo = bench.weigh(bench.package({**toys.files(top=LAST, in_tag="prepare(k);"), **kat}), host, "0/16")
    assert honest.failure is memo.failure is None
    for op in ("encrypt", "decrypt", "reject"):
        names = [f"{q}_{op}_mean" for q in ("cycles", "instructions", "ticks")]
        name = next(n for n in names if n in honest.metrics)
        assert memo.metrics[name] > 5 * max(honest.metrics[name], 1000), name


def test_a_package_that_works_in_the_checked_repetition_alone(bench: Bench, host: Target) -> None:
    """The last of eighteen calls, each of which follows another one."""
    idle = "static unsigned calls; if (++calls % 36 != 0) { *clen = mlen + CRYPTO_ABYTES; return 0; }"
    record = bench.weigh(bench.package(in_encrypt=idle), host)
    assert record.failure is not None
    assert record.failure.reason is Reason.WRONG_OUTPUT, record.failure
    assert "repeated" in record.failure.detail
