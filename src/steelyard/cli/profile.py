"""``steelyard profile``: where the cycles of one call go."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource
from msgspec import to_builtins

from ..analyse.errors import of_kinds, of_model
from ..analyse.profile import by_function
from ..device import timing_model
from ..inside import profile
from ..model.call import Op
from ..model.errors import UserError, cut, refuse, unknown
from ..model.primitive import PRIMITIVES
from ..model.profile import Profile as Tree
from ..model.workload import workload
from ..pipeline import Job
from ..publish import profile as tables
from ..publish.flame import flame_svg
from ..publish.sheet import Cell, plain
from . import options
from .examine import Examine, answered, beside, declared, jobs
from .options import command
from .output import TABLES, Output, apart, writable
from .weigh import max_cycles

_OPERATIONS: dict[str, Op] = {
    n: op for offer in PRIMITIVES.values() for n, op in offer.operations.items() if n != "reject"
}


class Profile(Examine, frozen=True, kw_only=True):
    """What ``profile`` is asked."""

    operation: str
    size: str
    svg: Path | None
    timing: bool
    max_cycles: int


@command(
    Profile,
    *declared,
    options.text("--operation", metavar="NAME", help="encrypt, decrypt, hash, schedule_encrypt or schedule_decrypt."),
    options.text("--size", "-s", default="16/64", metavar="AD/M", help="Sizes in bytes."),
    click.option("--svg", type=options.FILE, metavar="FILE", help="Write the flame graph to this file."),
    max_cycles,
    options.flag("--timing", help="Say why cycles pass: by cause and kind of instruction, and how often."),
    options.output(*TABLES, "svg"),
)
def verb(ask: Profile) -> int:
    """Show where the cycles of one call go: by function, by instruction, and as a flame graph."""
    if ask.svg is not None:
        writable(ask.svg)
        apart({"--svg": ask.svg, "-o": ask.out.path})
    asked = jobs(ask, ask.operation)
    first = next(iter(asked.values()))
    operation, adlen, mlen = _call(ask, first)

    def seen(job: Job) -> Tree:
        return answered(job, lambda j: profile(j, _OPERATIONS[operation], adlen, mlen, ask.timing, ask.max_cycles))

    found = {label: seen(job) for label, job in asked.items()}
    one, *others = found.values()
    title = f"{one.label} on {first.target.name}, {_words(first, operation, adlen, mlen)}, {' '.join(first.flags)}"
    if ask.svg is not None:
        Output(ask.svg, "svg").put(flame_svg(one, title))
    if ask.out.format == "svg":
        ask.out.put(flame_svg(one, title))
        return 0
    answer = tables.functions(one, title)
    if others:
        columns = {"function": None, **dict.fromkeys((*found, "difference"), 0)}
        answer = plain(f"{title}, against {[*found][1]}", "profile", columns, _beside(one, others[0]))
    model = timing_model(first.target)
    rom = max(p.image_rom for p in found.values())
    errors = to_builtins(of_model(first.target.name, model, rom))
    document = {"title": title, "profiles": [_json(p) for p in found.values()], "errors": errors}
    causes = [tables.causes(p, model) for p in found.values()] if ask.timing else []
    notes = [f"Error of cycles: {text}." for text in of_kinds(first.target.name, model, rom)]
    ask.out.give([answer, *map(tables.mix, found.values()), *causes], document, notes)
    return 0


def _call(ask: Profile, job: Job) -> tuple[str, int, int]:
    """The operation and the bytes of associated data and message."""
    offer = PRIMITIVES[job.implementation.primitive]
    operation = ask.operation or offer.first
    if operation not in _OPERATIONS:
        raise unknown("operation", operation, _OPERATIONS)
    if operation not in offer.operations:
        raise UserError(f"{job.implementation.label} is a {job.implementation.primitive}; it has no {operation}")
    if not offer.sized:
        given = click.get_current_context().get_parameter_source("size") is ParameterSource.COMMANDLINE
        refuse({"--size": given}, f"calls of a {job.implementation.primitive} have one size; leave it out")
        return operation, 0, 0
    sizes = workload(ask.size).sizes if "/" in ask.size else ()
    if len(sizes) != 1:
        raise UserError(f"--size {cut(ask.size)!r}: write one size, AD/M in bytes, such as 16/64")
    [(adlen, mlen)] = sizes
    return operation, adlen if offer.ad else 0, mlen


def _words(job: Job, operation: str, adlen: int, mlen: int) -> str:
    sized = PRIMITIVES[job.implementation.primitive].sized
    return f"{operation} of {adlen}/{mlen} bytes" if sized else operation


def _beside(one: Tree, other: Tree) -> list[tuple[Cell, ...]]:
    """Cycles in each function itself; then the sums."""
    a, b = ({r.function: r.exclusive for r in by_function(p)} for p in (one, other))
    rows: list[tuple[Cell, ...]] = [(name, *cells) for name, cells in beside(a, b)]
    return [*rows, ("all", one.cycles, other.cycles, other.cycles - one.cycles)]


def _json(p: Tree) -> dict[str, object]:
    functions = to_builtins(by_function(p))
    return {**to_builtins(p), "instructions": tables.ordered(p), "cycles": p.cycles, "functions": functions}
