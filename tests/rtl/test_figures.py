"""Figures from cycles, cells and routes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.rtl import figures, vectors
from steelyard.rtl.design import Design
from steelyard.rtl.device import device_names, load_device
from steelyard.rtl.streams import MAX_SEGMENT
from steelyard.rtl.synthesis import Cells, Routed, crowds, depth, routed
from steelyard.rtl.vectors import CallSize


def test_long_inputs_are_differences() -> None:
    """Cycles of a permutation of 7 in a cycle for 8 bytes, behind a start of 45."""
    sizes = [CallSize("encrypt", "PT", 0, n) for n in (16, 256, 512, 1024)]
    cycles = [45 + 7 * s.message // 8 for s in sizes]
    made, notes = figures.of_cycles(sizes, cycles, {"data": 8})
    assert made["bits_per_cycle_pt"] == pytest.approx(64 / 7)
    assert notes == []
    made, notes = figures.of_cycles(sizes, [*cycles[:3], cycles[3] + 5], {"data": 8})
    assert "bits_per_cycle_pt" in made
    assert len(notes) == 1
    assert "differ between 256, 512, 1024 bytes" in notes[0]


@pytest.mark.parametrize("said", [0, 1, 5, 8, 24])
def test_long_inputs_are_whole_blocks_whatever_their_size_is_said_to_be(said: int) -> None:
    """A block of 24 bytes takes 10 cycles, and one that is not full as well."""
    blocks = (("hash", said),) if said else ()
    design = Design("f", "d", "v", Path(), "top", 32, (), hash="h", block=blocks)
    sizes = vectors.measured(design, ["hash"])
    made, notes = figures.of_cycles(sizes, [7 + 10 * -(-s.message // 24) for s in sizes], dict(blocks))
    assert made["bits_per_cycle_hash"] == pytest.approx(19.2)
    assert notes == []
    assert max(s.message for s in sizes) <= MAX_SEGMENT
    sizes = list(dict.fromkeys([*sizes, *vectors.every(["hash"])]))
    again, notes = figures.of_cycles(sizes, [7 + 10 * -(-s.message // 24) for s in sizes], dict(blocks))
    assert (again, notes) == (made, []), "2048 bytes are no whole blocks"


#: cycles that designs rest in sizes, so that those between the long ones are few
RESTS = (
    {2112: 3800, 1056: 5700},
    {2112: 3800},
    {4224: -2112 // 8 * 7},
    {16: 3000, 64: 3000, 1056: 3000, 1536: 3000, 2112: 3000},
)


@pytest.mark.parametrize("rests", RESTS)
@pytest.mark.parametrize("blocks", [{}, {"ad": 8, "data": 8}, {"ad": 5000, "data": 5000}])
def test_who_rests_in_some_sizes_has_no_figure_of_long_ones(rests: dict[int, int], blocks: dict[str, int]) -> None:
    """The difference would be of the rests; other sizes belie it. What is honest keeps its figures."""
    design = Design("f", "d", "v", Path(), "top", 32, (), aead="a")
    sizes = vectors.measured(design, ["encrypt", "decrypt"])
    assert {s.message for s in sizes} == {0, 16, 64, 1056, 1536, 2112, 4224}
    cycles = [45 + s.message // 8 * 7 + s.ad // 8 * 5 - 4 * s.reuse for s in sizes]
    honest, notes = figures.of_cycles(sizes, cycles, blocks)
    assert notes == []
    rested = [
        c + rests.get(s.message, 0) * (s.op == "encrypt" and s.ad == 0) for s, c in zip(sizes, cycles, strict=True)
    ]
    made, notes = figures.of_cycles(sizes, rested, blocks)
    lost = honest.keys() - made.keys()
    assert {"bits_per_cycle_pt"} <= lost <= {"bits_per_cycle_pt", "bits_per_cycle_ad_pt"}
    assert {k: honest[k] for k in made} == made
    assert notes[0].startswith("encrypt of PT: no bits in a cycle of long inputs, as ")


def test_who_rests_in_all_sizes_has_the_figure_of_the_longest_call() -> None:
    """All sizes lie on a line, which says nothing of a core that ends its work in that rest."""
    design = Design("f", "d", "v", Path(), "top", 32, (), aead="a")
    sizes = vectors.measured(design, ["encrypt"])
    made, notes = figures.of_cycles(sizes, [7200 + (s.ad + s.message) // 8 for s in sizes], {})
    assert made["bits_per_cycle_pt"] == pytest.approx(16 / 15 * 8 * 4224 / 7728)
    assert made["bits_per_cycle_ad_pt"] == pytest.approx(16 / 15 * 8 * 8448 / 8256)
    said = "7200 of the 7728 cycles of 4224 bytes are of no block"
    assert f"encrypt of PT: {said}, so bits in a cycle are those of all these cycles but a sixteenth" in notes
    made, notes = figures.of_cycles(sizes, [280 + (s.ad + s.message) for s in sizes], {})
    assert (made["bits_per_cycle_pt"], notes) == (8, [])


def test_blocks_that_long_inputs_do_not_fill_keep_their_figure() -> None:
    """Blocks of 20 bytes, of which the longest inputs are multiples and GMU's are not; pairs of 16; a length before."""
    design = Design("f", "d", "v", Path(), "top", 32, (), aead="a", block=(("ad", 20), ("data", 32)))
    sizes = vectors.measured(design, ["encrypt"])
    blocks = dict(design.block)
    cycles = [9 + 170 * -(-s.ad // 20) + 16 * -(-s.message // 16) + 15 * -(-s.message // 32) for s in sizes]
    made, notes = figures.of_cycles(sizes, cycles, blocks)
    assert made.keys() == {"bits_per_cycle_pt", "bits_per_cycle_ad", "bits_per_cycle_ad_pt", "key_cycles"}
    assert notes == []
    cycles = [9 + 16 * s.message + 8 * (s.ad + (s.ad > 0) + 2 * (s.ad > 127)) for s in sizes]
    assert figures.of_cycles(sizes, cycles, {"ad": 4, "data": 4})[1] == []


def test_inverters_are_tables_that_may_share_others() -> None:
    made = figures.area(Cells({"INV": 19, "LUT6": 23}, {}, 1), load_device("artix7"))
    assert (made["lut"], made["lut_low"], made["cells_other"]) == (42, 23, 0)


def test_a_key_costs_what_its_absence_saves() -> None:
    sizes = [CallSize("encrypt", "PT", 0, 16), CallSize("encrypt", "PT", 0, 16, reuse=True)]
    assert figures.of_cycles(sizes, [59, 55], {})[0] == {"key_cycles": 4}
    assert [p.cycles for p in figures.points(sizes, [59, 55])] == [59]
    more = [*sizes, CallSize("encrypt", "AD", 64, 0), CallSize("encrypt", "AD", 64, 0, reuse=True)]
    made, (note,) = figures.of_cycles(more, [59, 59, 99, 95], {})  # who rests where the key's cost is looked at
    assert made == {}
    assert note == "no cycles of a key, as it costs 0 to 4, by the size of the message"


def test_throughput_follows_the_mean_frequency() -> None:
    clock = figures.frequency([Routed(1, 100.0, {"a": 3.0}, {}), Routed(2, 110.0, {"a": 5.0}, {})])
    assert (clock["fmax_mean"], clock["fmax_best"], clock["fmax_seeds"], clock["ports_ns"]) == (105.0, 110.0, 2, 5.0)
    assert clock["fmax_sd"] == pytest.approx(50**0.5)
    assert "fmax_sd" not in figures.frequency([Routed(1, 100.0, {}, {})]), "one seed says nothing of others"
    found = figures.points([CallSize("encrypt", "PT", 0, 64), CallSize("hash", "HM", 0, 16)], [128, 64])
    made = figures.throughput({"lut": 1000, "bits_per_cycle_pt": 8.0}, found, 100.0)
    assert made["throughput_pt_long"] == 800
    assert made["throughput_pt_long_per_lut"] == 0.8
    assert made["throughput_pt_64"] == 8 * 64 * 100 / 128
    assert made["latency_hash_16"] == 0.64


def test_the_depth_is_between_registers() -> None:
    def cell(kind: str, out: int, *into: int) -> dict[str, object]:
        ways = {f"I{k}": "input" for k in range(len(into))} | {"O": "output"}
        return {
            "type": kind,
            "port_directions": ways,
            "connections": {f"I{k}": [b] for k, b in enumerate(into)} | {"O": [out]},
        }

    cells = {
        "a": cell("LUT4", 10, 2), "b": cell("MUX", 11, 10), "c": cell("LUT4", 12, 11, 2), "r": cell("FF", 13, 12),
        "d": cell("LUT4", 14, 13),
    }  # fmt: skip
    assert depth(cells, {"LUT4": 1}, {"FF"}, {}) == (2, False)
    assert depth(cells, {"LUT4": 1}, set(), {}) == (3, False)
    for first, second in (("a", "b"), ("b", "a")):  # one feeds the other, and both the last
        net = {first: cell("LUT4", 1, 9), second: cell("LUT4", 2, 1), "c": cell("LUT4", 3, 1, 2)}
        assert depth(dict(reversed(net.items())), {"LUT4": 1}, set(), {}) == (3, False)
    cells["a"] = cell("LUT4", 10, 12)
    assert depth(cells, {"LUT4": 1}, {"FF"}, {})[1]


def test_a_path_ends_where_a_memory_is_written() -> None:
    def cell(kind: str, ways: str, *bits: int) -> dict[str, object]:
        names = ways.split()
        return {
            "type": kind,
            "port_directions": {w: "output" if w == "Q" else "input" for w in names},
            "connections": {w: [b] for w, b in zip(names, bits, strict=True)},
        }

    reads = load_device("artix7").reads
    shift = {
        "before": cell("LUT4", "I Q", 1, 2), "srl": cell("SRL16E", "D A0 CLK Q", 2, 7, 9, 3),
        "after": cell("LUT4", "I Q", 3, 4), "back": cell("LUT4", "I Q", 3, 1), "address": cell("LUT4", "I Q", 5, 7),
    }  # fmt: skip
    tables = {"LUT4": 1.0, "SRL16E": 1.0}
    assert depth(shift, tables, set(), reads) == (4, False), "address, the memory, back, before"
    assert depth(shift, tables, set(), {})[1], "as if a write were read at once"


def test_a_report_without_a_clock_is_refused() -> None:
    report: dict[str, dict[str, dict[str, float]]] = {
        "fmax": {"clk": {"achieved": 81.5}},
        "utilization": {"TRELLIS_COMB": {"used": 5}, "MULT": {"used": 0}},
    }
    log = "Info: Max delay <async>   -> posedge $glbnet$clk: 9.50 ns\nInfo: Max delay <async> -> <async>: 3.25 ns\n"
    found = routed(report, 3, log)
    assert (found.seed, found.mhz, found.used) == (3, 81.5, {"TRELLIS_COMB": 5})
    assert sorted(found.ports.values()) == [3.25, 9.5]
    with pytest.raises(Exception, match="no path from register to register"):
        routed({"fmax": {}}, 1, "")


@pytest.mark.parametrize("name", device_names())
def test_every_device_says_where_its_frequency_is(name: str) -> None:
    device = load_device(name)
    assert (device.place is None) == bool(device.no_frequency)
    made = figures.area(Cells({**dict.fromkeys(device.lut, 1), **dict.fromkeys(device.ff, 2)}, {}, 3), device)
    assert made["ff"] == 2 * len(device.ff)
    assert made["ge" if device.liberty else "lut"] > 0


@pytest.mark.parametrize(("bits", "crowded"), [(196, False), (197, False), (198, True)])
def test_a_design_with_more_ports_than_pins_is_placed_without_pins(tmp_path: Path, bits: int, crowded: bool) -> None:
    """Other modules of a netlist are models of cells, whose ports are no pins."""
    top = {"attributes": {"top": "1".rjust(32, "0")}, "ports": {"a": {"bits": [*range(bits - 1)]}, "b": {"bits": [7]}}}
    cell = {"attributes": {}, "ports": {"a": {"bits": [*range(500)]}}}
    netlist = tmp_path / "mapped.json"
    netlist.write_text(json.dumps({"modules": {"LUT4": cell, "lwc": top}}))
    assert crowds(netlist, load_device("ecp5")) is crowded
    assert crowds(netlist, load_device("ice40")) is False


@pytest.mark.parametrize("block", [17, 25, 67, 134, 136, 168])
def test_long_inputs_are_whole_blocks_of_any_size(block: int) -> None:
    design = Design("f", "d", "v", Path(), "top", 32, (), aead="a", block=(("ad", block), ("data", block)))
    sizes = vectors.measured(design, ["encrypt"])
    long = sorted({s.message for s in sizes} - {0, 16, 64, 1536})
    assert [n / long[0] for n in long] == [1, 2, 4]
    assert not any(n % block for n in long)
    cycles = [9 + 24 * -(-s.ad // block) + 24 * -(-s.message // block) for s in sizes]
    made, _ = figures.of_cycles(sizes, cycles, dict(design.block))
    if block <= figures.LARGEST:
        assert (made["bits_per_cycle_pt"], made["bits_per_cycle_ad"]) == pytest.approx((block / 3, block / 3))
