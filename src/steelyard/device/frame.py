"""The content of frames between host and harness. ``crates/wire`` encodes them and finds them again after garbage;
``harness/main.c`` is the other end."""

from __future__ import annotations

import struct

from .._native import Decoder as Decoder
from .._native import encode as encode
from ..model.call import Op

SYNC = 0xA5
HELLO = 1
RUN = 2
HASTEN = 3
ANSWER = 0x80
ERROR = 0xFF
PROTOCOL = 9
MAX_PAYLOAD = 0xFFFF
#: bytes before the payload, and after it
HEAD, TAIL = 5, 2
#: no frame is longer, header and CRC included
MAX_FRAME = MAX_PAYLOAD + HEAD + TAIL
#: the part of an answer's payload before the output
RUN_ANSWER = struct.Struct("<iIBBIII")
#: bits of its third field: nothing was written after the output buffer; the pin was as the harness left it; repeated
#: calls gave equal answers; a call changed its nonce or context
INTACT, PULSE, ALIKE, CHANGED = 1, 2, 4, 8
#: flags of a run: the harness measures the stack, gives the input the output's address, and makes another call first
PAINT, IN_PLACE, WARM = 1, 2, 4
#: operation, flags, bytes by which inputs and output are misaligned, bytes of data and associated data
RUN_HEADER = struct.Struct("<BBBBHH")
#: the bit of the handshake's parts that says that the harness settles caches, and can leave them warm
WARMS = 4
#: the one that says that decryption's schedule goes on from encryption's round keys
CONTINUES = 8
HELLO_ANSWER = struct.Struct("<2sBBBBHHHHHBI")
TOO_LARGE = b"\x03"

#: an operation's number in a run's header; encryption and hash share one, because an image offers one of them
OPERATIONS = {Op.EMPTY: 0, Op.ENCRYPT: 1, Op.HASH: 1, Op.DECRYPT: 2, Op.EMPTY_DECRYPT: 3}
OPERATIONS |= {Op.SCHEDULE_ENCRYPT: 4, Op.SCHEDULE_DECRYPT: 5}
#: the bit of one that has the harness do all of it but the package's function, of block ciphers only
HOLLOW = 8

ERRORS = {
    1: "the frame's CRC does not match",
    2: "unknown command",
    3: "too large for the target",
    4: "bad request",
}


def pulses(request: bytes) -> int:
    """The trigger pulses that a request makes; the last is its own call's."""
    if request[1:2] != bytes((RUN,)):
        return 0
    return 2 if request[HEAD + 1] & WARM else 1


def heap(said: int, capacity: int) -> tuple[int, bool]:
    """The most bytes of heap that a call had, and whether it had no room for more, which a bit says (harness/heap.c).
    ``capacity`` are the bytes that there are for calls."""
    bit = 1 << 31 if said >> 31 or capacity >= 1 << 15 else 1 << 15
    return said & ~bit, bool(said & bit)


def message(run: bytes) -> bytes:
    """The message of a request for a call, given its payload: it comes last."""
    return run[len(run) - RUN_HEADER.unpack_from(run)[4] :] if len(run) >= RUN_HEADER.size else b""


def fill(request: bytes) -> int:
    """The byte that the harness fills the output buffer with before a call: the low one of the request's CRC."""
    return request[-TAIL]


def rest(came: bytes | bytearray) -> int:
    """Bytes of a frame that are still to come when these have; at least 1, as where they do not begin with a frame."""
    if len(came) < HEAD:
        return HEAD - len(came)
    if came[0] != SYNC:
        return 1
    return max(HEAD + int.from_bytes(came[2:4], "little") + TAIL - len(came), 1)
