"""What keeps the shares of a masked design apart, in the netlist that is placed: no signal may depend on both shares of
one bit since the last registers, however its gates glitch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.paths import ROOT
from steelyard.rtl import bench, synthesis
from steelyard.rtl.device import load_device
from steelyard.rtl.reading import designs_of
from tests.rtl import toys

#: registers of both shares, and nets that hold one above the other; those of instructions and headers, and of a
#: comparison's result, are public
PAIRS = (
    ("core.share0.s", "core.share1.s"), ("core.share0.products", "core.share1.products"),
    ("core.same0", "core.same1"), ("core.products0", "core.products1"),
)  # fmt: skip
HALVES = ("pdi_data", "sdi_data", "key", "do_data")


def together(module: dict[str, Any], stops: set[str]) -> list[str]:
    """Signals into registers and ports that depend on both shares of a bit."""
    nets = {name: net["bits"] for name, net in module["netnames"].items()}
    pairs = [p for a, b in PAIRS for p in zip(nets[a], nets[b], strict=True)]
    for both in (nets[name] for name in HALVES):
        pairs += zip(both[: len(both) // 2], both[len(both) // 2 :], strict=True)
    assert len(pairs) == 2 * 320 + 2 * 32 + 3 * 32 + 128
    other = dict(pairs) | {b: a for a, b in pairs}
    drives: dict[int, list[int]] = {}
    ends: dict[int, str] = {
        b: name for name, p in module["ports"].items() if p["direction"] == "output" for b in p["bits"]
    }
    for name, cell in module["cells"].items():
        inputs = [
            b
            for p, way in cell["port_directions"].items()
            for b in cell["connections"][p]
            if way == "input" and isinstance(b, int)
        ]
        if cell["type"] in stops:
            ends |= dict.fromkeys(inputs, name)
            continue
        for p, way in cell["port_directions"].items():
            if way == "output":
                drives |= dict.fromkeys(cell["connections"][p], inputs)
    wrong = []
    for end, name in ends.items():
        cone, todo = set[int](), [end]
        while todo:
            bit = todo.pop()
            if bit not in cone:
                cone.add(bit)
                todo += drives.get(bit, ())
        if any(other.get(bit) in cone for bit in cone):
            wrong.append(name)
    return wrong


@pytest.mark.long
@toys.needs("verilator", "yosys")
def test_no_signal_depends_on_both_shares(tmp_path: Path) -> None:
    (design,) = designs_of(ROOT / "rtl/ascon/ascon-masked")
    device = load_device("ecp5")
    synthesis.synthesise(bench.own(design), device, tmp_path)
    module = json.loads((tmp_path / synthesis.NETLIST).read_bytes())["modules"][design.top]
    assert together(module, {*device.ff}) == []
    # the same of one that adds its shares up
    share = module["netnames"]["core.share0.s"]["bits"][0], module["netnames"]["core.share1.s"]["bits"][0]
    gate = {"type": "LUT4", "port_directions": {"A": "input", "B": "input", "Z": "output"}}
    module["cells"]["leak"] = gate | {"connections": {"A": [share[0]], "B": [share[1]], "Z": [-1]}}
    module["ports"]["leaks"] = {"direction": "output", "bits": [-1]}
    assert together(module, {*device.ff}) == ["leaks"]
