"""Flash of STM32 microcontrollers as its programming interface: what a loader and a debug port see of it.

Registers and keys: PM0075 (F1), RM0090 section 3 (F4), RM0385 section 3 (F7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from ...model import toml
from ...model.errors import UserError

PARTS = Path(__file__).parent / "stm32.toml"
ERASED = 0xFF
KEYS = (0x45670123, 0xCDEF89AB)
#: registers by offset: of the F1, then of F4 and F7
_F1_KEYR, _F1_SR, _F1_CR, _F1_AR, _F1_OBR = 0x04, 0x0C, 0x10, 0x14, 0x1C
_F1_PG, _F1_PER, _F1_MER, _F1_STRT, _F1_LOCK = (1 << n for n in (0, 1, 2, 6, 7))
_F1_PGERR, _F1_EOP = 1 << 2, 1 << 5
_F2_KEYR, _F2_OPTKEYR, _F2_SR, _F2_CR, _F2_OPTCR = 0x04, 0x08, 0x0C, 0x10, 0x14
_F2_PG, _F2_SER, _F2_MER, _F2_STRT, _F2_LOCK = (1 << n for n in (0, 1, 2, 16, 31))
_F2_PGSERR, _F2_EOP = 1 << 7, 1
_KIB = 1024


class Wrong(Exception):
    """There is no such register, or the flash cannot do that now."""


class Flash:
    """The memory: loaders read it anywhere, and write it where the controller is set to program.

    ``content`` is changed in place. Offsets are from its start.
    """

    def __init__(self, content: bytearray) -> None:
        self.content = content
        self.programs: Callable[[], bool] = lambda: False

    def read(self, offset: int, size: int) -> int:
        """Little-endian, of ``size`` bytes."""
        return int.from_bytes(self.content[offset : offset + size], "little")

    def write(self, offset: int, size: int, value: int) -> None:
        """Programs: bits can only be cleared. :class:`Wrong` where the controller is not set to do so."""
        if not self.programs():
            raise Wrong
        new = value.to_bytes(size, "little")
        for k, byte in enumerate(new):
            self.content[offset + k] &= byte

    def erase(self, start: int, size: int) -> None:
        """Sets a page to ones."""
        self.content[start : start + size] = bytes([ERASED]) * size


class F1Controller:
    """FLASH_ACR to FLASH_WRPR of the STM32F1: pages of 1 KiB, half-words, a key sequence."""

    size = 0x24

    def __init__(self, flash: Flash, base: int) -> None:
        self._flash, self._base = flash, base
        self._keys: list[int] = []
        self._regs = {_F1_CR: _F1_LOCK, _F1_OBR: 0x03FFFFFC, 0x20: 0xFFFFFFFF, 0x00: 0x30}
        flash.programs = self._programs

    def _programs(self) -> bool:
        self._regs[_F1_SR] = self._regs.get(_F1_SR, 0) | _F1_EOP
        return bool(self._regs[_F1_CR] & _F1_PG) and not self._regs[_F1_CR] & _F1_LOCK

    def read(self, offset: int, size: int) -> int:
        """A register; BSY is never set, because all is done at once."""
        return self._regs.get(offset, 0) & ((1 << 8 * size) - 1)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register and does what it starts."""
        if offset == _F1_KEYR:
            self._keys = [*self._keys[-1:], value]
            if tuple(self._keys) == KEYS:
                self._regs[_F1_CR] &= ~_F1_LOCK
        elif offset == _F1_SR:
            self._regs[_F1_SR] = self._regs.get(_F1_SR, 0) & ~value
        elif offset == _F1_CR:
            locked = self._regs[_F1_CR] & _F1_LOCK
            self._regs[_F1_CR] = locked | value & ~_F1_STRT if not locked else self._regs[_F1_CR] | value & _F1_LOCK
            if value & _F1_STRT and not locked:
                self._start(value)
        else:
            self._regs[offset] = value

    def _start(self, control: int) -> None:
        if control & _F1_MER:
            self._flash.erase(0, len(self._flash.content))
        elif control & _F1_PER:
            self._flash.erase((self._regs.get(_F1_AR, 0) - self._base) // _KIB * _KIB, _KIB)
        self._regs[_F1_SR] = self._regs.get(_F1_SR, 0) | _F1_EOP


class F2Controller:
    """FLASH_ACR to FLASH_OPTCR1 of F4 and F7: sectors by number, any width, a key sequence."""

    size = 0x1C

    def __init__(self, flash: Flash, sectors: Sequence[int]) -> None:
        self._flash = flash
        starts = list(accumulate(sectors, initial=0))
        self._sectors = [(a, b - a) for a, b in pairwise(starts)]
        self._keys: list[int] = []
        self._regs = {_F2_CR: _F2_LOCK, _F2_OPTCR: 0xC0FFAAFD}
        flash.programs = self._programs

    def _programs(self) -> bool:
        return bool(self._regs[_F2_CR] & _F2_PG) and not self._regs[_F2_CR] & _F2_LOCK

    def read(self, offset: int, size: int) -> int:
        """A register; BSY is never set, because all is done at once."""
        return self._regs.get(offset, 0) & ((1 << 8 * size) - 1)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register and does what it starts."""
        if offset == _F2_KEYR:
            self._keys = [*self._keys[-1:], value]
            if tuple(self._keys) == KEYS:
                self._regs[_F2_CR] &= ~_F2_LOCK
        elif offset == _F2_SR:
            self._regs[_F2_SR] = self._regs.get(_F2_SR, 0) & ~value
        elif offset == _F2_CR:
            if self._regs[_F2_CR] & _F2_LOCK:
                return
            self._regs[_F2_CR] = value & ~_F2_STRT
            if value & _F2_STRT:
                self._start(value)
        else:
            self._regs[offset] = value

    def _start(self, control: int) -> None:
        number = control >> 3 & 0xF
        if control & _F2_MER:
            self._flash.erase(0, len(self._flash.content))
        elif control & _F2_SER and number < len(self._sectors):
            self._flash.erase(*self._sectors[number])
        self._regs[_F2_SR] = self._regs.get(_F2_SR, 0) | _F2_EOP


class Part(toml.Table, frozen=True, kw_only=True):
    """What identifies a chip on its debug port, and its flash: ``sectors`` in bytes, none for pages of the F1.

    ``words`` are constants and their addresses, such as CPUID, DBGMCU_IDCODE and the flash size in KiB. ``flash`` is
    where flash is programmed, ``controller`` where its registers are.
    """

    dpidr: int
    apidr: int
    words: tuple[tuple[int, int], ...]
    flash: int
    controller: int
    sectors: tuple[int, ...] = ()

    def programmed(self, content: bytearray) -> Sequence[tuple[int, int, Flash | F1Controller | F2Controller]]:
        """The memory and its controller with base and size, as a loader sees them."""
        flash = Flash(content)
        control = F2Controller(flash, self.sectors) if self.sectors else F1Controller(flash, self.flash)
        return ((self.flash, len(content), flash), (self.controller, control.size, control))


class Parts(toml.Table, frozen=True, kw_only=True):
    """By the chip's name, as targets have it."""

    parts: dict[str, Part]


def part(chip_name: str) -> Part:
    """The chip of that name; :class:`UserError` when it has no virtual debug port."""
    known = toml.load(PARTS, Parts).parts
    if chip_name not in known:
        raise UserError(f"no virtual board has a debug port for a {chip_name}; there are: {', '.join(known)}")
    return known[chip_name]
