"""The debug port of a virtual Cortex-M board: halt, registers, memory, and loaders that run from RAM.

Registers: ARMv7-M Architecture Reference Manual (DDI 0403E), C1.6 and B3.2. There are no breakpoints: loaders end with
an instruction of their own.
"""

from __future__ import annotations

import json
from contextlib import suppress

from ... import _native
from ...model.target import Target
from .board import Chip, raw_image
from .stm32 import Flash, Wrong, part

AIRCR, DFSR, DHCSR, DCRSR, DCRDR, DEMCR = 0xE000_ED0C, 0xE000_ED30, 0xE000_EDF0, 0xE000_EDF4, 0xE000_EDF8, 0xE000_EDFC
_PRIVATE = range(0xE000_0000, 0xE010_0000)
_DEBUG_KEY, _RESET_KEY, _RESET_REQUEST = 0xA05F, 0x05FA, 1 << 2
_C_DEBUGEN, _C_HALT = 1, 2
_S_REGRDY, _S_HALT, _S_RESET = 1 << 16, 1 << 17, 1 << 25
_VC_CORERESET, _DFSR_HALTED, _DFSR_BKPT, _DFSR_VCATCH = 1, 1, 2, 8
_REGWNR = 1 << 16
#: DCRSR's numbers: r0 to lr, pc, xPSR, main stack pointer; with the place of each among the simulator's registers
_PLACES = {**{n: n for n in range(15)}, 15: 16, 16: 15, 17: 13}
#: cycles that a loader runs before the debugger is listened to again
SLICE = 200_000


class DebugPort:
    """What the memory access port of a board's chip shows. ``content`` is its flash, changed in place."""

    def __init__(self, chip: Chip, target: Target, content: bytearray) -> None:
        self.part = part(target.chip_name)
        self._words = dict(self.part.words)
        self._chip, self._target, self._content = chip, target, content
        self._windows = [*self.part.programmed(content)]
        if (base := target.chip.flash.base) != self.part.flash:  # the bus that code is fetched by has one of its own
            self._windows.append((base, len(content), self._windows[0][2]))
        self._loader: _native.Simulator | None = None
        self._values: list[int] = []
        self._control = self._catch = self._cause = self._register = 0
        self._was_reset = True
        self._kept: dict[int, int] = {}
        self.reset()

    @property
    def busy(self) -> bool:
        """Whether a loader runs."""
        return self._loader is not None and not self._values

    def reset(self) -> None:
        """The chip restarts; it halts at once where the debugger asked for that."""
        self._loader, self._values, self._was_reset = None, [], True
        self._chip.start(bytes(self._content))
        if self._catch & _VC_CORERESET and self._control & _C_DEBUGEN:
            self._halt(_DFSR_VCATCH)

    def go_on(self) -> None:
        """Runs the loader a little further."""
        if self._loader is None or self._values:
            return
        try:
            self._loader.run(b"", SLICE)
        except _native.SimulatorFault:  # its last instruction, or a defect: either way it is over, where it stands
            self._halt(_DFSR_BKPT)

    def _halt(self, cause: int) -> None:
        if self._values:
            return
        self._chip.halted = True
        self._values = (self._loader or self._chip.native).values
        self._cause |= cause
        if self._loader is not None:
            ram = self._target.chip.ram
            self._chip.native.write(ram.base, self._loader.read(ram.base, ram.size))
            self._loader = None

    def _resume(self) -> None:
        if not self._values:
            return
        ram, pc = self._target.chip.ram, self._values[-1]
        if ram.base <= pc < ram.base + ram.size:
            self._loader = self._loading(self._chip.native.read(ram.base, ram.size))
            self._loader.set_values(self._values)
        else:
            self._chip.native.set_values(self._values)
            self._chip.halted = False
        self._values = []

    def _loading(self, ram: bytes) -> _native.Simulator:
        """The core with its RAM as code, and the flash as what it programs."""
        where = {"base": self._target.chip.ram.base, "size": len(ram)}
        chip = {"core": self._target.chip.core, "clock_hz": self._target.chip.clock_hz, "flash": where, "ram": where}
        made = _native.Simulator(_native.Chip(json.dumps({**chip, "peripherals": []})))
        made.load(raw_image(ram, where["base"]))
        made.write(where["base"], ram)
        for base, size, window in self._windows:
            made.attach(base, size, window)
        return made

    def read(self, address: int, count: int) -> bytes:
        """``count`` bytes; zeros where there is nothing."""
        if address in _PRIVATE or address in self._words:
            words = range(address & ~3, address + count, 4)
            data = b"".join(self._word(at).to_bytes(4, "little") for at in words)
            return data[address % 4 :][:count]
        for base, size, window in self._windows:
            if base <= address and address + count <= base + size:
                if isinstance(window, Flash):
                    return bytes(window.content[address - base : address - base + count])
                return window.read(address - base, count).to_bytes(count, "little")
        try:
            return (self._loader or self._chip.native).read(address, count)
        except ValueError:
            return self._kept.get(address, 0).to_bytes(4, "little")[:count].ljust(count, b"\0")

    def write(self, address: int, data: bytes) -> None:
        """Writes ``data``; what is written to nothing is lost."""
        if address in _PRIVATE:
            for k in range(0, len(data), 4):
                self._set(address + k, int.from_bytes(data[k : k + 4], "little"))
            return
        for base, size, window in self._windows:
            if base <= address and address + len(data) <= base + size:
                width = 4 if isinstance(window, Flash) and len(data) % 4 == 0 else min(len(data), 4)
                with suppress(Wrong):  # a fault on the bus, of which nobody asks
                    for k in range(0, len(data), width):
                        part = data[k : k + width]
                        window.write(address - base + k, len(part), int.from_bytes(part, "little"))
                return
        try:
            (self._loader or self._chip.native).write(address, data)
        except ValueError:
            self._kept[address] = int.from_bytes(data[:4], "little")

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
        for known, value in self._words.items():
            if address == known & ~3:
                return value << 8 * (known % 4)
        return self._kept.get(address, 0)

    def _set(self, address: int, value: int) -> None:
        if address == DHCSR and value >> 16 == _DEBUG_KEY:
            self._control = value & 0xFFFF
            if value & (_C_HALT | _C_DEBUGEN) == _C_HALT | _C_DEBUGEN:
                self._halt(_DFSR_HALTED)
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
