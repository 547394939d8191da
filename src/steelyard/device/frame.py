"""What the frames between host and harness say. How they are made and found again after any garbage is
``crates/wire``'s; ``harness/main.c`` is the other end.
"""

from __future__ import annotations

import struct

from .._native import Decoder as Decoder
from .._native import encode as encode
from ..model.call import Op

SYNC = 0xA5
HELLO = 1
RUN = 2
ANSWER = 0x80
ERROR = 0xFF
PROTOCOL = 3
MAX_PAYLOAD = 0xFFFF
#: no frame is longer, header and CRC included
MAX_FRAME = MAX_PAYLOAD + 7
#: an answer's payload before the output bytes
RUN_ANSWER = struct.Struct("<iIBBII")
#: bits of its third field: nothing was written after the output buffer; the pin was as the harness left it; calls that
#: were repeated answered alike
INTACT, PULSE, ALIKE = 1, 2, 4
RUN_HEADER = struct.Struct("<BBBBHH")
HELLO_ANSWER = struct.Struct("<2sBBBBHHHHH")
TOO_LARGE = b"\x03"

#: what a run's header says of the operation: the image knows whether it encrypts or hashes
OPERATIONS = {Op.EMPTY: 0, Op.ENCRYPT: 1, Op.HASH: 1, Op.DECRYPT: 2, Op.EMPTY_DECRYPT: 3}

ERRORS = {
    1: "the frame's CRC does not fit",
    2: "unknown command",
    3: "too large for the target",
    4: "bad request",
}
