"""The debug port of virtual STM32 boards, as stock OpenOCD sees it: by its scripts and its loader in the chip's RAM."""

from __future__ import annotations

import random
import select
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from steelyard.lab.config import Probe, flashers
from steelyard.lab.virtual.arm import DHCSR, DebugPort
from steelyard.lab.virtual.board import Chip
from steelyard.lab.virtual.stlink import StLink
from steelyard.lab.virtual.stm32 import PARTS, Parts
from steelyard.model import toml
from steelyard.model.target import Target, load_target, target_names

CHIPS = {t.chip_name: t for t in map(load_target, target_names())}
KNOWN = toml.load(PARTS, Parts).parts


@pytest.fixture(params=sorted(KNOWN))
def target(request: pytest.FixtureRequest) -> Target:
    return CHIPS[request.param]


@pytest.fixture
def flash(target: Target) -> bytearray:
    return bytearray(b"\xff" * target.chip.flash.size)


@pytest.fixture
def port(target: Target, flash: bytearray) -> DebugPort:
    return DebugPort(Chip(target, 115200), target, flash)


@pytest.fixture
def probe(port: DebugPort) -> Iterator[Probe]:
    """An ST-Link at the chip."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    commands = (f"st-link backend tcp {number}", "transport select dapdirect_swd")
    made = Probe(name="swd", interface="interface/stlink-dap.cfg", commands=commands, virtual=True)
    link, over = StLink(made.address, port), Event()

    def serve() -> None:
        while not over.is_set():
            select.select(link.sockets, [], [], 0.0 if link.busy else 0.01)
            link.serve()

    thread = Thread(target=serve)
    thread.start()
    yield made
    over.set()
    thread.join()
    for opened in link.sockets:
        opened.close()


def openocd(probe: Probe, target: Target, *commands: str) -> None:
    if shutil.which("openocd") is None:
        pytest.skip("openocd is not installed: scripts/setup test")
    flasher = flashers()["openocd-probe"]
    script = flasher.chips[target.chip_name].script
    words = ("openocd", *probe.arguments(flasher), "-f", script, "-c", "; ".join(("init", *commands, "shutdown")))
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_stock_openocd_programs_verifies_and_erases(
    probe: Probe, target: Target, flash: bytearray, tmp_path: Path
) -> None:
    image = tmp_path / "image.bin"
    image.write_bytes(random.Random(target.name).randbytes(20_001))
    base = KNOWN[target.chip_name].flash
    openocd(
        probe, target, "reset halt", f"flash write_image erase {image} {base:#x}", f"verify_image {image} {base:#x}"
    )
    assert bytes(flash[:20_001]) == image.read_bytes()
    openocd(probe, target, "reset halt", "flash erase_sector 0 0 0")
    assert flash[:1024] == b"\xff" * 1024


def test_ram_and_registers_are_what_was_written(probe: Probe, target: Target, tmp_path: Path) -> None:
    ram, content, back = target.chip.ram, tmp_path / "content", tmp_path / "back"
    content.write_bytes(random.Random(1).randbytes(ram.size))
    openocd(
        probe, target, "reset halt", f"load_image {content} {ram.base:#x} bin", "reg r3 0x12345678",
        f"dump_image {back} {ram.base:#x} {ram.size:#x}",
        "if {[dict get [get_reg r3] r3] != 0x12345678} {shutdown error}",
    )  # fmt: skip
    assert back.read_bytes() == content.read_bytes()


def test_what_no_debugger_may_do_ends_nothing(port: DebugPort, target: Target, flash: bytearray) -> None:
    base = KNOWN[target.chip_name].flash
    for address, count in ((base, 4), (base + len(flash) - 2, 8), (0xFFFF_FFFC, 8), (DHCSR, 3), (0x6000_0001, 5)):
        port.write(address, struct.pack("<Q", 0xA05F0003)[:count])
        assert len(port.read(address, count)) == count
    assert flash == b"\xff" * len(flash), "a locked controller programs nothing"
