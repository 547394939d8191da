"""The harness's wire format: framed binary with length and CRC, found again after any garbage.

Frame: 0xA5, command, length (2 bytes), check, payload, CRC (2 bytes), all little-endian; the check is
the complement of command + length bytes, the CRC is CRC-16/CCITT (start 0xFFFF) over command, length and
payload. ``harness/main.c`` is the other end.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx

from msgspec import Struct

SYNC = 0xA5
HELLO = 1
RUN = 2
ANSWER = 0x80
ERROR = 0xFF
PROTOCOL = 1
#: no frame is longer, header and CRC included
MAX_FRAME = 0xFFFF + 7
#: an answer's payload before the output bytes
RUN_ANSWER = struct.Struct("<hIBBHH")
RUN_HEADER = struct.Struct("<BBBBHH")
HELLO_ANSWER = struct.Struct("<2sBBBBHHHHH")

_SYNC = bytes((SYNC,))
_START = struct.Struct("<BH")
_HEADER = struct.Struct("<BHB")
_CRC = struct.Struct("<H")

ERRORS = {
    1: "the frame's CRC does not fit",
    2: "unknown command",
    3: "too large for the target",
    4: "bad request",
}


def encode(command: int, payload: bytes = b"") -> bytes:
    """One frame. ``payload`` holds at most 65535 bytes."""
    size = len(payload)
    start = _START.pack(command, size)
    crc = crc_hqx(payload, crc_hqx(start, 0xFFFF))
    check = ~(command + (size & 0xFF) + (size >> 8)) & 0xFF
    return b"%b%b%c%b%b" % (_SYNC, start, check, payload, _CRC.pack(crc))


class Frame(Struct, frozen=True):
    """A received frame with a correct CRC."""

    command: int
    payload: bytes


class Decoder:
    """Finds frames in a stream of bytes; garbage between and inside them is skipped and counted."""

    def __init__(self) -> None:
        self._buffer = b""
        self.skipped = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Frames that are complete now."""
        buffer, frames, at = self._buffer + data, [], 0
        size = len(buffer)
        while (start := buffer.find(_SYNC, at)) >= 0:
            self.skipped += start - at
            at = start
            if size < at + 5:
                break
            command, length, check = _HEADER.unpack_from(buffer, at + 1)
            end = at + 5 + length
            if check == ~(command + (length & 0xFF) + (length >> 8)) & 0xFF:
                if size < end + 2:
                    break
                payload = buffer[at + 5 : end]
                crc = crc_hqx(payload, crc_hqx(buffer[at + 1 : at + 4], 0xFFFF))
                if (crc,) == _CRC.unpack_from(buffer, end):
                    frames.append(Frame(command, payload))
                    at = end + 2
                    continue
            at += 1
            self.skipped += 1
        else:
            self.skipped += size - at
            at = size
        self._buffer = buffer[at:]
        return frames
