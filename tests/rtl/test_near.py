"""Sources, headers and memories of one name: each means the one beside it, or the only one there is, in every tool."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl import bench, reading, synthesis
from steelyard.rtl import design as rtl_design
from steelyard.rtl.device import load_device
from steelyard.rtl.reading import designs_of
from tests.rtl import toys

READS = '`include "w.vh"\n// A toy'
MEMORY = "  assign pdi_ready = state"
ROM = f'  logic [7:0] rom [0:3]; initial $readmemh("rom.hex", rom);\n{MEMORY}'
#: where the header, the memory and the sources of a design are below its folder
BESIDE = ("w.vh", "rom.hex", ".")
PLACES = [BESIDE, ("inc/w.vh", "data/rom.hex", "src"), ("w.vh", "src/rom.hex", "src/rtl")]


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


@pytest.mark.parametrize(
    ("described", "header", "memory", "sources"),
    [*((False, *at) for at in PLACES), (True, *BESIDE)],
    ids=["list beside", "list above", "list far above", "variants"],
)
def test_each_design_of_a_folder_has_its_own_files(
    tmp_path: Path, described: bool, header: str, memory: str, sources: str
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


def test_a_source_of_several_designs_has_what_is_below_their_lists(tmp_path: Path) -> None:
    """At whatever depth: a's header is not nearer than b's."""
    _toys(tmp_path, "w.vh", "rom.hex", ".")
    (tmp_path / "a" / "toy.sv").rename(_put(tmp_path / "common" / "toy.sv", ""))
    (tmp_path / "b" / "w.vh").rename(_put(tmp_path / "b" / "inc" / "w.vh", ""))
    for name in ("a", "b"):
        _put(tmp_path / name / "source_list.txt", "../common/toy.sv\n")
    found = {d.name: (d.headers, d.data) for d in designs_of(tmp_path, top="toy")}
    at = {"a": tmp_path / "a" / "w.vh", "b": tmp_path / "b" / "inc" / "w.vh"}
    assert found == {n: ((("w.vh", at[n]),), (("rom.hex", tmp_path / n / "rom.hex"),)) for n in ("a", "b")}


def test_lists_in_a_folder_of_their_own_take_what_is_beside_each_source(tmp_path: Path) -> None:
    _toys(tmp_path, *BESIDE)
    for name in ("a", "b"):
        _put(tmp_path / "lists" / name / "source_list.txt", f"../../{name}/toy.sv\n")
    for d in designs_of(tmp_path, top="toy"):
        assert (d.headers, d.data) == (
            (("w.vh", tmp_path / d.name / "w.vh"),),
            (("rom.hex", tmp_path / d.name / "rom.hex"),),
        )


@pytest.mark.parametrize("name", ["w.vh", "rom.hex"])
def test_several_files_of_a_name_are_one_or_refused(tmp_path: Path, name: str) -> None:
    folder = toys.design(tmp_path / "toy", ("// A toy", READS), (MEMORY, ROM))
    one, other = (_put(folder / k / name, "// 1\n") for k in ("one", "other"))
    (design,) = designs_of(folder)
    assert (name, one) in design.headers + design.data
    other.write_text("// 2\n")
    os.utime(other, ns=(one.stat().st_atime_ns, one.stat().st_mtime_ns))  # by which neither is the other
    with pytest.raises(UserError, match=rf"{name} may be {one} or {other}, which differ; .*headers in design\.toml"):
        designs_of(folder)
    _put(folder / name, "// 3\n")
    assert (name, folder / name) in designs_of(folder)[0].headers + designs_of(folder)[0].data


def test_no_folder_below_a_source_is_nearer_than_another(tmp_path: Path) -> None:
    """No tool looks there."""
    folder = toys.design(tmp_path / "toy")
    _put(folder / "rtl" / "toy.sv", (folder / "toy.sv").read_text().replace("// A toy", READS, 1))
    (folder / "toy.toml").write_text(toys.TOML.replace('"toy.sv"', '"rtl/toy.sv"'))
    for k in ("rtl/old", "include"):
        _put(folder / k / "w.vh", f"// {k}\n")
    with pytest.raises(UserError, match=r"include/w\.vh or .*rtl/old/w\.vh, which differ"):
        designs_of(folder)


@pytest.mark.parametrize("bench", ["tb", "sim/top", "hw/toy_tb"])
def test_what_test_benches_have_is_not_meant_where_there_are_others(tmp_path: Path, bench: str) -> None:
    folder = toys.design(tmp_path / "toy", ("// A toy", READS), (MEMORY, ROM))
    theirs = {name: _put(folder / bench / name, "// of a bench\n") for name in ("w.vh", "rom.hex")}
    (design,) = designs_of(folder)
    assert dict(design.headers + design.data) == theirs
    own = {name: _put(folder / "hw" / "deep" / name, "// own\n") for name in theirs}
    (design,) = designs_of(folder)
    assert dict(design.headers + design.data) == own
    _put(folder / "tb" / "rtl" / "toy.sv", (folder / "toy.sv").read_text())  # one of a bench may mean either
    (folder / "design.toml").write_text('top = "toy"\nw = [32]\nsources = ["tb/rtl/toy.sv"]\n')
    if bench == "tb":  # which is nearer to it
        (design,) = designs_of(folder)
        assert dict(design.headers) == {"w.vh": theirs["w.vh"]}
        return
    with pytest.raises(UserError, match=r"w\.vh may be .*, which differ"):
        designs_of(folder)


def test_a_header_that_is_there_twice_means_the_same_files_twice(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy", ("// A toy", READS))
    for k in ("v1", "v4"):
        _put(folder / k / "w.vh", '`include "sizes.vh"\n')
        _put(folder / k / "sizes.vh", "// 1\n")
    assert [name for name, _ in designs_of(folder)[0].headers] == ["w.vh", "sizes.vh"]
    _put(folder / "v4" / "sizes.vh", "// 2\n")
    with pytest.raises(UserError, match=r"v1/sizes\.vh or .*v4/sizes\.vh, which differ"):
        designs_of(folder)


def test_a_name_with_folders_is_not_another_s(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy", ("// A toy", '`include "api/w.vh"\n// A toy'))
    meant = _put(folder / "inc" / "api" / "w.vh", "// 1\n")
    _put(folder / "inc" / "w.vh", "// 2\n")
    assert designs_of(folder)[0].headers == (("api/w.vh", meant),)


def test_what_is_in_a_comment_is_not_included(tmp_path: Path) -> None:
    text = '// `include "old.vh"\n/*\n`include "old.vh"\n*/ `define URL "http://x" `include "w.vh"\n// A toy'
    folder = toys.design(tmp_path / "toy", ("// A toy", text))
    for k in ("v1", "v2"):
        _put(folder / k / "old.vh", f"// {k}\n")
    header = _put(folder / "inc" / "w.vh", "// 1\n")
    assert designs_of(folder)[0].headers == (("w.vh", header),)
    assert designs_of(_list(folder))[0].headers == (("w.vh", header),)


def test_a_macro_names_what_is_beside_the_source_that_includes_by_it(tmp_path: Path) -> None:
    """Whichever file defines it."""
    folder = toys.design(tmp_path / "toy", ("// A toy", "`include `NEXT\n`include `PATHS\n// A toy"))
    _put(folder / "paths" / "paths.sv", '`define PATHS "inc/paths.vh"\n')
    (folder / "toy.toml").write_text(toys.TOML.replace('"toy.sv"', '"toy.sv", "paths/paths.sv"'))
    paths = _put(folder / "inc" / "paths.vh", '`define NEXT "w.vh"\n')
    header, _ = (_put(folder / k / "w.vh", f"// {k}\n") for k in (".", "inc"))
    assert designs_of(folder)[0].headers == (("inc/paths.vh", paths), ("w.vh", header))


def _list(folder: Path) -> Path:
    """The folder with a list in place of its description, of which more is guessed."""
    (folder / "toy.toml").rename(folder / "source_list.txt").write_text("toy.sv\n")
    return folder


#: how a text is read as a memory, if it is
HELD = {
    "call": '$readmemh("rom.hex", rom);',
    "macro": '`define ROM "rom.hex"\n$readmemh(`ROM, rom);',
    "parameter": '$readmemh(FILE, rom);\nlocalparam FILE = "rom.hex";',
    "port": '$readmemh(FILE, rom);\nother #(.FILE("rom.hex")) other();',
}


@pytest.mark.parametrize("held", [*HELD, "text", "define", "comment"])
def test_a_text_of_several_files_is_refused_only_if_it_is_read(tmp_path: Path, held: str) -> None:
    unread = {
        "text": 'localparam KIND = "{}";',
        "define": '\n`define KIND "{}"\n',
        "comment": '// $readmemh("{}", rom)',
    }
    text = HELD.get(held) or '$readmemh("own.hex", own); ' + unread[held].format("rom.hex")
    folder = toys.design(tmp_path / "toy", (MEMORY, f"initial {text}\n{MEMORY}"))
    own = _put(folder / "own.hex", "1\n")
    for k in ("docs", "kat2"):
        _put(folder / k / "rom.hex", f"{k}\n")
    if held in HELD:
        with pytest.raises(UserError, match=r"docs/rom\.hex or .*kat2/rom\.hex, which differ"):
            designs_of(folder)
    else:
        assert designs_of(folder)[0].data == (("own.hex", own),)


def test_a_text_that_is_too_large_for_a_memory_is_none(tmp_path: Path) -> None:
    """Nor are two of them compared."""
    folder = toys.design(tmp_path / "toy", (MEMORY, f'initial $readmemh("own.hex", own); // "\n{MEMORY}'))
    (folder / "toy.sv").write_text((folder / "toy.sv").read_text() + 'localparam TOLD = "paper.pdf";\n')
    own = _put(folder / "own.hex", "1\n")
    for k in ("one", "other"):
        with _put(folder / k / "paper.pdf", "").open("wb") as f:
            f.truncate(9 << 20)
    assert designs_of(folder)[0].data == (("own.hex", own),)


def test_a_header_and_a_memory_of_one_name_are_one_file(tmp_path: Path) -> None:
    """yosys looks for both where it was started."""
    folder = toys.design(tmp_path / "toy", ("// A toy", '`include "x"\n// A toy'))
    said = 'top = "toy"\nw = [32]\nsources = ["toy.sv", "rom/rom.sv"]\n'
    (folder / "design.toml").write_text(said)
    header = _put(folder / "x", "// 1\n")
    _put(folder / "rom" / "rom.sv", '$readmemh("x", rom);\n')
    other = _put(folder / "rom" / "x", "// 2\n")
    with pytest.raises(UserError, match=f"{header} and {other} are both called x"):
        designs_of(folder)


def test_a_memory_that_is_read_is_looked_for_first_and_inside(tmp_path: Path) -> None:
    texts = "".join(f'localparam S{k} = "state{k}";\n' for k in range(300))
    folder = toys.design(tmp_path / "toy", (MEMORY, texts + ROM))
    rom = _put(folder / "rom.hex", "1\n")
    assert designs_of(folder)[0].data == (("rom.hex", rom),)
    rom.rename(tmp_path / "rom.hex")
    rom.symlink_to(tmp_path / "rom.hex")
    assert designs_of(folder)[0].data == ()


def test_macros_do_not_multiply_what_is_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl_design, "_ASKED", 99)
    names = "".join(f'`define M "{k}.vh"\n' for k in range(10))
    folder = toys.design(tmp_path / "toy", ("// A toy", f"{names}// A toy"))
    for k in range(10):
        _put(folder / f"{k}.sv", "`include `M\n")
    (folder / "toy.toml").write_text(toys.TOML.replace('"toy.sv"', ", ".join(f'"{n}.sv"' for n in ("toy", *range(10)))))
    with pytest.raises(UserError, match="or by 99 names; include fewer"):
        designs_of(folder)


def test_a_parameter_of_a_description_names_a_memory(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy", (MEMORY, f"initial $readmemh(FILE, rom);\n{MEMORY}"))
    (folder / "toy.toml").write_text(toys.TOML.replace("[tb.", '[rtl.parameters]\nFILE = "./rom.hex"\n[tb.'))
    rom = _put(folder / "data" / "rom.hex", "1\n")
    assert designs_of(folder)[0].data == (("rom.hex", rom),)
    _put(folder / "more" / "rom.hex", "2\n")
    with pytest.raises(UserError, match=r"data/rom\.hex or .*more/rom\.hex, which differ"):
        designs_of(folder)


def test_a_lost_source_is_not_any_of_its_name(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy")
    for k in ("one", "other"):
        _put(folder / k / "toy.sv", f"// {k}")
    assert reading.designs_of(folder)[0].files == (folder / "toy.sv",)
    (folder / "toy.sv").unlink()
    with pytest.raises(UserError, match=r"toy\.sv may be .*one/toy\.sv or .*other/toy\.sv, which differ"):
        designs_of(folder)


INCLUDE, CALL, MACRO = '`include "{}"\n', '$readmemh("{}", rom);\n', '`define ROM "{}"\n$readmemh(`ROM, rom);\n'


@pytest.mark.parametrize("written", ["{}", "./{}", ".//./{}"])
@pytest.mark.parametrize(("read", "elsewhere"), [(INCLUDE, INCLUDE), (CALL, CALL), (MACRO, CALL), (CALL, MACRO)])
def test_two_files_of_a_name_in_one_design_are_refused(tmp_path: Path, read: str, elsewhere: str, written: str) -> None:
    """Tools have one folder of headers, and a simulation one of memories, however names are written."""
    name = "w.vh" if read == INCLUDE else "rom.hex"
    _put(tmp_path / "a" / "a.sv", read.format(name) + toys.SOURCE.read_text())
    _put(tmp_path / "b" / "b.sv", elsewhere.format(written.format(name)))
    for k in ("a", "b"):
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


@toys.needs("verilator", "yosys")
def test_no_tool_takes_a_header_for_one_in_a_folder(tmp_path: Path) -> None:
    """yosys looks where it was started before it looks in the folder of headers."""
    keep = "  (* keep *) logic [`N-1:0] mine; always_ff @(posedge clk) mine <= `N'(pdi_data);\n"
    text = '`include "w.vh"\n`include "inc/w.vh"\n// A toy'
    folder = toys.design(tmp_path / "toy", ("// A toy", text), (MEMORY, keep + MEMORY))
    _put(folder / "w.vh", "`define N 1\n")
    _put(folder / "inc" / "w.vh", "`undef N\n`define N 32\n")
    netlist = bench.own(designs_of(folder)[0])
    (work := tmp_path / "work").mkdir()
    (source,) = bench.preprocessed(netlist, work)
    assert "[32-1:0] mine" in (work / bench.AT / source).read_text()
    assert synthesis.synthesise(netlist, load_device("ecp5"), work).types["TRELLIS_FF"] > 80


def test_a_memory_that_a_macro_names_is_said_once(tmp_path: Path) -> None:
    """A macro's text may be a header's name, too."""
    macro = ROM.replace('"rom.hex"', "`ROM")
    folder = toys.design(tmp_path / "toy", ("// A toy", '`define ROM "data/rom.hex"\n// A toy'), (MEMORY, macro))
    rom = _put(folder / "data" / "rom.hex", "0\n")
    (design,) = designs_of(folder)
    assert design.data == (("data/rom.hex", rom),)
    assert [n for n in design.notes if "rom.hex" in n] == ["included files and memories found: data/rom.hex"]


def test_a_design_has_its_own_files_wherever_others_have_theirs(tmp_path: Path) -> None:
    """Those of its home before others, a test bench's too; of variants those in the nearest folder above."""
    text = toys.SOURCE.read_text().replace("// A toy", READS, 1)
    for name, at in (("a", "sim"), ("b", "include")):
        _put(tmp_path / "lists" / name / "rtl" / "toy.sv", text)
        _put(tmp_path / "lists" / name / "source_list.txt", "rtl/toy.sv\n")
        _put(tmp_path / "lists" / name / at / "w.vh", f"// {name}\n")
        _put(tmp_path / "variants" / name / "rtl" / "toy.sv", text)
        said = f'name = "{name}"\n[rtl]\ntop = "toy"\nsources = ["{name}/rtl/toy.sv"]\n'
        _put(tmp_path / "variants" / f"{name}.toml", said)
        _put(tmp_path / "variants" / name / "include" / "w.vh", f"// {name}\n")
    found = {d.name: dict(d.headers)["w.vh"] for d in designs_of(tmp_path / "lists", top="toy")}
    assert found == {n: tmp_path / "lists" / n / at / "w.vh" for n, at in (("a", "sim"), ("b", "include"))}
    found = {d.name: dict(d.headers)["w.vh"] for d in designs_of(tmp_path / "variants")}
    assert found == {n: tmp_path / "variants" / n / "include" / "w.vh" for n in ("a", "b")}


def test_designs_of_a_folder_know_nothing_of_each_other(tmp_path: Path) -> None:
    """The same content beside the sources of one and below those of another, and what each includes beside it."""
    text = toys.SOURCE.read_text().replace("// A toy", READS, 1)
    for name, at in (("v1", "rtl"), ("v2", "inc")):
        _put(tmp_path / name / "rtl" / "toy.sv", text)
        _put(tmp_path / name / at / "w.vh", '`include "sizes.vh"\n')
        _put(tmp_path / name / at / "sizes.vh", f"// {name}\n")
    for design, name in (("a", "v1"), ("b", "v2"), ("c", "v1")):
        said = f'name = "{design}"\n[rtl]\ntop = "toy"\nsources = ["{name}/rtl/toy.sv"]\n'
        _put(tmp_path / f"{design}.toml", said)
    found = {d.name: dict(d.headers)["sizes.vh"] for d in designs_of(tmp_path)}
    own = {"v1": tmp_path / "v1" / "rtl" / "sizes.vh", "v2": tmp_path / "v2" / "inc" / "sizes.vh"}
    assert found == {"a": own["v1"], "b": own["v2"], "c": own["v1"]}


def test_a_comment_of_vhdl_ends_with_its_line(tmp_path: Path) -> None:
    ports = "pdi_data, sdi_data : in std_logic_vector(31 downto 0); do_data : out std_logic_vector(31 downto 0)"
    text = f"-- vectors are in KAT/*.txt\nentity LWC is port ({ports}); end;\narchitecture a of LWC is begin end;\n"
    _put(tmp_path / "LWC.vhd", text)
    assert [d.top for d in designs_of(tmp_path)] == ["LWC"]
