"""Controllers of the flash in SAM chips, as a debug port sees them: what is written to the memory fills a buffer of a
page, and a command programs that.

EEFC: SAM3X/SAM3A data sheet 11057C, section 18. NVMCTRL: SAM D21/DA1 family data sheet DS40001882, section 22. All is
done at once: both are always ready. Nothing is locked, and no region can be.
"""

from __future__ import annotations

from collections.abc import Sequence

from .flash import ERASED, Flash, Registers


class _Buffer:
    """A page's bytes that are not programmed yet."""

    def __init__(self, size: int) -> None:
        self._content = bytearray([ERASED]) * size

    def fill(self, offset: int, data: bytes) -> None:
        """Bits can only be cleared; addresses count within the page."""
        for k, byte in enumerate(data, offset):
            self._content[k % len(self._content)] &= byte

    def taken(self) -> bytes:
        """What is in it; then it is empty."""
        content = bytes(self._content)
        self._content[:] = bytes([ERASED]) * len(content)
        return content


#: registers of the EEFC: mode, command, status, result
_FMR, _FCR, _FSR, _FRR = 0x0, 0x4, 0x8, 0xC
_FKEY = 0x5A
#: commands: write a page, erase and write it, erase all, get lock bits
_WP, _EWP, _EA, _GLB = 0x1, 0x3, 0x5, 0xA
#: bits of FSR: ready, no such command
_FRDY, _FCMDE = 1, 2
_EEFC_PAGE = 256


class Eefc:
    """The registers of one bank, ``length`` bytes of flash from ``start`` on."""

    size = 0x200

    def __init__(self, flash: Flash, start: int, length: int) -> None:
        self._flash, self._start, self._length = flash, start, length
        self._buffer = _Buffer(_EEFC_PAGE)
        self._mode, self._status = 0, 0
        self.fill = self._buffer.fill

    def read(self, offset: int, size: int) -> int:
        """A register. FSR forgets its errors. FRR is only asked for lock bits."""
        if offset == _FSR:
            status, self._status = self._status, 0
            return status | _FRDY
        return self._mode if offset == _FMR else 0

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets the mode, or does a command."""
        if offset == _FMR:
            self._mode = value
        elif offset == _FCR:
            self._status = 0
            if value >> 24 != _FKEY or not self._does(value & 0xFF, (value >> 8 & 0xFFFF) * _EEFC_PAGE):
                self._status = _FCMDE

    def _does(self, command: int, page: int) -> bool:
        """Whether that was a command; ``page`` is the offset of one in the bank."""
        if command == _EA:
            self._flash.erase(self._start, self._length)
        elif command in (_WP, _EWP) and page < self._length:
            if command == _EWP:
                self._flash.erase(self._start + page, _EEFC_PAGE)
            self._flash.program(self._start + page, self._buffer.taken())
        else:
            return command == _GLB
        return True


#: registers of NVMCTRL: control A and B, sizes, flags, status, address, locks
_CTRLA, _CTRLB, _PARAM, _INTFLAG, _STATUS, _ADDR, _LOCK = 0x00, 0x04, 0x08, 0x14, 0x18, 0x1C, 0x20
_CMDEX = 0xA5
#: commands: erase a row, write a page, clear the buffer
_ER, _NVM_WP, _PBC = 0x02, 0x04, 0x44
#: bits of CTRLB, INTFLAG and STATUS: pages are written by command only; ready; no such command
_MANW, _READY, _PROGE = 1 << 7, 1, 1 << 2
_NVM_PAGE, _ROW = 64, 256
#: PARAM's code for pages of 64 bytes, and LOCK's value when nothing is locked
_PSZ, _UNLOCKED = 3 << 16, 0xFFFF


class Nvmctrl:
    """The registers. ADDR counts halfwords; what is written to the memory sets it."""

    size = 0x24

    def __init__(self, flash: Flash) -> None:
        self._flash, self._buffer = flash, _Buffer(_NVM_PAGE)
        pages = len(flash.content) // _NVM_PAGE
        self._regs = {_CTRLB: _MANW, _PARAM: _PSZ | pages, _INTFLAG: _READY, _STATUS: 0, _ADDR: 0, _LOCK: _UNLOCKED}
        flash.store = self._store

    def read(self, offset: int, size: int) -> int:
        """A register."""
        return self._regs.get(offset, 0) & ((1 << 8 * size) - 1)

    def write(self, offset: int, size: int, value: int) -> None:
        """Sets a register, or does a command."""
        if offset == _CTRLA:
            if value >> 8 != _CMDEX or not self._does(value & 0x7F, self._regs[_ADDR] * 2):
                self._regs[_STATUS] |= _PROGE
        elif offset == _STATUS:
            self._regs[_STATUS] &= ~value
        elif offset == _ADDR:
            self._regs[_ADDR] = value

    def _store(self, offset: int, data: bytes) -> None:
        self._buffer.fill(offset, data)
        self._regs[_ADDR] = offset // 2

    def _does(self, command: int, at: int) -> bool:
        """Whether that was a command."""
        if command == _ER:
            self._flash.erase(at // _ROW * _ROW, _ROW)
        elif command == _NVM_WP:
            self._flash.program(at // _NVM_PAGE * _NVM_PAGE, self._buffer.taken())
        elif command == _PBC:
            self._buffer.taken()
        else:
            return False
        return True


def eefc(flash: Flash, base: int, sectors: Sequence[int]) -> Sequence[Registers]:
    """One for each of the banks, which ``sectors`` are here."""
    starts = [sum(sectors[:k]) for k in range(len(sectors))]
    made = [Eefc(flash, start, length) for start, length in zip(starts, sectors, strict=True)]

    def store(offset: int, data: bytes) -> None:
        made[sum(offset >= start for start in starts) - 1].fill(offset, data)

    flash.store = store
    return made


def nvmctrl(flash: Flash, base: int, sectors: Sequence[int]) -> Sequence[Registers]:
    """NVMCTRL."""
    return (Nvmctrl(flash),)
