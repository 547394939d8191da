"""Boot ROMs of virtual boards: the field's own flashers write to them, what was written is what runs, and nothing that
comes over the line harms them."""

from __future__ import annotations

import hashlib
import os
import random
import select
import struct
import subprocess
import tty
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.lab import flash, image
from steelyard.lab.config import FlashedChip, flashers
from steelyard.lab.program import without_lines
from steelyard.lab.virtual import avr109, jtag2updi, loaders, slip
from steelyard.lab.virtual.loader import Loader
from steelyard.model import paths
from steelyard.model.target import Target, load_target, target_names

FLASHER = flashers()
AVR = [("avrdude-arduino", "ATmega328P"), ("avrdude-avr109", "ATmega32U4"), ("avrdude-jtag2updi", "ATmega4809")]
TARGETS = {t.chip_name: t for t in map(load_target, target_names())}
#: flasher and chip, of those that are reached through a boot ROM
CHIPS = [(f, chip) for f in ("esptool", "kflash", "stm32flash") for chip in FLASHER[f].chips]


class Rom:
    """A chip's boot ROM, and its memory for code."""

    def __init__(self, flasher: str, chip: str) -> None:
        self.target: Target = TARGETS[chip]
        self.known = FLASHER[flasher].chips[chip]
        self.kind = self.known.image or FLASHER[flasher].image
        self.code = bytearray(self.target.chip.flash.size)
        self.reset = loaders(FLASHER[flasher].virtual)(self.target, self.known, self.code)

    def file(self, content: bytes) -> bytes:
        """What a flasher gets for these bytes of code."""
        base = self.target.chip.flash.base
        return image.made(self.kind, elf(content, base), base, len(self.code))

    def runs(self) -> bytes:
        """The code that runs after a reset."""
        self.reset().leave()
        return bytes(self.code)


@pytest.fixture(params=CHIPS, ids=lambda p: p[1])
def rom(request: pytest.FixtureRequest) -> Rom:
    return Rom(*request.param)


def elf(content: bytes, base: int) -> bytes:
    """An image with the second half of its bytes where start-up code copies them from."""
    half, at = len(content) // 2, 52 + 2 * 32 + 2 * 40
    head = struct.pack("<16s2HI3II6H", b"\x7fELF\1\1\1", 2, 0, 1, base, 52, 116, 0, 52, 32, 2, 40, 2, 1)
    code = struct.pack("<8I", 1, at, base, base, half, half, 5, 4)
    data = struct.pack("<8I", 1, at + half, 0x3FFB0000, base + half, len(content) - half, 1 << 16, 6, 4)
    names = bytes(40) + struct.pack("<10I", 0, 3, 0, 0, at + len(content), 1, 0, 0, 1, 0)
    return head + code + data + names + content + b"\0"


@contextmanager
def on_a_line(loader: Loader) -> Iterator[Path]:
    """A serial port with the boot ROM at its other end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    over = Event()

    def serve() -> None:
        while not over.is_set():
            if select.select([master], [], [], 0.02)[0]:
                os.write(master, b"".join(loader.feed(byte) for byte in os.read(master, 4096)))

    thread = Thread(target=serve)
    thread.start()
    yield Path(os.ttyname(slave))
    over.set()
    thread.join()
    os.close(master)
    os.close(slave)


def esptool(rom: Rom, *words: object) -> subprocess.CompletedProcess[str]:
    program = paths.tool("esptool")
    if program is None:
        pytest.skip("esptool is not installed: scripts/setup test")
    with on_a_line(rom.reset()) as port:
        command = (program, "--chip", rom.known.name, "--port", port, *words)
        return subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("rom", [p for p in CHIPS if p[0] == "esptool"], ids=lambda p: p[1], indirect=True)
@pytest.mark.parametrize("way", [(), ("--no-stub",)], ids=["stub", "rom"])
def test_esptool_writes_what_runs_and_finds_what_is_wrong(rom: Rom, way: tuple[str, ...], tmp_path: Path) -> None:
    content = random.Random(1).randbytes(10_000)
    file = tmp_path / "image.bin"
    file.write_bytes(rom.file(content))
    start = hex(rom.known.start)
    assert "valid" in esptool(rom, "image-info", file).stdout
    written = esptool(rom, *way, "write-flash", start, file)
    assert written.returncode == 0, written.stdout
    assert rom.runs()[:10_000] == content
    assert esptool(rom, "verify-flash", start, file).returncode == 0
    file.write_bytes(rom.file(content[:-1]))
    wrong = esptool(rom, "verify-flash", start, file)
    assert wrong.returncode != 0
    assert "A fatal error occurred: Verification failed" in wrong.stdout + wrong.stderr


@pytest.mark.parametrize(("name", "chip", "size"), [("kflash", "K210", 70_000), ("stm32flash", "STM32F103C8", 20_001)])
def test_what_is_written_is_what_runs(name: str, chip: str, size: int, tmp_path: Path) -> None:
    program = paths.tool(name)
    if program is None:
        pytest.skip(f"{name} is not installed: scripts/setup test")
    rom = Rom(name, chip)
    content = random.Random(2).randbytes(size)
    file = tmp_path / "image.bin"
    file.write_bytes(rom.file(content))
    for _ in range(flash.TRIES):
        with on_a_line(rom.reset()) as port:
            known = {"port": port, "baud": 115200, "chip": rom.known.name, "image": file, "mode": "8n1"}
            command = (program, *(w.format(**known) for w in FLASHER[name].write))
            done = subprocess.run(command, env=without_lines(), capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0:
            break
    else:
        pytest.fail(done.stdout + done.stderr)
    assert rom.runs()[:size] == content


@pytest.mark.parametrize(("name", "chip"), AVR)
def test_avrdude_writes_what_runs_and_finds_what_is_wrong(name: str, chip: str, tmp_path: Path) -> None:
    if paths.tool("avrdude") is None:
        pytest.skip("avrdude is not installed: scripts/setup test")
    rom = Rom(name, chip)
    rom.code[:] = b"\xff" * len(rom.code)
    file = tmp_path / "image.bin"

    def run(what: str, content: bytes) -> subprocess.CompletedProcess[str]:
        file.write_bytes(content)
        with on_a_line(rom.reset()) as port:
            known = {"port": port, "boot_port": port, "baud": 115200, "chip": chip, "image": file}
            words = (w.format(**known).replace(f"{file}:e", f"{file}:r") for w in getattr(FLASHER[name], what))
            return subprocess.run(("avrdude", *words), capture_output=True, text=True, check=False, timeout=60)

    content = random.Random(4).randbytes(1_501)
    for before in (random.Random(3).randbytes(2_000), content):
        written = run("write_bin", before)
        assert written.returncode == 0, written.stderr
    assert rom.runs()[:1_501] == content
    assert run("verify", content).returncode == 0
    rom.code[1_500] ^= 1
    wrong = run("verify", content)
    assert wrong.returncode != 0
    assert "verification mismatch" in wrong.stderr


def test_a_damaged_k210_image_does_not_run() -> None:
    rom = Rom("kflash", "K210")
    content = b"\0" + struct.pack("<I", 100) + bytes(range(100))
    stored = content + hashlib.sha256(content).digest()
    for at in (None, 0, 2, 50, 120):
        loader, image = rom.reset(), bytearray(stored)
        if at is not None:
            image[at] ^= 1
        boot, write = struct.pack("<II", 0x80000000, 0), struct.pack("<II", 0, len(image)) + image
        said = feed(loader, b"".join(isp(*c) for c in ((0xC2, bytes(8)), (0xC5, boot), (0xD4, write))))
        assert said == slip.packed(b"\xc2\xe0") + slip.packed(b"\xd4\xe0")
        assert rom.runs().startswith(bytes(range(100)) if at is None else bytes([0xFF]) * 100)


def isp(number: int, body: bytes) -> bytes:
    return slip.packed(struct.pack("<HxxI", number, zlib.crc32(body)) + body)


def command(number: int, *words: int, data: bytes = b"") -> bytes:
    body = struct.pack(f"<{len(words)}I", *words) + data
    check = 0xEF
    for byte in data:
        check ^= byte
    return slip.packed(struct.pack("<BBHI", 0, number, len(body), check) + body)


def test_a_damaged_esp_image_does_not_run() -> None:
    rom = Rom("esptool", "ESP32")
    file = bytearray(rom.file(bytes(range(200))))
    for at in (0, 1, 27, 28, 100, len(file) - 1):
        loader, broken = rom.reset(), bytearray(file)
        broken[at] ^= 0x40
        words = (len(broken), 1, len(broken), rom.known.start)
        said = feed(loader, command(2, *words) + command(3, len(broken), 0, 0, 0, data=bytes(broken)))
        assert said.count(b"\0" * 8) == 2, "both commands succeed"
        assert set(rom.runs()) == {0xFF}


def feed(loader: Loader, data: bytes) -> bytes:
    return b"".join(loader.feed(byte) for byte in data)


numbers = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 4095, 4096, 0x400000, 0x40080000]))
asked = st.builds(
    lambda n, words, data: isp(n, struct.pack("<II", *words) + data),
    st.sampled_from([*range(0xC2, 0xC6), *range(0xD2, 0xDA)]),
    st.tuples(numbers, st.integers(0, 60)),
    st.binary(max_size=40),
)
packets = st.builds(
    lambda n, w, data: command(n, *w, data=data),
    st.sampled_from([*range(0x14), 0xD0, 0xD1, 0xD2, 0xD3]),
    st.lists(numbers, max_size=6),
    st.binary(max_size=40),
)


accesses = st.builds(
    lambda number, command, kind, size, at, data: jtag2updi.message(
        number, struct.pack("<BBII", command, kind, size, at) + data
    ),
    st.integers(0, 0xFFFF),
    st.sampled_from([0x04, 0x05, 0x14, 0x15, 0x34, 0x03, 0x00]),
    st.sampled_from([0xC0, 0xB4, 0x00, 0x04]),
    st.integers(0, 200),
    st.sampled_from([0x1100, 0x4000, 0x4000 + 49152 - 100, 2**32 - 1]),
    st.binary(max_size=40),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(packets, asked, accesses, st.binary(max_size=30).map(slip.packed), st.binary(max_size=30)),
        max_size=12,
    )
)
def test_whatever_comes_a_boot_rom_answers_or_ends(came: list[bytes]) -> None:
    stub = command(5, 4, 1, 4, 0x40080000) + command(7, 4, 0, 0, 0, data=b"stub") + command(6, 0, 0x40080000)
    asking = ((CHIPS, (b"", stub, isp(0xC5, bytes(8)))), (AVR, (b"", jtag2updi.message(0, b"\x14"), b"A\0\0B")))
    for ways, starts in asking:
        for flasher, chip in ways:
            rom = Rom(flasher, chip)
            loader = rom.reset()
            for start in starts:
                said = feed(loader, start + b"".join(came))
                assert len(said) < 10_000
            assert len(rom.runs()) == rom.target.chip.flash.size


def test_a_message_with_a_wrong_checksum_is_not_answered() -> None:
    programmer = Rom("avrdude-jtag2updi", "ATmega4809").reset()
    asked = jtag2updi.message(7, b"\x01")
    assert asked.hex() == "1b0700010000000e01" + jtag2updi.crc(asked[:-2]).to_bytes(2, "little").hex()
    assert jtag2updi.crc(b"123456789") == 0x6F91, "CRC-16/MCRF4XX"
    assert feed(programmer, asked[:-1] + bytes((asked[-1] ^ 1,))) == b""
    assert b"JTAGICE mkII" in feed(programmer, asked)
    assert not programmer.over
    feed(programmer, jtag2updi.message(8, b"\0"))
    assert programmer.over


def test_blocks_of_avr109_erase_their_page_and_no_other() -> None:
    flash = bytearray(512)
    loader = avr109.BootLoader(FlashedChip(signature="1e9587", loader_bytes=128), flash)
    assert feed(loader, b"A\0\x40" + b"B\0\4F" + b"\1\2\3\4") == b"\r\r"
    assert flash == bytes(128) + b"\1\2\3\4" + b"\xff" * 124 + bytes(256)
    assert feed(loader, b"A\0\xc0" + b"B\0\1F" + b"\1") == b"\r?", "its own code"
    assert feed(loader, b"A\0\xc0" + b"g\0\2F" + b"g\xff\xffF" + b"\x1bz") == b"\r\0\0" + b"??"
    assert feed(loader, b"e") == b"\r"
    assert flash == b"\xff" * 384 + bytes(128)


def test_a_packet_is_bounded_and_found_again() -> None:
    packets = slip.Packets(8)
    assert [packets.feed(b) for b in slip.packed(b"\xc0\xdbab")][-1] == b"\xc0\xdbab"
    assert not packets.strange
    assert all(packets.feed(b) is None for b in b"\xc0" + bytes(9))
    assert packets.strange


@pytest.mark.parametrize(
    ("elf", "why"),
    [
        (b"\x7fELF", "not a little-endian ELF"),
        (b"", "not a little-endian ELF"),
        (elf(bytes(64), 0x1000), "not in the chip's memory"),
    ],
)
def test_what_is_no_image_for_the_chip_is_refused(elf: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        image.made("bin", elf, 0x40080000, 4096)
