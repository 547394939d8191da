"""What ``steelyard rtl`` makes of the words that it is given."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.cli.rtl import designs
from steelyard.model.errors import UserError
from steelyard.model.paths import ROOT
from steelyard.rtl import near
from steelyard.rtl.near import Tree
from steelyard.rtl.reading import designs_of
from tests.rtl import toys

TOML = 'top = "t"\nw = [32, 8]\nsources = ["t.sv"]\n[variants]\nx1 = { N = 1 }\nx2 = { N = 2 }\n'


def named(*words: str) -> list[tuple[str, str]]:
    """The labels of the designs that words name, and what is told of where they are from."""
    ask: Any = SimpleNamespace(what=words, top="", aead="", hash="")
    found, failed = designs(ask)
    assert failed == []
    return [(d.label, origin) for d, origin in found]


def test_a_variant_of_a_folder_is_weighed_alone(tmp_path: Path) -> None:
    """Not at its other widths either, unless a pattern has them."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "t.sv").write_text("")
    (mine / "design.toml").write_text(TOML)
    every = [f"mine/{v}" for v in ("x1", "x1-w8", "x2", "x2-w8")]
    assert [n for n, _ in named(str(mine))] == every
    assert named(f"{mine}/x1") == [("mine/x1", f"{mine}/x1")]
    assert [n for n, _ in named(f"{mine}/x1*")] == every[:2]
    with pytest.raises(UserError, match="x3"):
        named(f"{mine}/x3")


def test_every_description_of_a_folder_is_a_design(tmp_path: Path) -> None:
    """Whatever it is called: two of the LWC package's, and two lists in folders of one name."""
    two, lists = toys.design(tmp_path / "two"), tmp_path / "lists"
    (two / "other.toml").write_text((two / "toy.toml").read_text().replace('"toy"\n[rtl]', '"other"\n[rtl]'))
    assert [n for n, _ in named(str(two))] == ["other/default", "toy/default"]
    assert [n for n, _ in named(f"{two}/other")] == ["other/default"]
    assert [n for n, _ in named(f"{two}/default")] == ["other/default", "toy/default"]
    with pytest.raises(UserError, match="other"):
        named(f"{two}/othre")
    for k in "ab":
        (lists / k / "rtl").mkdir(parents=True)
        (lists / k / "rtl" / "toy.sv").write_text(toys.SOURCE.read_text())
        (lists / k / "rtl" / "source_list.txt").write_text("toy.sv\n")
    each = [f"{k}-rtl-source_list/default" for k in "ab"]
    assert [n for n, _ in named(str(lists), str(lists))] == each
    (two / "third.toml").write_text((two / "toy.toml").read_text())
    assert [n for n, _ in named(str(two))] == ["other/default", "third/default", "toy/default"]
    (two / "other.toml").write_text((two / "toy.toml").read_text().replace('"toy"\n[rtl]', '"third"\n[rtl]'))
    with pytest.raises(UserError, match="name of its own"):
        designs_of(two)


@pytest.mark.parametrize("listed", [False, True], ids=["variants", "lists"])
def test_what_is_wrong_with_one_design_is_said_of_it_alone(tmp_path: Path, listed: bool) -> None:
    for name, text in (("a", ""), ("b", '`include "w.vh"\n')):
        at = name if listed else f"of-{name}"
        (tmp_path / at).mkdir()
        (tmp_path / at / "toy.sv").write_text(text + toys.SOURCE.read_text())
        said = f'name = "{name}"\n[rtl]\ntop = "toy"\nsources = ["{at}/toy.sv"]\n'
        described = tmp_path / (f"{at}/source_list.txt" if listed else f"{name}.toml")
        described.write_text("toy.sv\n" if listed else said)
    for k in ("one", "other"):
        (tmp_path / at / k).mkdir()
        (tmp_path / at / k / "w.vh").write_text(f"// {k}\n")
    for what, right, wrong in ((".", ["a"], ["b"]), ("a", ["a"], []), ("b", [], ["b"])):
        ask: Any = SimpleNamespace(what=(str(tmp_path / what),), top="", aead="", hash="")
        found, failed = designs(ask)
        assert [d.name for d, _ in found] == right
        assert [(Path(path).name, "w.vh may be" in why) for path, why in failed] == [(n, True) for n in wrong]


@pytest.mark.parametrize("wrong", ["source", "algorithm", "text"])
def test_a_description_that_is_wrong_takes_no_other_with_it(tmp_path: Path, wrong: str) -> None:
    """A source that is not there, a variant that nobody knows, no TOML; the rest of the folder is weighed."""
    (tmp_path / "toy.sv").write_text(toys.SOURCE.read_text())
    said = '[rtl]\ntop = "toy"\nsources = ["toy.sv"]\n'
    for name in "ac":
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\n{said}')
    bad = {
        "source": said.replace("toy.sv", "gone.sv"),
        "algorithm": said + '[lwc.aead]\nalgorithm = "ascom"\n',
        "text": "[",
    }
    (tmp_path / "b.toml").write_text(bad[wrong])
    for what, right, named_so in ((".", ["a", "c"], ["b"]), ("c", ["c"], []), ("b", [], ["b"])):
        ask: Any = SimpleNamespace(what=(str(tmp_path / what),), top="", aead="", hash="")
        found, failed = designs(ask)
        assert [d.name for d, _ in found] == right
        assert [Path(path).name for path, _ in failed] == named_so
    (tmp_path / "a.toml").unlink()
    (tmp_path / "c.toml").unlink()
    found, failed = designs(SimpleNamespace(what=(str(tmp_path),), top="", aead="", hash=""))  # type: ignore[arg-type]
    assert (found, len(failed)) == ([], 1), "said once"
    (tmp_path / "b.toml").write_text(bad["source"])
    with pytest.raises(UserError, match=r"gone\.sv is not there"):
        designs_of(tmp_path, failed=[])


def _weighed(*words: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The designs that words name, by their labels, each with a description's top; and the paths of what is none."""
    ask: Any = SimpleNamespace(what=words, top="", aead="", hash="")
    found, failed = designs(ask)
    return [(d.label, d.top) for d, _ in found], [Path(path).name for path, _ in failed]


@pytest.mark.parametrize("wrong", ["source", "text", "key"])
def test_a_design_keeps_its_name_when_another_cannot_be_read(tmp_path: Path, wrong: str) -> None:
    """Its figures would be stored as those of the other."""
    (tmp_path / "toy.sv").write_text(toys.SOURCE.read_text())
    for name in ("one", "two"):
        said = f'name = "one"\n[rtl]\ntop = "{name}"\nsources = ["toy.sv"]\n'
        (tmp_path / f"{name}.toml").write_text(said)
    assert _weighed(str(tmp_path)) == ([("one/default", "one"), ("two/default", "two")], [])
    bad = {"source": said.replace("toy.sv", "gone.sv"), "text": 'name = "one"\n[', "key": said.replace("top", "tpo")}
    (tmp_path / "one.toml").write_text(bad[wrong])
    two = [("two/default", "two")]
    assert _weighed(str(tmp_path)) == (two, ["one"])
    assert _weighed(f"{tmp_path}/one") == ([], ["one"])
    assert _weighed(f"{tmp_path}/two") == (two, [])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("", "no top in [rtl]; name it, or give --top MODULE"),
        ('top = "toy"\ngenerics = { N = [1, 2] }\n', "rtl.generics.N is [1, 2], not a number or a text"),
        ('top = "toy"\nparameters = { N = [] }\n', "rtl.parameters.N is [], not a number or a text"),
    ],
)
def test_what_is_wrong_with_a_description_is_said_with_its_file(tmp_path: Path, more: str, why: str) -> None:
    (tmp_path / "toy.sv").write_text(toys.SOURCE.read_text())
    (tmp_path / "a.toml").write_text('[rtl]\ntop = "toy"\nsources = ["toy.sv"]\n')
    (tmp_path / "b.toml").write_text(f'[rtl]\nsources = ["toy.sv"]\n{more}')
    failed: list[tuple[str, str]] = []
    assert [d.name for d in designs_of(tmp_path, failed=failed)] == ["a"]
    assert failed == [(str(tmp_path / "b"), f"{tmp_path / 'b.toml'}: {why}")]
    if not more:
        assert [d.top for d in designs_of(tmp_path, top="toy")] == ["toy", "toy"]


def test_a_list_s_design_keeps_its_name_when_another_cannot_be_read(tmp_path: Path) -> None:
    for k in ("a/rtl", "b/rtl", "c"):
        (tmp_path / k).mkdir(parents=True)
        (tmp_path / k / "toy.sv").write_text(toys.SOURCE.read_text())
        (tmp_path / k / "source_list.txt").write_text("gone.sv\n" if k == "a/rtl" else "toy.sv\n")
    b = [("b-rtl-source_list/default", "toy")]
    assert _weighed(str(tmp_path)) == ([*b, ("c/default", "toy")], ["a-rtl-source_list"])
    assert _weighed(f"{tmp_path}/a-rtl-source_list") == ([], ["a-rtl-source_list"])
    assert _weighed(f"{tmp_path}/b-rtl-source_list") == (b, [])


@pytest.mark.parametrize("listed", [True, False], ids=["list", "sources"])
def test_a_test_bench_s_list_is_no_design_beside_others(tmp_path: Path, listed: bool) -> None:
    """As the LWC package has it; one that is alone, or is named, says itself why it is none."""
    own, bench = tmp_path / "l" / "src_rtl" / "v1", tmp_path / "l" / "src_tb"
    for folder, source in ((own, "toy.sv"), (bench, "toy_tb.sv")):
        folder.mkdir(parents=True)
        (folder / source).write_text(toys.SOURCE.read_text())
        (folder / "source_list.txt").write_text(f"{source}\n")
    if not listed:
        (own / "source_list.txt").unlink()
    label = "v1/default" if listed else "l/default"
    assert _weighed(f"{tmp_path}/l") == ([(label, "toy")], [])
    assert _weighed(str(bench)) == ([], ["src_tb"])
    (bench / "source_list.txt").write_text("../src_rtl/v1/toy.sv\n")  # which is no list of a bench alone
    alone = "v1/default" if listed else "src_tb/default"
    assert _weighed(f"{tmp_path}/l") == ([(alone, "toy")], [])
    if listed:  # a helper of the bench is no design
        (bench / "clock.sv").write_text("module clock(output logic c); endmodule\n")
        (bench / "source_list.txt").write_text("../src_rtl/v1/toy.sv\nclock.sv\ntoy_tb.sv\n")
        assert _weighed(f"{tmp_path}/l") == ([(alone, "toy")], [])


@pytest.mark.parametrize("folder", ["test_chip", "sim/v1", "x_tb"])
def test_a_list_that_names_a_design_of_its_own_is_no_test_bench_s(tmp_path: Path, folder: str) -> None:
    """Whatever its folder is called; one whose sources are not there is none."""
    own, other = tmp_path / "core", tmp_path / folder
    for at in (own, other):
        at.mkdir(parents=True)
        (at / "toy.sv").write_text(toys.SOURCE.read_text())
        (at / "source_list.txt").write_text("toy.sv\ntoy_tb.sv\n")
    both = [("core/default", "toy"), (f"{other.name}/default", "toy")]
    assert _weighed(str(tmp_path)) == (both, [])
    (other / "source_list.txt").write_text("gone.sv\n")
    assert _weighed(str(tmp_path)) == (both[:1], [])


def _top(name: str, more: str = "") -> str:
    """A module with the API's ports."""
    ports = "input [31:0] pdi_data, input [31:0] sdi_data, output [31:0] do_data"
    return f"module {name}({ports}); {more} endmodule\n"


_PART, _TB, _LWC = "module part(input a); endmodule\n", "module t; lwc i (x); endmodule\n", {"rtl": "lwc"}
#: sources in a test bench's folder, beside the design rtl of lwc.sv and key.sv, with the lists that name them; and the
#: designs that there are, with their tops
_LAYOUTS: dict[str, tuple[dict[str, str | None], dict[str, str]]] = {
    "the LWC package's": ({"src_tb": "../rtl/lwc.sv ../rtl/key.sv LWC_TB.sv", "src_tb/LWC_TB.sv": _TB}, _LWC),
    "of a design": ({"test_c": "a.sv", "test_c/a.sv": _top("a")}, {**_LWC, "test_c": "a"}),
    "of a design and its bench": (
        {"test_c": "lwc.sv lwc_tb.sv", "test_c/lwc.sv": _top("lwc"), "test_c/lwc_tb.sv": _TB},
        {**_LWC, "test_c": "lwc"},
    ),
    "of a core": ({"test_s": "../rtl/lwc.sv core.sv", "test_s/core.sv": _PART}, {**_LWC, "test_s": "lwc"}),
    "of a wrapper": (
        {"test_w": "../rtl/lwc.sv ../rtl/key.sv w.sv", "test_w/w.sv": _top("w", "lwc i (x);")}, {**_LWC, "test_w": "w"},
    ),
    "of a driver": (
        {"sim": "../rtl/lwc.sv ../rtl/key.sv d.sv LWC_TB.sv", "sim/d.sv": _top("d"), "sim/LWC_TB.sv": _TB}, _LWC,
    ),
    "of a bench with ports": ({"sim": "../rtl/lwc.sv ../rtl/key.sv top.sv", "sim/top.sv": _PART}, _LWC),
    "of a program": ({"sim": "../rtl/lwc.sv t.sv", "sim/t.sv": "program t; endprogram\n"}, _LWC),
    "of a model": (
        {"sim": "../rtl/lwc.sv model.sv LWC_TB.sv", "sim/model.sv": _PART, "sim/LWC_TB.sv": _TB}, _LWC,
    ),
    "of a driver and a model": (
        {"sim": "../rtl/lwc.sv d.sv key.sv t.sv", "sim/d.sv": _top("d"), "sim/key.sv": _PART,
         "sim/t.sv": "module t; lwc i (x); d j (x); endmodule\n"}, _LWC,
    ),
    "of variants": (
        {"v1": "../rtl/lwc.sv c.sv", "v1/c.sv": _PART, "v2": "../rtl/lwc.sv c.sv", "v2/c.sv": _PART,
         "rtl/source_list.txt": None, "sim": "../rtl/lwc.sv t.sv", "sim/t.sv": _TB}, {"v1": "lwc", "v2": "lwc"},
    ),
    "of a top with a dump": (
        {"test_d": "a.sv", "test_d/a.sv": f"{_top('a')}`ifdef SIM\nmodule dump; endmodule\n`endif\n"},
        {**_LWC, "test_d": "a"},
    ),
    "of others'": ({"test_x": "../rtl/lwc.sv"}, {**_LWC, "test_x": "lwc"}),
    "of all others'": ({"test_x": "../rtl/lwc.sv ../rtl/key.sv"}, _LWC),
    "of helpers": ({"sim": "clock.sv", "sim/clock.sv": _PART}, _LWC),
    "that are gone": ({"sim": "../rtl/lwc.sv ../rtl/key.sv gone.sv"}, _LWC),
}  # fmt: skip


@pytest.mark.parametrize(("sources", "designs"), _LAYOUTS.values(), ids=list(_LAYOUTS))
def test_a_list_in_a_test_bench_s_folder_is_the_bench_s_or_a_design_s(
    tmp_path: Path, sources: dict[str, str | None], designs: dict[str, str]
) -> None:
    """What is left out is said."""
    given = {"rtl": "lwc.sv key.sv", "rtl/lwc.sv": _top("lwc"), "rtl/key.sv": _PART, **sources}
    lists = {n for n in given if "/" not in n} - {n.split("/")[0] for n, text in given.items() if text is None}
    for name, text in given.items():
        if text is not None and ("/" in name or name in lists):
            file = tmp_path / name / ("source_list.txt" if name in lists else "")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text.replace(" ", "\n") if name in lists else text)
    assert sorted(_weighed(str(tmp_path))[0]) == sorted((f"{n}/default", top) for n, top in designs.items())
    left = ", ".join(f"{n}/source_list.txt" for n in sorted(lists - {*designs}))
    notes = [note for d in designs_of(tmp_path) for note in d.notes if "test bench" in note]
    assert notes == [f"left out, as they are of a test bench: {left}"] * len(designs) * bool(left)


def test_a_bench_s_list_is_the_design_s_where_no_other_has_a_top(tmp_path: Path) -> None:
    for name, text in (("rtl/lwc.sv", _top("lwc")), ("rtl/key.sv", _PART), ("sim/LWC_TB.sv", _TB)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "rtl/source_list.txt").write_text("key.sv\n")
    (tmp_path / "sim/source_list.txt").write_text("../rtl/lwc.sv\n../rtl/key.sv\nLWC_TB.sv\n")
    assert _weighed(str(tmp_path))[0] == [("sim/default", "lwc")]


@pytest.mark.parametrize("lists", [("src_rtl",), ("src_rtl", "hw", "src_tb")], ids=["one", "several"])
def test_a_repository_is_looked_through_once_whatever_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lists: tuple[str, ...]
) -> None:
    """A list that is alone ends at its first missing line; one of too many lines is not searched for beside others."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "toy.sv").write_text(toys.SOURCE.read_text())
    for name in lists:
        (tmp_path / name).mkdir()
        (tmp_path / name / "source_list.txt").write_text("".join(f"gone{k}.sv\n" for k in range(60)))
    if len(lists) > 1:
        (tmp_path / lists[-1] / "source_list.txt").write_text("".join(f"gone{k}.sv\n" for k in range(20_000)))
    walks, looks = list[Path](), list[str]()
    rglob, meant = Path.rglob, Tree.meant

    def walk(at: Path, pattern: str) -> Any:
        walks.extend([at] * (pattern == "*"))
        return rglob(at, pattern)

    def look(tree: Tree, source: Path, name: str) -> Path | None:
        looks.append(name)
        return meant(tree, source, name)

    monkeypatch.setattr(Path, "rglob", walk)
    monkeypatch.setattr(Tree, "meant", look)
    with nullcontext() if len(lists) > 1 else pytest.raises(UserError, match=r"gone0\.sv is not there"):
        designs_of(tmp_path, failed=[])
    assert walks == [tmp_path]
    assert len(looks) <= (1 if len(lists) == 1 else 2 * 60 + 3)


def test_sources_of_all_lists_that_are_searched_for_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each counts once."""
    for k in "abc":
        (tmp_path / k).mkdir()
        (tmp_path / k / "source_list.txt").write_text("../at/toy.sv\nat/part.sv\nat/part.sv\n")
    for file, text in (("at/toy.sv", _top("toy")), ("part.sv", _PART), ("sim/source_list.txt", "../at/toy.sv\n")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.setattr(near, "SEARCHES", 2)
    failed: list[tuple[str, str]] = []
    assert [d.name for d in designs_of(tmp_path, failed=failed)] == ["a", "b"]
    assert [(path, "more than 2 sources are not where they should be" in why) for path, why in failed] == [
        (str(tmp_path / "c"), True)
    ]


@pytest.mark.parametrize(
    "more",
    [
        f'sources = ["{"x" * 300}.sv"]',
        f'sources = ["toy.sv"]\n[tb.parameters]\nPDI = {{ file = "{"x" * 300}/pdi.txt" }}\n[lwc.hash]\nalgorithm = "x"',
        f'sources = ["toy.sv"]\n[lwc.aead]\nalgorithm = "{"x" * 300}"',
        'sources = ["toy.sv"]\n[lwc.hash]\nalgorithm = "\\u0000"',
    ],
    ids=["source", "answers", "algorithm", "NUL"],
)
def test_a_name_that_no_file_can_have_is_wrong_in_its_description_alone(tmp_path: Path, more: str) -> None:
    (tmp_path / "toy.sv").write_text(toys.SOURCE.read_text())
    for name, text in (("a", 'sources = ["toy.sv"]'), ("b", more), ("c", 'sources = ["toy.sv"]')):
        (tmp_path / f"{name}.toml").write_text(f'[rtl]\ntop = "toy"\n{text}\n')
    assert _weighed(str(tmp_path)) == ([("a/default", "toy"), ("c/default", "toy")], ["b"])


def test_a_bundled_design_is_named_by_family_design_or_variant() -> None:
    assert named("nocrypt/default") == [("nocrypt/default", "")]
    folder = ROOT / "rtl" / "nocrypt" / "nocrypt"
    assert [named(f"{folder}/{n}")[0][0] for n in ("default", "nocrypt")] == ["nocrypt/default"] * 2
    assert {n.split("/")[0] for n, _ in named("ascon")} >= {"ascon", "ascon-fast", "ascon-serial"}
    with pytest.raises(UserError, match="ascom"):
        named("ascom/x1")
