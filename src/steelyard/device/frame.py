"""The harness's wire format: framed binary with length and CRC, found again after any garbage.

Frame: 0xA5, command, length (2 bytes), check, payload, CRC (2 bytes), all little-endian; the check is
the complement of command + length bytes, the CRC is CRC-16/CCITT (start 0xFFFF) over command, length and
payload. ``harness/main.c`` is the other end.
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from typing import NamedTuple

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

ERRORS = {
    1: "the frame's CRC does not fit",
    2: "unknown command",
    3: "too large for the target",
    4: "bad request",
}


def encode(command: int, payload: bytes = b"") -> bytes:
    """One frame. ``payload`` holds at most 65535 bytes."""
    size = len(payload)
    head = struct.pack("<BH", command, size)
    body = head + payload
    check = ~(command + (size & 0xFF) + (size >> 8)) & 0xFF
    return b"\xa5" + head + bytes((check,)) + payload + struct.pack("<H", crc_hqx(body, 0xFFFF))


class Frame(NamedTuple):
    """A received frame with a correct CRC."""

    command: int
    payload: bytes


class Decoder:
    """Finds frames in a stream of bytes; garbage between and inside them is skipped and counted."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.skipped = 0

    def feed(self, data: bytes) -> list[Frame]:
        """Frames that are complete now."""
        self._buffer += data
        buffer, frames, at = self._buffer, [], 0
        while True:
            start = buffer.find(SYNC, at)
            if start < 0:
                self.skipped += len(buffer) - at
                at = len(buffer)
                break
            self.skipped += start - at
            at = start
            if len(buffer) < at + 5:
                break
            command, size, check = struct.unpack_from("<BHB", buffer, at + 1)
            if check != ~(command + (size & 0xFF) + (size >> 8)) & 0xFF:
                at += 1
                self.skipped += 1
                continue
            end = at + 5 + size
            if len(buffer) < end + 2:
                break
            payload = bytes(buffer[at + 5 : end])
            crc = crc_hqx(payload, crc_hqx(buffer[at + 1 : at + 4], 0xFFFF))
            if crc != int.from_bytes(buffer[end : end + 2], "little"):
                at += 1
                self.skipped += 1
                continue
            frames.append(Frame(command, payload))
            at = end + 2
        del buffer[:at]
        return frames
