"""A profile as tables: functions by their cycles, instructions by how often they were executed."""

from __future__ import annotations

from ..analyse.profile import by_function
from ..model.errors import counted
from ..model.profile import Profile
from .sheet import Column, Sheet, plain, text

_HEADS = {"function": None, "calls": 0, "cycles in itself": 0, "%": 1, "with callees": 0}


def functions(p: Profile, title: str) -> Sheet:
    """Functions, most cycles in themselves first, then all of them."""
    whole = p.cycles or 1
    rows = [(r.function, r.calls, r.exclusive, 100 * r.exclusive / whole, r.inclusive) for r in by_function(p)]
    return plain(title, "profile", _HEADS, [*rows, ("all", None, p.cycles, 100.0, p.cycles)])


def mix(p: Profile) -> Sheet:
    """Instructions by mnemonic."""
    count = sum(p.instructions.values())
    top = list(ordered(p).items())
    rows = [(m, n, 100 * n / (count or 1)) for m, n in top[:12]]
    rest = sum(n for _, n in top[12:])
    rows += [(counted(len(top) - 12, "other"), rest, 100 * rest / count)] if rest else []
    title = f"{p.label}: {_number(count)} instructions, {_number(p.taken)} taken branches"
    title += f", {_number(p.unaligned)} unaligned accesses"
    return plain(title, "instructions", {"instruction": None, "count": 0, "%": 1}, rows)


#: what causes are called (docs/definitions.md)
CAUSES = {
    "issue": "issue",
    "work": "more cycles of the instruction itself",
    "neighbours": "operand, word or unit not ready",
    "refill": "taken branch",
    "mispredicted": "wrong prediction",
    "fetch": "wait for code",
    "bus": "wait for the bus",
    "flash-data": "data in flash",
    "unaligned": "unaligned access",
    "operands": "operand values",
    "instead": "skipped, or an exception",
}


def causes(p: Profile, model: str) -> Sheet:
    """Cycles by cause and kind of instruction, most first, by a timing model; their sum is the call's."""
    whole = p.cycles or 1
    shares = sorted(p.shares, key=lambda s: (-s.cycles, s.cause, s.work))
    rows = [(CAUSES[s.cause], s.work, s.times, s.cycles, 100 * s.cycles / whole) for s in shares]
    heads = {"cause": None, "instructions": None, "times": 0, "cycles": 0, "%": 1}
    total = ("all", None, None, sum(s.cycles for s in shares), 100 * sum(s.cycles for s in shares) / whole)
    return plain(f"{p.label}: cycles by cause, {model}", "causes", heads, [*rows, total])


def ordered(p: Profile) -> dict[str, int]:
    """How often each instruction was executed, the most frequent first."""
    return dict(sorted(p.instructions.items(), key=lambda x: (-x[1], x[0])))


def _number(count: int) -> str:
    return text(count, Column("", "", digits=0), " ")
