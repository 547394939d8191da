"""Straight ARM code: operations on words, put in an order in which few values are alive, and given registers.

An operand is rotated for free on ARM, so a value may be held rotated. ``fixslice.py`` writes AES with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: the block before each piece and after it
STATE = ("r4", "r5", "r6", "r7")
#: all but the stack pointer, and r2, which points to the round keys; short instructions have the first ones only
POOL = ("r0", "r1", "r3", *STATE, "r8", "r9", "r10", "r11", "r12", "lr")


class Value(NamedTuple):
    """A word: what operation number ``name`` makes, rotated to the right by ``turn``."""

    name: int
    turn: int = 0

    def ror(self, by: int) -> Value:
        """The value, rotated to the right."""
        return Value(self.name, (self.turn + by) % 32)


class Operation(NamedTuple):
    """``mnemonic`` of what operations ``of`` made, with the shift of the last one or an immediate."""

    mnemonic: str
    of: tuple[int, ...]
    rest: str = ""


@dataclass
class Piece:
    """Straight code; operations 0, 1 and so on are the words of the block before it, or others that are there."""

    there: tuple[str, ...] = STATE
    code: list[Operation] = field(default_factory=list)

    def words(self) -> list[Value]:
        """The words that are there before the piece."""
        return [Value(i) for i in range(len(self.there))]

    def add(self, mnemonic: str, *of: Value, rest: str = "") -> Value:
        """One more operation."""
        self.code.append(Operation(mnemonic, tuple(v.name for v in of), rest))
        return Value(len(self.there) + len(self.code) - 1)

    def two(self, mnemonic: str, a: Value, b: Value) -> Value:
        """An operation on each bit of two values."""
        turn = (b.turn - a.turn) % 32
        return self.add(mnemonic, a, b, rest=f"ror #{turn}" if turn else "").ror(a.turn)

    def eor(self, *values: Value) -> Value:
        """Their sum, which is held rotated as the first one is."""
        total = values[0]
        for value in values[1:]:
            total = self.two("eor", total, value)
        return total

    def masked(self, a: Value, mask: int) -> Value:
        """The bits under the mask."""
        held = (mask << a.turn | mask >> (32 - a.turn)) & 0xFFFFFFFF
        return self.add("and", a, rest=f"#0x{held:08x}").ror(a.turn)

    def straight(self, a: Value) -> Value:
        """The value, held as it is."""
        return self.add("ror", Value(a.name), rest=f"#{a.turn}") if a.turn else a

    def across(self, a: Value, b: Value, up: bool) -> Value:
        """``a`` with the low half of ``b`` added to its high half (``up``), or the high one to its low half."""
        if a.turn != b.turn or a.turn % 16:
            a, b = self.straight(a), self.straight(b)
        return self.add("eor", a, b, rest="lsl #16" if up == (a.turn == 0) else "lsr #16").ror(a.turn)

    def moved(self, a: Value, mask: int, by: int) -> Value:
        """``a``, whose bits under the mask are those ``by`` places above."""
        return self.eor(a, self.masked(self.eor(a, a.ror(by)), mask)) if mask else a

    def permuted(self, a: Value, source: Sequence[int]) -> Value:
        """Bit i of the value is bit ``source[i]`` of ``a``: a rotation after at most two moves."""
        ways = sorted({(s - i) % 32 for i, s in enumerate(source)})
        for base in ways:
            for first in {(w - base) % 32 for w in ways}:
                for second in {(w - base) % 32 for w in ways}:
                    masks = [0, 0]
                    for i, s in enumerate(source):
                        at, left = (i + base) % 32, (s - i - base) % 32
                        if left in (second, (first + second) % 32) and left != first:
                            masks[1] |= 1 << at
                            at, left = (at + second) % 32, (left - second) % 32
                        if left:
                            masks[0] |= 1 << at
                    if came_from(((masks[0], first), (masks[1], second)), base) == list(source):
                        return self.moved(self.moved(a, masks[0], first), masks[1], second).ror(base)
        raise ValueError(source)


def came_from(moves: Iterable[tuple[int, int]], base: int) -> list[int]:
    """Where each bit was before moves of bits under masks and a rotation."""
    at = list(range(32))
    for mask, by in moves:
        at = [at[(i + by) % 32] if mask >> i & 1 else at[i] for i in range(32)]
    return [at[(i + base) % 32] for i in range(32)]


def ordered(p: Piece, out: Sequence[Value], seed: int) -> list[int]:
    """An order of the operations that are needed, last first, by chance, where few values are alive."""
    rng, first = random.Random(seed), len(p.there)
    uses: dict[int, set[int]] = {}
    needed, todo = set(), [v.name for v in out]
    while todo:
        name = todo.pop()
        if name >= first and name not in needed:
            needed.add(name)
            for of in set(p.code[name - first].of):
                uses.setdefault(of, set()).add(name)
                todo.append(of)
    alive, order = {v.name for v in out}, []
    waits = {name: len(uses.get(name, ())) for name in needed}
    ready = [name for name in alive if name >= first and waits[name] == 0]
    while ready:
        costs = [(len(set(p.code[n - first].of) - alive) + rng.random() * 0.9, n) for n in ready]
        name = min(costs)[1]
        ready.remove(name)
        order.append(name)
        alive.remove(name)
        for of in set(p.code[name - first].of):
            alive.add(of)
            if of >= first:
                waits[of] -= 1
                if waits[of] == 0:
                    ready.append(of)
    return order


def allocated(p: Piece, out: Sequence[Value], order: Sequence[int], pool: Sequence[str]) -> list[str] | None:
    """Instructions, made from the last to the first; nothing where registers are too few."""
    first, at = len(p.there), {v.name: register for v, register in zip(out, STATE, strict=True)}
    home = dict(enumerate(p.there))
    lines: list[str] = []
    for name in order:
        op, to = p.code[name - first], at.pop(name)
        for of in dict.fromkeys(op.of):
            if of in at:
                continue
            free = [r for r in pool if r not in at.values()]
            if not free:
                return None
            wished = [home.get(of, to if op.of[0] == of else ""), *(r for r in free if r not in p.there), *free]
            at[of] = next(r for r in wished if r in free)
        registers = [at[of] for of in op.of]
        if len(registers) == 2 and not op.rest and registers[1] == to:
            registers.reverse()
        flags = "s" if not op.rest and op.mnemonic in ("eor", "and", "orr", "mvn") else ""
        lines.append(f"    {op.mnemonic}{flags} {', '.join([to, *registers, *([op.rest] if op.rest else [])])}")
    moves = {r: p.there[name] for name, r in at.items() if r != p.there[name]}  # inputs where they are not
    if moves:
        return None
    return lines[::-1]


def text(p: Piece, out: Sequence[Value], pool: Sequence[str] = POOL) -> str:
    """The piece's instructions, by the first order that gets along with the registers."""
    for seed in range(20000):
        lines = allocated(p, out, ordered(p, out, seed), pool)
        if lines:
            return "\n".join(lines) + "\n"
    raise ValueError("too few registers")


def piece(make: Callable[..., list[Value]], *arguments: object, pool: Sequence[str] = POOL) -> str:
    """The instructions of a function of the block."""
    p = Piece()
    return text(p, make(p, p.words(), *arguments), pool)
