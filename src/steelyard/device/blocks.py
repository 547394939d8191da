"""What no model answers for on a chip: peripherals whose registers a program uses, memories that it is linked for, and
settings of its clocks, its flash and its watchdogs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated

from msgspec import Meta

from ..model import toml
from ..model.target import BLOCKS, Target

_Word = Annotated[int, Meta(ge=0, lt=1 << 32)]
_Span = tuple[_Word, Annotated[int, Meta(gt=0, le=1 << 28)]]
#: the private peripheral bus of every Cortex-M: name, first address, bytes (ARMv7-M Architecture Reference Manual, B3.1
#: and C1)
_CORTEX = (
    ("ITM, for trace output", 0xE000_0000, 0x1000),
    ("DWT, which counts cycles", 0xE000_1000, 0x1000),
    ("FPB, for breakpoints", 0xE000_2000, 0x1000),
    ("SysTick, a timer", 0xE000_E010, 0x10),
    ("NVIC, the interrupt controller", 0xE000_E100, 0xC00),
    ("SCB, system control", 0xE000_ED00, 0x90),
    ("MPU, memory protection", 0xE000_ED90, 0x60),
    ("debug control", 0xE000_EDF0, 0x10),
    ("NVIC, software interrupts", 0xE000_EF00, 0x10),
    ("FPU, floating point", 0xE000_EF30, 0x20),
    ("TPIU, for trace output", 0xE004_0000, 0x1000),
)


class Setting(toml.Table, frozen=True):
    """A register ``at`` an address, and what its bits in ``mask`` are ``assumed`` to be, as our start-up code leaves
    them. ``cycles`` says what cycles are then those with; ``watchdog`` after what time one resets the chip that these
    bits leave on; without words for either only seconds depend on the register. ``reset`` is the register after a
    reset, where its model does not know it. A register that several of a kind share shows the one that its lowest byte
    was last written for: that is ``select``."""

    at: _Word
    mask: _Word
    assumed: _Word
    reset: _Word | None = None
    cycles: str = ""
    watchdog: str = ""
    select: Annotated[int, Meta(ge=0, lt=256)] | None = None


class _Said(toml.Table, frozen=True):
    """A ``blocks.toml``: spans and settings by what they are called."""

    peripherals: dict[str, _Span] = {}
    memories: dict[str, _Span] = {}
    settings: dict[str, Setting] = {}


@cache
def _said(target: Target) -> _Said:
    file = target.folder / BLOCKS
    return toml.load(file, _Said) if file.exists() else _Said()


def memories(target: Target) -> Iterator[tuple[str, int, int]]:
    """Name, first address and bytes of memories that the chip has and the simulator has not."""
    return ((name, *span) for name, span in _said(target).memories.items())


def settings(target: Target) -> dict[str, Setting]:
    """Registers that a program sets and whose one setting the simulator takes as given, by name."""
    return _said(target).settings


@cache
def _named(target: Target) -> tuple[tuple[str, int, int], ...]:
    """Name, first address and bytes of what the target's ``blocks.toml`` and the core's architecture name."""
    own = tuple((name, *span) for name, span in _said(target).peripherals.items())
    return (*own, *(_CORTEX if target.chip.core.startswith("cortex") else ()))


@cache
def _modelled(target: Target) -> tuple[tuple[str, int, int], ...]:
    return tuple((f"{kind} at {base:#x}", base, size) for kind, base, size in target.chip.modelled)


def name_of(target: Target, address: int, *, modelled: bool = False) -> str:
    """What is at ``address``: as the target's folder or the architecture calls it, else the model that answers for
    other registers of the same peripheral, or for this one if it is ``modelled``; empty where nothing is known of
    it."""
    for name, base, size in _named(target):
        if base <= address < base + size:
            return name
    for name, base, size in _modelled(target):
        if base <= address < base + size:
            return name if modelled else f"{name}, of which this is not modelled"
    return ""
