"""A core that a debugger stops, looks into and lets go, whichever debug port leads to it. Loaders that it puts into RAM
run there; each ends with an instruction of its own, for there are no breakpoints."""

from __future__ import annotations

import json
from contextlib import suppress

from ... import _native
from ...model.target import Target
from .board import Chip, raw_image
from .flash import Flash, Wrong
from .parts import part

#: cycles that a loader runs before the debugger is listened to again
SLICE = 200_000


class Core:
    """The core of a board's chip, with its buses. ``content`` is its flash, changed in place."""

    def __init__(self, chip: Chip, target: Target, content: bytearray) -> None:
        self.part = part(target.chip_name)
        self._words = dict(self.part.words)
        self._chip, self._target, self._content = chip, target, content
        ram = target.chip.ram
        #: where RAM is seen, and how much of it, and where the loader runs in it
        self._seen = [(ram.base, ram.size), *([self.part.mirror] if self.part.mirror else [])]
        self._runs_at = ram.base
        self._loader: _native.Simulator | None = None
        #: registers while it is halted, in the simulator's order
        self._values: list[int] = []
        self._kept: dict[int, int] = {}
        self.reset()

    @property
    def busy(self) -> bool:
        """Whether a loader runs."""
        return self._loader is not None and not self._values

    def reset(self) -> None:
        """The chip restarts, with its flash locked, and runs."""
        self._loader, self._values = None, []
        self._windows = [*self.part.programmed(self._content)]
        if (base := self._target.chip.flash.base) != self.part.flash:  # the bus that fetches code has one of its own
            self._windows.append((base, len(self._content), self._windows[0][2]))
        self._chip.start(bytes(self._content))

    def go_on(self) -> None:
        """Runs the loader a little further."""
        if self._loader is None or self._values:
            return
        try:
            self._loader.run(b"", SLICE)
        except _native.SimulatorFault:  # its last instruction, or a defect: either way it is over, where it stands
            self._ended()

    def _ended(self) -> None:
        """The loader is over."""
        self._halt()

    def _halt(self) -> bool:
        """Stops it; whether it ran."""
        if self._values:
            return False
        self._chip.halted = True
        self._values = (self._loader or self._chip.native).values
        if self._loader is not None:
            left = self._loader.read(self._runs_at, dict(self._seen)[self._runs_at])
            self._chip.native.write(self._target.chip.ram.base, left)
            self._loader = None
        return True

    def _resume(self) -> None:
        if not self._values:
            return
        pc = self._values[-1]
        for base, size in self._seen:
            if base <= pc < base + size:
                self._runs_at = base
                self._loader = self._loading(self._chip.native.read(self._target.chip.ram.base, size))
                self._loader.set_values(self._values)
                break
        else:
            self._chip.native.set_values(self._values)
            self._chip.halted = False
        self._values = []

    def _loading(self, ram: bytes) -> _native.Simulator:
        """The core with its RAM as code, and the flash as what it programs."""
        where = {"base": self._runs_at, "size": len(ram)}
        chip = {"core": self._target.chip.core, "clock_hz": self._target.chip.clock_hz, "flash": where, "ram": where}
        made = _native.Simulator(_native.Chip(json.dumps({**chip, "peripherals": []})))
        made.load(raw_image(ram, where["base"]))
        made.write(where["base"], ram)
        for base, size, window in self._windows:
            made.attach(base, size, window)
        return made

    def read(self, address: int, count: int) -> bytes:
        """``count`` bytes; zeros where there is nothing."""
        if address in self._words:
            return self._of_words(address, count)
        for base, size, window in self._windows:
            if base <= address and address + count <= base + size:
                if isinstance(window, Flash):
                    return bytes(window.content[address - base : address - base + count])
                value = window.read(address - base, count) & ((1 << 8 * count) - 1)
                return value.to_bytes(count, "little")
        try:
            return (self._loader or self._chip.native).read(self._in_ram(address), count)
        except ValueError:
            return self._kept.get(address, 0).to_bytes(4, "little")[:count].ljust(count, b"\0")

    def write(self, address: int, data: bytes) -> None:
        """Writes ``data``; what is written to nothing is lost."""
        for base, size, window in self._windows:
            if base <= address and address + len(data) <= base + size:
                width = 4 if isinstance(window, Flash) and len(data) % 4 == 0 else min(len(data), 4)
                with suppress(Wrong):  # a fault on the bus, of which nobody asks
                    for k in range(0, len(data), width):
                        part = data[k : k + width]
                        window.write(address - base + k, len(part), int.from_bytes(part, "little"))
                return
        try:
            (self._loader or self._chip.native).write(self._in_ram(address), data)
        except ValueError:
            self._kept[address] = int.from_bytes(data[:4], "little")

    def _of_words(self, address: int, count: int) -> bytes:
        words = range(address & ~3, address + count, 4)
        data = b"".join(self._word(at).to_bytes(4, "little") for at in words)
        return data[address % 4 :][:count]

    def _word(self, address: int) -> int:
        """A word that is not in memory."""
        for known, value in self._words.items():
            if address == known & ~3:
                return value << 8 * (known % 4)
        return self._kept.get(address, 0)

    def _in_ram(self, address: int) -> int:
        """Where that is by the one address that whoever runs has for RAM."""
        at = self._runs_at if self._loader else self._target.chip.ram.base
        return next((address - base + at for base, size in self._seen if base <= address < base + size), address)
