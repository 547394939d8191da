"""Designs as their folders describe them, or do not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl import bench, guess, units
from steelyard.rtl.reading import designs_of
from tests.conftest import write
from tests.rtl import toys

VERILOG = """module inner(input [15:0] pdi_data, input [15:0] sdi_data, output [15:0] do_data); endmodule
module outer(clk, pdi_data, sdi_data, do_data); input clk; input [15:0] pdi_data; input [15:0] sdi_data;
output [15:0] do_data; inner i (pdi_data, sdi_data, do_data); endmodule
"""


def test_variants_and_widths_are_designs(tmp_path: Path) -> None:
    (tmp_path / "a.sv").write_text("")
    said = 'top = "lwc"\nw = [32, 8]\nsources = ["*.sv"]\naead = "x"\ninput_sequence = ["ad", "npub", "data"]\n'
    (tmp_path / "design.toml").write_text(said + "[variants]\nx1 = { ROUNDS = 1 }\nx2 = { ROUNDS = 2 }\n")
    found = {d.variant: d for d in designs_of(tmp_path)}
    assert list(found) == ["x1", "x1-w8", "x2", "x2-w8"]
    assert found["x2-w8"].parameters == (("ROUNDS", 2), ("W", 8))
    assert found["x1"].order == ("ad", "npub", "data", "tag")
    assert len({d.digest for d in found.values()}) == 4


def test_an_unknown_key_is_met_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "design.toml").write_text('top = "t"\nw = [32]\nsources = []\nhsah = "x"\n', "utf-8-sig")
    with pytest.raises(UserError, match="hash"):
        designs_of(tmp_path)


def test_the_lwc_package_s_file(tmp_path: Path) -> None:
    (found,) = designs_of(toys.design(tmp_path / "toy"))
    assert (found.name, found.top, found.width, found.answers) == ("toy", "toy", 32, tmp_path / "toy" / "kat")


def test_a_list_of_sources_and_a_guessed_top(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "outer.v").write_text(VERILOG)
    (tmp_path / "tb_outer.v").write_text("module tb; endmodule")
    (guessed,) = designs_of(tmp_path, aead="asconaead128")
    assert (guessed.top, guessed.width, guessed.aead, len(guessed.files)) == ("outer", 16, "asconaead128", 1)
    assert "guessed" in guessed.notes[0]
    (tmp_path / "rtl" / "source_list.txt").write_text("outer.v\n", encoding="utf-8-sig")
    (listed,) = designs_of(tmp_path)
    assert (listed.top, listed.name) == ("outer", "rtl")
    (tmp_path / "rtl" / "source_list.txt").write_text("outer.v\ngone.v\n")
    with pytest.raises(UserError, match=r"gone\.v is not there"):
        designs_of(tmp_path)


_PORTS = "input [{0}:0] pdi_data, input [{0}:0] sdi_data, output [{0}:0] do_data"
_OTHER = "entity o is generic (W : natural := 32); port (d : in s); end o;\n"
_VHDL = "entity t is port (pdi_data : in std_logic_vector({} downto 0); sdi_data : in s; do_data : out s); end t;\n"
_FIFO = "module fifo #(parameter W = 8) (input [W-1:0] d); endmodule\n"
_SIZED = "module t #(parameter {}) (" + _PORTS.format("W-1") + "); fifo #(.W(8)) f (x); endmodule\n"
_GENERIC = _VHDL.format("W-1").replace("port", "generic ({}); port", 1)


@pytest.mark.parametrize(
    ("files", "width"),
    [
        ({"a.vhd": "-- constant W : integer := 8;\nconstant W : integer := 16;\n" + _VHDL.format("W*SHARES - 1")}, 16),
        ({"a.vhd": _VHDL.format("15")}, 16),
        ({"a.vhd": _VHDL.format("G_W - 1").replace("port", "generic (G_W : positive := 8); port", 1) + "-- := 16"}, 8),
        ({"a.v": "// was [7:0] pdi_data\nmodule t(" + _PORTS.format(15) + "); endmodule"}, 16),
        ({"a.sv": "module t #(parameter int N = 2, W = 16) (" + _PORTS.format("W-1") + "); endmodule"}, 16),
        ({n: f"module {n[0]}({_PORTS.format(w)}); i i (); endmodule" for n, w in (("i.v", 31), ("t.v", 7))}, 8),
        ({"a.vhd": _VHDL.format("W-1") + "assert ((W = 32 and x));", "b.vhd": "constant W : t := 8;"}, 8),
        ({"a.vhd": _OTHER + "constant W : t := 8;" + _VHDL.format("W-1") + _OTHER + "variable w : t := 0;"}, 8),
        ({"a.sv": "module t #(parameter logic [7:0] W = 8'd16) (" + _PORTS.format("W-1") + "); endmodule"}, 16),
        ({"a.v": "`define CCW 8\nmodule t(" + _PORTS.format("`CCW-1") + "); endmodule"}, 8),
        ({"a.v": _FIFO + _SIZED.format("W = 8*4") + _FIFO}, 32),
        ({"a.v": _FIFO + _SIZED.format("N = 2") + _FIFO.replace("parameter", "localparam")}, 32),
        ({"a.v": _FIFO + _SIZED.format("int N = 2, int W = 16") + _FIFO}, 16),
        ({"a.v": _FIFO + _SIZED.format("W = `CCW") + "`define CCW 8\n`define CCSW 16"}, 8),
        ({"a.sv": _FIFO + "package p; parameter int V = 1, CCW = 16; endpackage " + _SIZED.format("W = p::CCW")}, 16),
        ({"a.sv": "package p; parameter W = 16; endpackage " + _FIFO + _SIZED.format("W = 8*4")}, 32),
        ({"a.sv": "package p; parameter W = 16; endpackage " + _FIFO + _SIZED.format("N = 4")}, 16),
        ({"a.vhd": _OTHER.replace("32", "8") + _GENERIC.format("W : positive := 8*4")}, 32),
        ({"a.vhd": "constant W : t := 8;" + _GENERIC.format("W, N : positive")}, 32),
        ({"a.vhd": "constant CCW : t := 16;" + _GENERIC.format("W : positive := work.p.CCW")}, 16),
        ({"a.vhd": _VHDL.format("W-1") + "architecture a of o is constant W : t := 8; begin x <= 1; end a;"}, 32),
    ],
)  # fmt: skip
def test_the_width_of_words_is_what_the_top_s_ports_have(tmp_path: Path, files: dict[str, str], width: int) -> None:
    write(tmp_path, files)
    (found,) = designs_of(tmp_path)
    assert (found.top, found.width) == ("t", width)


@pytest.mark.parametrize(("said", "width"), [("parameters = { W = 8 }", 8), ("", 16)])
def test_a_variant_s_parameter_is_the_width_of_words(tmp_path: Path, said: str, width: int) -> None:
    write(tmp_path, {"a.sv": "module t #(parameter W = 16) (" + _PORTS.format("W-1") + "); endmodule"})
    write(tmp_path, {"w.toml": f'[rtl]\nsources = ["a.sv"]\ntop = "t"\n{said}\n'})
    assert [d.width for d in designs_of(tmp_path)] == [width]


def test_sources_alone_are_read_as_they_need_each_other(tmp_path: Path) -> None:
    """Packages before their users, after what defines their macros; and parts of others in their places only."""
    top = '`include "logic.v"\nmodule t import z_types::*; (' + _PORTS.format(15) + "); endmodule"
    write(tmp_path, {"a.sv": top, "logic.v": "assign x = 1;", "z.sv": "package z_types; endpackage"})
    (found,) = designs_of(tmp_path)
    assert [f.name for f in found.files] == ["z.sv", "a.sv"]
    assert found.notes[-1] == "included files and memories found: logic.v"
    more = {"a.sv": top.replace("z_types", "y_types"), "c.v": "`ifndef C\n`define C\n`define BITS 8\n`endif"}
    more |= {"y.sv": "package y_types; parameter int W = `BITS; typedef z_types::word word; endpackage"}
    more |= {"b.v": '`ifdef ONE\n`include "d.v"\n`include "c.v"\n`endif\nmodule b; endmodule'}
    write(tmp_path, more | {"d.v": "module d; endmodule"})
    (found,) = designs_of(tmp_path)
    assert [f.name for f in found.files] == ["z.sv", "c.v", "y.sv", "a.sv", "b.v", "d.v"]


def test_the_top_is_the_one_that_no_other_has(tmp_path: Path) -> None:
    """Verilog and VHDL; what comments and texts say counts for nothing."""
    ports = "input [31:0] pdi_data, input [31:0] sdi_data, output [31:0] do_data"
    made = {
        "a": f"module a ({ports}); endmodule module b #(parameter N = 1) ({ports}); a #(.N(N)) i (); endmodule",
        "c": f"/* module x ({ports}); */ module c ( // the module below has these\n{ports}); // c c (\nendmodule",
        "d": f"module d ({ports}); endmodule\nmodule tb; wire [31:0] pdi_data, sdi_data, do_data; endmodule",
        "e": "entity e is port (pdi_data, sdi_data : in bit; do_data : out bit); end;\n-- f : entity work.e\n",
        "g": "entity f is port (pdi_data, sdi_data : in bit; do_data : out bit); end entity;\n"
        "entity g is port (pdi_data, sdi_data : in bit; do_data : out bit); end; architecture a of g is begin\n"
        "i : entity work.F port map (pdi_data); end;",
        "h": "entity f is port (pdi_data, sdi_data : in bit; do_data : out bit); end entity;\n"
        "entity h is port (pdi_data, sdi_data : in bit; do_data : out bit); end; architecture a of h is begin\n"
        "i : component f port map (pdi_data); end;",
        "k": "entity f is port (pdi_data, sdi_data : in bit; do_data : out bit); end entity;\n"
        "entity k is port (pdi_data, sdi_data : in bit; do_data : out bit); end; architecture a of k is begin\n"
        "i : entity work . f port map (pdi_data, sdi_data, do_data); end;",
    }
    texts = [
        '"l core (v1.0)"',
        '"a \\" l core (1)"',
        '"a \\\n l core (1)"',
        '"//"',
        '"module x(pdi_data, sdi_data, do_data);"',
    ]
    made["l"] = f"module l ({ports}); initial begin {' '.join(f'$display({t});' for t in texts)} end endmodule"
    made["n"] = f'module m ({ports}); endmodule module n ({ports}); initial $display("//"); m i (); endmodule'
    made["p"] = made["e"].replace("entity e", "entity p") + "c <= '\"'; s <= \"p core (\" & '\"'; p <= q;"
    made["b"] = made.pop("a")
    for top, text in made.items():
        assert units.tops(text) == [top]


def test_a_unit_without_ports_is_a_test_bench_s() -> None:
    """Whatever comments, texts and parameters say; packages have no unit."""
    verilog = {
        "module tb; endmodule": True, "module tb ( ); endmodule": True, "module m(input a); endmodule": False,
        "module tb import p::*; #(parameter N = (1)) (); endmodule": True, "module m #(N = 1) (input a);": False,
        "module tb #(N = f(2));": True, "package p; endpackage": False, "": False, "// module tb;": False,
        'module m(input a); initial $display("module tb;"); endmodule': False, "module m((* x *) a, (b));": False,
        "program automatic t; endprogram": True, "macromodule t(); endmodule": True, "program p(input a);": False,
    }  # fmt: skip
    vhdl = {
        "entity tb is end;": True, "entity e is port (a : in bit); end;": False, "package p is end;": False,
        "entity tb is generic (N : natural); -- port (\nend entity;": True, "-- entity tb is end;": False,
        "q <= '\"'; entity tb is end; -- \"": True, 'x <= "\'"; -- entity tb is end;': False,
    }  # fmt: skip
    for texts, is_vhdl in ((verilog, False), (vhdl, True)):
        assert {text: units.portless(text, is_vhdl) for text in texts} == texts


def test_thousands_of_modules_are_read_at_once(tmp_path: Path) -> None:
    ports = "(input pdi_data, input sdi_data, output do_data);"
    texts = (
        "module m input\n" * 60_000,
        "".join(f"module m{k} {ports} endmodule\n" for k in range(10_000)),
        f"module m {ports} // {'a' * 400_000}\nlocalparam {'b' * 400_000} = 1; endmodule",
        f"module m {ports} {'c :' * 100_000}{' ' * 400_000} endmodule",
        "/*" * 400_000,
        '"' * 400_001,
        '"\\' * 400_000,
        f"module m {'() ' * 400_000} {' ' * 400_000}x",
        "entity e is " * 100_000,
    )
    for text in texts:
        start = time.process_time()
        units.tops(text)
        guess.width(text, "m", {})
        for is_vhdl in (False, True):
            units.portless(text, is_vhdl)
        assert time.process_time() - start < 3, text[:40]


@toys.needs("verilator")
def test_ports_of_an_included_file(tmp_path: Path) -> None:
    """A list of ports may be in a file of its own, and that in another; folders of included files are found."""
    text = toys.SOURCE.read_text()
    ports, body = text.split("module toy (", 1)[1].split(");", 1)
    mine = tmp_path / "mine"
    (mine / "include" / "api").mkdir(parents=True)
    (mine / "toy.sv").write_text(f'module toy (\n`include "ports.svh"\n);{body}')
    (mine / "include" / "ports.svh").write_text('  `include "api/streams.svh"\n')
    (mine / "include" / "api" / "streams.svh").write_text(ports)
    (found,) = designs_of(mine)
    assert (found.top, found.width) == ("toy", 32)
    assert "included files and memories found: include/api/streams.svh, include/ports.svh" in found.notes
    (tmp_path / "work").mkdir()
    assert bench.refused_ports(found, bench.ports(bench.own(found), tmp_path / "work")) is None
    (mine / "include" / "api" / "streams.svh").write_text(ports.replace("sdi_data", "sdi_word"))
    with pytest.raises(UserError, match="none of its modules has the ports"):
        designs_of(mine)
    (mine / "toy.sv").write_text(f'module toy (\n`include "../../ports.svh"\n);{body}')
    with pytest.raises(UserError, match="none of its modules has the ports"):
        designs_of(mine)


def test_no_design_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no VHDL or Verilog file"):
        designs_of(tmp_path)
    (tmp_path / "a.v").write_text("module a; endmodule")
    with pytest.raises(UserError, match="none of its modules has the ports"):
        designs_of(tmp_path)


def test_modules_that_begin_and_do_not_end_are_read_once(tmp_path: Path) -> None:
    """2 kB of them took a second, 20 kB would have taken minutes."""
    (tmp_path / "a.v").write_text(VERILOG + "module a #(" * 300 + ")(" * 3000)
    start = time.process_time()
    (found,) = designs_of(tmp_path)
    assert found.top == "outer"
    assert time.process_time() - start < 2


def test_a_folder_that_cannot_be_looked_through_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the root of a machine, whose /proc changes under one's eyes."""

    def gone(*_: object) -> None:
        raise OSError(22, "Invalid argument", "/proc/1/net")

    monkeypatch.setattr(Path, "rglob", gone)
    with pytest.raises(UserError, match=r"cannot be looked through .*; name the folder of a design"):
        designs_of(tmp_path)


def test_a_missing_source_is_not_somebody_else_s(tmp_path: Path) -> None:
    """Only the package's: what the user named, or its repository, and the LWC package's folder beside it."""
    mine, beside = toys.design(tmp_path / "mine"), tmp_path / "theirs"
    beside.mkdir()
    (mine / "toy.sv").rename(beside / "toy.sv")
    with pytest.raises(UserError, match=r"toy\.sv is not there"):
        designs_of(mine)
    (tmp_path / ".git").mkdir()
    (found,) = designs_of(mine)
    assert found.files == (beside / "toy.sv",)
    assert f"toy.sv from {beside / 'toy.sv'}" in found.notes[0]
    (tmp_path / ".git").rmdir()
    beside.rename(tmp_path / "LWC_rtl")
    assert designs_of(mine)[0].files == (tmp_path / "LWC_rtl" / "toy.sv",)


def test_sources_may_be_tables(tmp_path: Path) -> None:
    """None is left out without a word."""
    folder = toys.design(tmp_path / "toy")
    said = (folder / "toy.toml").read_text()
    (folder / "toy.toml").write_text(said.replace('["toy.sv"]', '[{ file = "toy.sv", type = "verilog" }]'))
    assert [f.name for f in designs_of(folder)[0].files] == ["toy.sv"]
    (folder / "toy.toml").write_text(said.replace('["toy.sv"]', '["toy.sv", { path = "b.sv" }]'))
    with pytest.raises(UserError, match=r"rtl\.sources has {'path': 'b\.sv'}, which names no file"):
        designs_of(folder)


def test_what_nothing_includes_is_no_part_of_a_design(tmp_path: Path) -> None:
    """Beside a header there may be anything, of any size; a macro may name what is included."""
    folder = toys.design(tmp_path / "toy", ("// A toy", '`include "a.vh"\n`define NEXT "sub/b.vh"\n`include `NEXT\n//'))
    (folder / "sub").mkdir()
    (folder / "a.vh").write_text("`define A 1\n")
    (folder / "sub" / "b.vh").write_text("`define B 1\n")
    with (folder / "paper.pdf").open("wb") as f:
        f.truncate(9 << 20)
    (found,) = designs_of(folder)
    names = bench.copied(bench.own(found), tmp_path / "work")
    made = {str(f.relative_to(tmp_path / "work" / bench.AT)) for f in (tmp_path / "work").rglob("*") if f.is_file()}
    assert made == {*names, f"{bench.HEADERS}/a.vh", f"{bench.HEADERS}/sub/b.vh"}
    before = found.digest
    (folder / "paper.pdf").write_text("")
    assert found.digest == before
    (folder / "sub" / "b.vh").write_text("`define B 2\n")
    assert found.digest != before


def test_included_files_and_data_are_bounded_in_sum(tmp_path: Path) -> None:
    texts = "\n".join(f'initial $readmemh("m{k}.hex", m{k});' for k in range(5))
    heads = "\n".join(f'`include "h{k}.vh"' for k in range(5))
    for name, more in (("m0.hex", texts), ("h0.vh", heads)):
        folder = toys.design(tmp_path / name, ("// A toy", f"{more}\n//"))
        for k in range(5):
            with (folder / name.replace("0", str(k))).open("wb") as f:
                f.truncate(7 << 20)
        with pytest.raises(UserError, match=r"more than .*32 MiB"):
            designs_of(folder)
