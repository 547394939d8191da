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
from .design import among, included
from .device import Device
from .files import ASIDE
from .tools import ToolError

#: what a synthesis leaves in its folder, and the liberty file that it finds there
NETLIST, VERILOG, SAID, LIBERTY = "mapped.json", "mapped.v", "yosys.log", "cells.lib"
#: the design before it is mapped, and what yosys' check says of it
FLAT, CHECKED = "flat.json", "check.log"
#: seconds for one run of yosys, and of a placement
SYNTHESIS, PLACEMENT = 900.0, 900.0
#: rounds of loops that slang unrolls: many more than designs have, and an endless loop still ends within seconds
UNROLLED = 100_000
#: what slang says then
_ENDLESS = "unroll limit"

#: attributes of sources that would keep parts of a design out of what is counted
_PLAIN = ("setattr -mod -unset keep_hierarchy", "setattr -unset keep_hierarchy */c:*")
#: attributes that choose a memory's cells, of it and of the wires at its ports: that is device.toml's to say
_STYLES = ("_block", "_style", "style")
_MEMORIES = (
    "setattr -unset logic_block "
    + " ".join(f"-unset {of}{s}" for of in ("ram", "rom", "syn_ram", "syn_rom") for s in _STYLES)
    + " */*"
)
#: cells of yosys that hold a value without a clock
_LATCHES = re.compile(r"\$(a?dlatch(sr)?|sr|_(A?D?LATCH(SR)?|SR)_\w*)$")
#: ports by which a register changes without the clock: of yosys' cells of words, and of those of one bit
_UNCLOCKED = ("ARST", "ALOAD", "SET", "CLR", "RD_ARST")
_UNCLOCKED_BIT = ("R", "S", "L")
_BIT = re.compile(r"\$_(DFFE?|DFFSRE?|ALDFFE?)_\w+$")
#: a parameter with a sign and no range, of which yosys forgets the sign where it gets a number that has none
_UNRANGED = re.compile(r"\bparameter\s+signed\s+\w")
#: a name of a type with several dimensions, of which yosys keeps one
_DIMENSIONS = re.compile(
    r"\btypedef\b[^;{]{0,500}\]\s*\["  # of bits; bounded, for a text of nothing but such words
    r"|\btypedef\s+(?:struct|union)\b[^{;]{0,100}\{[^}]{0,3000}[]}]\s*\["  # of structures, or in one
    r"|\btypedef\s+(?!(?:logic|bit|reg)\b)\w+(?:::\w+)?\s*\["  # of another name
)
#: a header that yosys looks for nowhere
_ANGLED = re.compile(r"`(?:include|define[ \t]+\w+)[ \t]*<[\w .()+/-]+>")
#: what yosys says of a name that it does not find (a part of an element, of an instance): it goes on with a bit
_MADE_UP = re.compile(r"Identifier `\S*\.\S*' is implicitly declared")
#: the module that gives the top negative parameters
_ABOVE = "steelyard_above"
#: what only simulators do, which a mapped netlist would do too
_SILENT = ("chformal -remove", "delete */t:$print")
#: each net has one name and one bit, so that what toggles is counted once
_ONCE = ("splitnets", "opt_clean -purge")
#: models of a library's cells, from their functions; they say the directions of ports too
_GATES = f"read_liberty -ignore_miss_func -ignore_miss_dir -ignore_miss_data_latch ../{LIBERTY}"


class Cells(Struct, frozen=True):
    """``types`` counts the cells of a netlist by type, ``within`` those of tables by the top's part whose name they
    have. ``depth`` is the most tables that a signal passes from register to register. ``slang`` says who read the
    design."""

    types: dict[str, int]
    within: dict[str, int]
    depth: int
    slang: bool = False


class Routed(Struct, frozen=True):
    """What nextpnr reports: MHz of the clock, and the longest paths from and to ports that no clock bounds, in ns. One
    that is ``crowded`` was placed without pins."""

    seed: int
    mhz: float
    ports: dict[str, float]
    used: dict[str, int]
    crowded: bool = False


def reading(n: Netlist, files: list[str], *, slang: bool = False, apart: bool = False) -> list[str]:
    """The lines of a yosys script that read a design. For slang its files are one unit, as for all others, or units
    ``apart``: a `default_nettype ends with its file for all but slang."""
    defines = " ".join(f"-D{d}" for d in n.defines)
    include = f"-I{bench.HEADERS}" if n.headers else ""
    if slang:  # WebAssembly has no threads; delays are skipped by the others too; a bare definition would be 1
        defines = " ".join(f"-D{d}" if "=" in d else f"-D{d}=" for d in n.defines)
        include = include and f"{include} --isystem {bench.HEADERS}"  # of names in angle brackets
        own = " ".join(f"-G{k}={_escaped(v) if isinstance(v, str) else _literal(v)}" for k, v in n.parameters)
        options = f"--threads 1 --ignore-timing --unroll-limit {UNROLLED}{'' if apart else ' --single-unit'}"
        made = [f"read_slang {options} {defines} {include} --top {n.top} {own} {' '.join(files)}"]
    else:
        made = [f"read_verilog -sv -defer {defines} {include} {f}" for f in files]
        made += _signed(n) if any(_negative(v) for _, v in n.parameters) else _set(n)
    return [*made, f"hierarchy -check -top {n.top}", *_PLAIN, _MEMORIES, "proc", *_SILENT]


def examining(read: Sequence[str]) -> str:
    """The yosys script that shows what a design is before it is mapped: flat, without what nothing needs."""
    return "\n".join(
        [*read, "flatten", "opt_expr", "opt_clean -purge", f"tee -o ../{CHECKED} check", f"write_json ../{FLAT}", ""]
    )


def script(n: Netlist, read: Sequence[str], device: Device) -> str:
    """The yosys script that maps a design to the device, and writes what came of it."""
    return "\n".join(
        [
            *read,
            device.synth.format(top=n.top),
            "tee -o ../stat.json stat -json",
            *([_GATES] if device.liberty else []), f"write_json ../{NETLIST}", *_ONCE,
            f"write_verilog -noattr {'' if device.liberty else '-noexpr '}../{VERILOG}", "",
        ]
    )  # fmt: skip


def _set(n: Netlist) -> list[str]:
    """Gives the top its parameters, of which none is negative: yosys' chparam loses the sign of a sized number."""
    texts = {k: f'"\\"{v}\\""' if isinstance(v, str) else bench.number(v) for k, v in n.parameters}
    return [f"chparam -set {k} {v} {n.top}" for k, v in texts.items()]


def _signed(n: Netlist) -> list[str]:
    """Gives the top its parameters by an instance of it, as a source does, and makes that the top again."""
    given = ", ".join(f".{k}({_literal(v)})" for k, v in n.parameters)
    instance = f"module {_ABOVE}; {n.top} #({given}) top(); endmodule"
    return [
        "read_verilog -sv <<EOT", instance, "EOT",
        f"hierarchy -check -top {_ABOVE}", f"delete {_ABOVE}", "hierarchy -auto-top", f"rename -top {n.top}",
    ]  # fmt: skip


def _negative(value: int | str) -> bool:
    return not isinstance(value, str) and value < 0


def _literal(value: int | str) -> str:
    """As a source writes it. A negative one has its sign in its bits: a target that is wider extends 2^31 before it
    would be negated."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"32'sh{value % (1 << 32):x}" if value < 0 else bench.number(value)


def _escaped(value: str) -> str:
    """A text for slang in one word of a script."""
    return '"' + re.sub(r"\W", lambda found: f"\\x{ord(found[0]):02x}", value, flags=re.ASCII) + '"'


def synthesise(n: Netlist, device: Device, work: Path) -> Cells:
    """Makes ``work`` hold the mapped netlist, and returns its cells. Raises :class:`ToolError` with a reason."""
    files = bench.copied(n, work)
    if device.library is not None:
        shutil.copyfile(device.library, work / LIBERTY)
    read, slang = _readable(n, files, work)
    flat = json.loads(tools.wrote(work / FLAT))["modules"][n.top]
    looped = _loop(_text(work / CHECKED), n)
    if meant := questionable(flat, _text(work / CHECKED), n):
        raise ToolError(meant)
    (work / "synth.ys").write_text(script(n, read, device))
    try:
        log = tools.run("yosys", ["-s", "../synth.ys"], work, seconds=SYNTHESIS, at=bench.AT)
    except ToolError as e:
        if looped and e.failure.reason is Reason.COMPILE_ERROR:  # why yosys stops, by its name
            raise ToolError(looped, e.log) from e
        raise bench.refused(_named(e), n) from e
    (work / SAID).write_text(log)
    cells, returns = _cells(work, n.top, device)
    if strange := sorted(cells.types.keys() - device.known):
        raise ToolError(Failure(Reason.STRANGE_CELL, f"cells that no figure counts: {', '.join(strange)}"), log)
    if returns:
        raise ToolError(looped or Failure(Reason.LOOP, "a loop without a register"), log)
    return replace(cells, slang=slang)


def _readable(n: Netlist, files: list[str], work: Path) -> tuple[list[str], bool]:
    """The lines of a script that read the design, which is examined with them, and whether slang reads it: where yosys
    itself refuses it, or might take it for another. What slang refuses then is left to yosys, for the netlist is
    simulated. Raises :class:`ToolError`, with the words of both."""
    ways = [(True, False), *[(True, True)] * (len(files) > 1)]
    refused: dict[bool, ToolError] = {}
    for slang, apart in (*ways, (False, False)) if _misread(n, files, work) else ((False, False), *ways):
        read = reading(n, files, slang=slang, apart=apart)
        (work / "examine.ys").write_text(examining(read))
        try:
            tools.run("yosys", ["-s", "../examine.ys"], work, seconds=SYNTHESIS, at=bench.AT)
            made_up = None if slang else _MADE_UP.search(tools.wrote(work / tools.LOG).decode(errors="replace"))
            if not made_up:
                return read, slang
            error = ToolError(Failure(Reason.COMPILE_ERROR, made_up[0]))
        except ToolError as e:
            error = _named(e)
        refused.setdefault(slang, error)
        # yosys itself unrolls a loop without an end for as long as it may
        if error.failure.reason is not Reason.COMPILE_ERROR or _ENDLESS in error.log:
            break
    else:
        error = refused[True]
    if False in refused and error is not refused[False]:
        said = f"; it is read by slang, as yosys itself cannot: {refused[False].failure.detail}"
        error = ToolError(replace(error.failure, detail=error.failure.detail + said), error.log)
    elif True in refused and error is not refused[True]:
        said = f"; it is read by yosys, as slang cannot: {refused[True].failure.detail}"
        error = ToolError(replace(error.failure, detail=error.failure.detail + said), error.log)
    raise bench.refused(error, n)


def _misread(n: Netlist, files: list[str], work: Path) -> bool:
    """Whether yosys' own reader takes the sources for another design, and does not say so, or for one that lacks a
    header, as it does where its name is in angle brackets."""
    wide = any(not isinstance(v, str) and v >> 31 > 0 for _, v in n.parameters)
    at = work / bench.AT
    texts = [_text(f) for f in (*(at / f for f in files), *(at / bench.HEADERS).rglob("*")) if f.is_file()]
    texts = [ASIDE.sub(" ", t) for t in texts]
    return any(_ANGLED.search(t) or _DIMENSIONS.search(t) or (wide and _UNRANGED.search(t)) for t in texts)


def _named(error: ToolError) -> ToolError:
    """An error with the reason that yosys' words are of, and slang's own words."""
    if found := re.search(r"^\S+:\d+: ERROR: .*", error.log, re.MULTILINE):
        return ToolError(Failure(error.failure.reason, f"yosys: {found[0]}"), error.log)
    if re.search(r"Can(?:'t| not) open", error.failure.detail):
        return ToolError(Failure(Reason.MISSING_FILE, error.failure.detail), error.log)
    if re.search(r"(?i)module .* not found|is not part of the design", error.failure.detail):
        top = "hierarchy" in error.log[-3000:] and "referenced in module" not in error.failure.detail
        reason = Reason.WRONG_TOP if top else Reason.MISSING_FILE
        return ToolError(Failure(reason, error.failure.detail), error.log)
    return error


def _text(file: Path) -> str:
    return tools.wrote(file).decode(errors="replace") if file.exists() else ""


def questionable(flat: Mapping[str, Any], checked: str, n: Netlist) -> Failure | None:
    """Why a circuit is not what its author means, or not what would be weighed: latches, signals that nothing drives,
    cells that the sources name, registers with another clock than the port, and those that data change without it. The
    module is flat and not mapped yet.
    """
    for cell in flat["cells"].values():
        kind, where = cell["type"], bench.own_names(_line(cell), n)
        if not kind.startswith("$") or "\\" in kind:
            text = f"{kind}, a cell that sources name and do not describe: {where}"
            return Failure(Reason.STRANGE_CELL, text)
        if _LATCHES.match(kind):
            return Failure(Reason.LATCH, f"{_signal(flat, cell['connections']['Q'])} is a latch: {where}")
    if found := re.search(r"Wire \S+?\.\\(\S+)(?: \[\d+\])? is used but has no driver", checked):
        return Failure(Reason.UNDRIVEN, f"{found[1].replace(chr(92), '')} of {n.top} is used and nothing drives it")
    clock = flat["ports"].get(n.clock, {}).get("bits", ())
    for cell in flat["cells"].values():
        if other := [bit for bit in _clocked(cell) if bit not in clock]:
            where = f"{_signal(flat, other)}, not {n.clock}: {bench.own_names(_line(cell), n)}"
            text = f"registers have several clocks, and paths between them no frequency: {where}"
            return Failure(Reason.CLOCKS, text)
    data = _dependent(flat, bench.INPUTS)
    for cell in flat["cells"].values():
        if by := [bit for bit in _unclocked(cell) if bit in data]:
            out = cell["connections"].get("Q") or cell["connections"]["RD_DATA"]
            which, where = _signal(flat, out), bench.own_names(_line(cell), n)
            text = f"{which} is set or reset at any time by {_signal(flat, by)}, which is no reset: {where}"
            return Failure(Reason.ASYNCHRONOUS, text)
    return None


def _unclocked(cell: Mapping[str, Any]) -> list[int | str]:
    """The bits by which a register changes without the clock, but for those that keep what it has."""
    wires = cell["connections"]
    loaded = [b for b, q in zip(wires.get("AD", ()), wires.get("Q", ()), strict=False) if b != q]
    ports = _UNCLOCKED_BIT if _BIT.match(cell["type"]) else _UNCLOCKED
    return [*loaded, *(b for port in ports for b in wires.get(port, ()))]


def _dependent(flat: Mapping[str, Any], ports: Sequence[str]) -> set[int | str]:
    """The bits that depend on any of the ports, now or later. What is read from a memory depends on all that is written
    to it, though the cells of its ports share no bit."""
    reads: dict[int | str, list[str]] = {}
    drives: dict[str, list[int | str]] = {}
    for name, cell in flat["cells"].items():
        ports_of: dict[str, list[int | str]] = {"input": [], "output": []}
        for port, way in cell["port_directions"].items():
            ports_of["input" if way == "input" else "output"] += cell["connections"].get(port, ())
        memory = cell["parameters"].get("MEMID")
        into = name if memory is None or ports_of["output"] else memory
        for bit in ports_of["input"]:
            reads.setdefault(bit, []).append(into)
        for node in {name, memory or name}:
            drives.setdefault(node, []).extend(ports_of["output"])
    found: set[int | str] = set()
    left = [b for p in ports if p in flat["ports"] for b in flat["ports"][p]["bits"]]
    while left:
        bit = left.pop()
        if bit not in found:
            found.add(bit)
            for node in reads.pop(bit, ()):
                left += drives.pop(node, ())  # once: all of them are left then
    return found


def _clocked(cell: Mapping[str, Any]) -> list[int]:
    """The bits that clock a cell. A constant clocks nothing."""
    without = int(cell["parameters"].get("CLK_ENABLE", "1"), 2) == 0  # a memory that is read at any time
    return [] if without else [b for b in cell["connections"].get("CLK", ()) if isinstance(b, int)]


def _line(cell: Mapping[str, Any]) -> str:
    """Where the sources have a cell."""
    found = re.search(r"src/\S+?:\d+", str(cell["attributes"].get("src", "")))
    return found[0] if found else "a line that yosys does not tell"


def _signal(flat: Mapping[str, Any], bits: Sequence[int | str]) -> str:
    """What the sources call the first of the bits; a constant as it is."""
    named = [name for name, net in flat["netnames"].items() if bits and bits[0] in net["bits"]]
    return min(named, key=lambda name: ("$" in name, len(name)), default=str(*bits[:1]))


def _loop(checked: str, n: Netlist) -> Failure | None:
    """The loop without a register that yosys' check finds, with its lines."""
    found = re.search(r"found logic loop in module .*:\n((?: .*\n)*)", checked)
    if not found:
        return None
    lines = dict.fromkeys(re.findall(r"src/\S+?:\d+", found[1]))
    return Failure(Reason.LOOP, bench.own_names(f"a loop without a register: {', '.join(lines)}", n))


def _cells(work: Path, top: str, device: Device) -> tuple[Cells, bool]:
    """The cells of the netlist in ``work``, and whether a signal depends on itself without a register."""
    stat = json.loads(_text(work / "stat.json"))
    of = stat.get("design") or stat["modules"][f"\\{top}"]
    cells = json.loads(tools.wrote(work / NETLIST))["modules"][top]["cells"]
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
    headers = included(models, among([*dict.fromkeys(m.parent for m in models)]))
    return Netlist(n.top, (work / VERILOG, *models, *own), defines=device.defines, headers=(*headers.items(),))


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
    modules = json.loads(tools.wrote(netlist))["modules"].values()
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
