"""The TCP server of a debug probe. It has one client at a time: whoever comes takes the place of who was there."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from contextlib import suppress

from .core import Core

#: the most that is taken at once, and seconds that a client has to take an answer
_MOST, _PATIENCE = 1 << 16, 1.0


class Server(ABC):
    """See :class:`.board.Probe`. :meth:`feed` is the protocol. Loaders run on ``core``, where the probe reaches one."""

    def __init__(self, address: tuple[str, int], core: Core | None = None) -> None:
        self._listener = socket.create_server(address, backlog=1)
        self._listener.setblocking(False)
        self._line: socket.socket | None = None
        self._core = core

    @property
    def sockets(self) -> list[socket.socket]:
        """Where something may come."""
        return [self._listener, *([self._line] if self._line else [])]

    @property
    def busy(self) -> bool:
        """Whether a loader runs."""
        return self._core is not None and self._core.busy

    def serve(self) -> None:
        """Answers what has come; a loader goes on. A client that is silent keeps nobody waiting, and stays."""
        with suppress(BlockingIOError):
            line, _ = self._listener.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._leave()
            self._line = line
            self._begin()
        if self._line is not None:
            try:
                self._line.setblocking(False)
                data = self._line.recv(_MOST)
                self._line.settimeout(_PATIENCE)
                answer = self.feed(data) if data else None
                if answer is None:
                    self._leave()
                else:
                    self._line.sendall(answer)
            except BlockingIOError:
                pass
            except OSError:
                self._leave()
        if self._core is not None:
            self._core.go_on()

    def _leave(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None

    def _begin(self) -> None:  # noqa: B027 - not all have something to do
        """Somebody has come."""

    @abstractmethod
    def feed(self, data: bytes) -> bytes | None:
        """What is to be sent for what came; None ends the connection."""
