"""``steelyard sim``: anybody's image on a simulated chip."""

from __future__ import annotations

import codecs
import re
import statistics
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct, to_builtins

from ..analyse.errors import of_kinds, of_model, unpublished
from ..analyse.profile import by_function
from ..device import blocks, foreign
from ..device.blocks import Setting
from ..device.foreign import Measured, Place, Read, Seen, Unmodelled
from ..lab.image import from_intel_hex, start_of_intel_hex
from ..model import elf
from ..model.errors import UserError, WorkError, counted, cut, meant, printable, unknown
from ..model.profile import Node, Profile
from ..model.target import Target, load_target, target_names
from ..publish import profile as tables
from ..publish.sheet import Cell, Sheet, plain
from . import options
from .options import command
from .output import TABLES, Output, apart, writable

#: how a run ended, in words
_ENDS = {
    "returned": "the function returned",
    "breakpoint": "the program is at a breakpoint",
    "waits": "the program waits at its serial port, whose state it reads again and again, as for a byte",
    "loops": "the program loops for ever and changes nothing; its cycles contain rounds of this loop",
    "sleeps": "the core sleeps until an interrupt or an event, of which there are none here",
    "cycles": "the cycles were used up (--max-cycles)",
    "time": "the time was used up (--seconds)",
    "output": "it sent more than 1 MiB",
}
#: clocks that are so near to each other are one, as that of a PLL with a multiplier that does not fit exactly
NEAR = 0.01
#: how Intel HEX begins: no core does so, with a vector or a first instruction. Editors leave marks and lines before it
_HEX = re.compile(rb":|(?:\xef\xbb\xbf)?\s*:[0-9A-Fa-f]{10}")
#: the type of an object file in an ELF header (System V ABI, chapter 4: ET_REL)
_OBJECT = b"\x01\x00"
#: forms of an argument: number with its bytes; zeros, bytes in hexadecimal, or a file that a pointer points to
_NUMBER = re.compile(r"(-?(?:0x[0-9a-f]+|\d+))(?::([1248]))?", re.IGNORECASE)
#: signs of a number, zeros before it among them
_DIGITS = 100
_ZEROS, _BYTES, _FROM = re.compile(r"@(\d{1,8})"), re.compile(r"@hex:((?:[0-9a-f]{2})+)", re.IGNORECASE), "@file:"


class Sim(Struct, frozen=True, kw_only=True):
    """What ``sim`` is asked."""

    image: Path
    chip: str
    call: str
    arg: tuple[str, ...]
    trigger: str
    base: str
    input: Path | None
    uart: Path | None
    max_cycles: int
    seconds: int
    out: Output


@command(
    Sim,
    click.argument("image", type=options.FILE, metavar="IMAGE", help="An ELF file, Intel HEX, or bytes."),
    options.text("--chip", "-t", metavar="CHIP", help="A target, or its chip; steelyard targets lists them."),
    options.text("--call", metavar="SYMBOL|ADDRESS", listed=True, help="Run this function alone, with a stack."),
    click.option(
        "--arg",
        multiple=True,
        metavar="VALUE",
        help="An argument of it, repeatable: 5, 0x10:8 (bytes), or a pointer: @64 (zeros), @hex:00ff, @file:FILE.",
    ),
    options.text("--trigger", metavar="SYMBOL|ADDRESS", listed=True, help="Measure every call of this function."),
    options.text("--base", metavar="ADDRESS", help="Where a file of bytes begins. Default of .bin: the flash."),
    click.option("--input", type=options.FILE, metavar="FILE", help="What the serial port receives."),
    click.option("--uart", type=options.FILE, metavar="FILE|-", help="Where to write what the serial port sends."),
    options.number(
        "--max-cycles", most=1 << 62, default=1_000_000_000, help="Cycles after which it ends, at the next jump."
    ),
    options.number("--seconds", most=1_000_000, default=60, help="Seconds after which it ends."),
    options.output(*TABLES),
)
def verb(ask: Sim) -> int:
    """Run anybody's image on a simulated chip: cycles, functions, faults, and what is not modelled.

    The program begins at the reset vector, or where the ELF or HEX file says on cores that have none. It ends at a
    breakpoint, where it waits at its serial port, sleeps or turns round for ever, at a fault or at a limit. --call runs
    one function instead, with initial data in place and no start-up code. --trigger measures each call of a function,
    from its first instruction to its return; a call that it makes of itself is a part of that. Cycles by function are
    then those of the measured calls.

    JSON has a word for each end: returned, breakpoint, waits, loops and sleeps, after which the exit code is 0; fault,
    with its name and text; cycles, time and output (1 MiB), the limits. On Xtensa breakpoints are faults as well.

    There are no interrupts, and peripherals without a model keep what is written to them: both are named, and so are
    the registers that a program reads in each round in which it waits, watchdogs that stay on, and settings of clock,
    flash and cache that are not those that cycles and seconds are of.
    """
    target, written = _chip(ask.chip), None
    if ask.uart is not None and str(ask.uart) != "-":
        writable(ask.uart)
        written = ask.uart
    elif ask.uart is not None and ask.out.path is None and ask.out.format:
        raise UserError("--uart -: the answer is for a program and on standard output too; name a file for one of them")
    files = {f"--arg {cut(a)}": Path(a.removeprefix(_FROM)) for a in ask.arg if a.startswith(_FROM)}
    apart({"--uart": written, "-o": ask.out.path}, {"IMAGE": ask.image, "--input": ask.input, **files})
    image = _read(ask.image, "image")
    is_elf = image.startswith(b"\x7fELF")
    if is_elf and image[16:18] == _OBJECT:
        raise UserError(f"{cut(ask.image.name)}: is an object file, whose code has no addresses yet; link it first")
    if is_hex := _HEX.match(image) is not None:
        image = image.removeprefix(codecs.BOM_UTF8)
    if ask.call and ask.trigger:
        raise UserError("--call and --trigger: leave one of them out")
    if ask.arg and not ask.call:
        raise UserError("--arg: is for --call; name a function")
    if ask.base and (is_elf or is_hex):
        kind = "an ELF file" if is_elf else "Intel HEX"
        raise UserError(f"--base: {kind} says itself where its bytes belong; leave it out")
    if not image:
        raise UserError(f"{cut(ask.image.name)}: has no bytes; name another image")
    if not (is_elf or is_hex or ask.base or ask.image.suffix.lower() == ".bin"):
        raise UserError(
            f"{cut(ask.image.name)}: begins as neither ELF nor Intel HEX do; give --base if these are the bytes of the "
            f"chip's memory, from {target.chip.flash.base:#x} on if they are all of its flash"
        )
    base = _address(ask.base, "--base") if ask.base else target.chip.flash.base
    try:
        pieces = [] if is_elf else from_intel_hex(image) if is_hex else [(base, image)]
        entry = start_of_intel_hex(image) if is_hex else None
    except ValueError as e:
        raise UserError(f"{cut(ask.image.name)}: {e}") from e
    asked = foreign.Experiment(
        entry=entry,
        call=_place(ask.call, image, is_elf, "--call") if ask.call else None,
        arguments=tuple(map(_argument, ask.arg)),
        trigger=_place(ask.trigger, image, is_elf, "--trigger") if ask.trigger else None,
        input=_read(ask.input, "input") if ask.input else b"",
        cycles=ask.max_cycles,
        seconds=float(ask.seconds),
    )
    try:
        seen = foreign.run(target, pieces or image, asked)
    except ValueError as e:
        raise WorkError(f"{ask.image.name} on {target.name}: {e}") from e
    _send(bytes(seen.output), ask.uart, followed=ask.out.path is None)
    uncalled = bool(ask.trigger) and not seen.calls
    said = [f"No call of {ask.trigger} came to its end."] if uncalled else []
    if seen.unfinished:
        said.append(f"A call of {ask.trigger} had not returned: its cycles are in those by function, not in the calls.")
    if seen.left:
        said.append(
            f"{counted(seen.left, 'call')} not counted: left by a jump to the caller or past it, as longjmp does. "
            "Nor are their cycles in those by function."
        )
    if seen.doubtful:
        said.append(
            f"{counted(seen.doubtful, 'call')} in doubt: longjmp led out of the frame after setjmp was called in it. "
            "If it was left it may not be counted, or cycles of other code are among its own; calls from deeper frames "
            "or lower stacks are missing."
        )
    rom = sum(len(content) for _, content in pieces or elf.segments(image)) - sum(n for _, n in seen.left_out)
    ask.out.give(_sheets(ask, target, seen, rom), _json(target, seen, rom), [*said, *_notes(target, seen)])
    return 0 if seen.fine and not uncalled else 1


def _chip(name: str) -> Target:
    if not name:
        raise UserError("--chip: name a target, or its chip; steelyard targets lists them")
    by_chip = {load_target(n).chip_name.lower(): n for n in reversed(target_names())}
    if name not in target_names() and name.lower() not in by_chip:
        raise unknown("chip", name, {n for pair in by_chip.items() for n in pair if load_target(pair[1]).is_chip})
    target = load_target(name if name in target_names() else by_chip[name.lower()])
    if not target.is_chip:
        raise UserError(f"{target.name} is a machine, and no chip that is simulated")
    return target


def _read(file: Path, what: str) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(foreign.MAX_FILE + 1)
    except (OSError, ValueError) as e:
        raise UserError(f"{cut(str(file))}: {getattr(e, 'strerror', None) or e}; name another {what}") from e
    if len(content) > foreign.MAX_FILE:
        raise UserError(f"{cut(str(file))}: has more than {foreign.MAX_FILE >> 20} MiB; name another {what}")
    return content


def _address(text: str, option: str) -> int:
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,8}|\d{1,10}", text) or _integer(text) >= 1 << 32:
        raise UserError(f"{option} {cut(text)!r}: write an address, such as 0x08000000")
    return _integer(text)


def _integer(text: str) -> int:
    """A number in hexadecimal after 0x, else decimal: zeros before it say nothing."""
    return int(text, 16 if "x" in text.lower() else 10)


def _place(text: str, image: bytes, is_elf: bool, option: str) -> int:
    """The address that a symbol or a number stands for."""
    if re.match(r"\d", text):
        return _address(text, option)
    if not is_elf:
        raise UserError(f"{option} {cut(text)!r}: these are bytes without symbols; give an address, or an ELF file")
    try:
        found = foreign.address(image, text)
        names = {s.name for s in elf.symbols(image) if s.kind == "code"} if found is None else ()
    except ValueError as e:
        raise UserError(f"the image: {e}") from e
    if found is None:
        hint = meant(text, names) or f"it has {counted(len(names), 'symbol')} of code"
        raise UserError(f"{option}: the image has no function {cut(text)!r}; {hint}")
    return found


def _argument(text: str) -> tuple[int, int] | bytes:
    if number := _NUMBER.fullmatch(text):
        # no Python makes a number of thousands of digits; this one fits into no argument either
        value, width = _integer(number[1]) if len(number[1]) <= _DIGITS else 1 << 64, int(number[2] or 0)
        least = next((n for n in (2, 4, 8) if -(1 << (8 * n - 1)) <= value < 1 << (8 * n)), 0)
        if not least or (width and not -(1 << (8 * width - 1)) <= value < 1 << (8 * width)):
            raise UserError(f"--arg {cut(text)!r}: does not fit into {width or 8} bytes")
        return value & ((1 << 64) - 1), width or least
    if zeros := _ZEROS.fullmatch(text):
        return bytes(int(zeros[1]))
    if given := _BYTES.fullmatch(text):
        return bytes.fromhex(given[1])
    if text.startswith(_FROM):
        return _read(Path(text.removeprefix(_FROM)), "file")
    raise UserError(f"--arg {cut(text)!r}: write a number, 5 or 0x10:8, or a pointer, @64, @hex:00ff or @file:FILE")


def _send(output: bytes, to: Path | None, *, followed: bool) -> None:
    """Writes the bytes; ``followed`` by the report on standard output, with the end of a line."""
    if to is not None and str(to) != "-":
        Output(to, "bin").put(output)
    elif to is not None:
        ends = not output or output.endswith(b"\n") or not followed
        Output(None, "bin").put(output if ends else output + b"\n")


def _sheets(ask: Sim, target: Target, seen: Seen, rom: int) -> list[Sheet]:
    title = f"{ask.image.name} on {target.name} ({target.chip_name}, {target.chip.clock_hz / 1e6:g} MHz, simulated)"
    clock = target.chip.clock_hz
    facts: list[tuple[Cell, ...]] = [
        ("ended", _ended(seen)),
        ("at", _at(Place(seen.pc, seen.function))),
        ("cycles" if ask.call else "cycles since reset", f"{seen.cycles}, {seen.cycles / clock:.6g} s"),
        ("timing model", seen.timing_model),
    ]
    facts += [("error of cycles", text) for text in _errors(target, seen, rom)]
    if seen.result is not None:
        values = foreign.returned(target, seen.result)
        facts.append(("returned", ", ".join(f"{v:#x} ({size} bytes)" for size, v in values.items())))
    facts += [(f"pointer {k}", bytes(b).hex()) for k, b in enumerate(seen.buffers, 1)]
    if seen.output and ask.uart is None:
        text = bytes(seen.output[-400:]).decode("ascii", "backslashreplace")
        facts.append((f"sent {len(seen.output)} bytes", printable(text)))
    if seen.unaligned:
        facts.append(("unaligned accesses", str(seen.unaligned)))
    sheets = [plain(title, "sim", ("field", "value"), facts)]
    for name, calls, every in (
        (f"calls of {ask.call or ask.trigger}", seen.calls, seen.counted),
        ("pulses of the trigger's pin", seen.pulses, seen.pulsed),
    ):
        if calls:
            first = f", of the first {len(calls)}" if every > len(calls) or len(calls) == foreign.MOST_CALLS else ""
            sheets.append(_calls(f"{name}{first}", calls, every))
    if seen.functions:
        tree = Profile(ask.image.name, tuple(Node(*n) for n in seen.functions), {}, 0, 0)
        within = f" in the calls of {ask.trigger}" if ask.trigger else ""
        sheets.append(tables.functions(tree, f"cycles by function{within}"))
    if seen.unmodelled:
        used = [
            (_register(target, u) or None, _hex(u.address), u.reads, u.writes, _at(u.first), _at(u.last))
            for u in seen.unmodelled
        ]
        heads: dict[str, int | None] = {"not modelled": None, "address": None, "reads": 0, "writes": 0}
        sheets.append(
            plain(
                "registers that no model answers for", "unmodelled", heads | {"first by": None, "last by": None}, used
            )
        )
    return sheets


def _calls(name: str, calls: Sequence[Measured], every: int) -> Sheet:
    cycles = [c.cycles for c in calls]
    row = (every, min(cycles), statistics.median(cycles), max(cycles), sum(cycles), max(c.stack for c in calls))
    return plain(name, "calls", dict.fromkeys(("calls", "least", "median", "most", "sum", "stack"), 0), [row])


def _ended(seen: Seen) -> str:
    return f"{seen.fault}: {seen.text}" if seen.fault else _ENDS[seen.end]


def _at(place: Place) -> str:
    return f"{place.pc:#x}{f' in {place.function}' if place.function else ''}"


def _notes(target: Target, seen: Seen) -> list[str]:
    """What a reader of the figures should know."""
    others: dict[tuple[str, str], list[str]] = {}
    for name, s, value in _others(target, seen):
        text = f"{name} has {value:#x} in its bits {s.mask:#x} where {s.assumed:#x} is assumed"
        others.setdefault((_those_of(target, s), name if s.watchdog else ""), []).append(text)
    notes = [f"{'; '.join(found)}: {follows}." for (follows, _), found in others.items()]
    if abs(target.board_hz / target.chip.clock_hz - 1) > NEAR:
        notes.append(
            f"Seconds are those at {target.chip.clock_hz / 1e6:g} MHz, which only a PLL without documented registers "
            f"makes: our start-up code leaves the chip at {target.board_hz / 1e6:g} MHz."
        )
    if seen.interrupts:
        notes.append("The program allows interrupts. There are none here: what they would do is not in these figures.")
    if seen.round:
        without = {u.address for u in seen.unmodelled}
        read = {_register(target, r, modelled=r.address not in without) or f"{r.address:#x}" for r in seen.round}
        notes.append(f"In each round it reads {', '.join(sorted(read))}, and may wait for what does not happen here.")
    if seen.left_out:
        notes.append(f"Left out, no memory that runs: {', '.join(f'{n} bytes at {a:#x}' for a, n in seen.left_out)}.")
    return notes


def _json(target: Target, seen: Seen, rom: int) -> dict[str, object]:
    data: dict[str, object] = to_builtins(seen)
    data["result"] = None if seen.result is None else foreign.returned(target, seen.result)
    data["errors"] = [] if _set_apart(target, seen) else to_builtins(of_model(target.name, seen.timing_model, rom))
    data["settings"] = [
        {
            "name": name,
            "address": s.at,
            "value": value,
            "mask": s.mask,
            "assumed": s.assumed,
            "of": "cycles" if s.cycles else "watchdog" if s.watchdog else "seconds",
            "follows": _those_of(target, s),
        }
        for name, s, value in _others(target, seen)
    ]
    data["target"], data["chip"], data["clock_hz"] = target.name, target.chip_name, target.chip.clock_hz
    data["board_hz"] = target.board_hz
    data["output"], data["buffers"] = bytes(seen.output).hex(), [bytes(b).hex() for b in seen.buffers]
    data["calls"], data["pulses"] = ([_call(c) for c in some] for some in (seen.calls, seen.pulses))
    data["functions"] = to_builtins(by_function(Profile("", tuple(Node(*n) for n in seen.functions), {}, 0, 0)))
    data["tree"] = [{"function": f, "parent": p, "calls": n, "cycles": c} for f, p, n, c in seen.functions]
    data["round"] = [{"address": r.address, "name": _register(target, r, modelled=True)} for r in seen.round]
    data["left_out"] = [{"address": a, "bytes": n} for a, n in seen.left_out]
    data["unmodelled"] = [
        {
            "name": _register(target, u),
            "address": u.address,
            "reads": u.reads,
            "writes": u.writes,
            **{w: {"pc": p.pc, "function": p.function} for w, p in (("first", u.first), ("last", u.last))},
        }
        for u in seen.unmodelled
    ]
    return data


def _errors(target: Target, seen: Seen, rom: int) -> list[str]:
    """How far cycles of this target are from silicon's, in words, for an image of so many bytes."""
    if _set_apart(target, seen):
        return [unpublished(f"{target.name} and this model with the image's settings")]
    return of_kinds(target.name, seen.timing_model, rom)


def _set_apart(target: Target, seen: Seen) -> bool:
    """Whether the model's cycles are of other settings than the image's."""
    return any(s.cycles for _, s, _ in _others(target, seen))


def _others(target: Target, seen: Seen) -> list[tuple[str, Setting, int]]:
    """Settings that are not as assumed: register, what is assumed, and its bits."""
    pairs = zip(blocks.settings(target).items(), seen.settings, strict=True)
    return [(name, s, value) for (name, s), value in pairs if value is not None]


def _those_of(target: Target, setting: Setting) -> str:
    """What follows where a setting is not as assumed."""
    if setting.cycles:
        return f"cycles are those with {setting.cycles}, not the image's"
    if setting.watchdog:
        return f"this watchdog resets the chip after {setting.watchdog} unless it is fed; here it does nothing"
    return f"seconds are those at {target.chip.clock_hz / 1e6:g} MHz, whatever clock the image makes"


def _register(target: Target, used: Unmodelled | Read, *, modelled: bool = False) -> str:
    return used.name if used.address is None else blocks.name_of(target, used.address, modelled=modelled)


def _hex(address: int | None) -> str | None:
    return None if address is None else f"{address:#x}"


def _call(c: Measured) -> dict[str, int]:
    return {"began": c.began, "cycles": c.cycles, "stack": c.stack}
