"""A chain of test access ports, clocked a bit at a time (IEEE 1149.1, clauses 6 to 9 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

(RESET, IDLE, SELECT_DR, CAPTURE_DR, SHIFT_DR, EXIT1_DR, PAUSE_DR, EXIT2_DR, UPDATE_DR,
 SELECT_IR, CAPTURE_IR, SHIFT_IR, EXIT1_IR, PAUSE_IR, EXIT2_IR, UPDATE_IR) = range(16)  # fmt: skip
#: the state after each, with TMS low and high
_NEXT = (
    (IDLE, RESET), (IDLE, SELECT_DR),
    (CAPTURE_DR, SELECT_IR), (SHIFT_DR, EXIT1_DR), (SHIFT_DR, EXIT1_DR), (PAUSE_DR, UPDATE_DR),
    (PAUSE_DR, EXIT2_DR), (SHIFT_DR, UPDATE_DR), (IDLE, SELECT_DR),
    (CAPTURE_IR, RESET), (SHIFT_IR, EXIT1_IR), (SHIFT_IR, EXIT1_IR), (PAUSE_IR, UPDATE_IR),
    (PAUSE_IR, EXIT2_IR), (SHIFT_IR, UPDATE_IR), (IDLE, SELECT_DR),
)  # fmt: skip
#: what an instruction register captures: the standard asks for these two bits
_CAPTURED = 0b01


class Register(Protocol):
    """A data register of ``bits``."""

    bits: int

    def capture(self) -> int:
        """What is shifted out."""

    def update(self, value: int) -> None:
        """Takes what was shifted in."""


class Fixed:
    """A register that nobody can change."""

    def __init__(self, bits: int, value: int) -> None:
        self.bits, self._value = bits, value

    def capture(self) -> int:
        """Its value."""
        return self._value

    def update(self, value: int) -> None:
        """Nothing."""


_BYPASS = Fixed(1, 0)


class Tap:
    """A port: the ``bits`` of its instruction register, its IDCODE with the instruction for that, and its registers by
    instruction; every other instruction is BYPASS."""

    def __init__(self, bits: int, identify: int, identity: int, registers: Mapping[int, Register]) -> None:
        self.bits, self._identify = bits, identify
        self._registers = {identify: Fixed(32, identity), **registers}
        self.instruction = identify

    def reset(self) -> None:
        """IDCODE is what a reset selects."""
        self.instruction = self._identify

    @property
    def selected(self) -> Register:
        """The register that the instruction selects."""
        return self._registers.get(self.instruction, _BYPASS)


def boundary(identity: int) -> Tap:
    """The port for boundary scan of microcontrollers, which nobody asks for anything here: IDCODE is 1 of 5 bits."""
    return Tap(5, 1, identity, {})


class Chain:
    """Ports in a row, the one at TDO first."""

    def __init__(self, taps: Sequence[Tap]) -> None:
        self._taps = taps
        self._state = RESET
        self._shift = self._length = 0

    @property
    def out(self) -> int:
        """TDO."""
        return self._shift & 1

    def reset(self) -> None:
        """TRST."""
        self._state = RESET
        for tap in self._taps:
            tap.reset()

    def clock(self, tms: bool, tdi: bool) -> None:
        """A rising edge of TCK."""
        state = self._state
        if state in (SHIFT_DR, SHIFT_IR):
            self._shift = self._shift >> 1 | tdi << self._length - 1
        state = self._state = _NEXT[state][tms]
        if state == CAPTURE_DR:
            self._capture([(tap.selected.bits, tap.selected.capture()) for tap in self._taps])
        elif state == CAPTURE_IR:
            self._capture([(tap.bits, _CAPTURED) for tap in self._taps])
        elif state == UPDATE_DR:
            for tap, value in zip(self._taps, self._shifted([tap.selected.bits for tap in self._taps]), strict=True):
                tap.selected.update(value)
        elif state == UPDATE_IR:
            for tap, value in zip(self._taps, self._shifted([tap.bits for tap in self._taps]), strict=True):
                tap.instruction = value
        elif state == RESET:
            self.reset()

    def _capture(self, values: list[tuple[int, int]]) -> None:
        self._shift = self._length = 0
        for bits, value in values:
            self._shift |= value << self._length
            self._length += bits

    def _shifted(self, lengths: list[int]) -> list[int]:
        """What each port has got."""
        values, left = [], self._shift
        for bits in lengths:
            values.append(left & ((1 << bits) - 1))
            left >>= bits
        return values
