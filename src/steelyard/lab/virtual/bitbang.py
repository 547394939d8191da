"""A probe that moves the pins of JTAG one by one, as OpenOCD's ``remote_bitbang`` asks over TCP (OpenOCD,
doc/manual/jtag/drivers/remote_bitbang.txt): a character sets TCK, TMS and TDI, or the reset lines, or asks for TDO."""

from __future__ import annotations

import socket
from contextlib import suppress

from .core import Core
from .jtag import Chain

#: characters: pins from this on, TDO asked for, reset lines from this on, the end
_PINS, _READ, _RESETS, _QUIT = ord("0"), ord("R"), ord("r"), ord("Q")
_TCK, _TMS, _TDI, _TRST, _SRST = 4, 2, 1, 2, 1
#: the most that comes at once
_MOST = 1 << 16


class Bitbang:
    """See :class:`.board.Probe`."""

    def __init__(self, address: tuple[str, int], chain: Chain, core: Core) -> None:
        self._listener = socket.create_server(address, backlog=1)
        self._listener.setblocking(False)
        self._line: socket.socket | None = None
        self._chain, self._core = chain, core
        self._high = self._held = False

    @property
    def sockets(self) -> list[socket.socket]:
        """Where something may come."""
        return [self._listener, *([self._line] if self._line else [])]

    @property
    def busy(self) -> bool:
        """Whether a loader runs."""
        return self._core.busy

    def serve(self) -> None:
        """Does what has come; a loader goes on."""
        with suppress(BlockingIOError):
            line, _ = self._listener.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.settimeout(1.0)
            self._leave()
            self._line = line
        if self._line is not None:
            try:
                data = self._line.recv(_MOST, socket.MSG_DONTWAIT)
                answer = self.feed(data) if data else None
                if answer is None:
                    self._leave()
                else:
                    self._line.sendall(answer)
            except BlockingIOError:
                pass
            except OSError:
                self._leave()
        self._core.go_on()

    def _leave(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

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
            self._core.reset()
        self._held = bool(lines & _SRST)
