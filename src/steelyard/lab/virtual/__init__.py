"""A lab without hardware: every virtual board and analyzer of a ``lab.toml`` as a process of its own."""

from __future__ import annotations

import multiprocessing
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

from ...model.errors import UserError, WorkError
from ..config import Lab
from .analyzer import Analyzer
from .arm import DebugPort
from .board import Board, Chip
from .clock import Clock
from .pty import Port
from .stk500 import BootLoader
from .stlink import StLink

#: who plays the boot loader that a flasher talks to
LOADERS = {"stk500": BootLoader}
#: seconds for a process to be there
PATIENCE = 60.0


@contextmanager
def played(lab: Lab) -> Iterator[list[BaseProcess]]:
    """Inside the virtual part of the lab is there, as processes. :class:`WorkError` when one does not start."""
    clock = Clock(time.monotonic_ns(), lab.speed)
    boards = [b.name for b in lab.boards.values() if b.virtual]
    if not boards:
        raise UserError("no board of this lab is virtual; give some of them: virtual = true")
    processes: list[BaseProcess] = []
    with tempfile.TemporaryDirectory(prefix="steelyard-lab-") as folder:
        try:
            for name in {lab.boards[b].analyzer: None for b in boards}:
                processes.append(_started(_analyzer, lab, name, Path(folder), clock))
            for name in boards:
                processes.append(_started(_board, lab, name, Path(folder), clock))
            yield processes
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()
            for name in boards:
                if lab.boards[name].port.is_symlink():
                    lab.boards[name].port.unlink()


Play = Callable[[Lab, str, Path, Clock, Event], None]


def _started(play: Play, lab: Lab, name: str, folder: Path, clock: Clock) -> BaseProcess:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=play, args=(lab, name, folder, clock, ready), daemon=True)
    process.start()
    end = time.monotonic() + PATIENCE
    while not ready.wait(0.1):
        if not process.is_alive() or time.monotonic() > end:
            process.terminate()
            raise WorkError(f"{name}: does not start; what is above says why")
    return process


def _analyzer(lab: Lab, name: str, folder: Path, clock: Clock, ready: Event) -> None:
    instrument = lab.instruments[name]
    try:
        analyzer = Analyzer(instrument.address, folder / name, clock, instrument.samplerate)
    except OSError as e:
        raise SystemExit(f"{name}: {instrument.address[0]} port {instrument.address[1]}: {e.strerror}") from None
    ready.set()
    _until_over(analyzer.serve)


def _board(lab: Lab, name: str, folder: Path, clock: Clock, ready: Event) -> None:
    station = lab.board(name)
    target, known = station.target, station.chip
    flash = bytearray(b"\xff" * target.chip.flash.size)
    signature = bytes.fromhex(known.signature)
    chip = Chip(target, station.board.baud)

    def loader() -> BootLoader | None:
        made = LOADERS.get(station.flasher.virtual)
        return made(flash, signature, known.loader_bytes) if made else None

    try:
        probe = StLink(station.probe.address, DebugPort(chip, target, flash)) if station.probe else None
    except OSError as e:
        raise SystemExit(f"{name}: probe {station.board.probe}: {e.strerror}") from None
    try:
        port = Port(station.board.port)
    except OSError as e:
        raise SystemExit(f"{name}: {e.strerror}: {station.board.port}; move away what is there") from None
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(str(folder / station.board.analyzer))
        ready.set()
        pin = station.instrument.channels.index(station.board.channel)
        board = Board(chip, loader, flash, port, probe)
        _until_over(lambda: board.play(clock, wire, pin))


def _until_over(play: Callable[[], None]) -> None:
    """Plays until the lab is left."""
    try:
        play()
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        raise SystemExit(0) from None
