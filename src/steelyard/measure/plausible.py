"""Refuses impossible figures: time below zero, or too short to read the inputs and write the output; more stack or heap
than there is RAM."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model.call import CallResult, Observed, Vector
from ..model.implementation import Implementation, Primitive
from ..model.primitive import PRIMITIVES
from ..model.reasons import Failure, Reason
from ..model.target import Target
from .cycles import means

#: most bytes that a core's loads and stores move per cycle, by the beginning of the core's name. AVR: one byte in at
#: least one cycle (ST on avrxmega3, AVR instruction set manual DS40002198). MSP430: a word in at least two (POP, MOV
#: @Rn+, SLAU049F, 3.4.4). Cortex-M7: two 64-bit accesses. RV64: one access of 8 bytes. Other cores: 32 bits, load and
#: store multiple included
_BYTES_PER_CYCLE = (("avr", 1), ("msp430", 1), ("cortex-m7", 16), ("rv64", 8), ("", 4))


#: on machines, how far below the empty call one that only copies a key or a block may come out: out-of-order cores hide
#: as much, and nocrypt's calls vary as much from run to run
SHORT = 32


def _all_of_it(op: str, v: Vector, answer: CallResult) -> int:
    """Bytes of all inputs, and of the output unless it is discarded."""
    moved = len(v.key) + len(v.npub) + len(v.ad) + len(v.message)
    return moved if op == "reject" else moved + len(answer.output)


def _of_block(op: str, v: Vector, answer: CallResult) -> int:
    """Bytes of the key that a schedule reads, or of both blocks: a context may have more than a call needs of it."""
    return len(v.message) + len(answer.output) if v.message else len(v.key)


#: bytes that a call moves at least, of primitives whose calls need not read all of their inputs
_MOVED: dict[Primitive, Callable[[str, Vector, CallResult], int]] = {"crypto_block": _of_block}


def implausible(
    observed: Sequence[Observed],
    empty: dict[str, int],
    quantity: str,
    target: Target,
    implementation: Implementation,
) -> Failure | None:
    """Why the figures of these calls are impossible; None when they are possible.

    No call may take more stack or heap than a microcontroller has RAM. No mean may be below zero, but for a block
    cipher's on machines, where a schedule may be as short as the empty call. On a microcontroller each call must take
    long enough to read its inputs once and write its output. The baseline does less, so that rule does not apply to it,
    and on machines none does: there a copy of a few bytes drowns in noise. ``empty`` is the empty call's cost by
    operation.
    """
    chip, baseline = target.is_chip, implementation.variant == "nocrypt"
    if baseline and not chip:
        return None
    for op, _, answer in observed if chip else ():
        if (most := max(answer.stack, answer.heap)) > target.chip.ram.size:
            text = f"{op} takes {most} bytes of stack or heap; {target.name} has {target.chip.ram.size} of RAM"
            return Failure(Reason.IMPLAUSIBLE, text)
    short = not chip and not PRIMITIVES[implementation.primitive].sized
    for name, value in means(observed, empty, quantity).items():
        if value < (-SHORT if short else 0):
            return Failure(Reason.IMPLAUSIBLE, f"{name} is {value:.0f}: the work was not done inside the calls")
    if baseline or not chip:
        return None
    rate = next(rate for start, rate in _BYTES_PER_CYCLE if target.chip.core.startswith(start))
    for op, v, answer in observed:
        cycles = answer.pulse.cycles - empty[op]
        moved = _MOVED.get(implementation.primitive, _all_of_it)(op, v, answer)
        if cycles * rate < moved:
            of = f" of {len(v.ad)}/{len(v.message)} bytes" if PRIMITIVES[implementation.primitive].sized else ""
            text = f"{op}{of} takes {cycles} cycles; moving {moved} bytes takes more"
            return Failure(Reason.IMPLAUSIBLE, text)
    return None
