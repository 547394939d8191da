"""The GDB server of a virtual board: whatever comes, it answers or hangs up, and the chip goes on."""

from __future__ import annotations

import select
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.lab import by_hand
from steelyard.lab.config import flashers
from steelyard.lab.virtual.board import Chip
from steelyard.lab.virtual.gdb import Gdb
from steelyard.model.target import load_target, target_names

[CHIP] = flashers()["mspdebug"].chips
[TARGET] = [t for t in map(load_target, target_names()) if t.chip_name == CHIP]
FLASH, RAM = TARGET.chip.flash, TARGET.chip.ram


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Gdb, Chip]]:
    chip = Chip(TARGET, 115200)
    made = Gdb(("127.0.0.1", 0), chip, TARGET, bytearray(FLASH.size))
    yield made, chip
    for opened in made.sockets:
        opened.close()


def packet(text: bytes) -> bytes:
    return b"$%b#%02x" % (text, sum(text) & 0xFF)


def said(server: tuple[Gdb, Chip], data: bytes) -> bytes:
    """What a connection that sends this hears until it is served."""
    gdb, chip = server
    with closing(socket.create_connection(gdb.sockets[0].getsockname())) as line:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        gdb.serve()
        heard = b""
        for _ in range(4):
            gdb.serve()
        line.settimeout(5)
        while part := line.recv(1 << 16):
            heard += part
    assert not chip.halted, "the chip goes on"
    return heard


words = st.one_of(
    st.sampled_from([b"m", b"M", b"c", b"r", b"R00", b"?", b"g", b"qRcmd,", b"qRcmd,6572617365", b"X"]),
    st.binary(max_size=20),
    st.integers(0, 2**33).map(lambda n: b"%x," % n),
    st.integers(0, 5000).map(lambda n: b"%x:" % n),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.lists(words, max_size=4).map(b"".join).map(packet), st.binary(max_size=20)), max_size=6))
def test_whatever_comes_is_answered_or_ends_the_connection(server: tuple[Gdb, Chip], came: list[bytes]) -> None:
    said(server, b"".join(came))
    assert said(server, packet(b"?")) == b"+" + packet(b"S05")


def test_flash_is_erased_before_bits_are_set(server: tuple[Gdb, Chip]) -> None:
    at, erase = b"%x" % FLASH.base, packet(b"qRcmd,6572617365")
    written, asked = packet(b"M" + at + b",2:a5f0"), packet(b"m" + at + b",2")
    assert said(server, erase + written + asked).endswith(packet(b"a5f0"))
    assert said(server, packet(b"M" + at + b",2:ff0f") + asked).endswith(packet(b"a500"))


def test_ram_is_what_was_written(server: tuple[Gdb, Chip]) -> None:
    at = b"%x" % RAM.base
    assert said(server, packet(b"M" + at + b",3:010203") + packet(b"m" + at + b",3")).endswith(packet(b"010203"))
    assert packet(b"E01") in said(server, packet(b"M" + at + b",3:01"))


def test_a_client_that_says_nothing_yet_stays(server: tuple[Gdb, Chip]) -> None:
    """On a busy machine the first packet may come long after the connection."""
    gdb, _ = server
    with closing(socket.create_connection(gdb.sockets[0].getsockname())) as line:
        gdb.serve()
        assert len(gdb.sockets) == 2
        line.sendall(packet(b"?"))
        line.shutdown(socket.SHUT_WR)
        for _ in range(2):
            select.select(gdb.sockets[1:], [], [], 5)
            gdb.serve()
        assert line.recv(100) == b"+" + packet(b"S05")


def test_the_command_for_bytes_programs_them_where_they_belong(server: tuple[Gdb, Chip], tmp_path: Path) -> None:
    """As ``image RUN -o x.bin`` says it, with this server's driver in the place of ``PROBE``."""
    if shutil.which("mspdebug") is None:
        pytest.skip("mspdebug is not installed: scripts/setup test")
    image = tmp_path / "x.bin"
    image.write_bytes(bytes(range(1, 200)))
    [(program, *words)] = by_hand(TARGET, "bin", str(image))
    host, port = server[0].sockets[0].getsockname()
    at = words.index("PROBE")
    words[at : at + 1] = ["gdbc", "-d", f"{host}:{port}"]
    with subprocess.Popen((program, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        while running.poll() is None:
            server[0].serve()
        assert running.stdout is not None
        assert running.returncode == 0, running.stdout.read()
    asked = packet(b"m%x,c7" % FLASH.base)
    assert said(server, asked).endswith(packet(image.read_bytes().hex().encode()))
