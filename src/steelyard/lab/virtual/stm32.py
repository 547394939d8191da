"""Flash of STM32 microcontrollers as its programming interface: what a loader and a debug port see of it.

Registers and keys: PM0075 (F1), RM0090 section 3 (F4), RM0385 section 3 (F7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from msgspec import Struct

from ...model import toml
from ...model.errors import UserError

PARTS = Path(__file__).parent / "stm32.toml"
ERASED = 0xFF
KEYS = (0x45670123, 0xCDEF89AB)
#: registers that both kinds have, by offset, and the F1's address of the page to erase
_KEYR, _SR, _CR, _AR = 0x04, 0x0C, 0x10, 0x14
#: bits of CR that both kinds have: program, erase a page or sector, erase all
_PG, _PER, _MER = 1, 2, 4
_F1_PAGE = 1024


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


class Layout(Struct, frozen=True):
    """How the controller of the F1 differs from that of F4 and F7: bytes of its registers, bits of CR that start and
    lock, the bit of SR that says that all is done, and values after reset."""

    size: int
    start: int
    lock: int
    done: int
    reset: dict[int, int]


F1 = Layout(0x24, 1 << 6, 1 << 7, 1 << 5, {0x00: 0x30, 0x1C: 0x03FFFFFC, 0x20: 0xFFFFFFFF})
F2 = Layout(0x1C, 1 << 16, 1 << 31, 1, {0x14: 0xC0FFAAFD})


class Controller:
    """The registers, FLASH_ACR first: a key sequence unlocks CR, which programs, or erases one of ``sectors``; without
    these a page of the F1, which programs at ``base``. All is done at once: BSY is never set."""

    def __init__(self, flash: Flash, base: int, sectors: Sequence[int]) -> None:
        self._flash, self._base = flash, base
        self._sectors = [(a, b - a) for a, b in pairwise(accumulate(sectors, initial=0))]
        self._layout = F2 if sectors else F1
        self.size = self._layout.size
        self._keys: list[int] = []
        self._regs = {_SR: 0, _CR: self._layout.lock, _AR: 0} | self._layout.reset
        flash.programs = self._programs

    def _programs(self) -> bool:
        self._regs[_SR] |= self._layout.done
        return self._regs[_CR] & (_PG | self._layout.lock) == _PG

    def read(self, offset: int, size: int) -> int:
        """A register."""
        return self._regs.get(offset, 0) & ((1 << 8 * size) - 1)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register and does what it starts."""
        if offset == _KEYR:
            self._keys = [*self._keys[-1:], value]
            if tuple(self._keys) == KEYS:
                self._regs[_CR] &= ~self._layout.lock
        elif offset == _SR:
            self._regs[_SR] &= ~value
        elif offset != _CR:
            self._regs[offset] = value
        elif not self._regs[_CR] & self._layout.lock:
            self._regs[_CR] = value & ~self._layout.start
            if value & self._layout.start:
                self._erase(value)

    def _erase(self, control: int) -> None:
        number = control >> 3 & 0xF
        if control & _MER:
            self._flash.erase(0, len(self._flash.content))
        elif control & _PER and not self._sectors:
            self._flash.erase((self._regs[_AR] - self._base) // _F1_PAGE * _F1_PAGE, _F1_PAGE)
        elif control & _PER and number < len(self._sectors):
            self._flash.erase(*self._sectors[number])
        self._regs[_SR] |= self._layout.done


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

    @property
    def device(self) -> int:
        """The number by which the chip's family knows it, in DBGMCU_IDCODE and in its boot loader."""
        return self.words[1][1] & 0xFFF

    def programmed(self, content: bytearray) -> Sequence[tuple[int, int, Flash | Controller]]:
        """The memory and its controller with base and size, as a loader sees them."""
        flash = Flash(content)
        control = Controller(flash, self.flash, self.sectors)
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
