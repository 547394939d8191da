"""A parameter is the same number where a design is simulated and where it is synthesised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.rtl import bench, synthesis, tools
from steelyard.rtl.bench import Netlist

from .toys import needs

TYPES = ("", "[7:0]", "[63:0]", "signed", "signed [63:0]", "int", "logic signed [7:0]", "longint", "bit")
#: ports tell the bits of a parameter, whether it is below zero, and whether it has a sign
MODULE = """module m #({parameters}) ({ports});
{assigned}
endmodule
"""


def _module(folder: Path) -> Path:
    numbered = list(enumerate(TYPES))
    text = MODULE.format(
        parameters=", ".join(f"parameter {kind} P{k} = 1" for k, kind in numbered),
        ports=", ".join(f"output [127:0] a{k}, output [1:0] b{k}" for k, _ in numbered),
        assigned="\n".join(
            f"  assign a{k} = P{k}; assign b{k} = {{P{k} < 0, P{k} - 9 < 0}};" for k, _ in numbered
        ),
    )  # fmt: skip
    (folder / "m.sv").write_text(text)
    return folder / "m.sv"


def _netlist(source: Path, value: int) -> Netlist:
    return Netlist("m", (source,), tuple((f"P{k}", value) for k in range(len(TYPES))))


def _constants(n: Netlist, work: Path, *, slang: bool | None = None) -> dict[str, int]:
    """The ports' values, as the reader that is asked for, or the one that synthesis takes, has them."""
    files = bench.copied(n, work)
    if slang is None:
        synthesis._readable(n, files, work)
    else:
        (work / "examine.ys").write_text(synthesis.examining(synthesis.reading(n, files, slang=slang)))
        tools.run("yosys", ["-s", "../examine.ys"], work, at=bench.AT)
    ports = json.loads((work / synthesis.FLAT).read_bytes())["modules"]["m"]["ports"]
    return {name: int("".join(map(str, reversed(p["bits"]))), 2) for name, p in ports.items()}


def _simulated(n: Netlist, work: Path) -> dict[str, int]:
    """The ports' values as Verilator has them."""
    (name,) = bench.copied(n, work)
    shown = "".join(f'$display("{x}{k}=%0h", {x}{k});' for k in range(len(TYPES)) for x in "ab")
    source = work / bench.AT / name
    source.write_text(source.read_text().replace("endmodule", f"initial begin #1 {shown} $finish; end\nendmodule"))
    options = ["--binary", "-Wno-fatal", "-Wno-lint", "-Mdir", "../obj", "-o", "m", "-CFLAGS", "-O0"]
    tools.run("verilator", [*options, *bench.options(n), name], work, at=bench.AT)
    said = tools.run("./obj/m", [], work).splitlines()
    return {line.split("=")[0]: int(line.split("=")[1], 16) for line in said if "=" in line}


@needs("yosys", "verilator")
@pytest.mark.parametrize("value", [-5, -(1 << 31), 5, 3_000_000_000, (1 << 100) - 5])
def test_a_parameter_of_any_type_has_one_value(tmp_path: Path, value: int) -> None:
    """Yosys' chparam loses the sign of a number, and a parameter with a sign and no range loses it besides."""
    n = _netlist(_module(tmp_path), value)
    simulated = _simulated(n, tmp_path / "verilator")
    assert _constants(n, tmp_path / "yosys") == simulated
    assert _constants(n, tmp_path / "slang", slang=True) == simulated


@needs("yosys")
def test_the_top_keeps_its_name_with_a_negative_parameter(tmp_path: Path) -> None:
    n = _netlist(_module(tmp_path), -1)
    _constants(n, tmp_path / "work", slang=False)
    assert [*json.loads((tmp_path / "work" / synthesis.FLAT).read_bytes())["modules"]] == ["m"]


def test_texts_are_given_beside_a_negative_number() -> None:
    n = Netlist("top", (), (("N", -1), ("T", "a b"), ("W", 8)))
    instance = 'module steelyard_above; top #(.N(32\'shffffffff), .T("a b"), .W(8)) top(); endmodule'
    assert instance in synthesis.reading(n, ["a.v"])
