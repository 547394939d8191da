"""``steelyard boards``: the boards of a lab, what they do, whether they work, and virtual ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from ..model.errors import UserError, WorkError, printable
from ..publish.sheet import plain
from . import options
from .console import stderr
from .output import Output

if TYPE_CHECKING:
    from ..lab import Board, Lab, Station
    from ..lab.wire import Described
    from ..model.reasons import Failure

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


@click.group("boards", cls=options.Commands, invoke_without_command=True)
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

    sheet, document = live.logs([board.name for board in _boards(names, lab)[1]], last)
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
    for name in (board.name for board in _boards(names, lab)[1]):
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
    for board in _boards(names, lab, every=False)[1]:
        aside.put(board.name, aside.Mark(time.time(), released=True))
        disown(board)
        now = "released when its run ends" if is_held(port_of(board)) else "released"
        lines.append((board.name, now, f"steelyard boards retry {board.name}"))
    out.give([plain("", "release", ("board", "now", "back by"), lines)])


@verb.command("list")
@lab_option
@options.tables
def list_(lab: Path | None, out: Output) -> None:
    """List the boards and what is missing."""
    from ..lab import described, find

    there = find(lab)
    said = described(there, [name for name, b in there.boards.items() if b.host])
    columns = ("board", "target", "port", "flasher", "pulses", "meter", "status")
    lines = [_line(there, board, said.get(name)) for name, board in there.boards.items()]
    out.give([plain("", "boards", columns, lines)])


def _line(lab: Lab, board: Board, said: Described | Failure | None) -> tuple[str, ...]:
    """What ``list`` says of a board, which its host ``said`` where it is at another one."""
    from ..lab import missing
    from ..lab.hosts import station
    from ..model.reasons import Failure

    if isinstance(said, Failure):
        return board.name, board.target, f"{board.host}:?", "?", "?", "?", said.detail
    try:
        its = station(lab, board, said) if said else lab.board(board.name)
    except UserError as e:
        return board.name, board.target, f"{board.host}:?", "?", "?", "?", str(e)
    b, gone = its.board, said.missing if said else missing(its)
    port = printable(f"{b.host}:{b.port}") if b.host else str(b.port)
    what = printable("; ".join(gone)) or "there"
    return b.name, b.target, port, b.flasher, f"{b.analyzer} {b.channel}", b.meter or "-", what


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
                lines.append((station.board.title, step, "works", found))
            stage.works(station.board.name)
        except DeviceError as e:
            wrong = True
            text = f"{e.failure.detail}; {e.failure.next_action}"
            lines.append((station.board.title, str(e.failure.reason), "does not work", text))
            if station.host is None:
                lines += [(station.board.title, "plugs", "does not work", what) for what in stage.missing(station)]
    out.give([plain("", "check", ("board", "part", "status", "what was found"), lines)])
    raise click.exceptions.Exit(int(wrong))


def _checked(station: Station) -> Iterator[tuple[str, str]]:
    """The parts of a board that work, in order; :class:`DeviceError` at the first that does not."""
    from threading import Event

    from .. import building, device, lab
    from ..lab.proof import MESSAGE, request
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
    with lab.opened(station, image, MAX_CYCLES, Event(), lab.Task("boards check")) as link:
        yield "flash", f"nocrypt by {station.flasher.program}"
        client = device.Client(link, compares=False)  # clock_ppm may be wrong, and is found out below
        asked = request(client)
        yield from lab.proved(station, link, client)
        if link.fills_ram:
            yield "RAM", f"{station.target.chip.ram.size} bytes filled and dumped, {client.untouched()} in a row unused"
        if station.meter is not None:
            yield "meter", lab.look(link, client, asked, MESSAGE)
        if client.hello.counter_bits:
            yield "clock", lab.clock(station, client)


@verb.command()
@click.argument("command", nargs=-1, metavar="[LAB.toml] [COMMAND]...")
@lab_option
def virtual(command: tuple[str, ...], lab: Path | None) -> None:
    """Play the virtual boards while COMMAND runs.

    Without a COMMAND they are there until Ctrl-C. The exit code is the COMMAND's, or 128 plus the signal that ended it.
    """
    import subprocess

    from ..lab import find
    from ..lab.virtual import played

    if command and command[0].endswith(".toml"):
        if click.get_current_context().get_parameter_source("lab") is _COMMANDLINE:
            raise UserError(f"{command[0]}: names a second lab; leave it out, or --lab")
        lab, command = Path(command[0]), command[1:]
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


@verb.command()
@click.argument("name", metavar="NAME")
@click.option("--listen", metavar="HOST:PORT", help="Other machines may use it here, whoever they are.")
@click.option(
    "--anybody", is_flag=True, help="With --listen where others than this machine come in: no password is asked."
)
@lab_option
def analyzer(name: str, listen: str | None, anybody: bool, lab: Path | None) -> None:
    """Sample an analyzer until Ctrl-C.

    Commands that need one do so themselves. With --listen those of other machines, in whose lab.toml it is "at"
    HOST:PORT, need it as well: boards there, an analyzer here.
    """
    from ..lab import find
    from ..lab.analyzer import PATIENCE
    from ..lab.config import host_and_port
    from ..lab.daemon import Daemon, Taken, reaches_only_this_machine
    from ..model.call import DeviceError
    from ..model.errors import unknown
    from .console import stderr

    there = find(lab)
    if name not in there.instruments:
        raise unknown("instrument", name, there.instruments)
    place = host_and_port(listen) if listen is not None else None
    if place is not None and not anybody and not reaches_only_this_machine(place):
        raise UserError(
            f"--listen {listen}: whoever reaches that address sees edges, and no password is asked; listen at "
            "127.0.0.1 and forward the port by ssh, or add --anybody"
        )
    if anybody and place is None:
        raise UserError("--anybody: is for --listen; leave it out")
    try:
        daemon = Daemon(there.instruments[name], PATIENCE, None, place)
    except Taken:
        raise WorkError(f"{name}: another Steelyard samples it; wait until that has ended") from None
    except (OSError, DeviceError) as e:
        raise WorkError(f"{name}: {getattr(e, 'strerror', None) or e}") from e
    where = "".join(f", also for other machines at {host} port {port}" for host, port in daemon.addresses)
    stderr().print(f"ready: {name} is sampled{where}; Ctrl-C ends it", soft_wrap=True)
    raise WorkError(f"{name}: {daemon.serve()}")


@verb.command(hidden=True)
@lab_option
def agent(lab: Path | None) -> None:
    """Use a board for another machine, which starts this command and says on standard input what is to be done."""
    from ..lab.agent import alone_with_streams, serve

    with alone_with_streams() as (source, sink):
        serve(lab, source, sink)


def stations(names: Sequence[str], file: Path | None, every: bool = False) -> list[Station]:
    """Boards of the lab by name, repeatable or comma-separated, all for :data:`WHOLE`; with ``every`` all of them where
    none is named."""
    lab, boards = _boards(names, file, every)
    if lab is None:
        return []
    from ..lab import stations as described

    found, remarks = described(lab, [board.name for board in boards])
    for remark in remarks:
        stderr().print(remark, soft_wrap=True, markup=False)
    return found


def _boards(names: Sequence[str], file: Path | None, every: bool = True) -> tuple[Lab | None, list[Board]]:
    """The lab, and the boards that :func:`stations` would have; no lab is looked for where there are none."""
    split = [n.strip() for part in names for n in part.split(",") if n.strip()]
    if names and not split:
        raise UserError("--on names no board; steelyard boards list has them")
    if not split and not every:
        # in the environment it says which lab is meant, if one is
        if click.get_current_context().get_parameter_source("lab") is _COMMANDLINE:
            raise UserError("--lab: no board is used without --on; add --on lab for all of them, or leave --lab out")
        return None, []
    from ..lab import find

    lab = find(file)
    return lab, [lab.named(name) for name in dict.fromkeys(split if split and split != [WHOLE] else lab.boards)]
