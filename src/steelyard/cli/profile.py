"""``steelyard profile``: where the cycles of one call go."""

from __future__ import annotations

from pathlib import Path

from msgspec import to_builtins

from ..analyse.profile import by_function
from ..model.call import DeviceError, Op
from ..model.errors import UserError, WorkError, counted, cut, unknown
from ..model.implementation import Implementation
from ..model.profile import Profile
from ..model.reasons import Failure
from ..model.workload import workload
from ..pipeline import Job, profile
from ..publish.flame import flame_svg
from ..publish.sheet import Cell, Sheet
from . import select
from .console import number
from .output import Output, sheet, show, writable

_OPERATIONS = {"encrypt": Op.ENCRYPT, "decrypt": Op.DECRYPT, "hash": Op.HASH}


def profile_command(
    what: str,
    target: str,
    flags: str | None,
    toolchain: str,
    operation: str,
    size: str,
    against: str | None,
    svg: Path | None,
    out: Output,
) -> int:
    """Prints tables, and writes the flame graph where ``svg`` says."""
    if svg is not None:
        writable(svg)
    chip = select.one_target(target, toolchain)
    options = select.one_flag_set(flags, chip)
    first = one_implementation(what)
    aead = first.primitive == "crypto_aead"
    operation = operation or ("encrypt" if aead else "hash")
    if operation not in _OPERATIONS:
        raise unknown("operation", operation, _OPERATIONS)
    if aead == (operation == "hash"):
        raise UserError(f"{first.label} is a {first.primitive}; it has no {operation}")
    sizes = workload(size).sizes if "/" in size else ()
    if len(sizes) != 1:
        raise UserError(f"--size {cut(size)!r}: write one size, AD/M in bytes, such as 16/64")
    [(adlen, mlen)] = sizes
    if first.primitive == "crypto_hash":
        adlen = 0

    def seen(implementation: Implementation) -> Profile:
        try:
            return profile(Job(implementation, chip, options, workload("kat")), _OPERATIONS[operation], adlen, mlen)
        except DeviceError as e:
            raise WorkError(failed(implementation, e.failure)) from e

    one = seen(first)
    other = seen(one_implementation(against)) if against else None
    title = f"{one.label} on {chip.name}, {operation} of {adlen}/{mlen} bytes, {' '.join(options)}"
    if svg is not None:
        Output(svg, "svg").put(flame_svg(one, title))
    if out.format == "svg":
        out.put(flame_svg(one, title))
        return 0
    profiles = [p for p in (one, other) if p is not None]
    if other is None:
        answer = sheet(title, "profile", _FUNCTIONS, _functions(one))
    else:
        names = apart(one.label, other.label, what, against or "")
        answer = sheet(f"{title}, against {names[1]}", "profile", beside("function", *names), _side_by_side(one, other))
    answers = [answer, *map(_mix, profiles)]
    if out.console:
        for s in answers:
            show(s, drop=("calls", "with callees"))
    else:
        out.tables(answers, {"title": title, "profiles": [_json(p) for p in profiles]})
    return 0


_FUNCTIONS = {"function": None, "calls": 0, "cycles in itself": 0, "%": 1, "with callees": 0}


def _functions(p: Profile) -> list[tuple[Cell, ...]]:
    whole = p.cycles or 1
    rows = [(r.function, r.calls, r.exclusive, 100 * r.exclusive / whole, r.inclusive) for r in by_function(p)]
    return [*rows, ("all", None, p.cycles, 100.0, p.cycles)]


def failed(implementation: Implementation, failure: Failure) -> str:
    """Cause, place and next action as a sentence."""
    return f"{implementation.label}: {failure.reason}: {failure.detail}; {failure.next_action}"


def apart(one: str, other: str, what: str, against: str) -> tuple[str, str]:
    """Headings of two implementations, which may have the same label."""
    if one != other:
        return one, other
    return (what, against) if what != against else (one, f"{other} again")


def beside(first: str, one: str, other: str) -> list[tuple[str, int | None]]:
    """Columns of a table of two."""
    return [(first, None), (one, 0), (other, 0), ("difference", 0)]


def one_implementation(text: str) -> Implementation:
    """The one implementation that ``text`` names; :class:`UserError` when it names none or several."""
    select.usable_home()
    chosen, rejected = select.implementations([text])
    if len(chosen) != 1:
        if rejected and not chosen:
            raise UserError(f"{text}: {rejected[0].failure.reason}: {rejected[0].failure.detail}")
        names = ", ".join(c.implementation.label for c in chosen[:6])
        raise UserError(f"{text} names {len(chosen)} implementations ({names}); name one")
    return chosen[0].implementation


def _side_by_side(one: Profile, other: Profile) -> list[tuple[Cell, ...]]:
    """Cycles in each function itself, largest difference first; then the sums."""
    a, b = ({r.function: r.exclusive for r in by_function(p)} for p in (one, other))
    change = {n: b.get(n, 0) - a.get(n, 0) for n in {**a, **b}}
    ordered = sorted(change, key=lambda n: (-abs(change[n]), n))
    rows: list[tuple[Cell, ...]] = [(n, a.get(n), b.get(n), change[n]) for n in ordered]
    return [*rows, ("all", one.cycles, other.cycles, other.cycles - one.cycles)]


def _mix(p: Profile) -> Sheet:
    """Instructions by mnemonic."""
    count = sum(p.instructions.values())
    top = list(_ordered(p).items())
    rows = [(m, n, 100 * n / (count or 1)) for m, n in top[:12]]
    rest = sum(n for _, n in top[12:])
    rows += [(counted(len(top) - 12, "other"), rest, 100 * rest / count)] if rest else []
    title = f"{p.label}: {number(count)} instructions, {number(p.taken)} taken branches"
    title += f", {number(p.unaligned)} unaligned accesses"
    return sheet(title, "instructions", {"instruction": None, "count": 0, "%": 1}, rows)


def _ordered(p: Profile) -> dict[str, int]:
    """How often each instruction was executed, the most frequent first."""
    return dict(sorted(p.instructions.items(), key=lambda x: (-x[1], x[0])))


def _json(p: Profile) -> dict[str, object]:
    functions = to_builtins(by_function(p))
    return {**to_builtins(p), "instructions": _ordered(p), "cycles": p.cycles, "functions": functions}
