"""The in-system programming of the K210's boot ROM, and of the program that flashers load to reach the serial flash.

No document of the vendor's describes it; commands are as kflash 1.1.6 sends them, and so is the stored image: flags
(encryption, and how the flash is read), the length, the bytes, and the SHA-256 of all that. After a reset the ROM loads
it into RAM. Without a pin that asks for programming the ROM listens first, and goes on when nobody asks for anything.
The loaded program's code is received and not run: its commands are known.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable

from ...model.target import Target
from ..config import FlashedChip
from .slip import Packets, packed

GREETING, MEMORY_WRITE, MEMORY_BOOT = 0xC2, 0xC3, 0xC5
FLASH_GREETING, FLASH_WRITE, REBOOT, BAUD, INIT = 0xD2, 0xD4, 0xD5, 0xD6, 0xD7
OK, BAD_LENGTH, BAD_CHECKSUM, WRONG_COMMAND = 0xE0, 0xE1, 0xE2, 0xE3
FLASH_BYTES = 16 << 20
ERASED = b"\xff"
#: operation, checksum of what follows it, address, length
_HEAD = struct.Struct("<HxxIII")
#: the image in the serial flash begins so: flags, and its length
_STORED = struct.Struct("<BI")
_ENCRYPTED = 1
#: bytes of the largest packet: a block of 64 KiB and its head
_MOST = (1 << 16) + _HEAD.size


def loaders(_target: Target, _known: FlashedChip, code: bytearray) -> Callable[[], Isp]:
    """See :data:`.loader.Loaders`."""
    stored = bytearray(ERASED * FLASH_BYTES)
    return lambda: Isp(stored, code)


class Isp:
    """See :class:`.loader.Loader`. ``stored`` is the serial flash, ``code`` the RAM that code is in."""

    def __init__(self, stored: bytearray, code: bytearray) -> None:
        self._stored, self._code = stored, code
        self._packets = Packets(_MOST)
        self.over = self._second = False

    def feed(self, byte: int) -> bytes:
        """Takes a byte; what it answers. Bytes in no packet end it: they are not a flasher's."""
        packet = self._packets.feed(byte)
        if self._packets.strange:
            self.over = True
        if packet is None or self.over:
            return b""
        operation, why = packet[0], self._does(packet)
        return b"" if why is None else packed(bytes((operation, why)))

    def _does(self, packet: bytes) -> int | None:
        """How it ended; None where nothing is answered."""
        operation = packet[0]
        if operation in (GREETING, FLASH_GREETING, INIT):
            return OK
        if operation == BAUD:  # a pseudo-terminal has none
            return None
        if operation == REBOOT:
            self.over = True
            return OK
        if len(packet) < _HEAD.size:
            return BAD_LENGTH
        _, check, address, length = _HEAD.unpack_from(packet)
        data = packet[_HEAD.size :]
        if zlib.crc32(packet[8:]) != check:
            return BAD_CHECKSUM
        if operation == MEMORY_BOOT:
            self._second = True
            return None
        if length != len(data):
            return BAD_LENGTH
        if operation == MEMORY_WRITE:
            return OK
        if operation == FLASH_WRITE and self._second and address + length <= len(self._stored):
            self._stored[address : address + length] = data
            return OK
        return WRONG_COMMAND

    def leave(self) -> None:
        """Loads the image, as the ROM does; where there is none the chip finds nothing to run."""
        self._code[:] = ERASED * len(self._code)
        flags, length = _STORED.unpack_from(self._stored)
        end = _STORED.size + length
        if flags & _ENCRYPTED or length > len(self._code):
            return
        if hashlib.sha256(self._stored[:end]).digest() == self._stored[end : end + 32]:
            self._code[:length] = self._stored[_STORED.size : end]
