"""What an object file or an image holds, as the native reader finds it: sections, and the symbols that it wants from
others or has for them.

Every function raises :class:`ValueError` when what it gets is not a little-endian ELF file, or contradicts itself.
"""

from __future__ import annotations

from itertools import starmap

from msgspec import Struct

from .. import _native

#: kinds of symbols that are defined elsewhere, or wherever the linker puts them
_WANTED = ("undefined", "common")


class Section(Struct, frozen=True):
    """``kind`` is code, constants, data or bss; empty for a section that is not in memory. ``size`` in bytes."""

    name: str
    address: int
    size: int
    kind: str

    @property
    def placed(self) -> bool:
        """Whether it has an address in an image, or will have one."""
        return self.kind != "" and self.size > 0

    @property
    def loaded(self) -> bool:
        """Whether its bytes become part of an image."""
        return self.placed and self.kind != "bss"


class Symbol(Struct, frozen=True):
    """``kind`` is that of its section, undefined or common; empty for a mere number and for what is not in memory.
    ``size`` in bytes, 0 when unknown. ``local``: other objects do not see it. ``left``: bytes of its section from it
    on, 0 behind the section's end."""

    name: str
    size: int
    local: bool
    kind: str
    left: int


def sections(elf: bytes) -> list[Section]:
    """All of its sections, those without address too, which a loader does not see."""
    return list(starmap(Section, _native.elf_sections(elf)))


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """What a loader takes of it: bytes with their physical addresses, where they are before the program starts."""
    return _native.elf_segments(elf)


def symbols(elf: bytes) -> list[Symbol]:
    """All of its symbols that have a name."""
    return list(starmap(Symbol, _native.elf_symbols(elf)))


def address(elf: bytes, name: str) -> int | None:
    """Where an image has the symbol of that name; None where it has none."""
    return _native.elf_address(elf, name)


def undefined(elf: bytes) -> list[str]:
    """Names of the symbols that other objects must define, or may, which are common ones."""
    return [s.name for s in symbols(elf) if s.kind in _WANTED]


def exported(elf: bytes) -> list[str]:
    """Names of the symbols that it defines for other objects, common ones aside."""
    return [s.name for s in symbols(elf) if not s.local and s.kind not in _WANTED]


def defined(elf: bytes) -> set[str]:
    """Names that other objects can refer to, common ones too."""
    return {s.name for s in symbols(elf) if not s.local and s.kind != "undefined"}
