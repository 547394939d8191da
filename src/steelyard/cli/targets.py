"""``steelyard targets``: the chips, their compilers, and how far their figures are validated."""

from __future__ import annotations

from msgspec import Struct

from ..building import identify
from ..model import toml
from ..model.target import Target, load_target, target_names
from ..publish.sheet import plain
from . import options
from .options import command
from .output import Output


class Targets(Struct, frozen=True):
    """What ``targets`` is asked."""

    out: Output


@command(Targets, options.tables)
def verb(ask: Targets) -> int:
    """List targets: chip, clock, memory, compiler, and how far figures are validated."""
    answer(ask.out)
    return 0


def answer(out: Output) -> None:
    """Gives the table of all targets."""
    every = [load_target(n) for n in target_names()]
    rows = []
    for t in every:
        toolchain = identify(t.toolchain)
        compiler = toolchain.version if toolchain else t.toolchain.missing
        if t.preferred:
            compiler += f", for want of {t.preferred.compiler}, which no Debian package has"
        if t.alternative:
            compiler += f"; --toolchain {', '.join(a.name for a in t.alternative)}"
        clock = f"{t.chip.clock_hz / 1e6:g} MHz" if t.chip.clock_hz else "-"
        memory = f"{t.chip.flash.size // 1024} KiB / {t.chip.ram.size / 1024:g} KiB" if t.chip.clock_hz else "-"
        rows.append((t.name, t.chip_name, t.chip.core, clock, memory, compiler, t.tier))
    columns = ("target", "chip", "core", "clock", "flash / RAM", "compiler", "cycle counts")
    out.give([plain("", "targets", columns, rows)], [_json(t) for t in every])


def _json(t: Target) -> dict[str, object]:
    toolchain = identify(t.toolchain)
    data = toml.plain(t)
    del data["folder"]
    return data | {"compiler": toolchain.version if toolchain else None, "digest": t.digest}
