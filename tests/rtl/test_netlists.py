"""Figures of netlists: what toggles, gates of a library, all sizes, and a vendor's report in place of all that."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard import hardware
from steelyard.hardware import Hardware, Verified
from steelyard.model.paths import ROOT
from steelyard.rtl import bench, synthesis, vectors
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.rtl.tools import ToolError
from steelyard.store import Store
from tests.rtl import toys
from tests.rtl.test_liberty import TIMING, VIVADO, written


@pytest.mark.long
@toys.needs("verilator", "yosys")
def test_the_baseline_on_devices_without_a_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no cipher moves each bit of plaintext a few times, on any device; its cycles are the same at each size
    whoever counts its cells."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    design = next(d for d in designs_of(ROOT / "rtl/nocrypt/nocrypt") if d.width == 32)
    reports = tuple(written(tmp_path, VIVADO, TIMING))
    jobs = [
        Job(design, load_device("asic"), every=True), Job(design, load_device("artix7"), every=True),
        Job(design, load_device("artix7"), every=True, reports=reports),
    ]  # fmt: skip
    with Store.open(tmp_path / "results.db") as store:
        asic, artix7, reported = Hardware(store).campaign(jobs, lambda *_: None)
    assert [r.failure for r in (asic, artix7, reported)] == [None] * 3
    assert len({r.setup.key for r in (asic, artix7, reported)}) == 3
    assert asic.metrics["ff"] == artix7.metrics["ff"]
    assert asic.metrics["ge"] > 6 * asic.metrics["ff"], "a flip-flop has 24 transistors"
    for r in (asic, artix7):
        assert 2 < r.metrics["toggles_pt_1536"] < r.metrics["toggles_pt_64"] < 50
    assert set(asic.points) == set(artix7.points) == set(reported.points)
    every = [p for p in asic.points if p.operation == "encrypt" and not p.adlen and p.mlen <= vectors.LONGEST]
    assert [p.mlen for p in sorted(every, key=lambda p: p.mlen)] == list(range(vectors.LONGEST + 1))
    cycles = {p.mlen: p.cycles for p in every}
    assert [cycles[n + 4] - cycles[n] for n in range(4, vectors.LONGEST - 4)] == [1] * (vectors.LONGEST - 8)
    assert reported.metrics["fmax_reported"] == pytest.approx(200)
    assert reported.metrics["throughput_pt_64"] == pytest.approx(8 * 64 * 200 / cycles[64])
    assert any("no netlist was verified" in n for n in reported.notes)
    assert "verified against: AEAD nocrypt, hash nocrypt" in reported.notes


def test_a_netlist_is_checked_anew_when_what_it_is_held_against_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text may be the same: what a description or a package's files say, cycles of the source, the software."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (tmp_path / synthesis.VERILOG).write_text("// the same netlist")
    (toy,) = designs_of(toys.design(tmp_path / "toy"))
    cells: Future[tuple[synthesis.Cells, Path]] = Future()
    cells.set_result((synthesis.Cells({}, {}, 0), tmp_path))
    made = list[Design]()

    def checked(design: Design, **of: Any) -> bool:
        """Whether the netlist of a design that is verified so is simulated."""
        before = len(made)
        with Store.open(tmp_path / "results.db") as store:
            engine = Hardware(store)
            monkeypatch.setattr(engine, "_verify", lambda *_: Verified(None, **of))
            monkeypatch.setattr(engine, "_netlist", lambda job, *_: (made.append(job.design), Verified(None))[1])
            engine._gate(Job(design, load_device("asic")), cells)
        return len(made) > before

    changes: dict[str, Any] = {
        "hash": "nocrypt", "aead": "nocrypt", "order": ("ad", "npub", "data", "tag"), "key_reuse": False,
        "block": (("hash", 8),), "any_segments": True, "segments": False, "padded": False, "width": 16,
        "pdi_shares": 2, "reset_active": 0, "answers": None,
    }  # fmt: skip
    designs = [toy, *(replace(toy, **{k: v}) for k, v in changes.items())]
    assert [checked(d) for d in designs] == [True] * len(designs)
    assert not any(checked(d) for d in designs)
    for of in ({"cycles": (4,)}, {"reuse": False}):
        assert [checked(toy, **of) for _ in range(2)] == [True, False]
    (toy.folder / "kat" / "do.txt").write_text("# other answers\n")
    assert [checked(toy) for _ in range(2)] == [True, False]
    monkeypatch.setattr(hardware, "software_of", lambda _: ["other software"])
    assert [checked(toy) for _ in range(2)] == [True, False]


def test_sources_that_change_while_a_netlist_is_checked_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (tmp_path / synthesis.VERILOG).write_text("")
    (toy,) = designs_of(toys.design(tmp_path / "toy"))
    cells: Future[tuple[synthesis.Cells, Path]] = Future()
    cells.set_result((synthesis.Cells({}, {}, 0), tmp_path))
    with Store.open(tmp_path / "results.db") as store:
        engine = Hardware(store)
        monkeypatch.setattr(engine, "_verify", lambda *_: Verified(None))

        def changed(*_: object) -> Verified:
            (toy.folder / "kat" / "do.txt").write_text("# other answers\n")
            return Verified(None)

        monkeypatch.setattr(engine, "_netlist", changed)
        with pytest.raises(ToolError, match="sources-changed"):
            engine._gate(Job(toy, load_device("asic")), cells)


MEMORY = """module m (input clk, input [7:0] d, {style} output [7:0] q);
  logic [5:0] last, next;
  {style} wire [5:0] at = last;
  logic [7:0] kept [0:63];
  assign q = kept[at];
  always_ff @(posedge clk) begin kept[next] <= d; last <= next; next <= next + 1; end
endmodule
"""


@toys.needs("yosys")
@pytest.mark.parametrize("device", ["artix7", "gowin"])
@pytest.mark.parametrize("style", ["", "registers", "logic"])
def test_a_memory_s_cells_are_the_device_s_and_not_its_wires(tmp_path: Path, device: str, style: str) -> None:
    """With one port of a table RAM, the cell that yosys took where a register was merged into it, the address of the
    write would be that of the read."""
    (tmp_path / "m.sv").write_text(MEMORY.format(style=f'(* ram_style = "{style}" *)' * bool(style)))
    cells = synthesis.synthesise(bench.Netlist("m", (tmp_path / "m.sv",)), load_device(device), tmp_path).types
    rams = {"artix7": {"RAM64M"}, "gowin": {"RAM16SDP4"}}
    assert {c for c in cells if c.startswith("RAM")} == rams[device]
