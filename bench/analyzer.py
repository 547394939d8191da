"""What it costs to sample an analyzer, from ``sigrok-cli`` to pulses, and whether any of them is lost.

    python bench/analyzer.py

An analyzer is played at the wall's pace, BeagleLogic over TCP with known pulses; the rest is what runs on boards use:
the real sigrok-cli, the process that finds edges, and a connection for each board.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event

from rich.console import Console

from steelyard.cli.console import table
from steelyard.lab.analyzer import Analyzer
from steelyard.lab.config import Instrument

CHANNELS = ("P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40")
SECONDS = 15.0
#: pulses of a board in a second: the calls that a line of 115200 baud has time for
PULSES = 200
#: samples in a second, channels, boards, and the cores that all of it may take
WANTED = ((24_000_000, 8, 4, 0.5), (24_000_000, 8, 1, 0.5), (100_000_000, 2, 2, 1.0))


def width(board: int, rate: int) -> int:
    """Samples of each pulse of a board."""
    return rate // PULSES // 8 + board


def samples(rate: int, boards: int) -> bytes:
    """A second of them."""
    made, period = bytearray(rate), rate // PULSES
    for board in range(boards):
        high = bytes((1 << board,)) * width(board, rate)
        for start in range(board * period // boards + 7, rate, period):
            made[start : start + len(high)] = high
    return bytes(made)


def play(door: socket.socket, rate: int, boards: int) -> None:
    """An analyzer for one driver after the other."""
    second = memoryview(samples(rate, boards))
    fixed = {"version": "BeagleLogic", "memalloc": str((1 << 31) - 1), "bufunitsize": "65536"}
    while True:
        line = door.accept()[0]
        settings, rest, runs = {"samplerate": str(rate), "sampleunit": "1", "triggerflags": "0"}, b"", False
        with line, suppress(OSError):
            while not runs and (said := line.recv(4096)):
                *words, rest = (rest + said).split(b"\n")
                for name, _, value in (w.decode().strip().partition(" ") for w in words):
                    runs |= name == "get"
                    if value:
                        settings[name] = value
                    if name != "get":
                        line.sendall(b"ok\n" if value else f"{(fixed | settings).get(name, 'ok')}\n".encode())
            begin, sent = time.monotonic(), 0
            while runs:
                due = int((time.monotonic() - begin) * rate)
                while sent < due:
                    at = sent % rate
                    end = min(at + (1 << 18), rate, at + due - sent)
                    line.sendall(second[at:end])
                    sent += end - at
                time.sleep(0.002)


def seconds_of(pid: int) -> float:
    """Processor time that a process has had."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def row(rate: int, channels: int, boards: int, most: float) -> tuple[str, ...]:
    """A row of the table, which says why where nothing can be measured."""
    what, must = f"{rate / 1e6:g} MS/s, {channels} channels, {boards} boards", f"< {most:g}"
    if shutil.which("sigrok-cli") is None:
        return what, "sigrok-cli is not installed: apt install sigrok-cli", "-", "-", "-", "-", must
    try:
        return what, *measured(rate, channels, boards), must
    except Exception as e:
        return what, f"{type(e).__name__}: {' '.join(str(e).split())}"[:200], "-", "-", "-", "-", must


def measured(rate: int, channels: int, boards: int) -> tuple[str, ...]:
    """Pulses, and the cores of each process and of all."""
    with socket.create_server(("127.0.0.1", 0)) as door, ExitStack() as stack:
        player = multiprocessing.get_context("fork").Process(target=play, args=(door, rate, boards), daemon=True)
        player.start()
        stack.callback(player.terminate)
        driver = f"beaglelogic:conn=tcp-raw/127.0.0.1/{door.getsockname()[1]}:logic_channels=8"
        instrument = Instrument(name="la", driver=driver, samplerate=rate, channels=CHANNELS[:channels])
        users = [stack.enter_context(Analyzer(instrument, Event())) for _ in range(boards)]
        pid = users[0].pid
        processes = (pid, int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]), os.getpid())
        for user, channel in zip(users, CHANNELS, strict=False):
            user.take(channel, PULSES)
        before, begin = [seconds_of(p) for p in processes], time.monotonic()

        def use(board: int) -> Iterator[bool]:
            last = None
            while time.monotonic() - begin < SECONDS:
                for rise, fall in users[board].take(CHANNELS[board], 1):
                    yield fall - rise == width(board, rate) and last in (None, rise - rate // PULSES)
                    last = rise

        with ThreadPoolExecutor(boards) as pool:
            found = [right for board in pool.map(lambda b: list(use(b)), range(boards)) for right in board]
        took = time.monotonic() - begin
        cores = [(seconds_of(p) - b) / took for p, b in zip(processes, before, strict=True)]
    late = 1 - len(found) / (took * PULSES * boards)
    return (
        f"{len(found)}, {found.count(False)} wrong" + (f", {late:.0%} late" if late > 0.02 else ""),
        *(f"{c:.3f}" for c in (*cores, sum(cores))),
    )


def main() -> None:
    """Prints the table."""
    columns = ("analyzer", "pulses", "daemon", "sigrok-cli", "boards", "cores in all", "must reach")
    title = f"{SECONDS:g} s at the wall's pace; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    rows = [row(*wanted) for wanted in WANTED]
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table(title, columns, rows, left=2))


if __name__ == "__main__":
    main()
