"""The oracles: other simulators, run as programs, and comparison of their states with ours."""

from __future__ import annotations

import re
import shutil
import subprocess
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from steelyard import _native
from steelyard.model import paths
from steelyard.model.target import Target

from . import replay

#: registers before an instruction, in the order of :attr:`View.names`, the program counter last
State = tuple[int, ...]


@dataclass(frozen=True)
class View:
    """The part of a state that both sides know: our names for it, and a pattern that finds it in QEMU's log. ``order``
    gives the position of each name in a line of the log.
    """

    names: tuple[str, ...]
    pattern: re.Pattern[str]
    order: tuple[int, ...]


_X = tuple(f"x{n}" for n in range(32))
VIEWS = {
    "thumb": View(
        (*(f"r{n}" for n in range(13)), "sp", "lr", "xpsr", "pc"),
        re.compile(r"(?:R\d\d|XPSR)=([0-9a-f]{8})"),
        (*range(15), 16, 15),
    ),
    "riscv": View((*_X, "pc"), re.compile(r"(?:^ pc|x\d+/\w+) +([0-9a-f]{8,16})", re.M), (*range(1, 33), 0)),
    "xtensa": View(
        ("a0", "sp", *(f"a{n}" for n in range(2, 16)), "sar", "pc"),
        re.compile(r"(?:\bPC| SAR|\bA\d\d)=([0-9a-f]{8})"),
        (*range(2, 18), 1, 0),
    ),
    "msp430": View(
        ("sp", "sr", *(f"r{n}" for n in range(4, 16)), "pc"),
        re.compile(r"\((?: ?[A-Z]+\d*): ([0-9a-f]{5})\)"),
        (4, 8, *(1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), 0),
    ),
}
#: QEMU's Arm board for each core, with flash at 0 and RAM at 0x20000000; a Cortex-M3 has what a Cortex-M0+ has
_BOARDS = {
    "cortex-m0plus": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m3-sam3x": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
}
#: a board without anything but memory, in which our images lie where they were linked and ports are memory too
_RISCV = {
    # which has what the other two lack
    **dict.fromkeys(
        ("rv32-bumblebee", "rv32-esp32c3", "rv32-qingke-v2"),
        ("qemu-system-riscv32", "-M", "none", "-m", "2G", "-cpu", "rv32"),
    ),
    "rv64-rocket": ("qemu-system-riscv64", "-M", "none", "-m", "3G", "-cpu", "rv64"),
}
#: the flags of xPSR, and of SR all but V, which mspdebug clears in RRC where SLAU049F, 3.4.6 sets it
_COMPARED = {"xpsr": 0xF800_0000, "sr": ~0x100}


def qemu(target: Target, image: Path) -> list[str] | None:
    """The command that runs ``image`` in QEMU; None where QEMU has no such core."""
    quiet = ["-display", "none", "-serial", "none", "-monitor", "none", "-semihosting"]
    start = ["-device", f"loader,file={image},cpu-num=0"]
    core = target.chip.core
    if core in _BOARDS:
        return ["qemu-system-arm", "-M", _BOARDS[core], *quiet, "-kernel", str(image)]
    if core in _RISCV:
        return [*_RISCV[core], *quiet, *start]
    if core == "xtensa-lx106":
        # its memories are where the ESP8266 has them, and its ports fall into RAM
        return ["qemu-system-xtensa", "-M", "sim", "-cpu", "lx106", "-m", "64M", *quiet, *start]
    return None


def missing(target: Target) -> str | None:
    """The oracle of ``target`` when it is not installed."""
    alone = {"avr": ["simavr"], "msp430": ["mspdebug"]}
    command = alone.get(target.toolchain.family) or qemu(target, Path("image"))
    assert command is not None, f"there is no oracle for {target.chip.core}"
    return None if shutil.which(command[0]) else command[0]


def simavr(image: Path) -> list[int]:
    """Runs an AVR image in simavr: the cycles of each trigger pulse."""
    vcd = image.parent / "pin.vcd"
    vcd.unlink(missing_ok=True)
    subprocess.run(["simavr", image.name], cwd=image.parent, capture_output=True, timeout=300, check=False)
    edges, at = [], 0
    text = vcd.read_text()
    assert text.startswith("$timescale 10ns "), text[:40]
    for line in text.partition("$enddefinitions")[2].splitlines()[1:]:
        if line.startswith("#"):
            at = int(line[1:]) // 100
        elif line[:1] in "01" and line:
            edges.append((at, line[0] == "1"))
    while edges and not edges[0][1]:
        edges.pop(0)
    return [fall - rise for (rise, _), (fall, _) in zip(edges[::2], edges[1::2], strict=True)]


def states(target: Target, machine: _native.Simulator, count: int = 1 << 40, stride: int = 1) -> list[State]:
    """Every ``stride``-th of our next ``count`` states."""
    view, names = VIEWS[target.toolchain.family], machine.registers
    words = array("I", machine.trace(count))
    columns = {name: _compared(name, words[n :: len(names) * stride]) for n, name in enumerate(names)}
    if target.toolchain.family == "riscv":
        low = [columns[n] for n in names[:32]]
        if "zero.h" not in columns:
            return list(zip(*low, columns["pc"], strict=True))
        high = [columns[f"{n}.h"] for n in names[:32]]
        wide = [[a | b << 32 for a, b in zip(*pair, strict=True)] for pair in zip(low, high, strict=True)]
        return list(zip(*wide, columns["pc"], strict=True))
    return list(zip(*(columns[n] for n in view.names), strict=True))


def _compared(name: str, column: Sequence[int]) -> Sequence[int]:
    """What of a register's values both sides know."""
    mask = _COMPARED.get(name)
    return column if mask is None else [value & mask for value in column]


def steps(target: Target, image: Path) -> int:
    """States of our run from reset to the end."""
    machine = replay.simulator(target, image)
    return len(machine.trace(1 << 40)) // (4 * len(machine.registers))


def end(target: Target, image: Path) -> State:
    """The oracle's state before the last instruction of an image."""
    if target.toolchain.family == "msp430":
        return list(_mspdebug(image, [steps(target, image) - 1]))[-1]
    start, stop = span(image, target, "sy_end")
    return _qemu_log(target, image, ("-dfilter", f"{start:#x}..{stop - 1:#x}"))[-1]


def compare_ends(target: Target, image: Path) -> str | None:
    """Runs ``image`` here and in the oracle of ``target``, and compares how they end; the first difference if any.

    The sum over all answers is among the registers.
    """
    machine, _ = replay.ours(target, image)
    mine, theirs = states(target, machine, 1)[0], end(target, image)
    if mine[:-1] == theirs[:-1]:
        return None
    return compare(target, image) or "only the ends differ"


def compare(target: Target, image: Path) -> str | None:
    """Runs ``image`` here and in the oracle of ``target``, and compares all states; the first difference."""
    machine = replay.simulator(target, image)
    if target.toolchain.family != "msp430":
        return first_difference(target, machine, states(target, machine), _qemu_log(target, image))
    # some states first, then all of those between two that differ
    count = steps(target, image)
    stride = count // 5000 + 1
    mine = states(target, machine, stride=stride)
    theirs = list(_mspdebug(image, [stride] * (len(mine) - 1)))
    rough = first_difference(target, machine, mine, theirs)
    if rough is None:
        return None
    found = re.search(r"state (\d+)", rough)
    assert found is not None
    bad = max(1, int(found[1]))
    machine = replay.simulator(target, image)
    machine.trace((bad - 1) * stride)
    theirs = list(_mspdebug(image, [(bad - 1) * stride, *[1] * stride]))[1:]
    return first_difference(target, machine, states(target, machine, stride + 1), theirs) or rough


def _qemu_log(target: Target, image: Path, more: tuple[str, ...] = ()) -> list[State]:
    log, view = image.parent / "qemu.log", VIEWS[target.toolchain.family]
    command = qemu(target, image)
    assert command is not None
    command += [*_one_by_one(command[0]), "-d", "cpu,nochain", *more, "-D", str(log)]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    found = view.pattern.findall(log.read_text())
    log.unlink()
    values = array("Q" if len("".join(found[:1])) == 16 else "I", bytes.fromhex("".join(found)))
    values.byteswap()
    width = len(view.order)
    columns = zip(view.names, (values[n::width] for n in view.order), strict=True)
    return list(zip(*(_compared(*column) for column in columns), strict=True))


@cache
def _one_by_one(program: str) -> tuple[str, ...]:
    """Options that make QEMU log the state after each instruction; QEMU 8.1 renamed them."""
    known = subprocess.run([program, "-help"], capture_output=True, text=True, check=False).stdout
    return ("-accel", "tcg,one-insn-per-tb=on") if "one-insn-per-tb" in known else ("-singlestep",)


def _mspdebug(image: Path, steps: list[int]) -> Iterator[State]:
    """States of mspdebug at the start and after each of ``steps``."""
    script, view = image.parent / "mspdebug.txt", VIEWS["msp430"]
    lines = [f"prog {image}", "simio add hwmult m", "regs", *(f"step {n}" for n in steps)]
    script.write_text("\n".join(lines) + "\n")
    command = ["mspdebug", "-q", "-n", "sim", f"read {script}"]
    out = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    values = [int(v, 16) for v in view.pattern.findall(out.stdout)]
    for k in range(0, len(values), 16):
        yield tuple(values[k + n] & _COMPARED.get(name, -1) for name, n in zip(view.names, view.order, strict=True))


def span(image: Path, target: Target, symbol: str) -> tuple[int, int]:
    """Where a function lies in an image."""
    nm = shutil.which(f"{target.toolchain.prefix}nm", path=paths.search_path())
    assert nm is not None
    out = subprocess.run([nm, "-S", str(image)], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) . {symbol}$", out, re.M)
    assert found is not None, f"{image} has no {symbol}"
    start = int(found[1], 16) & ~1
    return start, start + int(found[2], 16)


def first_difference(target: Target, machine: _native.Simulator, mine: list[State], theirs: list[State]) -> str | None:
    """None when both executed the same instructions; otherwise the first diverging instruction with both states.

    QEMU also shows the instructions inside an IT block one by one; they are skipped. Flags of an Arm core
    are unknown after reset (DDI 0403, B1.5.5), and registers of an MSP430 (SLAU049F, 2.1.1), so they count from
    when both have them alike.
    """
    names, arm = VIEWS[target.toolchain.family].names, target.toolchain.family == "thumb"
    known = [not (arm and n == "xpsr") and target.toolchain.family != "msp430" for n in names]
    at = 0
    for n, state in enumerate(mine):
        while arm and at < len(theirs) and theirs[at][-1] != state[-1] and at < n * 5 + 8:
            at += 1
        if at == len(theirs):
            return f"the oracle stops before state {n}, at pc {state[-1]:#x}"
        other = theirs[at]
        at += 1
        if other == state:
            known = [True] * len(names)
            continue
        alike = [a == b for a, b in zip(state, other, strict=True)]
        if n and not all(a or not k for a, k in zip(alike, known, strict=True)):
            before = mine[n - 1]
            rows = "\n".join(
                f"{name:>6} {b:#18x} {a:#18x} {o:#18x}{'' if same or not k else ' <'}"
                for name, b, a, o, same, k in zip(names, before, state, other, alike, known, strict=True)
            )
            head = f"after {machine.disassemble(before[-1])!r} at {before[-1]:#x}, state {n}"
            return f"{head}\n{'':>6} {'before':>18} {'ours':>18} {'theirs':>18}\n{rows}"
        known = [k or a for k, a in zip(known, alike, strict=True)]
    return None
