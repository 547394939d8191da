"""The chips that a virtual board with a debug port can have, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...model import toml
from ...model.errors import UserError
from . import nrf52, sam, stm32
from .flash import ERASED, Flash, Registers

PARTS = Path(__file__).parent / "parts.toml"
#: by name, what makes a flash's controllers of the memory, its address and its sectors
CONTROLLERS: dict[str, Callable[[Flash, int, Sequence[int]], Sequence[Registers]]] = {
    "stm32": stm32.controller,
    "stm32l0": stm32.low_power,
    "nvmc": nrf52.controller,
    "eefc": sam.eefc,
    "nvmctrl": sam.nvmctrl,
}


class Part(toml.Table, frozen=True, kw_only=True):
    """What identifies a chip on its debug port, and its flash.

    ``dpidr`` and ``apidr`` are what a Cortex-M's access ports say they are, ``misa`` is a RISC-V core's register of
    that name. ``jtag`` are the IDCODEs of the test access ports: that of the core, which is at TDO, then boundary scan.
    ``words`` are constants and their addresses: CPUID, what the maker calls the chip (DBGMCU_IDCODE of an STM32), and
    sizes. ``flash`` is where flash is programmed, ``erased`` a byte of it that was erased, ``registers`` are where each
    of its controllers of the kind ``controller`` has its own. ``sectors`` in bytes are what these tell apart; none for
    pages of one size. ``mirror`` is where RAM is seen besides, and how much of it; ``deaf`` is where a loader writes
    registers that nothing here depends on, and how many bytes they are.
    """

    dpidr: int = 0
    apidr: int = 0
    misa: int = 0
    jtag: tuple[int, ...] = ()
    words: tuple[tuple[int, int], ...]
    flash: int
    erased: int = ERASED
    controller: str
    registers: tuple[int, ...]
    sectors: tuple[int, ...] = ()
    mirror: tuple[int, int] | None = None
    deaf: tuple[int, int] | None = None

    @property
    def device(self) -> int:
        """The number by which the family of an STM32 knows it, in DBGMCU_IDCODE and in its boot loader."""
        return self.words[1][1] & 0xFFF

    def programmed(self, content: bytearray) -> Sequence[tuple[int, int, Flash | Registers]]:
        """The memory and its controllers with base and size, as a loader sees them."""
        flash = Flash(content, self.erased)
        controls = CONTROLLERS[self.controller](flash, self.flash, self.sectors)
        placed = [*zip(self.registers, controls, strict=True)]
        if self.deaf:
            placed.append((self.deaf[0], Deaf(self.deaf[1])))
        return [(self.flash, len(content), flash), *((base, seen.size, seen) for base, seen in placed)]


class Deaf:
    """Registers that keep nothing."""

    def __init__(self, size: int) -> None:
        self.size = size

    def read(self, offset: int, size: int) -> int:
        """Zeros."""
        return 0

    def write(self, offset: int, size: int, value: int) -> None:
        """Nothing."""


class Parts(toml.Table, frozen=True, kw_only=True):
    """By the chip's name, as targets have it."""

    parts: dict[str, Part]


def part(chip_name: str) -> Part:
    """The chip of that name; :class:`UserError` when it has no virtual debug port."""
    known = toml.load(PARTS, Parts).parts
    if chip_name not in known:
        raise UserError(f"no virtual board has a debug port for a {chip_name}; there are: {', '.join(known)}")
    return known[chip_name]
