"""``steelyard profile``: where the cycles of one call go."""

from __future__ import annotations

from pathlib import Path

from msgspec import to_builtins

from ..analyse.profile import Row, by_function
from ..model.call import DeviceError, Op
from ..model.errors import UserError, unknown
from ..model.implementation import Implementation
from ..model.profile import Profile
from ..model.target import load_target
from ..model.workload import workload
from ..pipeline import Job, profile
from ..publish.flame import flame_svg
from . import select
from .console import number, print_json, stderr, stdout, table

_OPERATIONS = {"encrypt": Op.ENCRYPT, "decrypt": Op.DECRYPT, "hash": Op.HASH}


def profile_command(
    what: str,
    target: str,
    flags: str | None,
    operation: str,
    size: str,
    against: str | None,
    svg: Path | None,
    json: bool,
) -> int:
    """Prints tables, and writes the flame graph where ``svg`` says."""
    chip = load_target(target)
    options = select.flag_sets([flags] if flags else [], chip)
    if len(options) != 1:
        raise UserError("profile takes one set of flags")
    first = one_implementation(what)
    aead = first.primitive == "crypto_aead"
    operation = operation or ("encrypt" if aead else "hash")
    if operation not in _OPERATIONS:
        raise unknown("operation", operation, _OPERATIONS)
    if aead == (operation == "hash"):
        raise UserError(f"{first.label} is a {first.primitive}; it has no {operation}")
    ((adlen, mlen),) = workload(size).sizes if "/" in size else (("", ""),)
    if not isinstance(adlen, int) or not isinstance(mlen, int):
        raise UserError(f"--size {size!r}: write AD/M in bytes, such as 16/64")
    if first.primitive == "crypto_hash":
        adlen = 0

    def seen(implementation: Implementation) -> Profile:
        try:
            return profile(Job(implementation, chip, options[0], workload("kat")), _OPERATIONS[operation], adlen, mlen)
        except DeviceError as e:
            raise UserError(f"{implementation.label}: {e.failure.reason}: {e.failure.detail}") from e

    one = seen(first)
    other = seen(one_implementation(against)) if against else None
    title = f"{one.label} on {target}, {operation} of {adlen}/{mlen} bytes, {' '.join(options[0])}"
    if svg is not None:
        svg.write_text(flame_svg(one, title), encoding="utf-8")
        stderr().print(f"flame graph: {svg}")
    if json:
        print_json({"title": title, "profiles": [_json(p) for p in (one, other) if p]})
        return 0
    console = stdout()
    if other is None:
        rows = [
            (r.function, number(r.calls), number(r.exclusive), _share(r.exclusive, one), number(r.inclusive))
            for r in by_function(one)
        ]
        rows.append(("all", "", number(one.cycles), "100.0", number(one.cycles)))
        columns = ("function", "calls", "cycles in itself", "%", "with callees")
        console.print(table(title, columns, rows, drop=("calls", "with callees")))
    else:
        console.print(
            table(
                f"{title}, against {other.label}",
                ("function", one.label, other.label, "difference"),
                _side_by_side(one, other),
            )
        )
    for p in (one, other):
        if p is not None:
            _print_mix(p)
    return 0


def one_implementation(text: str) -> Implementation:
    """The one implementation that ``text`` names; :class:`UserError` when it names none or several."""
    chosen, rejected = select.implementations([text])
    if len(chosen) != 1:
        if rejected and not chosen:
            raise UserError(f"{text}: {rejected[0].failure.reason}: {rejected[0].failure.detail}")
        names = ", ".join(c.implementation.label for c in chosen[:6])
        raise UserError(f"{text} names {len(chosen)} implementations ({names}); name one")
    return chosen[0].implementation


def _share(cycles: int, p: Profile) -> str:
    return f"{100 * cycles / (p.cycles or 1):.1f}"


def _side_by_side(one: Profile, other: Profile) -> list[tuple[str, str, str, str]]:
    """Cycles in each function itself, largest difference first; then the sums."""
    a, b = ({r.function: r for r in by_function(p)} for p in (one, other))
    nothing = Row("", 0, 0, 0)
    both = {n: (a.get(n, nothing).exclusive, b.get(n, nothing).exclusive) for n in {**a, **b}}
    ordered = sorted(both.items(), key=lambda x: (-abs(x[1][1] - x[1][0]), x[0]))
    rows = [
        (n, number(x) if n in a else "-", number(y) if n in b else "-", f"{y - x:+,}".replace(",", " "))
        for n, (x, y) in ordered
    ]
    return [
        *rows,
        ("all", number(one.cycles), number(other.cycles), f"{other.cycles - one.cycles:+,}".replace(",", " ")),
    ]


def _print_mix(p: Profile) -> None:
    count = sum(p.instructions.values())
    top = sorted(p.instructions.items(), key=lambda x: (-x[1], x[0]))
    rows = [(m, number(n), f"{100 * n / (count or 1):.1f}") for m, n in top[:12]]
    rest = sum(n for _, n in top[12:])
    rows += [(f"{len(top) - 12} others", number(rest), f"{100 * rest / count:.1f}")] if rest else []
    title = f"{p.label}: {number(count)} instructions, {number(p.taken)} taken branches"
    title += f", {number(p.unaligned)} unaligned accesses"
    stdout().print(table(title, ("instruction", "count", "%"), rows))


def _json(p: Profile) -> dict[str, object]:
    return {**to_builtins(p), "cycles": p.cycles, "functions": to_builtins(by_function(p))}
