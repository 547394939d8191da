"""The programmer on an Arduino Nano Every, which has the board's serial port after a touch at 1200 baud: messages of
Atmel's application note AVR067, "JTAGICE mkII Communication Protocol" (2587), as far as avrdude asks for them.

A message (section 3): 0x1B, a number, the body's length, 0x0E, the body, and a CRC of all of it. Bodies begin with a
command or its answer; memories are those that the note has for XMEGA. The chip's interface UPDI shows all of them among
data, flash from 0x4000 on (ATmega4808/4809 data sheet DS40002173, "Memory Map" and "Signature Row").
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from ...model.target import Target
from ..config import FlashedChip

_START, _TOKEN = 0x1B, 0x0E
_HEAD = struct.Struct("<BHIB")
_CRC = 2
#: the most that a body may have: a page, with its command
_MOST = 600
SIGN_OFF, SIGN_ON, SET_PARAMETER, GET_PARAMETER, WRITE, READ, GO, RESET = 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x0B
DEVICE, SYNC, ENTER, LEAVE, ERASE, PARAMETERS = 0x0C, 0x0F, 0x14, 0x15, 0x34, 0x36
OK, PARAMETER, MEMORY, SIGNED = 0x80, 0x81, 0x82, 0x86
FAILED, BAD_PARAMETER, BAD_MEMORY, BAD_RANGE, BAD_COMMAND = 0xA0, 0xA1, 0xA2, 0xA3, 0xAA
#: what it says of itself: it takes part, versions and kinds of two controllers, a serial number, its name
_IDENTITY = bytes((1, 0xFF, 0, 6, 1, 0xFF, 0, 6, 1, *bytes(6))) + b"JTAGICE mkII\0"
#: parameters: hardware and firmware, baud, supply in millivolts
_HARDWARE, _FIRMWARE, _BAUD, _VTARGET = 0x01, 0x02, 0x05, 0x06
_VALUES = {_HARDWARE: bytes((1, 1)), _FIRMWARE: bytes((0, 6, 0, 6)), _BAUD: b"\7", _VTARGET: struct.pack("<H", 5000)}
#: memory, bytes and address of an access
_ACCESS = struct.Struct("<BII")
FLASH_PAGE, SIGNATURE, FLASH, BOOT_FLASH = 0xB0, 0xB4, 0xC0, 0xC1
_FLASHES = (FLASH_PAGE, FLASH, BOOT_FLASH)
#: kinds of erasure: the chip, and a page of its flash
_CHIP, _PAGES = 0x00, (0x04, 0x05)
PAGE = 128
#: where the signature row is among data, and flash
_SIGROW, _FLASH = 0x1100, 0x4000


def crc(data: bytes) -> int:
    """CRC-16 of ITU-T V.41, the lowest bit first, from all ones on."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
    return value


def message(number: int, body: bytes) -> bytes:
    """A message as it goes over the line."""
    whole = _HEAD.pack(_START, number, len(body), _TOKEN) + body
    return whole + struct.pack("<H", crc(whole))


def loaders(_target: Target, known: FlashedChip, flash: bytearray) -> Callable[[], Programmer]:
    """See :data:`.loader.Loaders`."""
    signature = bytes.fromhex(known.signature)
    return lambda: Programmer(flash, signature)


class Programmer:
    """See :class:`.loader.Loader`. Programs ``flash``. Bytes in no message end it: the line is the chip's again."""

    def __init__(self, flash: bytearray, signature: bytes) -> None:
        self._flash, self._signature = flash, signature
        self._held = bytearray()
        self._programming = False
        self.over = False

    def feed(self, byte: int) -> bytes:
        """Takes a byte; what it answers."""
        held = self._held
        held.append(byte)
        if held[0] != _START:
            self.over = True
        if self.over or len(held) < _HEAD.size:
            return b""
        _, number, length, token = _HEAD.unpack_from(held)
        if token != _TOKEN or length > _MOST:
            held.clear()
            return b""
        if len(held) < _HEAD.size + length + _CRC:
            return b""
        whole, check = bytes(held[:-_CRC]), held[-_CRC:]
        held.clear()
        if crc(whole) != int.from_bytes(check, "little"):
            return b""  # whoever sent it asks again
        return message(number, self._answer(whole[_HEAD.size :]))

    def leave(self) -> None:
        """The program runs where it was written."""

    def _answer(self, body: bytes) -> bytes:
        """The body of the answer to one."""
        command, rest = body[:1], body[1:]
        if command == bytes((SIGN_ON,)):
            return bytes((SIGNED,)) + _IDENTITY
        if command == bytes((GET_PARAMETER,)):
            value = _VALUES.get(rest[0]) if rest else None
            return bytes((BAD_PARAMETER,)) if value is None else bytes((PARAMETER,)) + value
        if command == bytes((READ,)):
            return self._read(rest)
        return bytes((self._does(body[0] if body else 0xFF, rest),))

    def _does(self, command: int, rest: bytes) -> int:
        """How a command ended."""
        if command in (SET_PARAMETER, DEVICE, SYNC, GO, RESET, PARAMETERS):
            return OK
        if command in (ENTER, LEAVE):
            self._programming = command == ENTER
            return OK
        if command == SIGN_OFF:
            self.over = True
            return OK
        if command == WRITE and self._programming:
            return self._write(rest)
        if command == ERASE and self._programming and len(rest) >= 5:
            return self._erase(rest[0], struct.unpack_from("<I", rest, 1)[0])
        return FAILED if command in (WRITE, ERASE) else BAD_COMMAND

    def _read(self, rest: bytes) -> bytes:
        if len(rest) != _ACCESS.size:
            return bytes((BAD_RANGE,))
        kind, count, address = _ACCESS.unpack(rest)
        if kind == SIGNATURE and address >= _SIGROW:
            found = self._signature[address - _SIGROW :][:count]
        elif kind in _FLASHES and address >= _FLASH:
            found = bytes(self._flash[address - _FLASH :][:count])
        else:
            return bytes((BAD_MEMORY,))
        return bytes((MEMORY,)) + found if len(found) == count else bytes((BAD_RANGE,))

    def _write(self, rest: bytes) -> int:
        if len(rest) < _ACCESS.size:
            return BAD_RANGE
        kind, count, address = _ACCESS.unpack_from(rest)
        data, at = rest[_ACCESS.size :], address - _FLASH
        if kind not in _FLASHES:
            return BAD_MEMORY
        if len(data) != count or not 0 <= at <= len(self._flash) - count:
            return BAD_RANGE
        self._flash[at : at + count] = bytes(a & b for a, b in zip(self._flash[at : at + count], data, strict=True))
        return OK

    def _erase(self, kind: int, address: int) -> int:
        at = (address - _FLASH) // PAGE * PAGE
        if kind == _CHIP:
            self._flash[:] = b"\xff" * len(self._flash)
        elif kind in _PAGES and 0 <= at < len(self._flash):
            self._flash[at : at + PAGE] = b"\xff" * PAGE
        else:
            return FAILED
        return OK
