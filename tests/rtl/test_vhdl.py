"""VHDL: the toy again, in GHDL's simulator and as the Verilog that GHDL makes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.asked import settled
from steelyard.hardware import Hardware
from steelyard.model.reasons import Reason
from steelyard.model.record import Toolchain
from steelyard.rtl import bench, ghdl, tools, vhdl
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.store import Store
from tests.conftest import built_compilers
from tests.rtl import toys

SOURCE = Path(__file__).parent / "toy.vhd"
simulates = toys.needs("ghdl-5")
converts = toys.needs("ghdl-5", "verilator")


def toy(folder: Path, *changes: tuple[str, str]) -> Design:
    """The toy in VHDL, changed, with its answers; its algorithm is one that no software here has."""
    toys.design(folder)
    text = SOURCE.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "toy.sv").unlink()
    (folder / "toy.vhd").write_text(text)
    lwc = '[lwc]\nhash.algorithm = "toy"\n'
    (folder / "toy.toml").write_text(toys.TOML.replace("toy.sv", "toy.vhd") + lwc)
    return settled(*designs_of(folder))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A new home that has the checkout's GHDL."""
    with built_compilers():
        monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
        yield


@simulates
def test_ghdl_s_bench_says_what_the_other_one_says(tmp_path: Path) -> None:
    """All modes are right; its cycles are the ones that follow from its states; a wrong word is told with its place."""
    design = toy(tmp_path / "toy")
    work = tmp_path / "ghdl"
    work.mkdir()
    ghdl.build(design, work)
    assert [o.outcome for o in ghdl.run(design, work, toys.STREAMS, bench.MODES)] == ["ok"] * 4
    (single,) = ghdl.run(design, work, toys.STREAMS, ("single",))
    assert single.each[:6] == (4, 5, 5, 5, 5, 6)
    wrong = toys.hashed(8)
    bad = type(wrong)(wrong.name, wrong.sdi, wrong.pdi, (wrong.out[0], "01234567", *wrong.out[2:]))
    (outcome,) = ghdl.run(design, work, [toys.hashed(4), bad], ("full",))
    assert outcome.failure is not None
    assert f"hash@8: word 1 of do is {wrong.out[1]} instead of 01234567" in outcome.failure.detail
    free = type(wrong)(wrong.name, wrong.sdi, wrong.pdi, (wrong.out[0], "x" * 8, *wrong.out[2:]))
    (outcome,) = ghdl.run(design, work, [free], ("full",))
    assert outcome.failure is None


AGAIN = "state <= {};\n            end if;\n        end case"


@simulates
@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (("last <= pdi_data(24);", "last <= '0';"), "hang"),
        (("state <= OUT_HEADER;\n              end if;", "state <= HEADER;\n              end if;"), "hang"),
        ((AGAIN.format("INSTRUCTION"), AGAIN.format("DIGEST")), "extra"),
    ],
)
def test_ghdl_s_bench_finds_what_is_broken(tmp_path: Path, change: tuple[str, str], outcome: str) -> None:
    design = toy(tmp_path / "toy", change)
    work = tmp_path / "ghdl"
    work.mkdir()
    ghdl.build(design, work)
    (said,) = ghdl.run(design, work, toys.STREAMS, ("single",))
    assert said.outcome == outcome


DATA, SUM = "pdi_data  : in  std_logic_vector", "signal sum   : std_logic_vector"
OTHER = (
    (DATA, "PDI_Data  : in  {}"),
    ("do_data   : out std_logic_vector", "do_data : out {}"),
    (SUM, "signal sum : {}"),
)
UNSIGNED, ULOGIC = (
    tuple((old, new.format(kind)) for old, new in OTHER) for kind in ("ieee.numeric_std.unsigned", "std_ulogic_vector")
)
PACKAGE = "package own is\n  type size_t is (fast, small);\nend package;\n"
USES = ("use ieee.numeric_std.all;", "use ieee.numeric_std.all;\nuse work.own.all;")
GENERIC = ("entity toy is", "entity toy is\n  generic (SIZE : size_t := fast);")
NAMED = ("entity toy is", "entity toy is\n  generic (SIZE : work.own.size_t := work.own.fast);")
CLOCK = "clk, rst  : in  std_logic;"
INPUTS = (CLOCK, f"{CLOCK} Test : std_logic; mode : in std_logic_vector(3 downto 0);")
RANGES = (CLOCK, f"{CLOCK} way : natural range 1 to 3; step : in positive; same : in integer range 2 to 4 := 3;")
TYPED = (CLOCK, f"{CLOCK} size : in size_t;")
RANDOM = (
    CLOCK,
    f"{CLOCK} rdi_data : in std_logic_vector(7 downto 0); rdi_valid : in std_logic; rdi_ready : out std_logic;",
)
WAITS = (
    ("sdi_ready <= '0';", "sdi_ready <= '0'; rdi_ready <= '1';"),
    ("or state = DATA else", "or (state = DATA and rdi_valid = '1') else"),
    ("pdi_valid = '1' then\n              sum ", "pdi_valid = '1' and rdi_valid = '1' then\n              sum "),
)


@simulates
@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ((USES, GENERIC), "small"),
        ((NAMED,), "small"),
        ((INPUTS,), ""),
        ((RANDOM, *WAITS), ""),
        ((RANGES,), ""),
        ((USES, TYPED), ""),
        (UNSIGNED, ""),
        (ULOGIC, ""),
    ],
)
def test_the_bench_takes_what_a_design_has_beside_the_api(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], value: str
) -> None:
    """A value of its package's type for a generic; inputs, which are 0; random bits, which are always there; words of
    other types, which VHDL-93 tells apart."""
    design = toy(tmp_path / "toy", *changes)
    (source,) = design.files
    source.write_text(PACKAGE + source.read_text())
    design = replace(design, parameters=(("SIZE", value),) if value else (), standard="93")
    work = _made(tmp_path / "ghdl")
    ghdl.build(design, work)
    assert [o.outcome for o in ghdl.run(design, work, toys.STREAMS, ("full", "stall"))] == ["ok", "ok"]


@pytest.mark.long
@converts
def test_both_simulators_are_compared(tmp_path: Path) -> None:
    """A package's files alone verify a design whose algorithm nothing bundled has, and its cycles are counted."""
    design = toy(tmp_path / "toy")
    assert any("no software here has toy" in n for n in design.notes)
    with Store.open(tmp_path / "results.db") as store:
        verified = Hardware(store).verified(design)
    assert verified.failure is None, verified.failure
    assert any("GHDL gives the same words in the same cycles" in n for n in verified.notes)
    cycles = {s.message: c for s, c in zip(verified.sizes, verified.cycles, strict=True) if s.of == "HM"}
    assert {n: cycles[n] for n in (16, 64, 1536)} == {n: 4 + n // 4 for n in (16, 64, 1536)}


@pytest.mark.long
@converts
def test_simulators_that_differ_are_told(tmp_path: Path) -> None:
    """A process without all that it reads in its list reads it late in simulation, not as a circuit."""
    late = ("  sdi_ready <= '0';", "  sdi_ready <= '0';\n  process (state) begin pdi_ready <= waits; end process;")
    renamed = ("  pdi_ready <= '1' when", "  waits <= '1' when")
    signal = ("  signal last  : std_logic;", "  signal last, waits : std_logic;")
    design = toy(tmp_path / "toy", renamed, late, signal)
    with Store.open(tmp_path / "results.db") as store:
        verified = Hardware(store).verified(design)
    assert verified.failure is None, verified.failure
    assert any(n.startswith("GHDL's simulation of the VHDL differs: ") for n in verified.notes), verified.notes


@simulates
def test_without_ghdl_5_vhdl_is_simulated_and_not_synthesised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older GHDL, here one that says so of itself, verifies, and the run says why it has no figures."""
    where = tools.program("ghdl-5")
    identify = tools.identify

    def older(name: str) -> Toolchain | None:
        if name == "ghdl":
            return Toolchain(name, "GHDL 2.0.0", "00")
        return None if name == "ghdl-5" else identify(name)

    monkeypatch.setattr(tools, "identify", older)
    program = tools.program
    monkeypatch.setattr(tools, "program", lambda name: where if name == "ghdl" else program(name))
    design = toy(tmp_path / "toy")
    with Store.open(tmp_path / "results.db") as store:
        engine = Hardware(store)
        verified = engine.verified(design)
        assert verified.failure is None, verified.failure
        assert any("simulated by GHDL 2.0.0" in n for n in verified.notes)
        assert len(verified.cycles) == len(verified.sizes) > 0
        forges = ("  signal last  ", '  file own : std.textio.text open write_mode is "answers.txt";\n  signal last  ')
        forged = engine.verified(toy(tmp_path / "forges", forges)).failure
        assert forged is not None
        assert (forged.reason, forged.detail) == (Reason.SIMULATOR_ONLY, "toy.vhd:27: file, which no circuit has")
        job = Job(design, load_device("artix7"))
        assert "ghdl" in job.needed
        if not toys.tools.missing(("verilator", "yosys")):
            (record,) = engine.campaign([job], lambda *_: None)
            assert record.failure is not None
            assert record.failure.reason is Reason.NO_VHDL
            assert "GHDL 2.0.0 simulates it" in record.failure.detail


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("-- a file of ours", ""),
        ("signal profile : bit; -- a FILE", ""),
        ("File\n f : text;", "toy.vhd:1: File"),
        ('constant c : string := "--"; file f : text;', "toy.vhd:1: file"),
        ("/* -- */ file f : text;", "toy.vhd:1: file"),
        ('attribute foreign of f : procedure is "VHPIDIRECT system";', "toy.vhd:1: foreign"),
        ("x <= << signal .steelyard_bench.d : bit >>;", "toy.vhd:1: <<"),
    ],
)
def test_what_could_write_answers_is_found_in_vhdl(tmp_path: Path, line: str, found: str) -> None:
    (tmp_path / "toy.vhd").write_text(line)
    assert ghdl.beyond(Design("toy", "toy", "", tmp_path, "toy", 32, (tmp_path / "toy.vhd",))) == found


@converts
def test_zeros_of_another_width_get_theirs_in_a_copy(tmp_path: Path) -> None:
    """As the LWC package 1.0 has them; the source stays as it is, and other literals are refused."""
    narrow = ('x"e0000000" when others', 'x"e0000000" when STATUS,\n               x"00" when others')
    design = toy(tmp_path / "toy", narrow)
    before = (tmp_path / "toy" / "toy.vhd").read_text()
    notes: list[str] = []
    vhdl.converted(design, _made(tmp_path / "vhdl"), notes)
    assert notes == ['adapted in a copy: toy.vhd, line 37: x"00" has as many bits as its target']
    assert (tmp_path / "toy" / "toy.vhd").read_text() == before
    other = toy(tmp_path / "other", (narrow[0], narrow[1].replace('x"00"', 'x"01"')))
    with pytest.raises(tools.ToolError) as raised:
        vhdl.converted(other, _made(tmp_path / "vhdl2"), [])
    assert raised.value.failure.reason is Reason.RTL_ERROR
    assert "toy.vhd:37" in raised.value.failure.detail


@converts
def test_ports_have_the_letters_of_the_api(tmp_path: Path) -> None:
    """To VHDL all letters are one; where its own signals are in others, they are none of the ports."""
    changes = [(f"    {n}", f"    {n.upper()}") for n in ("clk, rst", *(p for p in bench.API if "rdi" not in p))]
    design = toy(tmp_path / "toy", *changes)
    netlist = vhdl.converted(design, _made(tmp_path / "vhdl"), [])
    found = bench.ports(netlist, _made(tmp_path / "ports"))
    assert bench.refused_ports(design, found) is None
    assert bench.beside(design, found) == []
    bench.build(design, netlist, work := _made(tmp_path / "bench"))
    assert [o.outcome for o in bench.run(work, toys.STREAMS, ("full",))] == ["ok"]


@converts
def test_what_ghdl_s_bench_cannot_have_is_not_wrong(tmp_path: Path) -> None:
    """Its second simulation is a note, and says why where it cannot be made."""
    for change, said in (
        (
            ("state <= DATA;", "state <= DATA;"),
            f"GHDL gives the same words in the same cycles in {len(toys.STREAMS)} op",
        ),
        (("pdi_valid : in  std_logic", "pdi_valid : in  bit"), "not simulated by GHDL besides: "),
    ):
        folder = _made(tmp_path / change[1][:5])
        design = toy(folder / "toy", change)
        work = _made(folder / "bench")
        bench.build(design, vhdl.converted(design, _made(folder / "vhdl"), []), work)
        assert [o.outcome for o in bench.run(work, toys.STREAMS, ("full",))] == ["ok"]
        assert ghdl.second_opinion(design, _made(folder / "ghdl"), work, toys.STREAMS).startswith(said)


_SUB = "library ieee;\nuse ieee.std_logic_1164.all;\n"
_SUB += "entity sub is port (a : in std_logic; q : out std_logic); end entity;\n"
_FIRST, _LAST = (f"architecture {{}} of sub is begin q <= {value}; end architecture;\n" for value in ("'0'", "a"))
_PACKAGES = [f"package p is constant c : bit := '{k}'; end package;\n" for k in (0, 1)]


@simulates
@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ((_SUB, _FIRST.format("one"), _LAST.format("two")), "architectures of sub: one (1.vhd), two (2.vhd): where"),
        ((_FIRST.format("one"), _LAST.format("two"), _SUB), "architectures of sub: one (0.vhd), two (1.vhd): where"),
        ((_SUB + _FIRST.format("one"), _LAST.format("two")), "architectures of sub: one (0.vhd), two (1.vhd): where"),
        ((_SUB + _FIRST.format("one") + _LAST.format("two"),), "architectures of sub: one (0.vhd), two (0.vhd): where"),
        ((_SUB, _FIRST.format("one") + _LAST.format("two")), "architectures of sub: one (1.vhd), two (1.vhd): where"),
        ((_SUB + _FIRST.format("rtl"), _SUB + _LAST.format("rtl")), "entity sub, architecture rtl of sub: the last of"),
        ((*_PACKAGES, _SUB, _FIRST.format("one"), _LAST.format("two")), "package p: the last of 0.vhd, 1.vhd is taken"),
        ((_SUB + _LAST.format("rtl"),) * 2, ""),
        ((_SUB + _LAST.format("rtl") + "-- architecture two of sub is\n",), ""),
    ],
)
def test_the_last_of_several_units_of_a_name_is_taken(tmp_path: Path, sources: tuple[str, ...], said: str) -> None:
    """As in VHDL, whichever the tool would take: the toy is right with the last alone."""
    through = (
        ("  sdi_ready <= '0';", "  sdi_ready <= '0';\n  held : entity work.sub port map (pdi_data(24), named);"),
        ("  signal last  : std_logic;", "  signal last, named : std_logic;"),
        ("last <= pdi_data(24);", "last <= named;"),
    )
    design = toy(tmp_path / "toy", *through)
    for k, text in enumerate(sources):
        (tmp_path / "toy" / f"{k}.vhd").write_text(text)
    design = replace(design, files=(*(tmp_path / "toy" / f"{k}.vhd" for k in range(len(sources))), *design.files))
    notes: list[str] = []
    vhdl.converted(design, _made(tmp_path / "vhdl"), notes)
    assert [n[: len(said)] for n in notes][:1] == [said] * bool(said), notes
    ghdl.build(design, work := _made(tmp_path / "ghdl"))
    assert [o.outcome for o in ghdl.run(design, work, toys.STREAMS, ("full",))] == ["ok"]
    if not tools.missing(("verilator",)):
        bench.build(design, bench.Netlist("toy", (tmp_path / "vhdl" / bench.AT / vhdl.MADE,)), _made(tmp_path / "b"))
        assert [o.outcome for o in bench.run(tmp_path / "b", toys.STREAMS, ("full",))] == ["ok"]


@simulates
def test_an_entity_twice_with_other_architectures_is_refused(tmp_path: Path) -> None:
    design = toy(tmp_path / "toy")
    for name, text in (("0", _FIRST.format("one")), ("1", _LAST.format("two"))):
        (tmp_path / "toy" / f"{name}.vhd").write_text(_SUB + text)
    design = replace(design, files=(*(tmp_path / "toy" / f"{k}.vhd" for k in range(2)), *design.files))
    with pytest.raises(tools.ToolError, match=r"entity sub: in each of 0\.vhd, 1\.vhd, .*leave out all but one"):
        vhdl.converted(design, _made(tmp_path / "vhdl"), [])


MIXED = """library ieee;
use ieee.std_logic_1164.all;
entity adder is
  port (a, b : in std_logic_vector(31 downto 0); q : out std_logic_vector(31 downto 0));
end entity;
architecture rtl of adder is
begin
  q <= a xor b;
end architecture;
"""


@converts
@pytest.mark.parametrize("name", ["adder", "Adder"])
def test_verilog_has_a_part_in_vhdl(tmp_path: Path, name: str) -> None:
    """In whatever letters Verilog names it; one whose generics it sets is refused."""
    folder = toys.design(
        tmp_path / "toy", ("sum <= sum ^ pdi_data;", "sum <= more;"),
        ("wire out =", f"wire [31:0] more;\n  {name} a (.a(sum), .b(pdi_data), .q(more));\n  wire out ="),
    )  # fmt: skip
    (folder / "adder.vhd").write_text(MIXED)
    (folder / "toy.toml").write_text(toys.TOML.replace('"toy.sv"', '"toy.sv", "adder.vhd"'))
    (design,) = designs_of(folder)
    assert design.languages == {"vhdl", "verilog"}
    work = _made(tmp_path / "bench")
    bench.build(design, vhdl.converted(design, _made(tmp_path / "vhdl"), []), work)
    assert [o.outcome for o in bench.run(work, toys.STREAMS, ("full",))] == ["ok"]
    text = (folder / "toy.sv").read_text()
    (folder / "toy.sv").write_text(text.replace(f"{name} a (", f"{name} #(.N(2)) a ("))
    with pytest.raises(tools.ToolError) as raised:
        vhdl.converted(design, _made(tmp_path / "other"), [])
    assert raised.value.failure.reason is Reason.NO_VHDL
    assert f"generics of {name}" in raised.value.failure.detail


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_ghdl_gets_what_it_is_fast_enough_for() -> None:
    """Long operations are left out, with those that need their keys."""
    reuse = (False, True, False, True, False)
    some = [type(s)(s.name, ("4",) * (not r), s.pdi, s.out, r) for s, r in zip(toys.STREAMS, reuse, strict=False)]
    assert ghdl.few(some, (100, 100, 5000, 100, 100)) == [0, 1, 4]
    assert ghdl.few(some, (2000,) * 5) == [0, 1, 2, 3, 4]
    hashed = [some[0], toys.STREAMS[0], some[1]]
    assert ghdl.few(hashed, (100, 5000, 100)) == [0, 2], "a hash leaves the key as it is"


def test_blank_lines_are_read_once() -> None:
    start = time.process_time()
    blank = "\n" * 50_000
    assert vhdl._ENTITY.findall(f"  Entity e\nis{blank};") == ["e"]
    assert vhdl._MODULE.findall(f" module m({blank});") == ["m"]
    assert time.process_time() - start < 1


def test_an_entity_is_read_once(tmp_path: Path) -> None:
    """Whatever stands around it, and in a comment or a text."""
    design = toy(tmp_path, ("entity toy is", "use work.odd.all; -- entity toy is\nentity toy is"))
    assert vhdl.context_of(design).endswith("use work.odd.all;")
    assert vhdl.inputs_of(design)["pdi_valid"].zero == "'0'"
    for text in ("entity toy is port(" * 9999, "library a; use a.b;" * 9999 + "entity toy is port((" + ")" * 9):
        design.files[0].write_text(text)
        assert vhdl.inputs_of(design) == {}
        assert len(vhdl.context_of(design)) < 50_000


def test_inputs_that_are_0_in_verilog_alone_are_told(tmp_path: Path) -> None:
    own = (CLOCK, f"{RANGES[1]} set : in std_logic := '1';")
    design = toy(tmp_path, own)
    names = ["way", "STEP", "same", "set"]
    (note,) = vhdl.untied(design, names)
    assert note.endswith(": way, STEP, same")
    assert vhdl.untied(design, ["set"]) == []


@pytest.mark.parametrize(
    "value", ["std_logic'('1')", "character'(')')", "'('", "';'", "'\"'", "std_logic '('0')", '")"', "work.f('(', ')')"]
)
def test_a_parenthesis_that_is_a_character_ends_nothing(tmp_path: Path, value: str) -> None:
    design = toy(tmp_path, (CLOCK, f"{CLOCK} odd : in odd_t := {value}; even : in std_logic;"))
    assert "even" in vhdl.inputs_of(design)
    assert "sdi_valid" in vhdl.inputs_of(design)
