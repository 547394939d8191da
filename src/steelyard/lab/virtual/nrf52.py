"""The controller of the flash in nRF52 chips, as a loader and a debug port see it: NVMC (nRF52840 Product Specification
v1.1, 4.3). All is done at once: READY is always 1."""

from __future__ import annotations

from collections.abc import Sequence

from .flash import Flash, Registers, Wrong

_READY, _READYNEXT, _CONFIG, _ERASEPAGE, _ERASEALL = 0x400, 0x408, 0x504, 0x508, 0x50C
#: values of CONFIG: write and erase
_WEN, _EEN = 1, 2
_PAGE = 4096


class Nvmc:
    """The registers: CONFIG lets words be written, or pages be erased by their address."""

    size = 0x550

    def __init__(self, flash: Flash) -> None:
        self._flash, self._config = flash, 0
        flash.store = self._store

    def _store(self, offset: int, data: bytes) -> None:
        if self._config != _WEN or len(data) != 4 or offset % 4:
            raise Wrong
        self._flash.program(offset, data)

    def read(self, offset: int, size: int) -> int:
        """A register."""
        return {_READY: 1, _READYNEXT: 1, _CONFIG: self._config}.get(offset, 0)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets CONFIG, or erases."""
        if offset == _CONFIG:
            self._config = value & 3
        elif self._config == _EEN and offset == _ERASEPAGE:
            self._flash.erase(value // _PAGE * _PAGE, _PAGE)
        elif self._config == _EEN and offset == _ERASEALL and value == 1:
            self._flash.erase(0, len(self._flash.content))


def controller(flash: Flash, base: int, sectors: Sequence[int]) -> Sequence[Registers]:
    """NVMC."""
    return (Nvmc(flash),)
