"""Controllers of the flash in STM32 microcontrollers, as a loader and a debug port see them.

Registers and keys: PM0075 (F1), RM0090 section 3 (F4), RM0385 section 3 (F7), RM0367 section 3 (L0). All is done at
once: BSY is never set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

from .flash import Flash, Registers, Wrong

KEYS = (0x45670123, 0xCDEF89AB)
#: registers that both kinds have, by offset, and the F1's address of the page to erase
_KEYR, _SR, _CR, _AR = 0x04, 0x0C, 0x10, 0x14
#: bits of CR that both kinds have: program, erase a page or sector, erase all
_PG, _PER, _MER = 1, 2, 4
_F1_PAGE = 1024


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
    these a page of the F1, which programs at ``base``."""

    def __init__(self, flash: Flash, base: int, sectors: Sequence[int]) -> None:
        self._flash, self._base = flash, base
        self._sectors = [(a, b - a) for a, b in pairwise(accumulate(sectors, initial=0))]
        self._layout = F2 if sectors else F1
        self.size = self._layout.size
        self._keys: list[int] = []
        self._regs = {_SR: 0, _CR: self._layout.lock, _AR: 0} | self._layout.reset
        flash.store = self._store

    def _store(self, offset: int, data: bytes) -> None:
        self._regs[_SR] |= self._layout.done
        if self._regs[_CR] & (_PG | self._layout.lock) != _PG:
            raise Wrong
        self._flash.program(offset, data)

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


#: registers of the L0, by offset: control, keys of control and of program memory, status; with values after reset
_L0_PECR, _L0_PEKEYR, _L0_PRGKEYR, _L0_SR = 0x04, 0x0C, 0x10, 0x18
_L0_RESET = {_L0_PECR: 7, _L0_SR: 0xC, 0x1C: 0x807000AA}
_L0_KEYS = {_L0_PEKEYR: (0x89ABCDEF, 0x02030405), _L0_PRGKEYR: (0x8C9DAEBF, 0x13141516)}
#: bits of PECR: its lock, that of program memory, program a half-page or erase, erase, half-pages
_PELOCK, _PRGLOCK, _PROG, _ERASE, _FPRG = 1, 2, 8, 1 << 9, 1 << 10
_SELECTED = _PROG | _ERASE | _FPRG
#: bits of SR: done; a half-page begins elsewhere; no whole words; words were not erased; those above are errors
_EOP, _PGAERR, _SIZERR, _NOTZEROERR, _L0_ERRORS = 2, 1 << 9, 1 << 10, 1 << 16, 0x0003_2F02
_L0_PAGE, _L0_HALF = 128, 64


class LowPower:
    """The registers of the L0: two locks; with both open a word is programmed where it is written, 16 words make a
    half-page when FPRG is set, and a word written into a page erases it when ERASE is. An erased bit is 0."""

    size = 0x84

    def __init__(self, flash: Flash) -> None:
        self._flash = flash
        self._regs = dict(_L0_RESET)
        self._keys: dict[int, int] = {}
        self._half: dict[int, bytes] = {}
        flash.store = self._store

    def read(self, offset: int, size: int) -> int:
        """A register."""
        return self._regs.get(offset, 0) & ((1 << 8 * size) - 1)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register; the second key of a lock opens it."""
        if offset in _L0_KEYS:
            first, second = _L0_KEYS[offset]
            if self._keys.get(offset) == first and value == second:
                self._open(_PELOCK if offset == _L0_PEKEYR else _PRGLOCK)
            self._keys[offset] = value
        elif offset == _L0_SR:
            self._regs[_L0_SR] &= ~(value & _L0_ERRORS)
        elif offset == _L0_PECR:
            self._control(value)
        else:
            self._regs[offset] = value

    def _open(self, lock: int) -> None:
        if lock == _PELOCK or not self._regs[_L0_PECR] & _PELOCK:
            self._regs[_L0_PECR] &= ~lock

    def _control(self, value: int) -> None:
        """Locks can be set here, never opened; nothing else changes while PELOCK is set, which sets PRGLOCK too. What
        was selected ends with a lock: OpenOCD counts on it, who erases, locks, unlocks, and programs."""
        old = self._regs[_L0_PECR]
        if old & _PELOCK:
            return
        value |= old & _PRGLOCK | (_PRGLOCK if value & _PELOCK else 0)
        self._regs[_L0_PECR] = value & ~_SELECTED if value & _PRGLOCK else value
        self._half = {}

    def _store(self, offset: int, data: bytes) -> None:
        control = self._regs[_L0_PECR]
        if control & (_PELOCK | _PRGLOCK):
            raise Wrong
        if len(data) != 4 or offset % 4:
            self._regs[_L0_SR] |= _SIZERR
        elif control & _PROG and control & _ERASE:
            self._flash.erase(offset // _L0_PAGE * _L0_PAGE, _L0_PAGE)
            self._regs[_L0_SR] |= _EOP
        elif not control & _FPRG:
            self._program({offset: data})
        elif not self._half and offset % _L0_HALF:
            self._regs[_L0_SR] |= _PGAERR
        else:
            self._half[min(self._half, default=offset) + 4 * len(self._half)] = data
            if len(self._half) == _L0_HALF // 4:
                self._program(self._half)
                self._half = {}

    def _program(self, words: dict[int, bytes]) -> None:
        if any(self._flash.read(at, 4) for at in words):
            self._regs[_L0_SR] |= _NOTZEROERR
            return
        for at, word in words.items():
            self._flash.program(at, word)
        self._regs[_L0_SR] |= _EOP


def controller(flash: Flash, base: int, sectors: Sequence[int]) -> Sequence[Registers]:
    """That of F1, F4 and F7."""
    return (Controller(flash, base, sectors),)


def low_power(flash: Flash, base: int, sectors: Sequence[int]) -> Sequence[Registers]:
    """That of the L0."""
    return (LowPower(flash),)
