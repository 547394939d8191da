"""Designs that want better figures than they deserve, and files that are not what was hashed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.asked import settled, verified_with
from steelyard.hardware import Hardware
from steelyard.model.errors import UserError
from steelyard.model.paths import ROOT
from steelyard.model.reasons import Reason
from steelyard.rtl import bench, synthesis, tools
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.rtl.tools import ToolError
from steelyard.store import Store
from tests.rtl import toys

simulates = toys.needs("verilator")
synthesises = toys.needs("verilator", "yosys", "nextpnr-ecp5")
STATES = "state == INSTRUCTION || state == HEADER || state == DATA"
READY = f"  assign pdi_ready = {STATES}; // READY"
#: a cell of the device that is no figure's
LUT2 = "(* blackbox *) module LUT2 #(parameter [3:0] INIT = 0) (input A, B, output Z); endmodule"
NAMED = (
    READY,
    f"""  wire one;
`ifdef SYNTHESIS
  LUT2 #(.INIT(4'b0001)) cell(.A(pdi_data[0] & ~pdi_data[0]), .B(1'b0), .Z(one));
`else
  assign one = 1'b1;
`endif
  assign pdi_ready = one & ({STATES});""",
)
#: half of the registers have a clock of their own, so that no path begins and ends at one clock
CLOCKS = (
    (READY, f"  logic held; always_ff @(posedge clk) held <= rst ? 0 : held & pdi_valid;\n{READY}"),
    ("        sum <= sum ^ pdi_data;\n", ""),
    (
        "  always_ff @(posedge clk) begin\n    if (rst)",
        """`ifdef SYNTHESIS
  wire own = clk ^ held;
`else
  wire own = clk;
`endif
  always_ff @(posedge own) if (in) sum <= state == DATA ? sum ^ pdi_data : state == INSTRUCTION ? 0 : sum;
  always_ff @(posedge clk) begin
    if (rst)""",
    ),
    ("        sum <= 0;\n", ""),
)
#: a mux of the device, which weighs nothing where yosys itself puts it between tables
MUXF7 = ("// A toy", "(* blackbox *) module MUXF7 (input A, B, output Z); endmodule\n//")
CLOCK = "  always_ff @(posedge clk) begin\n    if (rst)"
#: two edges for one of the port
DOUBLED = (
    (CLOCK, f"  logic q; wire twice = clk ^ q; always_ff @(posedge twice) q <= !q;\n{CLOCK.replace('clk', 'twice')}"),
)
GATED = ((CLOCK, f"  wire gated = clk & pdi_valid;\n{CLOCK.replace('clk', 'gated')}"),)
GATED_BY_A_LATCH = (
    (
        CLOCK,
        "  logic open; always @* if (!clk) open = pdi_valid;\n"
        f"  wire gated = clk & open;\n{CLOCK.replace('clk', 'gated')}",
    ),
)
#: what discharges a register without the clock passes through it in no path
DISCHARGED = (
    (CLOCK, f"  logic open; always_ff @(posedge clk, posedge shut) if (shut) open <= 0; else open <= 1;\n{CLOCK}"),
    (READY, f"  wire shut = pdi_valid & sum[0];\n  assign pdi_ready = open && ({STATES});"),
)
HELD = (DISCHARGED[0], (READY, DISCHARGED[1][1].replace("wire shut =", "logic shut; always_ff @(posedge clk) shut <=")))
#: its data pass through a memory first, in which no bit of what is read is one of what is written
REMEMBERED = (
    DISCHARGED[0],
    (
        READY,
        HELD[1][1].replace(
            "logic shut; always_ff @(posedge clk) shut <= pdi_valid & sum[0]",
            "logic shuts [4]; logic [1:0] at; always_ff @(posedge clk) at <= rst ? 0 : at + 1;\n"
            "  always_ff @(posedge clk) shuts[at] <= pdi_valid & sum[0];\n  wire shut = shuts[at ^ 2]",
        ),
    ),
)
LOADED = (
    DISCHARGED[0],
    (READY, DISCHARGED[1][1].replace("pdi_valid & sum[0]", "rst")),
    ("open <= 0", "open <= sum[0]"),
)
#: a reset at any time, which ends with the clock; what it leaves as it is (sum) keeps itself
SYNCHRONISED = (
    (
        CLOCK,
        "  logic [1:0] up; always_ff @(posedge clk, posedge rst) if (rst) up <= 0; else up <= {up[0], 1'b1};\n"
        "  wire down = !up[1];\n  always_ff @(posedge clk, posedge down) begin\n    if (down)",
    ),
)
TWO_FACED = """module two_faced (
    input logic clk, input logic rst,
    input logic [31:0] pdi_data, input logic pdi_valid, output logic pdi_ready,
    input logic [31:0] sdi_data, input logic sdi_valid, output logic sdi_ready,
    output logic [31:0] do_data, output logic do_valid, input logic do_ready, output logic do_last
);
  logic [1:0] pace;
  always_ff @(posedge clk) pace <= rst ? 0 : pace + 1;
`ifdef SYNTHESIS
  wire may = pace == 0;
`else
  wire may = 1'b1;
`endif
  logic taken;
  assign pdi_ready = taken & may;
  lwc inner (.clk, .rst, .pdi_data, .pdi_valid(pdi_valid & may), .pdi_ready(taken), .sdi_data, .sdi_valid, .sdi_ready,
             .do_data, .do_valid, .do_ready, .do_last);
endmodule
"""
SAYS = (READY, READY + '\n  always_ff @(posedge clk) if (pdi_valid) begin $display("{\\"mode\\""); assert (in); end')
PARTS = (
    (READY, READY + "\n  wire [31:0] next;\n  adder adder(.a(sum), .b(pdi_data), .c(next));"),
    ("sum <= sum ^ pdi_data;", "sum <= next;"),
    (
        "// A toy",
        "(* keep_hierarchy *) module adder(input [31:0] a, b, output [31:0] c); assign c = a ^ b; endmodule\n//",
    ),
)


#: a wrong digest, and the outcomes that it would like
WRONG = ("OUT_HEADER: do_data = 32'h93000004;", "OUT_HEADER: do_data = 32'h93000008;")
FORGED = (
    '{\\"mode\\": \\"%s\\", \\"outcome\\": \\"ok\\", \\"ops\\": 1, \\"cycles\\": 1, \\"words\\": 1, '
    '\\"unstable\\": 0, \\"each\\": [1]}'
)
CLOCKED = "  always_ff @(posedge clk) if (pdi_valid)"
TELLS = "\n".join(f'$display("{FORGED % m}");' for m in (*bench.MODES, "single"))


@synthesises
@pytest.mark.parametrize(
    ("changes", "reason", "said"),
    [
        ((NAMED, ("// A toy", f"`ifdef SYNTHESIS\n{LUT2}\n`endif\n//")), Reason.STRANGE_CELL, "LUT2"),
        (
            ((NAMED[0], NAMED[1].replace("LUT2 #(.INIT(4'b0001))", "MUXF7")), MUXF7),
            Reason.STRANGE_CELL,
            "MUXF7",
        ),
        (CLOCKS, Reason.CLOCKS, "own, not clk: toy.sv:"),
        (DOUBLED, Reason.CLOCKS, "twice, not clk: toy.sv:"),
        (GATED, Reason.CLOCKS, "gated, not clk: toy.sv:"),
        (GATED_BY_A_LATCH, Reason.LATCH, "open is a latch: toy.sv:"),
        (DISCHARGED, Reason.ASYNCHRONOUS, "open is set or reset at any time by shut, which is no reset: toy.sv:"),
        (HELD, Reason.ASYNCHRONOUS, "by shut, which is no reset: toy.sv:"),
        (REMEMBERED, Reason.ASYNCHRONOUS, "by shut, which is no reset: toy.sv:"),
        (LOADED, Reason.ASYNCHRONOUS, "by sum, which is no reset: toy.sv:"),
    ],
    ids=[
        "named cells",
        "cells that the device has",
        "clocks",
        "a clock of its own",
        "a gated clock",
        "a latch",
        "discharged by logic",
        "discharged by a register",
        "discharged by a memory",
        "loaded",
    ],
)
@pytest.mark.parametrize("device", ["artix7", *(pytest.param(d, marks=pytest.mark.long) for d in ("ecp5", "asic"))])
def test_a_better_figure_than_the_circuit_s_is_refused(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], reason: Reason, said: str, device: str
) -> None:
    """Before anything is mapped, on devices with a route and without."""
    (design,) = designs_of(toys.design(tmp_path / "toy", *changes))
    with pytest.raises(ToolError) as refused:
        synthesis.synthesise(bench.own(design), load_device(device), tmp_path)
    assert refused.value.failure.reason is reason, refused.value.failure
    assert said in refused.value.failure.detail


@synthesises
def test_a_reset_at_any_time_is_one(tmp_path: Path) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy", *SYNCHRONISED))
    assert synthesis.synthesise(bench.own(design), load_device("ecp5"), tmp_path).types["TRELLIS_FF"] > 50


@synthesises
@pytest.mark.parametrize("style", ["", "distributed", "block"])
def test_state_in_a_memory_is_in_the_frequency(tmp_path: Path, style: str) -> None:
    """A path from a distributed RAM's clock is in none: memories are registers, whatever their attributes say."""
    memory = f'(* ram_style = "{style}" *) ' * bool(style) + "logic [31:0] sums [16]"
    changes = (
        ("  logic [31:0] sum;", f"  {memory};\n  wire [3:0] at = {{3'b0, rst}};\n  wire [31:0] sum = sums[at];"),
        ("sum <= 0", "sums[at] <= 0"), ("sum <= sum", "sums[at] <= sum"),
    )  # fmt: skip
    (design,) = designs_of(toys.design(tmp_path / "toy", *changes))
    cells = synthesis.synthesise(bench.own(design), load_device("ecp5"), tmp_path)
    assert cells.types["TRELLIS_FF"] > 50, cells.types


@simulates
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('integer f; initial begin f = $fopen("said.log", "a"); end', "toy.sv:25: $fopen"),
        ('`define PASTED(x) $f``x\ninitial `PASTED(write)(1, "x");', "$fwrite"),
        ('initial $c("puts(\\"x\\")");', "$c"),
        ('initial $system("true");', "$system"),
        ('import "DPI-C" function int system(input string s);', '"DPI-C"'),
        ("`systemc_implementation\n#include <stdio.h>\n`verilog", "`systemc_implementation"),
    ],
)
def test_what_no_circuit_does_is_refused(tmp_path: Path, more: str, said: str) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    with pytest.raises(ToolError) as refused:
        bench.build(design, bench.own(design), tmp_path)
    assert refused.value.failure.reason is Reason.SIMULATOR_ONLY
    assert said in refused.value.failure.detail


@simulates
def test_a_dump_is_no_harm(tmp_path: Path) -> None:
    more = 'initial begin $dumpfile("said.log"); $dumpvars; end'
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, bench.MODES)] == ["ok"] * 4


def test_what_only_looks_like_a_task_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'wire \\$fopen ; /* $fopen */ initial $display("$fopen \\" $fclose"); // $fwrite\nassign x = $clog2(4);'
    monkeypatch.setattr(bench.tools, "run", lambda *_: (tmp_path / tools.LOG).write_text(text))
    assert bench.simulator_only(bench.Netlist("top", ()), tmp_path) is None


@simulates
def test_what_a_design_prints_is_no_outcome(tmp_path: Path) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy", WRONG, (READY, f"{READY}\n{CLOCKED} begin {TELLS} end")))
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    made = bench.run(tmp_path, toys.STREAMS, ("single", *bench.MODES))
    assert [(o.mode, o.outcome) for o in made] == [(m, "wrong") for m in ("single", *bench.MODES)]


@simulates
@pytest.mark.parametrize("task", ["$finish", pytest.param("$stop", marks=pytest.mark.long)])
def test_a_design_does_not_end_the_simulation(tmp_path: Path, task: str) -> None:
    """Not even twice, which would end Verilator's program, with the code of success."""
    ends = f"{CLOCKED} begin {TELLS} {task}; {task}; end"
    (design,) = designs_of(toys.design(tmp_path / "toy", WRONG, (READY, f"{READY}\n{ends}")))
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    (made,) = bench.run(tmp_path, toys.STREAMS, ("full",))
    assert made.failure is not None
    assert made.failure.reason is Reason.SIMULATOR_ONLY
    assert "mode full, " in made.failure.detail
    assert "toy.sv:" in made.failure.detail


#: slow after the header of a text whose length is odd
ODD = (
    "wire may = pace == 0;",
    "logic odd; wire head = pdi_data[31:27] == 5'b01000 && pdi_data[23:11] == 0 && pdi_data[0];\n"
    "  always_ff @(posedge clk) if (rst || do_valid && do_last) odd <= 0; else if (pdi_valid && head) odd <= 1;\n"
    "  wire may = pace == 0 || !odd;",
)


@pytest.mark.long
@synthesises
@pytest.mark.parametrize("every", [False, True])
def test_cycles_are_those_of_what_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: bool) -> None:
    """A source that is fast where it is simulated, and slow where it is synthesised: everywhere, or where only a sweep
    looks."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    folder = tmp_path / "design"
    shutil.copytree(ROOT / "rtl" / "nocrypt" / "nocrypt", folder / "nocrypt")
    shutil.copytree(ROOT / "rtl" / "shell", folder / "shell")
    (folder / "nocrypt" / "src" / "two_faced.sv").write_text(TWO_FACED.replace(*ODD) if every else TWO_FACED)
    said = (folder / "nocrypt" / "design.toml").read_text()
    said = said.replace('"lwc"', '"two_faced"').replace("../../", "../").replace("[32, 16, 8]", "[32]")
    (folder / "nocrypt" / "design.toml").write_text(said)
    design = designs_of(folder / "nocrypt")[0]
    with Store.open(tmp_path / "results.db") as store:
        (record,) = Hardware(store).campaign([Job(design, load_device("ecp5"), 1, every=every)], lambda *_: None)
    assert record.failure is not None
    assert record.failure.reason is Reason.NETLIST_DIFFERS, record.failure
    assert "cycles, " in record.failure.detail


@pytest.mark.long
@synthesises
def test_what_only_simulators_do_and_parts_that_are_kept_change_no_netlist(tmp_path: Path) -> None:
    made = {}
    for name, changes in (("plain", ()), ("says", (SAYS,)), ("parts", PARTS)):
        (design,) = designs_of(toys.design(tmp_path / name, *changes))
        work = tmp_path / f"{name}-work"
        work.mkdir()
        made[name] = synthesis.synthesise(bench.own(design), load_device("ecp5"), work)
        assert "$write" not in (work / synthesis.VERILOG).read_text()
    assert made["says"].types.keys() == made["plain"].types.keys()
    assert "module adder" not in (tmp_path / "parts-work" / synthesis.VERILOG).read_text()  # whose depth nobody sees


def _described(folder: Path, more: str = "", source: str = "toy.sv") -> Design:
    (folder / "inc").mkdir(parents=True, exist_ok=True)
    (folder / "inc" / "sizes.svh").write_text("`define ROUNDS 1\n")
    (folder / source).write_text(toys.SOURCE.read_text())
    (folder / "design.toml").write_text(
        f'top = "toy"\nw = [32]\nsources = ["toy*"]\nincludes = ["inc"]\n{more}\n', encoding="utf-8"
    )
    (design,) = designs_of(folder)
    return design


def test_a_design_is_of_the_family_of_what_it_is_verified_against(tmp_path: Path) -> None:
    """A folder's name puts no hash of nothing among the fastest of Ascon, and the record names what was compared."""
    design = _described(tmp_path / "ascon" / "fastest", 'aead = "nocrypt"')
    assert design.family == "ascon"
    design = settled(design)
    assert (design.family, design.name, verified_with(design)) == ("nocrypt", "fastest", "nocrypt")
    (toy,) = designs_of(toys.design(tmp_path / "toy"))
    assert (settled(toy).family, verified_with(toy)) == (toy.family, "package")


def test_the_digest_is_of_all_that_is_read(tmp_path: Path) -> None:
    """Included files and a package's own answers decide what comes of a design, as its sources do."""
    design = _described(tmp_path / "described")
    before = design.digest
    (tmp_path / "described" / "inc" / "sizes.svh").write_text("`define ROUNDS 2\n")
    assert design.digest != before
    (toy,) = designs_of(toys.design(tmp_path / "toy"))
    before = toy.digest
    (tmp_path / "toy" / "kat" / "do.txt").write_text("STT = e0000000\n")
    assert toy.digest != before


@pytest.mark.parametrize(
    "more",
    [
        'defines = ["A=1\\nshell touch made"]',
        'parameters = {P = "a\\"; shell touch made"}',
        'parameters = {"P; shell" = 1}',
        'clock = "clk; exit"',
    ],
)
def test_no_word_of_a_description_is_a_command(tmp_path: Path, more: str) -> None:
    with pytest.raises(UserError, match="characters"):
        _described(tmp_path, more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("pdi_shares = 100000", "100000 shares"),
        ("block = { ad = -4 }", "a block of -4 bytes"),
        ('input_sequence = ["ad", "ad"]', "names npub, ad and data once each"),
        ('aead = "asconhash256"', "no bundled software is called asconhash256"),
        ('hash = "../*"', "no bundled software is called"),
    ],
)
def test_what_no_design_has_is_refused_before_a_tool_runs(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        settled(_described(tmp_path, more))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('lwc = "x"', "lwc is 'x', not a table"),
        ('name = ["a"]', r"name is \['a'\], not a text"),
        ('lwc.aead.key_reuse = "no"', "key_reuse is 'no', not true or false"),
        ("tb = 3", "tb is 3, not a table"),
        ('lwc.ports.pdi.bit_width = "x"', "bit_width is 'x', not a number"),
        ("lwc.ports.pdi.bit_width = 64", "words of 64 bits"),
        ('lwc.block_bits.AD = "x"', "AD is 'x', not a number"),
        ("lwc.aead.algorithm = 1", "algorithm is 1, not a text"),
        ('language = "vhdl"', "language is 'vhdl', not a table"),
        ('language.vhdl.standard = "2008 -o x"', "VHDL of"),
    ],
)
def test_a_description_of_the_package_says_what_is_odd_in_it(tmp_path: Path, text: str, said: str) -> None:
    folder = toys.design(tmp_path / "toy")
    (folder / "toy.toml").write_text(f'{text}\n[rtl]\nsources = ["toy.sv"]\ntop = "toy"\n')
    with pytest.raises(UserError, match=said):
        designs_of(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [("name = ", "not a TOML file"), ('rtl = "lwc"', "rtl is 'lwc', not a table"), ("lwc = 3", "lwc is 3")],
)
def test_a_description_that_is_none_is_not_passed_over(tmp_path: Path, text: str, said: str) -> None:
    """Its sources alone would be a design of which much is guessed."""
    folder = toys.design(tmp_path / "toy")
    (folder / "toy.toml").write_text(text)
    with pytest.raises(UserError, match=said):
        designs_of(folder)


@pytest.mark.parametrize("text", ['rtl = "x"', "lwc = 3"])
def test_a_file_of_another_tool_is_passed_over_beside_a_description(tmp_path: Path, text: str) -> None:
    folder = toys.design(tmp_path / "toy")
    (folder / "pyproject.toml").write_text(text)
    assert [d.top for d in designs_of(folder)] == ["toy"]
    (folder / "pyproject.toml").write_text("name = ")  # it may be another variant
    with pytest.raises(UserError, match="not a TOML file"):
        designs_of(folder)


def test_included_files_are_inside_of_the_design(tmp_path: Path) -> None:
    """Neither their folder nor what is in it leads elsewhere."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "secret.svh").write_text("secret")
    design = _described(tmp_path / "design", source="toy.sv")
    assert [f.name for f in design.includes] == ["inc"]
    said = tmp_path / "design" / "design.toml"
    text = said.read_text()
    said.write_text(text.replace('["inc"]', '["../others"]'))
    with pytest.raises(UserError, match="outside"):
        designs_of(tmp_path / "design")
    said.write_text(text)
    (tmp_path / "design" / "inc" / "linked.svh").symlink_to(tmp_path / "others" / "secret.svh")
    with pytest.raises(UserError, match=r"linked\.svh is outside"):
        designs_of(tmp_path / "design")


def test_included_files_that_include_each_other_often_end(tmp_path: Path) -> None:
    (tmp_path / "toy.sv").write_text('`include "0.svh"\n' + toys.SOURCE.read_text())
    for k in range(10):
        (tmp_path / f"{k}.svh").write_text(f'`include "{(k + 1) % 10}.svh"\n' * 30)
    (design,) = designs_of(tmp_path)
    assert design.top == "toy"


def test_no_name_of_a_file_is_a_command(tmp_path: Path) -> None:
    design = _described(tmp_path / "design", source="toy; shell touch made.sv")
    names = bench.copied(bench.own(design), tmp_path / "work")
    said = "\n".join(
        line for slang in (False, True) for line in synthesis.reading(bench.own(design), names, slang=slang)
    )
    assert "shell" not in said.replace("toy__shell_touch_made.sv", "")
    assert (tmp_path / "work" / names[0]).is_file()


def _endless(at: Path) -> None:
    at.symlink_to("/dev/zero")


def _huge(at: Path) -> None:
    with at.open("wb") as f:
        f.truncate(1 << 36)


@pytest.mark.parametrize("make", [_endless, os.mkfifo, _huge])
@pytest.mark.parametrize("name", ["source_list.txt", "v2.toml", "design.toml", "kat/pdi.txt", "kat/do.txt", "toy.sv"])
def test_no_file_of_a_package_is_read_without_end(tmp_path: Path, make: Callable[[Path], None], name: str) -> None:
    """Nor is anybody waited for; other designs go on."""
    folder = toys.design(tmp_path / "toy")
    if name == "source_list.txt":
        (folder / "toy.toml").unlink()
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    with pytest.raises(UserError, match=re.escape(Path(name).name)):
        designs_of(folder)


def test_what_others_wrote_is_bounded_in_sum(tmp_path: Path) -> None:
    for k in range(9):
        (tmp_path / f"m{k}.sv").write_bytes(b"// \n" * (1 << 20))
    with pytest.raises(UserError, match="more than 32 MiB of sources; name the folder of one design"):
        designs_of(tmp_path)
    listed = tmp_path / "listed"
    listed.mkdir()
    shutil.copyfile(toys.SOURCE, listed / "toy.sv")
    (listed / "source_list.txt").write_text("toy.sv\n" * 2001)
    with pytest.raises(UserError, match="2001 sources; name the folder of one design"):
        designs_of(listed)
    (listed / "source_list.txt").unlink()
    (listed / "a.toml").write_text(f"a = {'[' * 5000}{']' * 5000}")
    with pytest.raises(UserError, match=r"a\.toml: .*too deep"):
        designs_of(listed)


def test_nothing_but_sources_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "design"
    folder.mkdir()
    (folder / "toy.sv").symlink_to(tmp_path / "secret")
    (folder / "design.toml").write_text('top = "toy"\nw = [32]\nsources = ["toy.sv"]\n')
    with pytest.raises(UserError, match="not a source"):
        designs_of(folder)


def test_a_path_between_clocks_has_no_frequency() -> None:
    one = {"fmax": {"$glbnet$clk": {"achieved": 100.0}}, "critical_paths": [_path("clk", "clk"), _path("clk", "")]}
    assert synthesis.routed(one, 1, "").mhz == 100.0
    two = {**one, "critical_paths": [*one["critical_paths"], _path("clk", "gated")]}
    with pytest.raises(ToolError, match="several-clocks"):
        synthesis.routed(two, 1, "")


def _path(start: str, end: str) -> dict[str, str]:
    return {"from": f"posedge $glbnet${start}", "to": f"posedge $glbnet${end}" if end else "<async>"}


def test_a_source_that_is_gone_ends_its_own_run_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (design,) = designs_of(toys.design(tmp_path / "toy"))
    gone = replace(design, name="gone", files=(tmp_path / "gone.sv",))
    with Store.open(tmp_path / "results.db") as store:
        jobs = [Job(gone, load_device("ecp5"), 1)]
        (record,) = Hardware(store).campaign(jobs, lambda *_: None)
    assert record.failure is not None
    assert record.failure.reason in (Reason.SOURCES_CHANGED, Reason.NO_TOOLCHAIN)
