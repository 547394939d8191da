"""A lab without hardware: every virtual board and analyzer of a ``lab.toml`` as a process of its own."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import IO

from ...model import paths
from ...model.errors import UserError, WorkError, unknown
from ...model.parent import end_with_parent
from ...model.target import Target
from .. import config, lock
from ..config import Lab
from ..description import BOOT_LOADERS, PROBES
from ..metering import Metered
from .analyzer import PINS, Analyzer
from .board import Board, Chip, Probe
from .clock import Clock
from .lines import Lines
from .loader import Loaders
from .ppk2 import Ppk2
from .pty import Port
from .scpi import Scpi
from .supply import Current, Played, Supply

#: what helps where another lab of this machine has a port
PORT = "write another port into lab.toml"
OTHER = f"{PORT} if it is taken"
#: seconds for a process to be there
PATIENCE = 60.0
#: what boards import when they begin: read once for all of them
PLAYERS = ("core", *dict.fromkeys((*BOOT_LOADERS, *PROBES.values())))


def loaders(name: str) -> Loaders:
    """Who plays the boot loader that flashers call by this name."""
    made: Loaders = import_module(f".{name}", __package__).loaders
    return made


def probes(name: str) -> Callable[[config.Probe, Chip, Target, bytearray], Probe]:
    """Who plays the debug probe that flashers call by this name, at a chip and its flash."""
    made: Callable[[config.Probe, Chip, Target, bytearray], Probe] = import_module(
        f".{PROBES[name]}", __package__
    ).probe
    return made


@contextmanager
def played(lab: Lab) -> Iterator[list[BaseProcess]]:
    """Inside the virtual part of the lab is there, as processes. :class:`UserError` where it has no such part,
    :class:`WorkError` when one does not start."""
    clock = Clock(time.monotonic_ns(), lab.speed)
    boards = [b.name for b in lab.boards.values() if b.virtual]
    if not boards:
        raise UserError("no board of this lab is virtual; give some of them: virtual = true")
    analyzers = [lab.instruments[lab.boards[b].analyzer] for b in boards if lab.boards[b].analyzer]
    channels = [*(lab.boards[b].channel for b in boards), *(c for a in analyzers for c in a.channels)]
    if wrong := [c for c in channels if c not in PINS]:
        raise UserError(f"virtual boards: {unknown('channel', wrong[0], PINS)}: a BeagleLogic's, as sigrok has them")
    meters = [Path(lab.meters[m].port) for b in boards if (m := lab.boards[b].meter)]
    ports = [*(port for b in boards for port in (lab.boards[b].port, lab.boards[b].boot_port)), *meters]
    processes: list[BaseProcess] = []
    # whose name is short: that of a socket has room for 107 bytes
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="steelyard-lab-", dir=paths.shared()) as folder:
        for port in dict.fromkeys(p for p in ports if p != Path()):
            stack.enter_context(_ours(port))
        try:
            for name in {lab.boards[b].analyzer: None for b in boards}:
                _start(processes, _analyzer, lab, name, Path(folder), clock)
            for name in boards:
                if lab.boards[name].meter:
                    _start(processes, _meter, lab, name, Path(folder), clock)
                _start(processes, _board, lab, name, Path(folder), clock)
            yield processes
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()
            for port in ports:
                if port.is_symlink():
                    port.unlink()


def _ours(port: Path) -> IO[bytes]:
    """The right to make and remove the link at the port's path. :class:`WorkError` where another lab plays a board
    there, or the link is somebody's."""
    if port.is_symlink() and (to := port.readlink()).parent != Path("/dev/pts"):
        raise WorkError(f"{port}: leads to {to}, which is not a virtual board; {PORT}")
    what = f"played {port.parent.resolve() / port.name}"
    if (mine := lock.taken(what, str(port))) is None:
        raise WorkError(f"{port}: another virtual lab is there (process {lock.holder(what)}); end it, or {PORT}")
    return mine


Play = Callable[[Lab, str, Path, Clock, Event], None]


def _start(processes: list[BaseProcess], play: Play, lab: Lab, name: str, folder: Path, clock: Clock) -> None:
    """One process more, which is there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *(f"{__name__}.{module}" for module in PLAYERS)])
    ready = context.Event()
    process = context.Process(target=play, args=(lab, name, folder, clock, ready), daemon=True)
    forkserver.ensure_running()  # or those that it starts had the signals blocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:  # nobody would end one that is not among them
        process.start()
        processes.append(process)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    end = time.monotonic() + PATIENCE
    while not ready.wait(0.1):
        if not process.is_alive() or time.monotonic() > end:
            raise WorkError(f"{name}: does not start; what is above says why")


def _analyzer(lab: Lab, name: str, folder: Path, clock: Clock, ready: Event) -> None:
    instrument = lab.instruments[name]
    try:
        analyzer = Analyzer(instrument.address, folder / name, clock, instrument.samplerate)
    except OSError as e:
        raise SystemExit(
            f"{name}: {instrument.address[0]} port {instrument.address[1]}: {e.strerror}; {OTHER}"
        ) from None
    ready.set()
    _until_over(analyzer.serve)


def _board(lab: Lab, name: str, folder: Path, clock: Clock, ready: Event) -> None:
    station = lab.board(name)
    target, known = station.target, station.chip
    flash = bytearray(b"\xff" * target.chip.flash.size)
    chip = Chip(target, station.board.baud, station.fast_baud, station.board.clock_error_ppm)
    player = station.flasher.virtual
    loader = loaders(player)(target, known, flash) if player in BOOT_LOADERS else None
    try:
        probe = probes(player)(station.probe, chip, target, flash) if station.probe else None
    except UserError as e:
        raise SystemExit(f"{name}: {e}") from None
    except OSError as e:
        raise SystemExit(f"{name}: probe {station.board.probe}: {e.strerror}; {OTHER}") from None
    try:
        port = Port(station.board.port)
        boot_port = Port(station.board.boot_port) if station.flasher.needs_boot_port else None
    except OSError as e:
        raise SystemExit(f"{name}: {e.strerror}: {e.filename2 or e.filename}; move away what is there") from None
    with ExitStack() as stack:
        wire = _connected(stack, folder / station.board.analyzer)
        meter = _connected(stack, folder / f"meter {station.meter.name}") if station.meter else None
        ready.set()
        pin = PINS.index(station.board.channel)
        reset_pin = station.board.reset_pin if station.board.reset else None
        board = Board(chip, loader, flash, port, probe, boot_port, station.flasher.touches, reset_pin)
        _until_over(lambda: board.play(clock, wire, pin, meter))


def _connected(stack: ExitStack, to: Path) -> socket.socket:
    wire = stack.enter_context(socket.socket(socket.AF_UNIX))
    wire.connect(str(to))
    return wire


def _meter(lab: Lab, name: str, folder: Path, clock: Clock, ready: Event) -> None:
    """The meter in the supply of the board ``name``."""
    station = lab.board(name)
    metered, target = station.meter, station.target
    assert metered is not None
    assert target.energy is not None
    assert target.nanojoule_per_cycle is not None
    volts = metered.meter.volts or target.energy.volts
    active = target.nanojoule_per_cycle * 1e-9 * target.board_hz / target.energy.volts
    try:
        play = METERS[metered.kind.module](metered, volts)
        wire = folder / f"meter {metered.name}"
        supply = Supply(wire, clock, Current(metered.meter.idle_milliamperes / 1000, active), play)
    except OSError as e:
        raise SystemExit(f"{metered.name}: {e.strerror}: {metered.meter.port}; move away what is there") from None
    ready.set()
    _until_over(supply.serve)


def _ppk2(metered: Metered, _volts: float) -> Callable[[Current], Played]:
    port = Port(Path(metered.meter.port))
    return lambda current: Ppk2(port, current)


def _scpi(metered: Metered, volts: float) -> Callable[[Current], Played]:
    kind, _, place = metered.meter.port.partition(":conn=tcp-raw/")
    host, number = place.split("/")[:2]
    return lambda current: Scpi(kind, (host, int(number.partition(":")[0])), volts, current)


def _lines(metered: Metered, volts: float) -> Callable[[Current], Played]:
    port = Port(Path(metered.meter.port))
    return lambda current: Lines(port, metered, volts, current)


#: who plays the meters that a module of ``lab/meters`` reads
METERS = {"ppk2": _ppk2, "sigrok": _scpi, "lines": _lines}


def _until_over(play: Callable[[], None]) -> None:
    """Plays until the lab is left, or who plays it is gone."""
    end_with_parent()
    try:
        play()
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        raise SystemExit(0) from None
