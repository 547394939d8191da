"""Designs that want better figures than they deserve, and files that are not what was hashed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.building import sandbox
from steelyard.hardware import Hardware
from steelyard.model.paths import ROOT
from steelyard.model.reasons import Reason
from steelyard.rtl import bench, synthesis
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
        ("logic late; always @(posedge clk) late <= /* of the other edge */ @(negedge clk) rst;", "toy.sv:25: = @"),
    ],
)
def test_what_no_circuit_does_is_refused(tmp_path: Path, more: str, said: str) -> None:
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    with pytest.raises(ToolError) as refused:
        bench.build(design, bench.own(design), tmp_path)
    assert refused.value.failure.reason is Reason.SIMULATOR_ONLY
    assert said in refused.value.failure.detail


@simulates
@pytest.mark.parametrize("waits", ["wait (do_ready);", "@(negedge clk);", "fork #1 late <= rst; join_none"])
def test_what_waits_for_other_than_time_is_refused(tmp_path: Path, waits: str) -> None:
    more = f"logic late; always @(posedge clk) begin {waits} late <= rst; end"
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    with pytest.raises(ToolError, match=r"rtl-error: .*toy\.sv:25:\d+: .* requires? --timing"):
        bench.build(design, bench.own(design), tmp_path)


@simulates
def test_an_option_of_the_simulator_is_not_set_and_the_bench_s_are_none(tmp_path: Path) -> None:
    tests = " || ".join(f'$test$plusargs("{word}")' for word in ("", "trace", "seed", "full", "vectors", "-", "bench"))
    more = f'int told; initial if ({tests} || $value$plusargs("idle=%d", told)) $finish;'
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, bench.MODES)] == ["ok"] * 4


@simulates
def test_a_dump_is_no_harm(tmp_path: Path) -> None:
    more = 'initial begin $dumpfile("said.log"); $dumpvars; end'
    (design,) = designs_of(toys.design(tmp_path / "toy", (READY, f"{READY}\n  {more}")))
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert [o.outcome for o in bench.run(tmp_path, toys.STREAMS, bench.MODES)] == ["ok"] * 4


def test_what_only_looks_like_a_task_is_none() -> None:
    text = 'wire \\$fopen ; /* $fopen */ initial $display("$fopen \\" $fclose"); // $fwrite\nassign x = $clog2(4);'
    netlist = bench.Netlist("top", ())
    assert bench.simulator_only(text, netlist) is None
    again = bench.simulator_only('wire \\`include ; initial $display("`define"); `include "x"', netlist)
    assert again is not None
    assert "`include, which" in again.detail


@pytest.mark.parametrize(
    "text", [*(f'wire \\{c}" ;' for c in "\x85\xa0\x1c\x1f\v"), '`pragma p "\\\n', 'initial $display("""a " b""", 1);']
)
def test_no_text_hides_a_task_that_verilator_sees(text: str) -> None:
    """Escaped identifiers and strings end where it ends them, and it drops the lines of some directives."""
    assert bench.simulator_only(f'{text} initial $system("x"); // "', bench.Netlist("top", ())) is not None


def test_what_xml_has_no_character_for_ends_no_campaign(tmp_path: Path) -> None:
    """A colour in a message is no part of a port; a port that has such a name is not the API's."""
    said = '<x><module name="top"><var name="{}" dir="input"/><display name="&#27;[31m&#x1b;\x0b"/></module></x>'
    for name, port in (("clk", "clk"), ("clk&#31;", "clk?"), ("clk\x1f", "clk?"), ("clk&#233;", "clk\xe9")):
        (tmp_path / bench.XML).write_text(said.format(name))
        assert bench.told(bench.Netlist("top", ()), tmp_path) == {port: (False, 1)}
    (tmp_path / bench.XML).write_text("<x>")
    with pytest.raises(ToolError, match=r"rtl-error: .*cannot be read"):
        bench.told(bench.Netlist("top", ()), tmp_path)


@simulates
def test_no_file_of_a_design_is_one_of_the_bench_s_build(tmp_path: Path) -> None:
    """Make reads all of obj/*.d, and compilers look for headers of C++ beside the bench: neither finds a memory's."""
    memory = 'logic [7:0] {0} [0:3]; initial $readmemh("{1}", {0});'
    memories = "\n  ".join(memory.format(name, file) for name, file in (("a", "obj/a.d"), ("b", "memory")))
    folder = toys.design(tmp_path / "toy", WRONG, (READY, f"{READY}\n  {memories}"))
    (folder / "obj").mkdir()
    (folder / "obj" / "a.d").write_text("$(shell touch ../made)$(error stop)\n")
    (folder / "memory").write_text("#error no header\n")
    (design,) = designs_of(folder)
    assert [name for name, _ in design.data] == ["obj/a.d", "memory"]
    (work := tmp_path / "work").mkdir()
    bench.build(design, bench.own(design), work, optimised="-O0")
    assert not (work / "made").exists()
    assert {f.name for f in (work / bench.ROOM / bench.AT).iterdir()} == {"obj", "memory"}


@simulates
@pytest.mark.parametrize(
    "more",
    [
        "hidden hidden();",
        '\n wire \\x" ; hidden hidden(); wire \\y" ;',
        "\\module hidden (); hidden other();",
        "\\../design/hidden.sv hidden();",
    ],
    ids=["plain", "between quotes", "like a module", "by a path"],
)
def test_a_module_that_no_source_has_is_not_looked_for(tmp_path: Path, more: str) -> None:
    """Verilator would find it by its name among files that are there to be read as something else."""
    memory = 'logic [7:0] m [0:3]; initial $readmemh("hidden.sv", m);'
    empty = ("// A toy", "module \\module ; endmodule\n//")
    folder = toys.design(tmp_path / "toy", empty, (READY, f"{READY}\n  {memory} {more}"))
    (folder / "hidden.sv").write_text('module hidden; initial $system("true"); endmodule')
    (design,) = designs_of(folder)
    assert [name for name, _ in design.data] == ["hidden.sv"]
    (work := tmp_path / "work").mkdir()
    with pytest.raises(ToolError, match=r"missing-file: .*hidden"):
        bench.build(design, bench.own(design), work)


@simulates
def test_what_is_included_is_no_module_that_is_looked_for(tmp_path: Path) -> None:
    """Whatever headers hold, and are called: names of files say nothing. Each source has its own net type."""
    included = '`default_nettype none\n`include "toy_pkg.sv"\n`include "state.v"\n//'
    folder = toys.design(
        tmp_path / "toy",
        ("// A toy", included),
        (READY, f'`include "swap.v"\n  wire y; other other(.x(rst), .y(y));\n{READY}'),
    )
    (folder / "toy_pkg.sv").write_text("package toy_pkg; localparam int N = 1; endpackage\n")
    (folder / "state.v").write_text("`define STATE 0\n`define STATE 1\n// module\n")
    (folder / "swap.v").write_text("function automatic swap(input x); swap = !x; endfunction\n")
    (folder / "other.sv").write_text("module other(input x, output y); assign z = x; assign y = z; endmodule\n")
    described = folder / "toy.toml"
    described.write_text(described.read_text().replace('"toy.sv"', '"toy.sv", "other.sv"'))
    (design,) = designs_of(folder)
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert bench.run(tmp_path, toys.STREAMS, ("full",))[0].outcome == "ok"


@simulates
def test_a_byte_of_a_source_is_that_byte(tmp_path: Path) -> None:
    """Whatever characters it may be of: a text is a number."""
    folder = toys.design(tmp_path / "toy", ("32'h93000004;", "{24'h930000, \"?\" ^ 8'hED};"))
    source = folder / "toy.sv"
    source.write_bytes(b"// \xff\xc3\xa9\r\n" + source.read_bytes().replace(b'"?"', b'"\xe9"'))
    (design,) = designs_of(folder)
    bench.build(design, bench.own(design), tmp_path, optimised="-O0")
    assert bench.run(tmp_path, toys.STREAMS, ("full",))[0].outcome == "ok"


@pytest.mark.skipif(not sandbox.available(), reason=sandbox.WITHOUT)
def test_a_simulation_writes_to_its_own_folder_only(tmp_path: Path) -> None:
    (tmp_path / "obj").mkdir()
    (tmp_path / bench.ROOM / bench.AT).mkdir(parents=True)
    program = tmp_path / "obj" / "bench"
    program.write_text("#!/bin/sh\nfor f in ../../obj/x ../../bench.cpp ../x; do echo >$f; done 2>&1; exit 1\n")
    program.chmod(0o755)
    with pytest.raises(ToolError, match="Read-only"):
        bench.run(tmp_path, toys.STREAMS, ("full",))
    assert {f.name for f in tmp_path.iterdir()} == {"obj", bench.ROOM}
    assert [f.name for f in (tmp_path / "obj").iterdir()] == ["bench"]
    assert (tmp_path / bench.ROOM / "x").exists()


@pytest.mark.skipif(not sandbox.available(), reason=sandbox.WITHOUT)
@pytest.mark.parametrize("end", ["exit 2", "kill -9 $$"])
def test_a_bench_that_dies_says_nothing(tmp_path: Path, end: str) -> None:
    """Whatever it, or another program, said before."""
    (tmp_path / "obj").mkdir()
    (tmp_path / bench.ROOM / bench.AT).mkdir(parents=True)
    program = tmp_path / "obj" / "bench"
    program.write_text(f"#!/bin/sh\necho '{(FORGED % 'full').replace(chr(92), '')}'\n{end}\n")
    program.chmod(0o755)
    with pytest.raises(ToolError):
        bench.run(tmp_path, toys.STREAMS, ("full",))
    program.write_text(program.read_text().replace(end, "exit 1"))
    assert len(bench.run(tmp_path, toys.STREAMS, ("full",))) == 1


@simulates
def test_what_a_design_prints_is_no_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor what a program says that it should not have started."""
    monkeypatch.setattr(bench, "simulator_only", lambda *_: None)
    starts = 'initial $system("for k in 3 4 5 6 7 8 9; do echo \'{\\"mode\\"\' >&$k; done 2>/dev/null");'
    tells = f"{READY}\n  {starts}\n{CLOCKED} begin {TELLS} end"
    (design,) = designs_of(toys.design(tmp_path / "toy", WRONG, (READY, tells)))
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


#: takes ready for a promise, where it is synthesised
PROMISED = (
    "  wire out = do_valid && do_ready;",
    """`ifdef SYNTHESIS
  logic seen;
  always_ff @(posedge clk) seen <= !rst && do_ready && !do_valid;
  wire out = do_valid && (do_ready || seen);
`else
  wire out = do_valid && do_ready;
`endif""",
)


@pytest.mark.long
@synthesises
def test_a_netlist_is_right_in_the_modes_of_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    (design,) = designs_of(toys.design(tmp_path / "toy", PROMISED))
    with Store.open(tmp_path / "results.db") as store:
        jobs = [Job(design, load_device("artix7"), modes=m) for m in (bench.MODES, ("full", "stall", "reset"))]
        every, some = Hardware(store).campaign(jobs, lambda *_: None)
    assert every.failure is not None
    assert every.failure.reason is Reason.NETLIST_DIFFERS, every.failure
    assert "mode withdraw, " in every.failure.detail
    assert some.failure is None, some.failure


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
