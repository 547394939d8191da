"""VHDL to Verilog by GHDL 5. Older ones make wrong netlists (decisions: docs/claims.md), so they are not asked."""

from __future__ import annotations

import re
from pathlib import Path

from ..model.reasons import Failure, Reason
from . import bench, tools
from .bench import Netlist
from .design import VHDL, Design
from .tools import ToolError

#: what GHDL makes
MADE = "converted.v"


def converted(design: Design, work: Path) -> Netlist:
    """The design's VHDL as Verilog, beside its own. Raises :class:`ToolError` where GHDL is missing or refuses it."""
    if tools.identify("ghdl-5") is None:
        raise ToolError(Failure(Reason.NO_VHDL, "the design is VHDL, and only GHDL 5 makes right netlists of it"))
    own = bench.own(design)
    names = bench.copied(own, work)
    parts = [(n, f) for n, f in zip(names, design.files, strict=True) if f.suffix.lower() in VHDL]
    generics = [f"-g{k}={v}" for k, v in design.parameters]
    options = [f"--std={design.standard}", "-frelaxed", "--work=work"]
    try:
        tools.run("ghdl-5", ["-i", *options, *(n for n, _ in parts)], work)
        tools.run("ghdl-5", ["-m", *options, design.top], work)
        text = tools.run("ghdl-5", ["--synth", *options, "--latches", "--out=verilog", *generics, design.top], work)
    except ToolError as e:
        raise bench.refused(e, own) from e
    (work / MADE).write_text(plain(text))
    verilog = tuple(f for f in design.files if f.suffix.lower() not in VHDL)
    return Netlist(design.top, (work / MADE, *verilog), (), design.defines, design.includes)


def plain(text: str) -> str:
    """What GHDL says without what is not Verilog for synthesis: its warnings, and assertions."""
    at = re.search(r"^module ", text, re.MULTILINE)
    body = text[at.start() :] if at else text
    body = re.sub(
        r"^.*:\d+:\d+:(?:@\w+:)?\((?:warning|note|assertion)[^\n]*\n(?:^ .*\n)*", "", body, flags=re.MULTILINE
    )
    return re.sub(r"(?ms)^\s*always @\*\s*\n\s*if \(!?\S+\)\s*\n\s*\$(?:fatal|error|warning)\([^;]*\);\s*\n", "", body)
