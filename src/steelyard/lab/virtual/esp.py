"""The boot ROM of ESP chips, and the stub that esptool puts in its place: Espressif, "Serial Protocol" and "Firmware
Image Format".

The image is in a serial flash; after a reset the ROM loads it into instruction RAM. Without strapping pins the ROM
listens first, and goes on when nobody asks for anything. The stub's code is received and not run: its commands are
known.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from functools import reduce
from operator import xor
from pathlib import Path

from ...model import toml
from ...model.target import Target
from ..config import FlashedChip
from .slip import Packets, packed

PARTS = Path(__file__).parent / "esp.toml"
SECTOR = 4096
ERASED = b"\xff"
FLASH_BEGIN, FLASH_DATA, FLASH_END, MEM_BEGIN, MEM_END, MEM_DATA, SYNC, WRITE_REG, READ_REG = range(2, 11)
SPI_SET_PARAMS, SPI_ATTACH, CHANGE_BAUD = 0x0B, 0x0D, 0x0F
DEFLATED_BEGIN, DEFLATED_DATA, DEFLATED_END, MD5 = range(0x10, 0x14)
ERASE_FLASH, ERASE_REGION, RUN = 0xD0, 0xD1, 0xD3
INVALID, FAILED, BAD_CHECKSUM, BAD_DEFLATE = 5, 6, 7, 0x0B
#: what SYNC is answered with, and how often
_SYNC_VALUE, _SYNC_TIMES = 0x20120707, 8
_STARTED = b"OHAI"
_HEAD = struct.Struct("<BBHI")
_SEED = 0xEF
_MAGIC, _MOST_SEGMENTS = 0xE9, 16
#: bytes of the largest packet, and of the registers that are kept
_MOST, _KEPT = 1 << 16, 1 << 10


class Part(toml.Table, frozen=True, kw_only=True):
    """A chip: bytes of its serial flash, where the image begins there, bytes of the header's extension, bytes of
    status in the ROM's answers, commands that the ROM has, and registers that always read the same."""

    flash: int
    start: int
    extension: int
    status: int
    commands: tuple[int, ...]
    registers: tuple[tuple[int, int], ...]


class Parts(toml.Table, frozen=True, kw_only=True):
    """By the chip's name, as targets have it."""

    parts: dict[str, Part]


class Refused(Exception):
    """A command that cannot be done; its argument is the error that is answered."""


def loaders(target: Target, _known: FlashedChip, code: bytearray) -> Callable[[], EspLoader]:
    """See :data:`.loader.Loaders`."""
    part = toml.load(PARTS, Parts).parts[target.chip_name]
    stored = bytearray(ERASED * part.flash)
    return lambda: EspLoader(part, stored, code, target.chip.flash.base)


class EspLoader:
    """See :class:`.loader.Loader`. ``stored`` is the serial flash, ``code`` the instruction RAM at ``base``."""

    def __init__(self, part: Part, stored: bytearray, code: bytearray, base: int) -> None:
        self._part, self._stored, self._code, self._base = part, stored, code, base
        self.over = self._stub = False
        self._packets = Packets(_MOST)
        self._registers = dict(part.registers)
        self._loaded: list[range] = []
        #: what is written: where the next bytes go and the first that is not theirs, and who unpacks them
        self._next = self._end = 0
        self._unpack: zlib._Decompress | None = None
        self._count = 0
        self._does: dict[int, Callable[[bytes], bytes | None]] = {
            FLASH_BEGIN: self._begin,
            FLASH_DATA: self._data,
            FLASH_END: self._finish,
            MEM_BEGIN: self._load,
            MEM_DATA: self._load_data,
            MEM_END: self._enter,
            WRITE_REG: self._set,
            SPI_SET_PARAMS: lambda _: None,
            SPI_ATTACH: lambda _: None,
            CHANGE_BAUD: lambda _: None,  # a pseudo-terminal has none
            DEFLATED_BEGIN: self._begin_deflated,
            DEFLATED_DATA: self._data,
            DEFLATED_END: self._finish,
            MD5: self._md5,
            ERASE_FLASH: lambda _: self._erase(0, len(self._stored)),
            ERASE_REGION: lambda data: self._erase(*_words(data, 2)),
            RUN: lambda _: self._finish(bytes(4)),
        }

    def feed(self, byte: int) -> bytes:
        """Takes a byte; what it answers. Bytes in no packet end it: they are not a flasher's."""
        packet = self._packets.feed(byte)
        if self._packets.strange:
            self.over = True
        return self._answer(packet) if packet is not None and not self.over else b""

    def _answer(self, packet: bytes) -> bytes:
        if len(packet) < _HEAD.size:
            return b""
        way, command, size, check = _HEAD.unpack_from(packet)
        data = packet[_HEAD.size :]
        if way != 0 or size != len(data):
            return b""
        if command == SYNC:
            value = 0 if self._stub else _SYNC_VALUE
            return self._said(SYNC, b"", 0, value) * _SYNC_TIMES
        try:
            if command == READ_REG:
                return self._said(READ_REG, b"", 0, self._registers.get(_words(data, 1)[0], 0))
            if command not in self._does or not (self._stub or command in self._part.commands):
                raise Refused(INVALID)
            if command in (FLASH_DATA, DEFLATED_DATA, MEM_DATA):
                data = _checked(data, check)
            was = self._stub
            answer = self._said(command, self._does[command](data) or b"", 0)
            return answer + (packed(_STARTED) if self._stub and not was else b"")
        except Refused as e:
            return self._said(command, b"", e.args[0])

    def _said(self, command: int, data: bytes, error: int, value: int = 0) -> bytes:
        """The answer to a command. The one to that which starts the stub is the ROM's and as long as the stub's."""
        status = bytes((error != 0, error)).ljust(2 if self._stub else self._part.status, b"\0")
        return packed(_HEAD.pack(1, command, len(data) + len(status), value) + data + status)

    def _region(self, start: int, size: int) -> None:
        if start + size > len(self._stored):
            raise Refused(INVALID)

    def _erase(self, start: int, size: int) -> None:
        size += -size % SECTOR
        self._region(start, size)
        self._stored[start : start + size] = ERASED * size

    def _begin(self, data: bytes) -> None:
        """Bytes to erase, blocks, bytes of a block. The bytes to erase are fewer for the ESP8266, whose ROM erases too
        much, and flashers know that."""
        size, blocks, block, start = _words(data, 4)
        self._open(start, max(size, blocks * block))

    def _begin_deflated(self, data: bytes) -> None:
        size, _, _, start = _words(data, 4)
        self._open(start, size)
        self._unpack = zlib.decompressobj()

    def _open(self, start: int, size: int) -> None:
        self._erase(start, size)
        self._next, self._end, self._unpack, self._count = start, start + size + -size % SECTOR, None, 0

    def _data(self, data: bytes) -> None:
        _, number, content = *_words(data, 2), data[16:]
        if number != self._count:
            raise Refused(INVALID)
        self._count += 1
        room = self._end - self._next
        if self._unpack:
            try:
                content = self._unpack.decompress(content, room + 1)
            except zlib.error:
                raise Refused(BAD_DEFLATE) from None
        if len(content) > room:
            raise Refused(FAILED)
        self._stored[self._next : self._next + len(content)] = content
        self._next += len(content)

    def _finish(self, data: bytes) -> None:
        self.over = _words(data, 1)[0] == 0

    def _md5(self, data: bytes) -> bytes:
        start, size, _, _ = _words(data, 4)
        self._region(start, size)
        digest = hashlib.md5(self._stored[start : start + size], usedforsecurity=False)
        return digest.digest() if self._stub else digest.hexdigest().encode()

    def _load(self, data: bytes) -> None:
        size, _, _, start = _words(data, 4)
        self._loaded = [*self._loaded[1 - _MOST_SEGMENTS :], range(start, start + size)]

    def _load_data(self, data: bytes) -> None:
        if not self._loaded or len(data) - 16 > len(self._loaded[-1]):
            raise Refused(FAILED)

    def _enter(self, data: bytes) -> None:
        _, entry = _words(data, 2)
        if any(entry in part for part in self._loaded):
            self._stub = True
        elif entry:
            raise Refused(FAILED)

    def _set(self, data: bytes) -> None:
        address, value, mask, _ = _words(data, 4)
        if address in dict(self._part.registers) or len(self._registers) >= _KEPT:
            return
        self._registers[address] = self._registers.get(address, 0) & ~mask | value & mask

    def leave(self) -> None:
        """Loads the image, as the ROM does; where there is none the chip finds nothing to run."""
        self._code[:] = ERASED * len(self._code)
        at = self._part.start
        magic, count = self._stored[at : at + 2]
        if magic != _MAGIC or count > _MOST_SEGMENTS:
            return
        at += 8 + self._part.extension
        check, loaded = _SEED, bytearray(self._code)
        for _ in range(count):
            address, size = struct.unpack_from("<II", self._stored, at)
            at, to = at + 8, address - self._base
            if not 0 <= to <= to + size <= len(loaded) or at + size > len(self._stored):
                return
            loaded[to : to + size] = self._stored[at : at + size]
            check = reduce(xor, loaded[to : to + size], check)
            at += size
        if self._stored[at | 15] == check:
            self._code[:] = loaded


def _words(data: bytes, count: int) -> tuple[int, ...]:
    """The first words of a command's data. :class:`Refused` where there are fewer."""
    if len(data) < 4 * count:
        raise Refused(INVALID)
    return struct.unpack_from(f"<{count}I", data)


def _checked(data: bytes, check: int) -> bytes:
    """Data that are what was sent. :class:`Refused` when they are not."""
    size = _words(data, 4)[0]
    if size != len(data) - 16:
        raise Refused(INVALID)
    if reduce(xor, data[16:], _SEED) != check:
        raise Refused(BAD_CHECKSUM)
    return data
