"""Descriptions and files of designs that may come from anybody: what they say is no command, what they name is read to
a bound, and what is wrong has a reason."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.asked import Asked, settled, verified_with
from steelyard.model.errors import UserError
from steelyard.rtl import bench, ghdl, synthesis, vhdl
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.reading import designs_of
from steelyard.rtl.streams import Call, Stream, parts, stream
from steelyard.rtl.tools import ToolError
from tests.rtl import toys


def _described(folder: Path, more: str = "", source: str = "toy.sv") -> Design:
    (folder / "inc").mkdir(parents=True, exist_ok=True)
    (folder / "inc" / "sizes.svh").write_text("`define ROUNDS 1\n")
    (folder / source).write_text(f'`include "sizes.svh"\n{toys.SOURCE.read_text()}')
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


def test_answers_of_which_nothing_is_known_verify_nothing(tmp_path: Path) -> None:
    """Headers and status alone are the same for any cipher."""
    folder = toys.design(tmp_path / "toy")
    (design,) = designs_of(folder)
    assert len(Asked(design, "seed").streams()) == len(toys.STREAMS)
    answers = folder / "kat" / "do.txt"
    answers.write_text(re.sub(r"(?m)(?<=^DAT = )\w+$", lambda found: "X" * len(found[0]), answers.read_text()))
    with pytest.raises(ToolError, match=r"no-expected.*only X for data"):
        Asked(design, "seed").streams()


@pytest.mark.parametrize(("known", "op"), [("hash", "encrypt"), ("aead", "hash")])
def test_answers_of_which_nothing_is_known_verify_nothing_beside_a_known_algorithm(
    tmp_path: Path, known: str, op: str
) -> None:
    folder = toys.design(tmp_path / "toy")
    call = Call("encrypt", bytes(4), bytes(4), key=bytes(16), npub=bytes(16), tag=bytes(16))
    made = stream(call, 32) if op == "encrypt" else toys.hashed(4)
    _answers(folder, made, "".join)
    (found,) = designs_of(folder)
    design = replace(found, hash="asconhash256") if known == "hash" else replace(found, aead="asconaead128")
    assert len(Asked(design, "seed").streams()) > 50
    _answers(folder, made, lambda words: "X" * len("".join(words)))
    with pytest.raises(ToolError, match=f"no-expected.*right of {op}, .*only X for data"):
        Asked(design, "seed").streams()


def _answers(folder: Path, made: Stream, shown: Callable[[Sequence[str]], str]) -> None:
    """Writes one operation as a package's files, with its data as ``shown``."""
    sdi, pdi = ("\n".join(["INS = " + w[0], *(f"DAT = {d}" for d in w[1:])]) if w else "" for w in (made.sdi, made.pdi))
    out = list[str]()
    for at, size in parts(made.out, 32):
        data = made.out[at + 1 : at + 1 + size // 4]
        out += [f"HDR = {made.out[at]}", f"DAT = {shown(data)}"]
    for name, text in (("sdi", sdi), ("pdi", pdi), ("do", "\n".join([*out, f"STT = {made.out[-1]}"]))):
        (folder / "kat" / f"{name}.txt").write_text(f"{text}\n")


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
    (tmp_path / "design" / "inc" / "sizes.svh").unlink()
    (tmp_path / "design" / "inc" / "sizes.svh").symlink_to(tmp_path / "others" / "secret.svh")
    with pytest.raises(UserError, match=r"sizes\.svh is outside"):
        designs_of(tmp_path / "design")


@toys.needs("verilator", "yosys")
@pytest.mark.parametrize(
    ("name", "include"),
    [('"p (1).vh"', "`include {}"), ("<sizes.svh>", "`include {}"), ("<sizes.svh>", "`define H {}\n`include `H")],
    ids=["odd", "angled", "macro"],
)
def test_a_header_is_found_however_it_is_named(tmp_path: Path, name: str, include: str) -> None:
    """By a text that is no name of a file nothing is, and nothing ends."""
    _described(folder := tmp_path / "design")
    (folder / "inc" / name[1:-1]).write_text("`define PDI pdi_data\n")
    (folder / "toy.sv").write_text(
        f'`define SAYS "{"no name" * 100}"\n{include.format(name)}\n'
        + toys.SOURCE.read_text().replace("pdi_data", "`PDI", 1)
    )
    for more in ('includes = ["inc"]', ""):
        (folder / "design.toml").write_text(f'top = "toy"\nw = [32]\nsources = ["toy*"]\n{more}\n')
        (design,) = designs_of(folder)
        work = tmp_path / f"work{more[:3]}"
        work.mkdir()
        assert bench.refused_ports(design, bench.ports(bench.own(design), work)) is None
    assert synthesis.synthesise(bench.own(design), load_device("ecp5"), work).types["TRELLIS_FF"] > 50


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
    assert (tmp_path / "work" / bench.AT / names[0]).is_file()


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


@pytest.mark.parametrize(
    ("value", "verilator", "chparam"),
    [
        (7, "-GP=7", "7"),
        ("true", '-GP="true"', '"\\"true\\""'),
        (True, "-GP=1", "1"),
        (3_000_000_000, "-GP=32'd3000000000", "32'd3000000000"),
        (0x0123_4567_89AB_CDEF, "-GP=57'd81985529216486895", "57'd81985529216486895"),
    ],
)
def test_a_parameter_is_the_same_number_for_simulation_and_synthesis(
    value: int | str, verilator: str, chparam: str
) -> None:
    """Verilator cuts plain numbers to 32 bits."""
    netlist = bench.Netlist("top", (), (("P", value),))
    assert verilator in bench.options(netlist)
    assert f"chparam -set P {chparam} top" in synthesis.reading(netlist, ["a.v"])
    assert value == "true" or f" {verilator} " in synthesis.reading(netlist, ["a.v"], slang=True)[0]


def test_a_parameter_that_tools_do_not_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="parameter P: tools take whole numbers from -2"):
        _described(tmp_path, "parameters = { P = -2147483649 }")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("block = { ad = 99999999999999999999 }", "a block of"),
        ("variants = { a = {}, a-w8 = {} }", "name of another one"),
    ],
)
def test_what_no_table_could_show_is_refused(tmp_path: Path, more: str, said: str) -> None:
    shutil.copyfile(toys.SOURCE, tmp_path / "toy.sv")
    (tmp_path / "design.toml").write_text(f'top = "toy"\nw = [32, 8]\nsources = ["toy.sv"]\n{more}\n')
    with pytest.raises(UserError, match=said):
        designs_of(tmp_path)


def test_a_definition_without_a_value_is_empty_for_slang_too() -> None:
    read = synthesis.reading(bench.Netlist("top", (), defines=("A", "B=2")), ["a.v"], slang=True)
    assert " -DA= -DB=2 " in read[0]


@pytest.mark.parametrize(
    ("declared", "value", "option", "written"),
    [
        ("integer := 1", -5, "-5", "-5"),
        ("boolean", True, "true", "true"),
        ("boolean", "false", "false", "false"),
        ("in std_logic := '0'", 1, "'1'", "'1'"),
        ("std_logic_vector(3 downto 0)", "0101", "0101", '"0101"'),
        ("ieee.numeric_std.unsigned(3 downto 0)", "0101", "0101", '"0101"'),
        ("string", "yes", "yes", '"yes"'),
        ("severity_level", "error", "error", "error"),
    ],
)
def test_a_generic_is_written_as_its_type_wants_it(
    tmp_path: Path, declared: str, value: int | str, option: str, written: str
) -> None:
    generics = f"generic (A, g : {declared};\n    B : natural := 3);"
    (tmp_path / "a.vhd").write_text(f"entity Dut is -- generic (G : string);\n  {generics}\n  port (clk : in bit);")
    design = Design("f", "d", "v", tmp_path, "dut", 32, (tmp_path / "a.vhd",), parameters=(("G", value),))
    assert vhdl.generics_of(design) == {"G": (option, written)}
    assert f"generic map (G => {written})" in ghdl.wrapper(design)
