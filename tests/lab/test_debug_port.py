"""The debug ports of virtual boards, as stock OpenOCD sees them through SWD or JTAG: by its scripts, and by its loaders
in the chip's RAM."""

from __future__ import annotations

import random
import select
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.lab import by_hand
from steelyard.lab.config import Probe, flashers
from steelyard.lab.virtual import ports
from steelyard.lab.virtual.arm import AIRCR, DHCSR, DebugPort
from steelyard.lab.virtual.board import Chip
from steelyard.lab.virtual.flash import ERASED, Wrong
from steelyard.lab.virtual.parts import PARTS, Parts
from steelyard.lab.virtual.stlink import StLink
from steelyard.lab.virtual.stm32 import KEYS
from steelyard.model import toml
from steelyard.model.target import Target, load_target, target_names

CHIPS = {t.chip_name: t for t in map(load_target, target_names())}
KNOWN = toml.load(PARTS, Parts).parts


#: every chip by every way to it: what its probe is told
WAYS = {
    "swd": ("interface/stlink-dap.cfg", "st-link backend tcp {}", "transport select dapdirect_swd"),
    "jtag": ("/dev/null", "adapter driver remote_bitbang", "remote_bitbang port {}", "reset_config srst_only"),
}
REACHED = [
    (n, way) for n, known in sorted(KNOWN.items()) for way in WAYS if (known.dpidr if way == "swd" else known.jtag)
]


@pytest.fixture(params=REACHED, ids="-".join)
def reached(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def target(reached: tuple[str, str]) -> Target:
    return CHIPS[reached[0]]


@pytest.fixture
def flash(target: Target) -> bytearray:
    return bytearray(b"\xff" * target.chip.flash.size)


@pytest.fixture(params=[n for n, known in sorted(KNOWN.items()) if known.dpidr])
def port(request: pytest.FixtureRequest) -> DebugPort:
    chip = CHIPS[request.param]
    return DebugPort(Chip(chip, 115200), chip, bytearray(b"\xff" * chip.chip.flash.size))


@pytest.fixture
def probe(reached: tuple[str, str], target: Target, flash: bytearray) -> Iterator[Probe]:
    """A probe at the chip."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    interface, *commands = WAYS[reached[1]]
    made = Probe(name="p", interface=interface, commands=tuple(c.format(number) for c in commands), virtual=True)
    link, over = ports.probe(made, Chip(target, 115200), target, flash), Event()

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


def run(words: Sequence[str]) -> None:
    if shutil.which("openocd") is None:
        pytest.skip("openocd is not installed: scripts/setup test")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def openocd(probe: Probe, target: Target, *commands: str) -> None:
    flasher = flashers()["openocd-probe"]
    script = flasher.chips[target.chip_name].script
    run(("openocd", *probe.arguments(flasher), "-f", script, "-c", "; ".join(("init", *commands, "shutdown"))))


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
    flash[12_345] ^= 1
    with pytest.raises(AssertionError, match=r"checksum mismatch|contents differ"):
        openocd(probe, target, "reset halt", f"verify_image {image} {base:#x}")
    if target.chip_name == "ATSAM3X8E":  # whose pages are erased as they are written, and never else
        return
    first = 4096 if target.chip_name == "STM32L053C8" else 256
    openocd(probe, target, "reset halt", "flash erase_sector 0 0 0")
    assert flash[:first] == bytes([KNOWN[target.chip_name].erased]) * first
    assert flash[-1] == ERASED


@pytest.mark.parametrize("reached", {n: (n, way) for n, way in REACHED}.values(), ids="-".join, indirect=True)
def test_the_command_for_bytes_programs_them_where_they_belong(
    probe: Probe, target: Target, flash: bytearray, tmp_path: Path
) -> None:
    """As ``image RUN -o x.bin`` says it, with a probe's own words in the place of ``PROBE``."""
    image = tmp_path / "image of a run.bin"
    image.write_bytes(random.Random(target.name).randbytes(5001))
    [words] = [c for c in by_hand(target, "bin", str(image)) if c[0] == "openocd"]
    at = words.index("PROBE")
    own = [w for command in probe.commands for w in ("-c", command)]
    run((*words[:at], probe.interface, *own, *words[at + 1 :]))
    assert bytes(flash[:5001]) == image.read_bytes()


def test_ram_and_registers_are_what_was_written(probe: Probe, target: Target, tmp_path: Path) -> None:
    ram, content, back = target.chip.ram, tmp_path / "content", tmp_path / "back"
    size = min(ram.size, 1 << 15)
    base = ram.base + ram.size - size
    content.write_bytes(random.Random(1).randbytes(size))
    name = "s1" if KNOWN[target.chip_name].misa else "r3"
    openocd(
        probe, target, "reset halt", f"load_image {content} {base:#x} bin", f"reg {name} 0x12345678",
        f"dump_image {back} {base:#x} {size:#x}",
        f"if {{[dict get [get_reg {name}] {name}] != 0x12345678}} {{shutdown error}}",
    )  # fmt: skip
    assert back.read_bytes() == content.read_bytes()


def test_joined_accesses_are_as_many_as_came(port: DebugPort) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    link = StLink(("127.0.0.1", number), port)
    try:
        link._command(b"\xf2\x51\xff\xff".ljust(16, b"\0"), b"\1\2\3")
        assert link._command(b"\xf2\x52".ljust(16, b"\0"), b"") == b""
    finally:
        link.sockets[0].close()


def test_a_reset_leaves_ram_and_nothing_else() -> None:
    """OpenOCD would wait for ever for a clock that the firmware had chosen."""
    target, clocks, lock = CHIPS["STM32L053C8"], 0x4002_100C, 0x4002_2004
    port = DebugPort(Chip(target, 115200), target, bytearray(target.chip.flash.size))
    port.write(clocks, struct.pack("<I", 3))
    for key in (0x89ABCDEF, 0x02030405):
        port.write(lock + 8, struct.pack("<I", key))
    port.write(target.chip.ram.base, b"kept")
    assert (port.read(clocks, 1), port.read(lock, 1)) == (b"\x0f", b"\x06")
    port.write(AIRCR, struct.pack("<I", 0x05FA0004))
    assert (port.read(clocks, 1), port.read(lock, 1)) == (b"\0", b"\x07")
    assert port.read(target.chip.ram.base, 4) == b"kept"


def test_what_no_debugger_may_do_ends_nothing(port: DebugPort) -> None:
    base, flash = port.part.flash, port._content
    for address, count in ((base, 4), (base + len(flash) - 2, 8), (0xFFFF_FFFC, 8), (DHCSR, 3), (0x6000_0001, 5)):
        port.write(address, struct.pack("<Q", 0xA05F0003)[:count])
        assert len(port.read(address, count)) == count
    assert flash == b"\xff" * len(flash), "a locked controller programs nothing"


#: keys and commands of all controllers, so that some of them do something
TOLD = (*KEYS, 0x89ABCDEF, 0x02030405, 0x8C9DAEBF, 0x13141516, 0, 1, 2, 8, 0x208, 0x408, 0x10042, 0x5A000003,
        0x5A03FF05, 0xA502, 0xA504, 0xA544)  # fmt: skip
#: the registers that they are for
ASKED = (0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x504, 0x508, 0x50C)
writes = st.tuples(
    st.integers(0, 2),
    st.sampled_from(ASKED) | st.integers(0, 1 << 20),
    st.sampled_from((1, 2, 4)),
    st.sampled_from(TOLD) | st.integers(0, (1 << 32) - 1),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(writes, max_size=40))
def test_whatever_is_written_flash_stays_flash(came: list[tuple[int, int, int, int]]) -> None:
    for name, known in KNOWN.items():
        flash = bytearray([ERASED]) * CHIPS[name].chip.flash.size
        length = len(flash)
        windows = known.programmed(flash)
        for number, offset, size, value in came:
            _, within, window = windows[number % len(windows)]
            at = offset % within // size * size
            with suppress(Wrong):
                window.write(at, size, value & ((1 << 8 * size) - 1))
            assert 0 <= window.read(at, 4) < 1 << 32
        assert len(flash) == length


def test_words_of_an_stm32l0_are_programmed_once_and_behind_two_locks() -> None:
    content = bytearray(256)
    (_, _, flash), (_, _, control) = KNOWN["STM32L053C8"].programmed(content)
    pecr, status = 0x04, 0x18
    with pytest.raises(Wrong):
        flash.write(0, 4, 1)
    for register, keys in ((0x0C, (0x89ABCDEF, 0x02030405)), (0x10, (0x8C9DAEBF, 0x13141516))):
        for key in keys:
            control.write(register, 4, key)
    flash.write(128, 4, 0x1234)
    flash.write(128, 4, 0x5678)
    assert (flash.read(128, 4), control.read(status, 4) >> 16) == (0x1234, 1), "NOTZEROERR"
    control.write(pecr, 4, 0x208)  # ERASE, PROG
    flash.write(132, 4, 0)
    assert not any(content)
    control.write(pecr, 4, 0x408)  # FPRG, PROG
    flash.write(4, 4, 7)
    assert control.read(status, 4) >> 9 & 1, "PGAERR"
    for at in range(64, 128, 4):
        assert not any(content)
        flash.write(at, 4, at)
    assert content[64:128] == struct.pack("<16I", *range(64, 128, 4))
    control.write(pecr, 4, 1)
    assert control.read(pecr, 4) == 3, "a lock ends what was selected"
