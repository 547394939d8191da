"""Designs on the test bench and through synthesis: the toy as it is, and broken in every way that has a name."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.hardware import FLAT, Hardware, Verified, traced
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.rtl import bench, synthesis
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.rtl.tools import ToolError
from steelyard.store import Store
from tests.rtl import toys

verilator = toys.needs("verilator")
synthesises = toys.needs("verilator", "yosys", "nextpnr-ecp5")
DEFAULT = ("      default: do_data = 32'he0000000; // DEFAULT", "      STATUS: do_data = 32'he0000000;")
IDLE = "assign sdi_ready = 1'b0;"
PARTS = (
    "// A toy",
    "module half (input a, b, output y); wire nowhere; assign y = a & b; endmodule\n"
    "module bare (input a, output y); wire nowhere; assign y = a ^ nowhere; endmodule\n//",
)
RING_OF_PARTS = "wire a, b; half x(a, sdi_valid, b); half y(b, sdi_data[0], a); assign sdi_ready = b;"
BARE = "bare x(sdi_valid, sdi_ready);"
RING = "wire a, b; assign a = b ^ sdi_valid; assign b = ~(a & sdi_data[0]); assign sdi_ready = b;"
HOST = 'reg [7:0] host [0:15]; initial $readmemh("/etc/hostname", host); assign sdi_ready = host[sdi_data[3:0]][0];'
NEVER_READY = ("state == INSTRUCTION || state == HEADER || state == DATA; // READY", "state == INSTRUCTION;")
WRONG = ("sum <= sum ^ pdi_data;", "sum <= sum ^ {pdi_data[31:1], pdi_data[0] & (left != 16'd16)};")


def ones(word: int) -> int:
    return word.bit_count()


@verilator
def test_the_toy_is_right_in_every_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cycles are the ones that follow from its states: a word in each, and three of the answer. What toggles more
    for one message than for zeros is what its words change in pdi, the sum and do."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (design,) = designs_of(toys.design(tmp_path / "toy"))
    work = tmp_path / "bench"
    work.mkdir()
    bench.build(design, bench.own(design), work, trace=FLAT)
    assert [o.outcome for o in bench.run(work, toys.STREAMS, bench.MODES)] == ["ok"] * 4
    (single,) = bench.run(work, toys.STREAMS, ("single",))
    assert single.each[:6] == (4, 5, 5, 5, 5, 6)
    a, b, length = 0xFFFFFFFF, 0x0F0F0F0F, 0x77000008
    zeros, message = (toys.of(m) for m in (bytes(8), a.to_bytes(4) + b.to_bytes(4)))
    (toggled,) = bench.run(work, [zeros, zeros, message], ("toggles",))
    assert toggled.each == (6, 6, 6)
    pdi = [(length, a, b), (length, 0, 0)]
    out = [(0x93000004, x, 0xE0000000) for x in (a ^ b, 0)]
    more, fewer = (
        (ones(p[0] ^ p[1]) + ones(p[1] ^ p[2])) + (ones(d[0] ^ d[1]) + ones(d[1] ^ d[2]))
        for p, d in zip(pdi, out, strict=True)
    )
    assert toggled.toggles[2] - toggled.toggles[1] == more - fewer + ones(a) + ones(b)
    wrong = toys.hashed(8)
    bad = type(wrong)(wrong.name, wrong.sdi, wrong.pdi, (wrong.out[0], "01234567", *wrong.out[2:]))
    (outcome,) = bench.run(work, [bad], ("full",))
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.WRONG_WORD
    assert f"word 1 of do is {wrong.out[1]} instead of 01234567" in outcome.failure.detail


@verilator
def test_a_header_that_no_plain_word_names_is_missing(tmp_path: Path) -> None:
    named = '`define HDR(x) "config.vh"\n`include `HDR(1)\n//'
    folder = toys.design(tmp_path / "toy", ("// A toy", named))
    (folder / "config.vh").write_text("")
    (design,) = designs_of(folder)
    with pytest.raises(ToolError, match=r'missing-file: .* toy\.sv:2:.*config\.vh.*; .*`include "NAME"'):
        bench.build(design, bench.own(design), tmp_path)


def test_blocks_that_read_each_other_are_named(tmp_path: Path) -> None:
    """Verilator loses changes there, so what fails need not be the design's fault."""
    (design,) = designs_of(toys.design(tmp_path / "toy"))
    warned = "%Warning-UNOPTFLAT: src/000_{}:86:8: Signal unoptimizable: Circular combinational logic: 'lwc.moves'\n"
    assert "(toy.sv:86:8, lwc.moves)" in bench.in_doubt(warned.format("toy.sv"), bench.own(design))
    assert bench.in_doubt(warned.format("cells_sim.v"), bench.own(design)) == ""
    assert bench.in_doubt("- V e r i l a t i o n   R e p o r t", bench.own(design)) == ""


@verilator
@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        (("module toy", "module other"), Reason.WRONG_TOP, "toy"),
        (("sum <= sum ^ pdi_data;", "sum <= sum ^ ;"), Reason.RTL_ERROR, "toy.sv:"),
        (
            ("input  logic [31:0] pdi_data", "input  logic [23:0] pdi_data"),
            Reason.OTHER_PORTS,
            "pdi_data has 24 bits, not 32",
        ),
        (("output logic        do_last", "output logic        do_last,\n output logic done"), None, ""),
        (("do_ready,", "do_redy,"), Reason.OTHER_PORTS, "toy has no port do_ready"),
        (
            (
                "input  logic        rst,",
                "input logic rst, input logic [2048:0] rdi_data, input logic rdi_valid, output logic rdi_ready,",
            ),
            Reason.OTHER_PORTS,
            "rdi_data has 2049 bits",
        ),
        (("typedef enum", "left_out other(.clk); typedef enum"), Reason.MISSING_FILE, "left_out"),
    ],
)
def test_what_cannot_be_simulated_has_a_reason(
    tmp_path: Path, change: tuple[str, str], reason: Reason | None, said: str
) -> None:
    changes = [change, ("&& do_ready", "&& do_redy")] if "do_redy" in change[1] else [change]
    (design,) = designs_of(toys.design(tmp_path / "toy", *changes))
    work = tmp_path / "work"
    work.mkdir()
    try:
        failure = bench.refused_ports(design, bench.ports(bench.own(design), work))
    except ToolError as e:
        failure = e.failure
    assert (failure.reason if failure else None) is reason
    assert failure is None or said in failure.detail


@pytest.mark.long
@synthesises
@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        (DEFAULT, Reason.LATCH, "do_data"),
        ((IDLE, ""), Reason.UNDRIVEN, "sdi_ready"),
        ((IDLE, RING), Reason.LOOP, "without a register: toy.sv:"),
        ((IDLE, RING_OF_PARTS), Reason.LOOP, "without a register: toy.sv:1"),
        ((IDLE, BARE), Reason.UNDRIVEN, "x.nowhere"),
        ((IDLE, HOST), Reason.MISSING_FILE, "/etc/hostname"),
    ],
)
@pytest.mark.parametrize("device", ["ecp5", "asic"])
def test_a_circuit_that_nobody_means_has_a_reason(
    tmp_path: Path, change: tuple[str, str], reason: Reason, said: str, device: str
) -> None:
    text = ("always_comb begin", "always @* begin")  # the one promises that there is no latch
    (design,) = designs_of(toys.design(tmp_path / "toy", text, change, PARTS))
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(ToolError) as raised:
        synthesis.synthesise(bench.own(design), load_device(device), work)
    assert raised.value.failure.reason is reason
    assert said in raised.value.failure.detail


SLANG = ("OUT_HEADER: do_data = 32'h93000004;", "OUT_HEADER: do_data = {<<8{32'h04000093}};")


@toys.needs("yosys")
def test_what_yosys_does_not_read_slang_does(tmp_path: Path) -> None:
    """Into the same registers; texts are parameters there too."""
    text = ("module toy (", 'module toy #(parameter string KIND = "") (')
    told = ("sdi_ready = 1'b0;", 'sdi_ready = KIND == "a, b.c" ? 1\'b0 : sdi_valid;')
    (plain,) = designs_of(toys.design(tmp_path / "plain"))
    (design,) = designs_of(toys.design(tmp_path / "slang", SLANG, text, told))
    design = replace(design, parameters=(("KIND", "a, b.c"),))
    made = []
    for d in (plain, design):
        (work := tmp_path / f"{d.folder.name}-work").mkdir()
        made.append(synthesis.synthesise(bench.own(d), load_device("ecp5"), work))
    assert made[0].types["TRELLIS_FF"] == made[1].types["TRELLIS_FF"]
    top = json.loads((work / synthesis.NETLIST).read_bytes())["modules"]["toy"]
    assert top["ports"]["sdi_ready"]["bits"] == ["0"]
    assert "read_slang" in (work / "synth.ys").read_text()
    assert [m.slang for m in made] == [False, True]


WHOLE = "sum <= sum ^ pdi_data;"
#: the words of a message by way of what yosys' own reader refuses, gives a bit of its own, or takes for another type
MISREAD = {
    "break": "always_comb for (int i = 0; i < 64; i++) begin if (i == 32) break; word[i] = pdi_data[i]; end",
    "continue": "always_comb begin word = pdi_data; for (int i = 0; i < 2; i++) begin continue; word = 0; end end",
    "unpacked structure": "struct { logic [31:0] a; } s; always_comb s.a = pdi_data; assign word = s.a;",
    "unpacked argument": "function automatic logic [31:0] of(input logic [31:0] a [1]); of = a[0]; endfunction\n"
    "  logic [31:0] all [1]; assign all[0] = pdi_data; assign word = of(all);",
    "variable of a block": "always_comb begin automatic logic [31:0] v = pdi_data; word = v; end",
    "structure of an array": "typedef struct packed {logic [7:0] a, b;} pair; pair [1:0] s;\n"
    "  assign s = pdi_data; assign word = {s[1].a, s[1].b, s[0].a, s[0].b};",
    "part's register": "kept k(pdi_data); assign word = k.r;",
    "table": "typedef logic [3:0][7:0] bytes;\n"
    "  function automatic bytes made(); for (int i = 0; i < 4; i++) made[i] = 8'(i * 17); endfunction\n"
    "  localparam bytes TABLE = made(); wire [1:0] i = pdi_data[9:8];\n"
    "  assign word = pdi_data ^ {24'b0, TABLE[i]} ^ {24'b0, 2'b0, i, 2'b0, i};",
    "table of names": "typedef logic [7:0] octet; typedef octet [3:0] bytes; bytes s; assign s = pdi_data;\n"
    "  assign word = {s[3], s[2], s[1], s[0]};",
    "table in a structure": "typedef struct packed {logic [1:0][15:0] h;} halves; localparam halves H = 32'h00020001;\n"
    "  assign word = pdi_data ^ {15'b0, H.h[1], 1'b0} ^ 32'h4;",
}


@pytest.mark.long
@toys.needs("verilator", "yosys")
@pytest.mark.parametrize("words", MISREAD.values(), ids=MISREAD)
def test_what_yosys_misreads_slang_reads(tmp_path: Path, words: str) -> None:
    """The netlist does what the source does."""
    part = ("// A toy", "module kept (input [31:0] d); logic [31:0] r; assign r = d; endmodule\n//")
    changes = ((IDLE, f"{IDLE}\n  logic [31:0] word;\n  {words}"), (WHOLE, "sum <= sum ^ word;"), part)
    (design,) = designs_of(toys.design(tmp_path / "toy", *changes))
    device = load_device("ecp5")
    (source := tmp_path / "source").mkdir()
    bench.build(design, bench.own(design), source, optimised="-O0")
    assert [o.outcome for o in bench.run(source, toys.STREAMS, ("full",))] == ["ok"]
    synthesis.synthesise(bench.own(design), device, tmp_path)
    mapped = synthesis.mapped(bench.Netlist("toy", ()), device, tmp_path)
    bench.build(design, mapped, tmp_path, optimised="-O0")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, ("full",))] == ["ok"]


BYTES = "typedef logic [3:0][7:0] bytes;"
#: files before the toy's, and its words
UNITS = {
    "macro": ("`define WIDTH 32\n", f"{BYTES} bytes s; assign s = pdi_data; assign word[`WIDTH-1:0] = s;"),
    "type": (f"{BYTES}\n", "bytes s; assign s = pdi_data; assign word = s;"),
    "type of nets": ("`default_nettype none\n", f"{BYTES} assign made = sdi_valid; assign word = pdi_data;"),
    "rounds": ("", f"{BYTES} always_comb begin word = 0; for (int i = 0; i < 128; i++) for (int j = 0; j < 64; j++)\n"
               "    if (i == j) word[i % 32] = pdi_data[i % 32]; end"),
}  # fmt: skip


@toys.needs("yosys")
@pytest.mark.parametrize(("first", "words"), UNITS.values(), ids=UNITS)
def test_slang_reads_files_as_the_others_do(tmp_path: Path, first: str, words: str) -> None:
    """What one file defines and declares holds in the next, but for its kind of nets; loops may have many rounds."""
    changes = ((IDLE, f"{IDLE}\n  logic [31:0] word;\n  {words}"), (WHOLE, "sum <= sum ^ word;"))
    folder = toys.design(tmp_path / "toy", *changes)
    (folder / "first.sv").write_text(first)
    n = bench.Netlist("toy", (folder / "first.sv", folder / "toy.sv"))
    _, slang = synthesis._readable(n, bench.copied(n, tmp_path), tmp_path)
    assert slang


@toys.needs("yosys")
def test_what_slang_refuses_yosys_reads(tmp_path: Path) -> None:
    """A type of several dimensions is no cause to refuse what yosys takes: the netlist is simulated."""
    words = f"{IDLE}\n  {BYTES} typedef enum logic {{A, B}} letter; letter x; assign x = sdi_data[0];"
    (design,) = designs_of(toys.design(tmp_path / "toy", (IDLE, words)))
    n = bench.own(design)
    _, slang = synthesis._readable(n, bench.copied(n, tmp_path), tmp_path)
    assert not slang


@toys.needs("yosys")
def test_a_loop_without_an_end_is_not_left_to_yosys(tmp_path: Path) -> None:
    """Which unrolls it for as long as it may."""
    words = f"{IDLE}\n  {BYTES} logic x; always_comb begin x = 0; for (int i = 0; i < 1; i = i * 2) x = x ^ 1; end"
    (design,) = designs_of(toys.design(tmp_path / "toy", (IDLE, words)))
    n = bench.own(design)
    with pytest.raises(ToolError, match=r"toy\.sv:\d+: ERROR: .*unroll limit"):
        synthesis._readable(n, bench.copied(n, tmp_path), tmp_path)


@pytest.mark.parametrize("slang", [False, True])
def test_a_record_says_that_slang_read_its_design(tmp_path: Path, slang: bool) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy"))
    job, cells, right = Job(design, load_device("artix7")), synthesis.Cells({}, {}, 0, slang), Verified(None)
    with Store.open(tmp_path / "results.db") as store:
        record = Hardware(store)._with_figures(job, Record(job.setup, None, {}), right, cells, right, [])
    assert any(n.startswith("read by slang") for n in record.notes) is slang


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (BYTES, True),
        ("typedef logic [3:0] /* lanes */ [7:0] bytes;", True),
        ("typedef logic [3:0] // lanes\n [7:0] bytes;", True),
        ('initial $display("//"); ' + BYTES, True),
        (f"// {BYTES}", False),
        (f"/* {BYTES}\n{BYTES} */", False),
        (f'initial $display("\\"{BYTES}");', False),
        (f"/* {BYTES}", False),
    ],
)
def test_comments_and_texts_are_no_types(tmp_path: Path, words: str, read: bool) -> None:
    (tmp_path / bench.AT).mkdir()
    (tmp_path / bench.AT / "a.sv").write_text(words)
    assert synthesis._misread(bench.Netlist("toy", ()), ["a.sv"], tmp_path) is read


@toys.needs("yosys")
def test_a_name_that_nothing_has_is_no_bit(tmp_path: Path) -> None:
    """Both readers' words are there: yosys' own goes on, with a signal that nothing drives."""
    (design,) = designs_of(toys.design(tmp_path / "toy", (WHOLE, "sum <= sum ^ nowhere.r;")))
    with pytest.raises(ToolError, match=r"toy\.sv:48: ERROR: .*nowhere.*, as yosys itself cannot: Identifier"):
        synthesis.synthesise(bench.own(design), load_device("ecp5"), tmp_path)


DELAYS = ("sum <= sum ^ pdi_data;", "sum <= #1 sum ^ pdi_data;")


@toys.needs("verilator", "yosys")
@pytest.mark.parametrize("more", [(), (SLANG,)])
def test_a_delay_is_no_part_of_a_circuit(tmp_path: Path, more: tuple[tuple[str, str], ...]) -> None:
    """Whoever reads it: all of Verilator's passes, yosys itself, slang."""
    (design,) = designs_of(toys.design(tmp_path / "toy", DELAYS, (IDLE, "assign #2 sdi_ready = 1'b0;"), *more))
    bench.lint(bench.own(design), tmp_path)
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, bench.MODES)] == ["ok"] * 4
    assert synthesis.synthesise(bench.own(design), load_device("ecp5"), tmp_path).types["TRELLIS_FF"] == 55


@toys.needs("yosys")
def test_an_error_that_slang_finds_has_its_line(tmp_path: Path) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy", SLANG, ("sum <= 0;", "sum <= gone;")))
    with pytest.raises(ToolError, match=r"toy\.sv:\d+: ERROR: .*gone.*, as yosys itself cannot: yosys: toy\.sv:29: "):
        synthesis.synthesise(bench.own(design), load_device("ecp5"), tmp_path)


ROM = (IDLE, "  logic [31:0] rom [0:3]; initial $readmemh(FILE, rom); // ROM\n  assign sdi_ready = 1'b0;")


@verilator
def test_a_memory_s_file_is_read_from_the_design_s_folder(tmp_path: Path) -> None:
    """By a text in the sources or a parameter; where it is not there, nobody blames the design's words."""
    named = ("module toy (", 'module toy #(parameter FILE = "data/rom.hex") (')
    answer = ("OUT_HEADER: do_data = 32'h93000004;", "OUT_HEADER: do_data = rom[2];")
    folder = toys.design(tmp_path / "toy", ROM, named, answer)
    (design,) = designs_of(folder)
    assert design.data == ()
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    (gone,) = bench.run(tmp_path, toys.STREAMS, ("full",))
    assert gone.failure is not None
    assert gone.failure.reason is Reason.MISSING_FILE
    assert "data/rom.hex" in gone.failure.detail
    before = design.digest
    (folder / "data").mkdir()
    (folder / "data" / "rom.hex").write_text("0 1 93000004 3\n")
    (design,) = designs_of(folder)
    assert [name for name, _ in design.data] == ["data/rom.hex"]
    assert design.digest != before
    (work := tmp_path / "work").mkdir()
    bench.build(design, bench.own(design), work, optimised="-O0")
    assert [o.outcome for o in bench.run(work, toys.STREAMS, ("full",))] == ["ok"]
    (tmp_path / "secret").write_text("0")
    (folder / "data" / "rom.hex").unlink()
    (folder / "data" / "rom.hex").symlink_to(tmp_path / "secret")
    assert designs_of(folder)[0].data == ()


@verilator
def test_a_memory_s_file_is_not_the_bench_s_own(tmp_path: Path) -> None:
    """Whatever it is called: its words are those of the design's folder, and without it none are."""
    file = (ROM[0], ROM[1].replace("FILE", '"vectors.txt"'))
    folder = toys.design(
        tmp_path / "toy", file, ("OUT_HEADER: do_data = 32'h93000004;", "OUT_HEADER: do_data = rom[2];")
    )
    (design,) = designs_of(folder)
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    for _ in range(2):
        (gone,) = bench.run(tmp_path, toys.STREAMS, ("full",))
        assert gone.failure is not None
        assert gone.failure.reason is Reason.MISSING_FILE
    (tmp_path / bench.ROOM / bench.AT / "vectors.txt").write_text("0 1 93000004 3\n")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, ("full",))] == ["ok"]


def test_no_file_of_a_design_is_in_place_of_a_source(tmp_path: Path) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy"))
    (tmp_path / "other").write_text("other")
    names = bench.copied(replace(bench.own(design), data=(("src/000_toy.sv", tmp_path / "other"),)), tmp_path / "work")
    assert (tmp_path / "work" / bench.AT / names[0]).read_text() == toys.SOURCE.read_text()


@verilator
def test_inputs_that_the_api_does_not_have_are_told(tmp_path: Path) -> None:
    (design,) = designs_of(
        toys.design(tmp_path / "toy", ("input  logic        rst,", "input logic rst, input logic scan,"))
    )
    found = bench.ports(bench.own(design), tmp_path)
    assert bench.beside(design, found) == ["scan"]
    assert bench.told(bench.own(design), tmp_path) == found


class Written(ThreadPoolExecutor):
    """A pool that only writes down whose task it is given."""

    def __init__(self) -> None:
        super().__init__(1)
        self.tasks: list[tuple[str, str]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        self.tasks.append((args[0].design.folder.name, fn.__name__.strip("_")))
        return Future()


def test_a_design_ends_before_the_one_after_the_next_begins(tmp_path: Path) -> None:
    jobs = [
        Job(design, load_device(device), 2)
        for device in ("ecp5", "artix7")
        for name in "abc"
        for design in designs_of(toys.design(tmp_path / device / name))
    ]
    with Store.open(tmp_path / "results.db") as store:
        todo = [[(j, j.setup) for j in jobs if j.design.folder.name == name] for name in "abc"]
        begun = Hardware(store)._begun(pool := Written(), todo)
    assert [(j.design.folder.name, len(routes)) for j, *_, routes in begun] == [(n, k) for n in "abc" for k in (2, 0)]
    first = ["quiet", "synthesised", "synthesised"]
    last = ["gate", "gate", "placed", "placed"]
    order = [("a", first), ("b", first), ("a", last), ("c", first), ("b", last), ("c", last)]
    assert pool.tasks == [(name, task) for name, tasks in order for task in tasks]


@pytest.mark.long
@synthesises
def test_a_design_from_folder_to_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of the toy; what is stored is not made again; broken ones end with their reason, and a trace."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (good,) = designs_of(toys.design(tmp_path / "good"))
    (hangs,) = designs_of(toys.design(tmp_path / "hangs", NEVER_READY))
    (wrong,) = designs_of(toys.design(tmp_path / "wrong", WRONG))
    device = load_device("ecp5")
    told: list[bool] = []
    with Store.open(tmp_path / "results.db") as store:
        jobs = [Job(d, device, 2) for d in (good, hangs, wrong)]
        first = Hardware(store).campaign(jobs, lambda *_: None)
        again = Hardware(store).campaign(jobs, lambda job, record, stored: told.append(stored))
    assert told == [True] * 3
    assert [r.setup.key for r in first] == [r.setup.key for r in again]
    record = first[0]
    assert record.failure is None, record.failure
    assert record.metrics["ff"] == 6 + 32 + 16 + 1  # yosys gives each state a flip-flop
    assert record.metrics["fmax_seeds"] == 2
    assert "verified against: the package's own pdi, sdi and do files" in record.notes
    assert record.metrics["fmax_mean"] > 50
    reasons = [r.failure.reason for r in first[1:] if r.failure]
    assert reasons == [Reason.HANG, Reason.WRONG_WORD]
    assert "word 1 of do" in (first[2].failure.detail if first[2].failure else "")
    outcome = traced(wrong, tmp_path / "signals.vcd")
    assert outcome is not None
    assert "$enddefinitions" in (tmp_path / "signals.vcd").read_text()[:20000]
