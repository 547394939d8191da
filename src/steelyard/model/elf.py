"""What an object file holds: all of its sections, those without address too, which a loader does not see, and the
symbols that it wants from others or has for them."""

from __future__ import annotations

import struct

from msgspec import Struct

_SYMTAB, _NOBITS, _ALLOC, _UNDEFINED, _COMMON = 2, 8, 2, 0, 0xFFF2


class Section(Struct, frozen=True):
    """``loaded`` says that its bytes become part of an image, ``placed`` that it has an address there."""

    name: str
    size: int
    loaded: bool
    placed: bool = False
    address: int = 0


def sections(elf: bytes) -> list[Section]:
    """Sections of a little-endian ELF file of 32 or 64 bits; :class:`ValueError` when it is none."""
    try:
        return _sections(elf)
    except (struct.error, IndexError) as e:
        raise ValueError(f"no ELF file: {e}") from e


def undefined(elf: bytes) -> list[str]:
    """Names of the symbols that other objects must define, or may, which are common ones; :class:`ValueError` as
    :func:`sections`."""
    return [name for name, _, section in _read_symbols(elf) if section in (_UNDEFINED, _COMMON)]


def exported(elf: bytes) -> list[str]:
    """Names of the symbols that it defines for other objects, common ones aside; :class:`ValueError` as
    :func:`sections`."""
    symbols = _read_symbols(elf)
    return [name for name, local, section in symbols if not local and section not in (_UNDEFINED, _COMMON)]


def defined(elf: bytes) -> set[str]:
    """Names that other objects can refer to, common ones too; :class:`ValueError` as :func:`sections`."""
    return {name for name, local, section in _read_symbols(elf) if section != _UNDEFINED and not local}


def _read_symbols(elf: bytes) -> list[tuple[str, bool, int]]:
    try:
        return _symbols(elf)
    except (struct.error, IndexError) as e:
        raise ValueError(f"no ELF file: {e}") from e


def _headers(elf: bytes) -> tuple[bool, list[tuple[int, ...]], int]:
    """Whether addresses have 64 bits, section headers, and which of them is their names'."""
    if elf[:4] != b"\x7fELF" or elf[4] not in (1, 2) or elf[5] != 1:
        raise ValueError("no little-endian ELF file")
    wide = elf[4] == 2
    (table,) = struct.unpack_from("<Q" if wide else "<I", elf, 40 if wide else 32)
    step, count, names = struct.unpack_from("<HHH", elf, 58 if wide else 46)
    # name, type, flags, address, offset, size, link
    header = struct.Struct("<IIQQQQI" if wide else "<IIIIIII")
    if step < header.size:
        raise ValueError(f"section headers of {step} bytes")
    return wide, [header.unpack_from(elf, table + k * step) for k in range(count)], names


def _text(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    if end < 0:
        raise ValueError("a name does not end")
    return table[at:end].decode("utf-8", "replace")


def _sections(elf: bytes) -> list[Section]:
    _, headers, names = _headers(elf)
    start, size = headers[names][4:6]
    text = elf[start : start + size]
    found = []
    for name, kind, flags, address, _, length, _ in headers:
        placed = bool(flags & _ALLOC) and length > 0
        found.append(Section(_text(text, name), length, placed and kind != _NOBITS, placed, address))
    return found


def _symbols(elf: bytes) -> list[tuple[str, bool, int]]:
    """Name, whether other objects do not see it, and number of the section, of each symbol with a name."""
    wide, headers, _ = _headers(elf)
    # name, value, size, info, other, section; the same in another order
    symbol = struct.Struct("<IBBHQQ" if wide else "<IIIBBH")
    info, section = (1, 3) if wide else (3, 5)
    found = []
    for _, kind, _, _, start, size, link in headers:
        if kind != _SYMTAB:
            continue
        text = elf[headers[link][4] :][: headers[link][5]]
        for fields in symbol.iter_unpack(elf[start : start + size - size % symbol.size]):
            if fields[0]:
                found.append((_text(text, fields[0]), fields[info] >> 4 == 0, fields[section]))
    return found
