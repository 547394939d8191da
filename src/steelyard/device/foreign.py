"""Images that are not ours on simulated chips: no harness, no protocol, no measured package."""

from __future__ import annotations

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .. import _native
from ..model.target import Target
from . import blocks

#: most bytes of an image file; most calls and pulses that are kept of all
MAX_FILE, MOST_CALLS = 64 << 20, 100_000


class Measured(Struct, frozen=True, array_like=True):
    """A measured call: when it ``began`` and its ``cycles``, and bytes of ``stack``."""

    began: int
    cycles: int
    stack: int


class Place(Struct, frozen=True, array_like=True):
    """An instruction, and the function that it is in; empty where none is known."""

    pc: int
    function: str


class Read(Struct, frozen=True, array_like=True):
    """A register that is read. One of the core, and of no peripheral, has a ``name`` and no address."""

    address: int | None
    name: str


class Unmodelled(Struct, frozen=True, array_like=True):
    """A register without a model, how often it was used, and the instructions that did first and last. One of the core,
    and of no peripheral, has a ``name`` and no address."""

    address: int | None
    name: str
    reads: int
    writes: int
    first: Place
    last: Place


class Seen(Struct, frozen=True, kw_only=True):
    """What was seen of an image.

    ``end`` is ``returned``, ``breakpoint``, ``waits`` (for a byte), ``loops`` (turns round for ever), ``sleeps``,
    ``cycles``, ``time`` or ``output`` (which are limits), or ``fault``, with its name and ``text``.

    ``calls`` are those of the function that was asked for, at most 100 000 of all that were ``counted``; others were
    ``left`` by a jump to their caller or past it (longjmp), and it may have ended in one that is ``unfinished``.
    ``doubtful`` of all called setjmp before longjmp led out of their frames: where they were left, cycles of other code
    may be among theirs, and later calls from deeper frames are missing.
    ``pulses`` are those between edges of the trigger's pin, again at most 100 000 of all that it ``pulsed``.
    ``functions`` is the call tree, of the counted calls of the function that was asked for if one was, with the
    unfinished one: name, caller's index, calls, cycles in itself.

    ``left_out`` are segments that no memory has. ``round`` are registers that the program reads in each round in which
    it waits or turns. ``settings`` are the bits of :func:`.blocks.settings`, in their order, where they are not as
    assumed: when a call of the trigger's function returned, else at the end. A function that runs alone has the assumed
    ones, but for those that it changes itself.
    """

    end: str
    fault: str | None
    text: str
    pc: int
    function: str
    cycles: int
    calls: tuple[Measured, ...]
    counted: int
    left: int
    doubtful: int
    unfinished: bool
    pulses: tuple[Measured, ...]
    pulsed: int
    result: int | None
    buffers: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    functions: tuple[tuple[str, int, int, int], ...]
    unmodelled: tuple[Unmodelled, ...]
    unaligned: int
    interrupts: bool
    settings: tuple[int | None, ...]
    left_out: tuple[tuple[int, int], ...]
    round: tuple[Read, ...]
    timing_model: str

    @property
    def fine(self) -> bool:
        """Whether the program came to an end of its own: it returned, waits, turns round, sleeps, or is at a
        breakpoint."""
        return self.end in ("returned", "breakpoint", "waits", "loops", "sleeps")


class Experiment(Struct, frozen=True, kw_only=True):
    """What is asked of an image. ``call`` is the address of a function that runs alone, with ``arguments``: numbers
    with their bytes, or what pointers point to; ``trigger`` that of one whose calls are measured. ``entry`` is where
    an image of bytes begins on cores without vectors, if it says so."""

    entry: int | None = None
    call: int | None = None
    arguments: tuple[tuple[int, int] | bytes, ...] = ()
    trigger: int | None = None
    input: bytes = b""
    cycles: int
    seconds: float


def run(target: Target, image: bytes | list[tuple[int, bytes]], asked: Experiment) -> Seen:
    """Runs ``image``, an ELF file or bytes by their addresses, on the target's chip. :class:`ValueError` with a
    sentence where it is not for that chip, or the call cannot be made."""
    said = _native.simulate(
        target.chip,
        image,
        asked.entry,
        asked.call,
        list(asked.arguments),
        asked.trigger,
        asked.input,
        list(blocks.memories(target)),
        [(s.at, s.mask, s.assumed, s.reset, s.select) for s in blocks.settings(target).values()],
        asked.cycles,
        asked.seconds,
    )
    seen = msgspec.json.decode(said, type=Seen)
    # to the simulator a breakpoint is a fault; Xtensa's traps stay one, for exceptions are among them: ILL, SYSCALL, a
    # division by zero, a window that does not fit
    if seen.fault == "trap" and not target.chip.core.startswith("xtensa"):
        return replace(seen, end="breakpoint", fault=None, text="")
    return seen


def returned(target: Target, result: int) -> dict[str, int]:
    """What a function returned, by the bytes of its type. Registers hold more than a type has; avr-gcc's 64 bits end
    where narrower types do."""
    bits = {size: 8 * int(size) for size in ("1", "2", "4", "8")}
    if target.chip.core.startswith("avr"):
        return {"1": result >> 48 & 0xFF} | {size: result >> (64 - n) for size, n in bits.items() if n > 8}
    return {size: result & ((1 << n) - 1) for size, n in bits.items()}


def address(image: bytes, name: str) -> int | None:
    """The address of the code of this name in an ELF file; none where it has none. :class:`ValueError` for another
    file."""
    return _native.elf_code(image, name)
