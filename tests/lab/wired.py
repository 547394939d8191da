"""Two virtual boards behind wires that fail (wires.py), and what can happen to their analyzer."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

import pytest

from steelyard import lab
from steelyard.lab import Lab, analyzer, flash, link, pool
from steelyard.lab.virtual import played
from steelyard.model import paths
from tests.lab import wires
from tests.lab.conftest import free

TEXT = """
speed = 4

[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 4_000_000
channels = ["P8_45", "P8_46"]
virtual = true
"""
BOARD = """
[boards.{name}]
target = "uno"
port = "{name}"
flasher = "avrdude-arduino"
analyzer = "la"
channel = "{channel}"
clock_ppm = 0
virtual = true
"""


class Wired(NamedTuple):
    """Two boards of the same target, a and b, and the wires that can fail."""

    lab: Lab
    serial: dict[str, wires.Serial]
    samples: wires.Samples
    #: the numbers of the processes that play analyzer and boards
    played: list[int]


def described(folder: Path, port: int) -> Lab:
    folder.mkdir(exist_ok=True)
    boards = (BOARD.format(name=n, channel=c) for n, c in (("a", "P8_45"), ("b", "P8_46")))
    (folder / "lab.toml").write_text(TEXT.format(port=port) + "".join(boards))
    return lab.load(folder / "lab.toml")


@contextmanager
def behind_wires(folder: Path) -> Iterator[tuple[Lab, list[int]]]:
    """The boards as they are, behind the wires, and who plays them."""
    for tool in ("avrdude", "sigrok-cli", "avr-gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    found = described(folder, *free(1))
    with played(found) as processes:
        yield found, [p.pid for p in processes if p.pid]


@contextmanager
def wired(behind: tuple[Lab, list[int]], folder: Path) -> Iterator[Wired]:
    """Wires to them in a lab of their own; nobody knows anything of the boards yet."""
    for old in (paths.home() / "lab").glob("[ab]-*"):
        shutil.rmtree(old)
    for state in (pool._doubted, pool._faults, pool._out, flash._sure, link._slow):
        state.clear()
    own, processes = behind
    samples = wires.Samples(own.instruments["la"].address)
    found = described(folder, samples.port)
    serial = {name: wires.Serial(found.boards[name].port, own.boards[name].port) for name in "ab"}
    yield Wired(found, serial, samples, processes)
    samples.close()
    for wire in serial.values():
        wire.unplug()


class Once:
    """Changes the bytes that come past once it is armed, one time."""

    def __init__(self, change: wires.Change, size: int = 1, *, armed: bool = False) -> None:
        self._change, self._size, self.armed = change, size, armed

    def arm(self) -> None:
        self.armed = True

    def __call__(self, data: bytes) -> bytes:
        if self.armed and len(data) >= self._size:
            self.armed = False
            return self._change(data)
        return data


def dead(there: Wired) -> None:
    there.samples.change = lambda data: data.translate(bytes(b & 2 for b in range(256)))


def stuck(there: Wired) -> None:
    there.samples.change = lambda data: data.translate(bytes(b | 1 for b in range(256)))


def noise(there: Wired) -> None:
    once = there.samples.change = Once(lambda data: b"\1" * 8 + data[8:], 16, armed=True)
    while once.armed:
        time.sleep(0.01)


def silent(there: Wired) -> None:
    there.samples.change = lambda _: b""


def skips(there: Wired) -> None:
    """As the driver would, if it did not say so: between two pulses hardly a sample is left."""
    there.samples.change = lambda data: re.sub(rb"\0+", b"\0", data)


def drops(there: Wired) -> None:
    """Samples in the middle of one pulse: nothing but the chip's own counter can know that it was longer."""
    lost = bytearray()

    def change(data: bytes) -> bytes:
        at = -1 if lost else data.find(b"\1" * 60)
        if at >= 0:
            lost.extend(data[at + 5 : at + 55])
            data = data[: at + 5] + data[at + 55 :]
        return data

    there.samples.change = change


def hangs_up(there: Wired) -> None:
    """sigrok-cli stays, and has nothing to say any more."""
    there.samples.cut.set()


def overruns(there: Wired) -> None:
    """What drivers do when the analyzer's buffer overran: they end the acquisition."""
    os.kill(sigrok_of(daemon_of(there.lab)), signal.SIGTERM)


def is_killed(there: Wired) -> None:
    """The process that samples, by whatever has no mercy; sigrok-cli goes with it though its analyzer is silent."""
    pid = daemon_of(there.lab)
    sigrok = sigrok_of(pid)
    there.samples.change = lambda _: b""
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while Path(f"/proc/{sigrok}/exe").exists():
        assert time.monotonic() < end, "sigrok-cli lives on"
        time.sleep(0.01)


def daemon_of(there: Lab) -> int:
    """The process that samples the analyzer."""
    with analyzer.Analyzer(there.instruments["la"], Event()) as user:
        return user.pid


def sigrok_of(pid: int) -> int:
    """Its sigrok-cli."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())
