"""Synthesis, place and route: a design becomes cells of a device, and their routes have a longest one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.reasons import Failure, Reason
from . import bench, tools
from .bench import Netlist
from .device import Device
from .tools import ToolError

#: what a synthesis leaves in its folder, and the liberty file that it finds there
NETLIST, VERILOG, SAID, LIBERTY = "mapped.json", "mapped.v", "yosys.log", "cells.lib"
#: seconds for one run of yosys, and of a placement
SYNTHESIS, PLACEMENT = 900.0, 900.0


#: attributes of sources that would keep parts of a design out of what is counted
_PLAIN = ("setattr -mod -unset keep_hierarchy", "setattr -unset keep_hierarchy */c:*")
#: what only simulators do, which a mapped netlist would do too
_SILENT = ("chformal -remove", "delete */t:$print")
#: each net has one name and one bit, so that what toggles is counted once
_ONCE = ("splitnets", "opt_clean -purge")
#: models of a library's cells, from their functions; they say the directions of ports too
_GATES = f"read_liberty -ignore_miss_func -ignore_miss_dir -ignore_miss_data_latch {LIBERTY}"


class Cells(Struct, frozen=True):
    """``types`` counts the cells of a netlist by type, ``within`` those of tables by the top's part whose name they
    have. ``depth`` is the most tables that a signal passes from register to register."""

    types: dict[str, int]
    within: dict[str, int]
    depth: int


class Routed(Struct, frozen=True):
    """What nextpnr reports: MHz of the clock, and the longest paths from and to ports that no clock bounds, in ns. One
    that is ``crowded`` was placed without pins."""

    seed: int
    mhz: float
    ports: dict[str, float]
    used: dict[str, int]
    crowded: bool = False


def script(n: Netlist, files: list[str], device: Device, *, slang: bool = False) -> str:
    """The yosys script: read, look for what nobody means, map to the device, and write what came of it."""
    defines = " ".join(f"-D{d}" for d in n.defines)
    include = " ".join(f"-Iinc/{k}" for k in range(len(n.includes)))
    if slang:
        own = " ".join(f"-G{k}={v}" for k, v in n.parameters)
        reading = [f"read_slang {defines} {include} --top {n.top} {own} {' '.join(files)}"]
    else:
        reading = [f"read_verilog -sv -defer {defines} {include} {f}" for f in files]
        reading += [f"chparam -set {k} {_value(v)} {n.top}" for k, v in n.parameters]
    return "\n".join(
        [
            *reading, f"hierarchy -check -top {n.top}", *_PLAIN, "proc", *_SILENT, "tee -o check.log check",
            device.synth.format(top=n.top),
            "tee -o stat.json stat -json",
            *([_GATES] if device.liberty else []), f"write_json {NETLIST}", *_ONCE,
            f"write_verilog -noattr {'' if device.liberty else '-noexpr '}{VERILOG}", "",
        ]
    )  # fmt: skip


def _value(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"\\"{value}\\""'


def synthesise(n: Netlist, device: Device, work: Path) -> Cells:
    """Makes ``work`` hold the mapped netlist, and returns its cells. Raises :class:`ToolError` with a reason."""
    files = bench.copied(n, work)
    if device.library is not None:
        shutil.copyfile(device.library, work / LIBERTY)
    log = ""
    for slang in (False, True):
        (work / "synth.ys").write_text(script(n, files, device, slang=slang))
        try:
            log = tools.run("yosys", ["-s", "synth.ys"], work, seconds=SYNTHESIS)
            break
        except ToolError as e:
            unread = re.search(r"(?i)syntax error|unsupported|not implemented", e.failure.detail)
            if meant := questionable(e.log, _text(work / "check.log"), n):  # why yosys stops, by its name
                raise ToolError(meant, e.log) from e
            if slang or e.failure.reason is not Reason.COMPILE_ERROR or not unread:
                raise bench.refused(_named(e), n) from e
    (work / SAID).write_text(log)
    if wrong := questionable(log, _text(work / "check.log"), n):
        raise ToolError(wrong, log)
    cells, looped = _cells(work, n.top, device)
    if strange := sorted(cells.types.keys() - device.known):
        text = f"cells of the device that sources name, or that no figure counts: {', '.join(strange)}"
        raise ToolError(Failure(Reason.STRANGE_CELL, text), log)
    if looped and (found := re.search(r"found logic loop in module .*:\n((?: .*\n)*)", _text(work / "check.log"))):
        lines = dict.fromkeys(re.findall(r"src/\S+?:\d+", found[1]))
        raise ToolError(Failure(Reason.LOOP, bench.own_names(f"a loop without a register: {', '.join(lines)}", n)), log)
    return cells


def _named(error: ToolError) -> ToolError:
    """An error with the reason that yosys' words are of."""
    if re.search(r"Can(?:'t| not) open", error.failure.detail):
        return ToolError(Failure(Reason.MISSING_FILE, error.failure.detail), error.log)
    if re.search(r"(?i)module .* not found|is not part of the design", error.failure.detail):
        top = "hierarchy" in error.log[-3000:] and "referenced in module" not in error.failure.detail
        reason = Reason.WRONG_TOP if top else Reason.MISSING_FILE
        return ToolError(Failure(reason, error.failure.detail), error.log)
    return error


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""


def questionable(log: str, checked: str, n: Netlist) -> Failure | None:
    """Why a circuit is not what its author means: latches, ports that nothing drives."""
    if found := re.search(
        r"^(?:Warning: )?Latch inferred for signal `([^']*)' from process `([^']*)'", log, re.MULTILINE
    ):
        signal, line = found[1].split(".", 1)[-1].lstrip("\\"), re.search(r"src/\S+?:\d+", found[2])
        return Failure(Reason.LATCH, bench.own_names(f"{signal} is a latch: {line[0] if line else found[2]}", n))
    if found := re.search(rf"Wire {re.escape(n.top)}\.\\(\w+)(?: \[\d+\])? is used but has no driver", checked):
        return Failure(Reason.UNDRIVEN, f"{found[1]} of {n.top} is used and nothing drives it")
    return None


def _cells(work: Path, top: str, device: Device) -> tuple[Cells, bool]:
    """The cells of the netlist in ``work``, and whether a signal depends on itself without a register."""
    stat = json.loads(_text(work / "stat.json"))
    of = stat.get("design") or stat["modules"][f"\\{top}"]
    cells = json.loads((work / NETLIST).read_bytes())["modules"][top]["cells"]
    deep, looped = depth(cells, device.lut, {*device.ff}, device.reads)
    made = Cells(
        {k: int(v) for k, v in of["num_cells_by_type"].items()},
        _within(cells),
        deep,
    )
    return made, looped


Netted = Mapping[str, Mapping[str, Any]]


def _within(cells: Netted) -> dict[str, int]:
    """Cells of a flat netlist by the top's part that their names begin with."""
    counts: dict[str, int] = {}
    for name in cells:
        plain = re.sub(r"^\$\w+\$", "", name)
        part = plain.split(".", 1)[0] if "." in plain else ""
        counts[part] = counts.get(part, 0) + 1
    return counts


def depth(
    cells: Netted, tables: Mapping[str, float], stops: Set[str], reads: Mapping[str, Sequence[str]]
) -> tuple[int, bool]:
    """The most tables that a signal passes between registers or ports, and whether it comes back to one of them. Into
    memories, which are tables too, it passes by the ports that ``reads`` names only; at the others it ends."""
    looped = False
    drives: dict[int, str] = {}
    into: dict[str, list[int]] = {}
    for name, cell in cells.items():
        if cell["type"] in stops or cell["type"].startswith("$"):
            continue
        open_ = reads.get(cell["type"], cell["port_directions"])
        for port, way in cell["port_directions"].items():
            bits = [b for b in cell["connections"].get(port, ()) if isinstance(b, int)]
            if way == "output":
                drives |= dict.fromkeys(bits, name)
            else:
                into.setdefault(name, []).extend(bits if port in open_ else ())
    known: dict[str, int] = {}
    opened: set[str] = set()  # those of the path from ``start`` are not known yet
    for start in into:
        stack = [start]
        while stack:
            name = stack[-1]
            opened.add(name)
            before = {d for b in into.get(name, ()) if (d := drives.get(b))}
            left = before - known.keys()
            if name not in known and left - opened:
                stack += left - opened
                continue
            if name not in known:
                looped = looped or bool(left)
                deepest = max((known.get(d, 0) for d in before), default=0)
                known[name] = deepest + (1 if tables.get(cells[name]["type"]) else 0)
            stack.pop()
    return max(known.values(), default=0), looped


def mapped(n: Netlist, device: Device, work: Path) -> Netlist:
    """The netlist in ``work`` for the test bench, with models of its cells."""
    share = tools.share("yosys")
    models = tuple(share / m for m in device.models) if share else ()
    own = tuple(device.folder.glob("cells*.v"))
    models = tuple(m for m in models if m.is_file())
    # a model includes others of its folder
    return Netlist(
        n.top,
        (work / VERILOG, *models, *own),
        defines=device.defines,
        includes=tuple(dict.fromkeys(m.parent for m in models)),
    )


def place(device: Device, work: Path, netlist: Path, seed: int) -> Routed:
    """Places and routes with a seed. Raises :class:`ToolError`."""
    assert device.place is not None
    shutil.copyfile(netlist, work / NETLIST)
    crowded = crowds(netlist, device)
    arguments = [*device.place.arguments, *(device.place.crowded if crowded else ())]
    arguments += ["--json", NETLIST, "--seed", str(seed), "--timing-allow-fail", "--report"]
    try:
        log = tools.run(device.place.tool, [*arguments, "report.json"], work, seconds=PLACEMENT)
    except ToolError as e:
        full = re.search(
            r"(?i)ran out of|unable to (find|place)|no .*(bels|sites)|failed to (expand|legali[sz]e)", e.log
        )
        why = Reason.DOES_NOT_FIT if full else e.failure.reason
        raise ToolError(Failure(why, e.failure.detail), e.log) from e
    return replace(routed(json.loads(_text(work / "report.json")), seed, log), crowded=crowded)


def crowds(netlist: Path, device: Device) -> bool:
    """Whether the device has fewer pins than the design has bits of ports, and can be routed without pins."""
    assert device.place is not None
    if not device.place.crowded:
        return False
    modules = json.loads(netlist.read_bytes())["modules"].values()
    (top,) = (m for m in modules if int(m["attributes"].get("top", "0"), 2))
    return sum(len(p["bits"]) for p in top["ports"].values()) > device.place.pins


def routed(report: Mapping[str, Any], seed: int, log: str) -> Routed:
    """What a report says. A design has one clock: paths from one to another are in no frequency.
    Raises :class:`ToolError` where it has several."""
    clocks = [float(f["achieved"]) for f in report.get("fmax", {}).values()]
    ends = {e for path in report.get("critical_paths", ()) for e in (path["from"], path["to"]) if e != "<async>"}
    ends |= report.get("fmax", {}).keys()
    if len(domains := sorted({e.split()[-1] for e in ends})) > 1:
        text = f"registers have several clocks, and paths between them no frequency: {', '.join(domains)}"
        raise ToolError(Failure(Reason.CLOCKS, text), log)
    if not clocks:
        raise ToolError(Failure(Reason.UNDRIVEN, "no path from register to register, so no frequency"), log)
    ports: dict[str, float] = {}
    for path in re.findall(
        r"Max delay (<async>\s*->\s*\S+ \S+|\S+ \S+\s*->\s*<async>|<async>\s*->\s*<async>)\s*:\s*([\d.]+) ns", log
    ):
        name = re.sub(r"\s+", " ", re.sub(r"(pos|neg)edge \S+", "clock", path[0]))
        ports[name] = float(path[1])  # the last is that after routing
    used = {k: int(v["used"]) for k, v in report.get("utilization", {}).items() if v.get("used")}
    return Routed(seed, min(clocks), ports, used)
