"""What designs lack is left out, and said; a design has to be right in the modes that are named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard import hardware
from steelyard.asked import Asked
from steelyard.cli import rtl
from steelyard.hardware import Hardware
from steelyard.model.errors import UserError
from steelyard.model.inputs import SEED
from steelyard.model.paths import ROOT
from steelyard.rtl import bench, ghdl, tools
from steelyard.rtl.bench import Outcome
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.rtl.streams import Stream
from steelyard.store import Store
from tests.rtl import toys

BASELINE = next(d for d in designs_of(ROOT / "rtl/nocrypt/nocrypt") if d.width == 32)


class Lacks:
    """A bench whose design fails at whatever needs one of ``lacked``."""

    def __init__(self, *lacked: str) -> None:
        self.lacked = lacked
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, work: Path, streams: Sequence[Stream], modes: Sequence[str]) -> list[Outcome]:
        self.asked.append(tuple(modes))
        return [self._of(m, list(streams)) for m in modes]

    def _of(self, mode: str, streams: list[Stream]) -> Outcome:
        for s in streams:
            if "key_reuse" in self.lacked and s.reuse:
                return Outcome(mode, "hang", 1, 1, 1, 0, s.name)
            if "segments" in self.lacked and "-by-" in s.name:
                return Outcome(mode, "hang", 1, 1, 1, 0, s.name)
            if (
                "padded" in self.lacked
                and mode == "stall"
                and any(w[:2] != "00" and w.endswith("000000") for w in s.out[2:-1])
            ):
                return Outcome(mode, "wrong", 1, 1, 1, 0, s.name, 1, "ab000000", "ab123456")
            if "tag" in self.lacked and "forged" in s.name:
                return Outcome(mode, "wrong", 1, 1, 1, 0, s.name, 1, "f0000000", "e0000000")
            if "size" in self.lacked and s.name.endswith("encrypt@0/1999"):
                return Outcome(mode, "wrong", 1, 1, 1, 0, s.name, 1, "00000000", "00000001")
            if "long" in self.lacked and len(s.out) > 2048 // 4 + 16:
                return Outcome(mode, "wrong", 1, 1, 1, 0, s.name, 1, "00000000", "00000001")
        return Outcome(mode, "ok", len(streams), 1, 1, 0)


def tried(
    lacks: Lacks, monkeypatch: pytest.MonkeyPatch, modes: tuple[str, ...]
) -> tuple[Design, list[Outcome], list[str]]:
    """The design that is left, the outcomes, and the notes."""
    monkeypatch.setattr(bench, "run", lacks)
    notes: list[str] = []
    design, outcomes = hardware._outcomes(BASELINE, SEED, Path(), modes, notes)
    return design, outcomes, notes


def test_what_is_lacking_is_left_out_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where modes fail by different causes; only the modes that are named are run."""
    lacks = Lacks("key_reuse", "segments", "padded")
    design, outcomes, notes = tried(lacks, monkeypatch, ("full", "stall"))
    assert [o.failure for o in outcomes] == [None, None]
    assert (design.key_reuse, design.segments, design.padded) == (False, False, False)
    assert [n.split(" (")[0].split(":")[0] for n in notes] == [
        "a key cannot be used again", "not the whole API", "not the whole API",
    ]  # fmt: skip
    assert set(lacks.asked) == {("full", "stall")}


def test_a_trace_is_of_what_verification_finds_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the modes that are named; what a design may lack is not wrong, and hides nothing that is."""
    monkeypatch.setattr(bench, "build", lambda *_, **__: "")
    traces: list[tuple[str, ...]] = []

    def traced(*lacked: str, modes: tuple[str, ...] = bench.MODES, every: bool = False) -> Outcome | None:
        lacks = Lacks(*lacked)

        def run(
            work: Path, streams: Sequence[Stream], modes: Sequence[str], trace: Path | None = None
        ) -> list[Outcome]:
            if trace is not None:
                trace.write_text("")
                traces.append(tuple(modes))
            return lacks(work, streams, modes)

        monkeypatch.setattr(bench, "run", run)
        return hardware.traced(BASELINE, tmp_path / "signals.vcd", SEED, modes, every)

    assert traced("key_reuse", "segments", "padded") is None
    assert not traces
    found = traced("key_reuse", "segments", "padded", "tag", modes=("stall",))
    assert found is not None
    assert (found.mode, found.got, traces) == ("stall", "e0000000", [("stall",)])
    assert "-reuse" not in found.op
    long = traced("long")
    assert long is not None, "the sizes that are timed are longer than all others"
    assert (long.mode, traces[1:]) == ("single", [("single",)])
    assert traced("size") is None
    one = traced("size", every=True)
    assert one is not None, "of one size that --every looks at"
    assert (one.mode, traces[2:]) == ("single", [("single",)])


def test_a_forgery_that_is_taken_is_no_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    design, outcomes, notes = tried(Lacks("tag"), monkeypatch, bench.MODES)
    assert design == BASELINE
    assert notes == []
    assert all(o.failure and "e0000000 instead of f0000000" in o.failure.detail for o in outcomes)


def test_a_forgery_that_is_taken_with_a_key_that_is_there_is_no_lack() -> None:
    taken = Outcome("full", "wrong", 1, 1, 1, 0, "decrypt@1/2-reuse-forged-tag", 9, "f0000000", "e0000000")
    assert taken.accepted
    assert not replace(taken, op="decrypt@1/2-reuse", expected="e0000000", got="f0000000").accepted
    assert not replace(taken, expected="43000002").accepted


def test_what_a_description_says_is_lacking_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "lint", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    notes: list[str] = []
    monkeypatch.setattr("steelyard.hardware._readable", lambda design, work, said: notes.extend(said))
    with Store.open(":memory:") as store, pytest.raises(KeyboardInterrupt):
        Hardware(store)._simulate(replace(BASELINE, key_reuse=False, segments=False), tmp_path, False, bench.MODES)
    assert len(notes) == 2
    assert all("so its description says" in n for n in notes)


def test_streams_of_a_design_without_padding_take_anything(tmp_path: Path) -> None:
    """And no other design's do."""
    for design, some in ((replace(BASELINE, padded=False), True), (BASELINE, False)):
        words = [w for s in Asked(design, "seed").streams() for w in s.out if s.name.startswith("encrypt")]
        assert any("x" in w and w != "x" * 8 for w in words) is some


def test_a_job_of_fewer_modes_is_another_run() -> None:
    device = load_device("artix7")
    usual, full = (Job(BASELINE, device, modes=m).setup for m in (bench.MODES, ("full",)))
    assert (usual.workload, full.workload) == ("lwc", "lwc-full")
    assert Job(BASELINE, device, every=True, modes=("full", "reset")).setup.workload == "lwc-every-full-reset"
    assert usual.key != full.key


def test_an_unknown_mode_is_met_with_the_right_one() -> None:
    assert rtl._modes("reset,full") == ("full", "reset")
    assert rtl._modes("") == bench.MODES
    with pytest.raises(UserError, match="full"):
        rtl._modes("ful")


@toys.needs("verilator")
def test_verilog_needs_no_ghdl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    there = tools.identify
    monkeypatch.setattr(tools, "identify", lambda name: None if name in ghdl.SIMULATORS else there(name))
    with Store.open(tmp_path / "results.db") as store:
        verified = Hardware(store).verified(BASELINE, ("full",))
    assert verified.failure is None, verified.failure
