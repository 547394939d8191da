"""``steelyard targets``: the chips, their compilers, and how far their figures are validated."""

from __future__ import annotations

from msgspec import Struct

from ..analyse.errors import published
from ..building import identify
from ..model import toml
from ..model.errors import UserError
from ..model.target import Target, load_target, target_names
from ..publish.sheet import plain
from . import options
from .options import command
from .output import Output


class Targets(Struct, frozen=True):
    """What ``targets`` is asked."""

    wiring: bool
    errors: bool
    out: Output


@command(
    Targets,
    options.flag("--wiring", help="Which pins to wire where the chips are boards."),
    options.flag("--errors", help="How far simulated cycles are from published ones."),
    options.tables,
)
def verb(ask: Targets) -> int:
    """List targets: chip, clock, memory, compiler, and how far figures are validated."""
    if ask.wiring and ask.errors:
        raise UserError("--wiring and --errors: leave one of them out")
    if ask.wiring:
        _wiring(ask.out)
    elif ask.errors:
        _errors(ask.out)
    else:
        answer(ask.out)
    return 0


def _wiring(out: Output) -> None:
    """Gives the pins of all targets that are chips."""
    wired = [(t, t.wiring) for t in map(load_target, target_names()) if t.wiring is not None]
    names = ("target", "chip", "trigger", "serial out", "serial in")
    columns = dict.fromkeys(names, None) | {"baud": 0, "fast baud": 0, "MHz": 3}
    rows = [
        (t.name, t.chip_name, w.trigger, w.transmit, w.receive, w.baud, w.fast_baud, t.board_hz / 1e6) for t, w in wired
    ]
    out.give([plain("", "wiring", columns, rows)])


def _errors(out: Output) -> None:
    """Gives the errors that are published."""
    columns = {
        "target": None,
        "model": None,
        "code": None,
        "memory": None,
        "values": 0,
        "median %": 2,
        "95 % within": 2,
    }
    names = columns | {"page of docs/validation": None, "remark": None}
    rows = [
        (e.target, e.timing_model, e.code, e.memory, e.values, e.median_percent, e.p95_percent, e.page, e.remark)
        for e in published()
    ]
    out.give([plain("", "errors", names, rows)])


def answer(out: Output) -> None:
    """Gives the table of all targets."""
    every = [load_target(n) for n in target_names()]
    rows = []
    for t in every:
        toolchain = identify(t.toolchain)
        compiler = toolchain.version if toolchain else t.toolchain.missing
        if t.preferred:
            compiler += f", for lack of {t.preferred.compiler}, which no Debian package has"
        if t.alternative:
            compiler += f"; --toolchain {', '.join(a.name for a in t.alternative)}"
        clock = f"{t.chip.clock_hz / 1e6:g} MHz" if t.chip.clock_hz else "-"
        memory = f"{t.chip.flash.size // 1024} KiB / {t.chip.ram.size / 1024:g} KiB" if t.chip.clock_hz else "-"
        rows.append((t.name, t.chip_name, t.chip.core, clock, memory, compiler, t.tier))
    columns = ("target", "chip", "core", "clock", "flash / RAM", "compiler", "cycle counts")
    out.give([plain("", "targets", columns, rows)], [_json(t) for t in every])


def _json(t: Target) -> dict[str, object]:
    toolchain = identify(t.toolchain)
    data = toml.as_dict(t)
    del data["folder"]
    return data | {"compiler": toolchain.version if toolchain else None, "digest": t.digest}
