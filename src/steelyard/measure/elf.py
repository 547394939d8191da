"""Sections of an object file, all of them: those without address too, which a loader does not see."""

from __future__ import annotations

import struct

from msgspec import Struct

_NOBITS, _ALLOC = 8, 2


class Section(Struct, frozen=True):
    """``loaded`` says that its bytes become part of an image."""

    name: str
    size: int
    loaded: bool


def sections(elf: bytes) -> list[Section]:
    """Sections of a little-endian ELF file of 32 or 64 bits; :class:`ValueError` when it is none."""
    try:
        return _sections(elf)
    except (struct.error, IndexError) as e:
        raise ValueError(f"no ELF file: {e}") from e


def _sections(elf: bytes) -> list[Section]:
    if elf[:4] != b"\x7fELF" or elf[4] not in (1, 2) or elf[5] != 1:
        raise ValueError("no little-endian ELF file")
    wide = elf[4] == 2
    (table,) = struct.unpack_from("<Q" if wide else "<I", elf, 40 if wide else 32)
    step, count, names = struct.unpack_from("<HHH", elf, 58 if wide else 46)
    # name, type, flags, address, offset, size
    header = struct.Struct("<IIQQQQ" if wide else "<IIIIII")
    if step < header.size:
        raise ValueError(f"section headers of {step} bytes")
    headers = [header.unpack_from(elf, table + k * step) for k in range(count)]
    start, size = headers[names][4:6]
    text = elf[start : start + size]
    found = []
    for name, kind, flags, _, _, length in headers:
        end = text.find(b"\0", name)
        if end < 0:
            raise ValueError("a section's name does not end")
        shown = text[name:end].decode("utf-8", "replace")
        found.append(Section(shown, length, bool(flags & _ALLOC) and kind != _NOBITS and length > 0))
    return found
