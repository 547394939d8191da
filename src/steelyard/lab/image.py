"""The file that a flasher writes: the image itself, its bytes, or what the boot ROM of a chip loads, made of them.

Whatever it is, the bytes are those that the simulator runs. Layout of ESP images: Espressif, "Firmware Image Format".
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import reduce
from operator import xor

from ..model.elf import segments

#: an ESP image: magic, segments, flash mode (DIO), flash size and frequency (4 MB, 40 MHz), entry point
_ESP = struct.Struct("<BBBBI")
_ESP_MAGIC, _ESP_DIO, _ESP_SEED, _ESP_ROUND = 0xE9, 2, 0xEF, 16
#: its extension on chips after the first: no write-protection pin; any revision from 0 on; no digest
_ESP_EXTENSION = bytes((0xEE, 0, 0, 0)) + struct.pack("<HBHH5x", 0, 0, 0, 0xFFFF)
_SEGMENT = struct.Struct("<II")


def flat(elf: bytes, base: int, size: int) -> bytes:
    """What is loaded, from ``base`` on, by physical addresses: initial data lie where the start-up code fetches them.
    Gaps are zeros. :class:`ValueError` when it is not an ELF file, or not within ``size`` bytes.
    """
    content = bytearray()
    for address, data in segments(elf):
        at = address - base
        if not 0 <= at <= at + len(data) <= size:
            raise ValueError(f"{len(data)} bytes at {address:#x} are not in the chip's memory for code")
        content.extend(bytes(max(at + len(data) - len(content), 0)))
        content[at : at + len(data)] = data
    return bytes(content)


#: Intel HEX: bytes of a record of data, and kinds of records (Intel, Hexadecimal Object File Format, revision A)
_ROW, _DATA, _END, _UPPER = 16, 0, 1, 4
#: kinds whose two bytes are the base of the addresses that follow, and by how many bits they are shifted
_BASES = {2: 4, _UPPER: 16}
#: kinds whose four bytes are where the program starts: segment and offset, or an address
_SEGMENTED, _LINEAR = 3, 5


def intel_hex(elf: bytes) -> bytes:
    """What is loaded, by physical addresses, as Intel HEX. :class:`ValueError` when it is not an ELF file, or has
    addresses beyond 32 bits."""
    lines, upper = [], 0
    for start, data in segments(elf):
        if start + len(data) > 1 << 32:
            raise ValueError(f"{len(data)} bytes at {start:#x} are beyond the addresses that Intel HEX has")
        at = start
        while at < start + len(data):
            end = min(start + len(data), (at // _ROW + 1) * _ROW)  # no record goes past a multiple of 64 KiB
            if at >> 16 != upper:
                upper = at >> 16
                lines.append(_record(0, _UPPER, upper.to_bytes(2, "big")))
            lines.append(_record(at & 0xFFFF, _DATA, data[at - start : end - start]))
            at = end
    return "".join([*lines, _record(0, _END, b"")]).encode()


def from_intel_hex(text: bytes) -> list[tuple[int, bytes]]:
    """What an Intel HEX file has, by first addresses, in pieces that do not touch. :class:`ValueError` with the line
    that is not one of Intel HEX, or where two lines have the same byte."""
    parts: list[tuple[int, bytes, int]] = []
    base = 0
    for number, offset, kind, data in _records(text):
        if kind == _DATA and data:
            parts.append((base + offset, data, number))
        elif kind in _BASES and len(data) != 2:
            raise ValueError(f"line {number} has a base of {len(data)} bytes; Intel HEX has two")
        elif kind in _BASES:
            base = int.from_bytes(data, "big") << _BASES[kind]
    pieces: list[tuple[int, bytearray]] = []
    for at, data, number in sorted(parts):
        end = pieces[-1][0] + len(pieces[-1][1]) if pieces else 0
        if at + len(data) > 1 << 32:
            raise ValueError(f"line {number} has {len(data)} bytes at {at:#x}, which is beyond 32 bits")
        if at < end:
            raise ValueError(f"line {number} has bytes at {at:#x}, which another line has, too")
        if pieces and at == end:
            pieces[-1][1].extend(data)
        else:
            pieces.append((at, bytearray(data)))
    if not pieces:
        raise ValueError("Intel HEX without a byte")
    return [(at, bytes(content)) for at, content in pieces]


def start_of_intel_hex(text: bytes) -> int | None:
    """Where the program starts, if the file says so. :class:`ValueError` where it is not Intel HEX."""
    start = None
    for number, _, kind, data in _records(text):
        if kind in (_SEGMENTED, _LINEAR) and len(data) != 4:
            raise ValueError(f"line {number} has a start of {len(data)} bytes; Intel HEX has four")
        if kind == _SEGMENTED:
            start = (int.from_bytes(data[:2], "big") << 4) + int.from_bytes(data[2:], "big")
        elif kind == _LINEAR:
            start = int.from_bytes(data, "big")
    return start


def _records(text: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Line, lower half of the address, kind and data of each record before the last."""
    for number, line in enumerate(text.split(), 1):
        try:
            record = bytes.fromhex(line.decode("ascii").removeprefix(":"))
        except ValueError:
            record = b""
        if not line.startswith(b":") or len(record) < 5 or len(record) != record[0] + 5 or sum(record) & 0xFF:
            raise ValueError(f"line {number} is not a record of Intel HEX, or its checksum is wrong")
        if record[3] == _END:
            return
        yield number, int.from_bytes(record[1:3], "big"), record[3], record[4:-1]
    raise ValueError("Intel HEX without a record that ends it: a part of the file is missing")


def _record(address: int, kind: int, data: bytes) -> str:
    """A line of Intel HEX, whose bytes add up to 0."""
    content = bytes((len(data), address >> 8, address & 0xFF, kind)) + data
    return f":{content.hex()}{-sum(content) & 0xFF:02x}\n".upper()


def _esp(content: bytes, base: int, large: int, extension: bytes = b"") -> bytes:
    """One segment, which the boot ROM copies to ``base`` and enters there."""
    content += bytes(-len(content) % 4)
    made = _ESP.pack(_ESP_MAGIC, 1, _ESP_DIO, large << 4, base) + extension
    made += _SEGMENT.pack(base, len(content)) + content
    made += bytes(-(len(made) + 1) % _ESP_ROUND)
    return made + bytes((reduce(xor, content, _ESP_SEED),))


#: by the name that flashers have for it, of the bytes and their address
KINDS: dict[str, Callable[[bytes, int], bytes] | None] = {
    "elf": None,
    "bin": lambda content, base: content,
    "esp": lambda content, base: _esp(content, base, 4),
    "esp-extended": lambda content, base: _esp(content, base, 2, _ESP_EXTENSION),
}


def made(kind: str, elf: bytes, base: int, size: int) -> bytes:
    """The file's content for a chip that has ``size`` bytes for code at ``base``. :class:`ValueError` as above."""
    make = KINDS[kind]
    return make(flat(elf, base, size), base) if make else elf
