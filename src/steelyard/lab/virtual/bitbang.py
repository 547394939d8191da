"""A probe that moves the pins of JTAG one by one, as OpenOCD's ``remote_bitbang`` asks over TCP (OpenOCD,
doc/manual/jtag/drivers/remote_bitbang.txt): a character sets TCK, TMS and TDI, or the reset lines, or asks for TDO."""

from __future__ import annotations

from .core import Core
from .jtag import Chain
from .server import Server

#: characters: pins from this on, TDO asked for, reset lines from this on, the end
_PINS, _READ, _RESETS, _QUIT = ord("0"), ord("R"), ord("r"), ord("Q")
_TCK, _TMS, _TDI, _TRST, _SRST = 4, 2, 1, 2, 1


class Bitbang(Server):
    """See :class:`.board.Probe`."""

    def __init__(self, address: tuple[str, int], chain: Chain, core: Core) -> None:
        super().__init__(address, core)
        self._chain, self._restart = chain, core.reset
        self._high = self._held = False

    def feed(self, data: bytes) -> bytes | None:
        """Moves the pins; what TDO was where that was asked for, and None at the end."""
        chain, high, answer = self._chain, self._high, bytearray()
        for c in data:
            if _PINS <= c < _PINS + 8:
                rises = c & _TCK and not high
                high = bool(c & _TCK)
                if rises:
                    chain.clock(bool(c & _TMS), bool(c & _TDI))
            elif c == _READ:
                answer.append(ord("0") + chain.out)
            elif _RESETS <= c < _RESETS + 4:
                self._reset(c - _RESETS)
            elif c == _QUIT:
                return None
        self._high = high
        return bytes(answer)

    def _reset(self, lines: int) -> None:
        """The chip restarts as its reset line is let go."""
        if lines & _TRST:
            self._chain.reset()
        if self._held and not lines & _SRST:
            self._restart()
        self._held = bool(lines & _SRST)
