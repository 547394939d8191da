"""The debug port of a virtual Cortex-M board: halt, registers and memory, by registers that are in memory themselves.

ARMv7-M Architecture Reference Manual (DDI 0403E), C1.6 and B3.2.
"""

from __future__ import annotations

from ...model.target import Target
from .board import Chip
from .core import Core

AIRCR, DFSR, DHCSR, DCRSR, DCRDR, DEMCR = 0xE000_ED0C, 0xE000_ED30, 0xE000_EDF0, 0xE000_EDF4, 0xE000_EDF8, 0xE000_EDFC
_PRIVATE = range(0xE000_0000, 0xE010_0000)
_DEBUG_KEY, _RESET_KEY, _RESET_REQUEST = 0xA05F, 0x05FA, 1 << 2
_C_DEBUGEN, _C_HALT = 1, 2
_S_REGRDY, _S_HALT, _S_RESET = 1 << 16, 1 << 17, 1 << 25
_VC_CORERESET, _DFSR_HALTED, _DFSR_BKPT, _DFSR_VCATCH = 1, 1, 2, 8
_REGWNR = 1 << 16
#: DCRSR's numbers: r0 to lr, pc, xPSR, main stack pointer; with the place of each among the simulator's registers
_PLACES = {**{n: n for n in range(15)}, 15: 16, 16: 15, 17: 13}


class DebugPort(Core):
    """What the memory access port of a board's chip shows."""

    def __init__(self, chip: Chip, target: Target, content: bytearray) -> None:
        self._control = self._catch = self._cause = self._register = 0
        self._was_reset = True
        super().__init__(chip, target, content)

    def reset(self) -> None:
        """The chip restarts; it halts at once where the debugger asked for that."""
        self._was_reset = True
        super().reset()
        if self._catch & _VC_CORERESET and self._control & _C_DEBUGEN:
            self._stop(_DFSR_VCATCH)

    def _ended(self) -> None:
        self._stop(_DFSR_BKPT)

    def _stop(self, cause: int) -> None:
        if self._halt():
            self._cause |= cause

    def read(self, address: int, count: int) -> bytes:
        """``count`` bytes; zeros where there is nothing."""
        return self._of_words(address, count) if address in _PRIVATE else super().read(address, count)

    def write(self, address: int, data: bytes) -> None:
        """Writes ``data``; what is written to nothing is lost."""
        if address not in _PRIVATE:
            super().write(address, data)
            return
        for k in range(0, len(data), 4):
            self._set(address + k, int.from_bytes(data[k : k + 4], "little"))

    def _word(self, address: int) -> int:
        if address == DHCSR:
            reset, self._was_reset = self._was_reset, False
            halted = _S_HALT if self._values else 0
            return self._control | _S_REGRDY | halted | (_S_RESET if reset else 0)
        if address == DCRDR:
            return self._register
        if address == DEMCR:
            return self._catch
        if address == DFSR:
            return self._cause
        return super()._word(address)

    def _set(self, address: int, value: int) -> None:
        if address == DHCSR and value >> 16 == _DEBUG_KEY:
            self._control = value & 0xFFFF
            if value & (_C_HALT | _C_DEBUGEN) == _C_HALT | _C_DEBUGEN:
                self._stop(_DFSR_HALTED)
            else:
                self._resume()
        elif address == DCRDR:
            self._register = value
        elif address == DCRSR and self._values:
            self._transfer(value & 0x7F, bool(value & _REGWNR))
        elif address == DEMCR:
            self._catch = value
        elif address == DFSR:
            self._cause &= ~value
        elif address == AIRCR and value >> 16 == _RESET_KEY and value & _RESET_REQUEST:
            self.reset()
        else:
            self._kept[address] = value

    def _transfer(self, number: int, write: bool) -> None:
        """A core register to DCRDR, or from it."""
        at = _PLACES.get(number)
        if at is None:
            self._register = self._register if write else 0
        elif write:
            self._values[at] = self._register
        else:
            self._register = self._values[at]
