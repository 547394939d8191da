"""Flash in a chip: memory that everybody reads, and that is written as its controller says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

ERASED = 0xFF


class Wrong(Exception):
    """There is no such register, or the flash cannot do that now."""


class Registers(Protocol):
    """What the bus sees of a controller: ``size`` bytes."""

    @property
    def size(self) -> int:
        """Bytes."""

    def read(self, offset: int, size: int) -> int:
        """A register."""

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register and does what it starts."""


def _locked(offset: int, data: bytes) -> None:
    raise Wrong


class Flash:
    """The memory. ``content`` is changed in place; offsets are from its start. ``erased`` is a byte that was erased:
    programming can only clear the bits of ones, and set those of zeros. ``store`` is the controller's, called with
    what somebody writes into the memory; it raises :class:`Wrong` where that is a fault on the bus."""

    def __init__(self, content: bytearray, erased: int = ERASED) -> None:
        self.content, self.erased = content, erased
        self.store: Callable[[int, bytes], None] = _locked

    def read(self, offset: int, size: int) -> int:
        """Little-endian, of ``size`` bytes."""
        return int.from_bytes(self.content[offset : offset + size], "little")

    def write(self, offset: int, size: int, value: int) -> None:
        """What the controller makes of a write by the core or the debug port."""
        self.store(offset, value.to_bytes(size, "little"))

    def program(self, offset: int, data: bytes) -> None:
        """Changes bits of bytes that exist from what they are when erased; none back."""
        old = self.content[offset : offset + len(data)]
        new = (a & b if self.erased else a | b for a, b in zip(old, data, strict=False))
        self.content[offset : offset + len(old)] = bytes(new)

    def erase(self, start: int, size: int) -> None:
        """Erases what exists of these bytes."""
        size = len(self.content[start : start + size])
        self.content[start : start + size] = bytes([self.erased]) * size
