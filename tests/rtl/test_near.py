"""Sources, headers and memories of one name: each source means those that are nearest to it, in every tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl import bench, reading
from steelyard.rtl.reading import designs_of
from tests.rtl import toys

READS = '`include "w.vh"\n// A toy'
MEMORY = "  assign pdi_ready = state"
ROM = f'  logic [7:0] rom [0:3]; initial $readmemh("rom.hex", rom);\n{MEMORY}'
#: where the header, the memory and the sources of a design are below its folder
PLACES = [("w.vh", "rom.hex", "."), ("inc/w.vh", "data/rom.hex", "src"), ("w.vh", "src/rom.hex", "src/rtl")]


def _put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _toys(folder: Path, header: str, memory: str, sources: str) -> None:
    """Two designs, of 32 and 16 bits as each one's header says."""
    text = toys.SOURCE.read_text().replace("// A toy", READS, 1).replace(MEMORY, ROM, 1)
    for name, width in (("a", 32), ("b", 16)):
        _put(folder / name / sources / "toy.sv", text.replace("input  logic [31:0] pdi_data", "`PDI pdi_data"))
        _put(folder / name / header, f"`define PDI input logic [{width - 1}:0]\n")
        _put(folder / name / memory, f"{width}\n")


@pytest.mark.parametrize(("header", "memory", "sources"), PLACES)
@pytest.mark.parametrize("described", [False, True], ids=["lists", "variants"])
def test_each_design_of_a_folder_has_its_own_files(
    tmp_path: Path, header: str, memory: str, sources: str, described: bool
) -> None:
    _toys(tmp_path, header, memory, sources)
    _put(tmp_path / "w.vh", "`define PDI of another\n")
    for name in ("a", "b"):
        said = f'name = "{name}"\n[rtl]\ntop = "toy"\nsources = ["{name}/{sources}/toy.sv"]\n'
        listed = tmp_path / name / "source_list.txt"
        _put(tmp_path / f"{name}.toml" if described else listed, said if described else f"{sources}/toy.sv\n")
    for design in designs_of(tmp_path, top="toy"):
        own = tmp_path / design.name
        assert design.headers == (("w.vh", own / header),)
        assert design.data == (("rom.hex", own / memory),)
        assert f"included files and memories found: {design.name}/{memory}, {design.name}/{header}" in design.notes


def test_what_is_guessed_is_of_the_header_that_is_compiled(tmp_path: Path) -> None:
    for name, width in (("a", 32), ("b", 16)):
        ports = "input [{0}:0] pdi_data, input [{0}:0] sdi_data, output [{0}:0] do_data".format(width - 1)
        _put(tmp_path / name / "inc" / "ports.vh", ports)
        _put(tmp_path / name / "top.v", f'module top_{name} (\n`include "ports.vh"\n); endmodule\n')
        _put(tmp_path / name / "source_list.txt", "top.v\n")
    assert [(d.top, d.width) for d in designs_of(tmp_path)] == [("top_a", 32), ("top_b", 16)]


def test_a_source_of_several_designs_has_what_is_beside_their_lists(tmp_path: Path) -> None:
    _toys(tmp_path, "w.vh", "rom.hex", ".")
    (tmp_path / "a" / "toy.sv").rename(_put(tmp_path / "common" / "toy.sv", ""))
    for name in ("a", "b"):
        _put(tmp_path / name / "source_list.txt", "../common/toy.sv\n")
    found = {d.name: (d.headers, d.data) for d in designs_of(tmp_path, top="toy")}
    own = {n: ((("w.vh", tmp_path / n / "w.vh"),), (("rom.hex", tmp_path / n / "rom.hex"),)) for n in ("a", "b")}
    assert found == own


@pytest.mark.parametrize("name", ["w.vh", "rom.hex"])
def test_files_that_are_equally_near_are_one_or_refused(tmp_path: Path, name: str) -> None:
    folder = toys.design(tmp_path / "toy", ("// A toy", READS), (MEMORY, ROM))
    one, other = (_put(folder / k / name, "// 1\n") for k in ("one", "other"))
    (design,) = designs_of(folder)
    assert (name, one) in design.headers + design.data
    other.write_text("// 2\n")
    with pytest.raises(UserError, match=rf"{name} may be any: {one} and {other} are equally near .* and differ"):
        designs_of(folder)


def test_a_lost_source_is_not_any_of_its_name(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy")
    for k in ("one", "other"):
        _put(folder / k / "toy.sv", f"// {k}")
    assert reading.designs_of(folder)[0].files == (folder / "toy.sv",)
    (folder / "toy.sv").unlink()
    with pytest.raises(UserError, match=r"toy\.sv may be any"):
        designs_of(folder)


@pytest.mark.parametrize("reads", [READS, f"// A toy\n{ROM}"], ids=["header", "memory"])
def test_two_files_of_a_name_in_one_design_are_refused(tmp_path: Path, reads: str) -> None:
    """Tools have one folder of headers, and a simulation one of memories."""
    name = "w.vh" if reads == READS else "rom.hex"
    for k in ("a", "b"):
        _put(tmp_path / k / f"{k}.sv", reads + (toys.SOURCE.read_text() if k == "a" else ""))
        _put(tmp_path / k / name, "// 1\n")
    assert [d.top for d in designs_of(tmp_path)] == ["toy"]
    (tmp_path / "b" / name).write_text("// 2\n")
    with pytest.raises(UserError, match=rf"a/{name} and .*/b/{name} are both called {name} by sources of one design"):
        designs_of(tmp_path)


def test_all_tools_have_the_same_file_of_a_name(tmp_path: Path) -> None:
    """Some look beside what includes first, Verilator in the first folder: none finds what another does not."""
    folder = toys.design(tmp_path / "toy", ("// A toy", '`include "api/a.vh"\n// A toy'))
    said = 'top = "toy"\nw = [32]\nsources = ["toy.sv"]\nincludes = ["one", "two"]\n'
    _put(folder / "design.toml", said)
    _put(folder / "two" / "api" / "a.vh", '`include "b.vh"\n')
    first, beside = (_put(folder / at / "b.vh", f"// {at}\n") for at in ("one", "two/api"))
    (design,) = designs_of(folder)
    bench.copied(bench.own(design), tmp_path / "work")
    made = tmp_path / "work" / bench.AT / bench.HEADERS
    assert {f for f in made.rglob("*") if f.is_file()} == {made / "b.vh", made / "api" / "a.vh"}
    assert (made / "b.vh").read_text() == first.read_text()
    _put(folder / "two" / "api" / "a.vh", '`include "b.vh"\n`include "api/b.vh"\n')
    with pytest.raises(UserError, match=rf"{beside} and {first} are both called b\.vh"):
        designs_of(folder)


def test_a_memory_that_a_macro_names_is_said_once(tmp_path: Path) -> None:
    """A macro's text may be a header's name, too."""
    macro = ROM.replace('"rom.hex"', "`ROM")
    folder = toys.design(tmp_path / "toy", ("// A toy", '`define ROM "data/rom.hex"\n// A toy'), (MEMORY, macro))
    rom = _put(folder / "data" / "rom.hex", "0\n")
    (design,) = designs_of(folder)
    assert design.data == (("data/rom.hex", rom),)
    assert [n for n in design.notes if "rom.hex" in n] == ["included files and memories found: data/rom.hex"]
