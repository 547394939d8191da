"""``steelyard boards``: the boards of a lab, what they do, whether they work, and virtual ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from ..model import paths
from ..model.errors import UserError, WorkError
from ..publish.sheet import plain
from . import options
from .output import Output

if TYPE_CHECKING:
    from ..lab import Lab, Station

lab_option = click.option(
    "--lab",
    type=click.Path(path_type=Path),
    envvar="STEELYARD_LAB",
    show_envvar=True,
    metavar="FILE",
    help="Which boards there are. Default: lab.toml",
)


#: what stands for all boards of a lab
WHOLE = "lab"
_COMMANDLINE = click.core.ParameterSource.COMMANDLINE


@click.group("boards", invoke_without_command=True)
@lab_option
@options.tables
@click.pass_context
def verb(context: click.Context, lab: Path | None, out: Output) -> None:
    """Show what boards do, check them end to end, or play virtual ones.

    Without a COMMAND it shows what each board does: its run, how far it is, how long the rest takes, its last error.
    """
    if context.invoked_subcommand is not None:
        named = [n for n in ("lab", "out", "format", "json") if context.get_parameter_source(n) is _COMMANDLINE]
        if named:
            raise UserError(f"--{named[0]}: write it after {context.invoked_subcommand}")
        return
    from ..lab import find
    from . import live

    there = find(lab)
    found = [live.doing(there, name) for name in there.boards]
    out.give([live.states(found)], to_builtins(found))


@verb.command()
@click.argument("names", nargs=-1, metavar="[BOARD]...")
@options.number("--last", default=20, help="How many attempts.")
@lab_option
@options.tables
def log(names: tuple[str, ...], last: int, lab: Path | None, out: Output) -> None:
    """Show the latest attempts, and how each ended.

    Of one BOARD it shows what the tools and the serial line said before the last failure, too.
    """
    from . import live

    sheet, document = live.logs([s.board.name for s in stations(names, lab, every=True)], last)
    out.give([sheet], document)


@verb.command()
@click.argument("names", nargs=-1, metavar="[BOARD]...")
@lab_option
@options.tables
def retry(names: tuple[str, ...], lab: Path | None, out: Output) -> None:
    """Put boards to work again, all by default.

    Those that are out of order or released get runs again. A scheduler that runs sees it. A board that was out of order
    has to prove itself with nocrypt first.
    """
    from ..lab import aside

    lines = []
    for station in stations(names, lab, every=True):
        name = station.board.name
        if (mark := aside.read(name)) is not None:
            aside.lift(name)
            was = "released" if mark.released else f"out of order: {mark.reason}: {mark.detail}"
            lines.append((name, was, "gets runs again"))
        elif names:
            lines.append((name, "in order", "gets runs as before"))
    out.give([plain("", "retry", ("board", "was", "now"), lines)])


@verb.command()
@click.argument("names", nargs=-1, required=True, metavar="BOARD...")
@lab_option
@options.tables
def release(names: tuple[str, ...], lab: Path | None, out: Output) -> None:
    """Take boards out of all schedulers.

    You can use them yourself, once the runs that they have ended, until retry gives them back.
    """
    from ..lab import aside
    from ..lab.lock import disown, is_held, port_of

    lines = []
    for station in stations(names, lab):
        aside.put(station.board.name, aside.Mark(time.time(), released=True))
        disown(station.board)
        busy = is_held(port_of(station.board))
        now = "released when its run ends" if busy else "released"
        lines.append((station.board.name, now, f"steelyard boards retry {station.board.name}"))
    out.give([plain("", "release", ("board", "now", "back by"), lines)])


@verb.command("list")
@lab_option
@options.tables
def list_(lab: Path | None, out: Output) -> None:
    """List the boards and what is missing."""
    from ..lab import find

    there = find(lab)
    lines = []
    for name, b in there.boards.items():
        missing = "; ".join(_missing(there, name))
        pulses = f"{b.analyzer} {b.channel}"
        lines.append((name, b.target, str(b.port), b.flasher, pulses, b.meter or "-", missing or "there"))
    columns = ("board", "target", "port", "flasher", "pulses", "meter", "status")
    out.give([plain("", "boards", columns, lines)])


def _missing(lab: Lab, name: str) -> Iterator[str]:
    """What can be seen to be missing without touching the board."""
    station = lab.board(name)
    if not station.board.port.exists():
        start = "steelyard boards virtual" if station.board.virtual else "plug the board in"
        yield f"no port: {start}"
    sigrok = ("sigrok-cli", "apt install sigrok-cli")
    for program, package in ((station.flasher.program, station.flasher.package), sigrok):
        if paths.tool(program) is None:
            yield f"no {program}{f': {package}' if package else ''}"
    if station.meter is not None:
        if missing := station.meter.kind.missing:
            yield f"meter {station.meter.name}: {missing}"
        if station.meter.kind.path and not Path(station.meter.meter.port).exists():
            start = "steelyard boards virtual" if station.board.virtual else "plug it in"
            yield f"meter {station.meter.name}: no {station.meter.meter.port}: {start}"


@verb.command()
@click.argument("names", nargs=-1, metavar="[BOARD]...")
@lab_option
@options.tables
def check(names: tuple[str, ...], lab: Path | None, out: Output) -> None:
    """Check boards end to end, all by default.

    Each is flashed with nocrypt, shakes hands, and copies a message; its edges are counted, its meter is read, and its
    clock is compared.
    """
    from .. import lab as stage
    from ..model.call import DeviceError

    lines: list[tuple[str, ...]] = []
    wrong = False
    for station in stations(names, lab, every=True):
        try:
            for step, found in _checked(station):
                lines.append((station.board.name, step, "works", found))
            stage.works(station.board.name)
        except DeviceError as e:
            wrong = True
            text = f"{e.failure.detail}; {e.failure.next_action}"
            lines.append((station.board.name, str(e.failure.reason), "does not work", text))
    out.give([plain("", "check", ("board", "part", "status", "what was found"), lines)])
    raise click.exceptions.Exit(int(wrong))


def _checked(station: Station) -> Iterator[tuple[str, str]]:
    """The parts of a board that work, in order; :class:`DeviceError` at the first that does not."""
    from threading import Event

    from .. import building, device, lab
    from ..lab.proof import CALLS, MESSAGE, request
    from ..model.call import DeviceError
    from ..model.reasons import Failure, Reason
    from ..pipeline import MAX_CYCLES, nocrypt

    toolchain = building.identify(station.target.toolchain)
    if toolchain is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, building.why_not(station.target.toolchain)))
    built = building.build(nocrypt("crypto_aead"), station.target, toolchain, station.target.toolchain.default_flags)
    if built.failure is not None:
        raise DeviceError(built.failure)
    image = built.images["both"]
    hertz = station.target.chip.clock_hz
    with lab.opened(station, image, MAX_CYCLES, Event(), lab.Task("boards check")) as link:
        yield "flash", f"nocrypt by {station.flasher.program}"
        client = device.Client(link)
        asked = request(client)
        before = link.samples
        yield from lab.proved(station, link, client)
        samples = (link.samples - before) / CALLS
        if link.fills_ram:
            yield "RAM", f"{station.target.chip.ram.size} bytes filled and dumped, {client.untouched()} in a row unused"
        if station.meter is not None:
            yield "meter", lab.look(link, client, asked, MESSAGE)
    if station.target.tier == "exact":
        cycles = device.Client(device.SimulatorLink(station.target, image)).call(asked).pulse.cycles
        ppm = (cycles / hertz * station.instrument.samplerate / samples - 1) * 1e6
        yield "clock", f"clock_ppm = {ppm:.0f}, within {1e6 / samples:.0f}; lab.toml says {station.board.clock_ppm:g}"


@verb.command()
@click.argument("command", nargs=-1, metavar="[COMMAND]...")
@lab_option
def virtual(command: tuple[str, ...], lab: Path | None) -> None:
    """Play the virtual boards while COMMAND runs.

    Without a COMMAND they are there until Ctrl-C. The exit code is the COMMAND's, or 128 plus the signal that ended it.
    """
    import subprocess

    from ..lab import find
    from ..lab.virtual import played
    from .console import stderr

    there = find(lab)
    with played(there) as processes:
        if command:
            try:
                code = subprocess.run(command, check=False).returncode
            except OSError as e:
                raise UserError(f"{command[0]}: {e.strerror}") from e
            raise click.exceptions.Exit(code if code >= 0 else 128 - code)
        names = ", ".join(name for name, b in there.boards.items() if b.virtual)
        stderr().print(f"ready: {names}; Ctrl-C ends them", soft_wrap=True)
        while all(process.is_alive() for process in processes):
            time.sleep(0.2)
        raise WorkError("a part of the virtual lab has ended; what is above says why")


def stations(names: Sequence[str], file: Path | None, every: bool = False) -> list[Station]:
    """Boards of the lab by name, repeatable or comma-separated, all for :data:`WHOLE`; with ``every`` all of them where
    none is named."""
    split = [n.strip() for part in names for n in part.split(",") if n.strip()]
    if names and not split:
        raise UserError("--on names no board; steelyard boards list has them")
    if not split and not every:
        return []
    from ..lab import find

    lab = find(file)
    return [lab.board(name) for name in dict.fromkeys(split if split and split != [WHOLE] else lab.boards)]
