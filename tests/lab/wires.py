"""Wires that fail: between a host and a virtual board's serial port, and between sigrok and a virtual analyzer."""

from __future__ import annotations

import os
import select
import socket
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread, current_thread

from steelyard.lab.virtual.pty import Port

Change = Callable[[bytes], bytes]


def whole(data: bytes) -> bytes:
    """A wire in order."""
    return data


class Serial:
    """A serial port at ``path`` behind which the one at ``board`` is. What goes over it can be changed; it can be
    unplugged, and plugged in again under another name below /dev."""

    def __init__(self, path: Path, board: Path) -> None:
        self._path, self.board = path, board
        #: what becomes of bytes
        self.to_board: Change = whole
        self.to_host: Change = whole
        #: set to restart the board, as when its supply breaks down
        self.reset = Event()
        #: its name below /dev, and the rate that the host has set, as termios has it
        self.device, self.speed = "", 0
        self.plug()

    def plug(self) -> None:
        """The port is there, under another name than the last time."""
        self._over = Event()
        port = Port(self._path)
        if str(self._path.readlink()) == self.device:  # the number was free again
            port = Port(self._path)
        self.device = str(self._path.readlink())
        self._thread = Thread(target=self._serve, args=(port, self._over), daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        """The port is gone; whoever has it open finds that out."""
        self._path.unlink(missing_ok=True)
        self._over.set()
        if self._thread is not current_thread():
            self._thread.join()

    def _serve(self, port: Port, over: Event) -> None:
        board = -1
        while not over.is_set():
            files = [port.events, *([port.master] if port.is_open else []), *([board] if board >= 0 else [])]
            ready, _, _ = select.select(files, [], [], 0.01)
            anew = port.events in ready and port.opened()
            self.speed = termios.tcgetattr(port.master)[5]
            if board >= 0 and (self.reset.is_set() or anew or not port.is_open):
                os.close(board)
                board = -1
                self.reset.clear()
            if board < 0 and port.is_open:
                board = os.open(self.board, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            elif board in ready:
                with suppress(BlockingIOError):
                    port.write(self.to_host(os.read(board, 4096)))
            if port.master in ready and (data := self.to_board(port.read())) and board >= 0:  # else he has left
                os.write(board, data)
        if board >= 0:
            os.close(board)
        os.close(port.master)
        os.close(port.events)


class Samples:
    """A TCP port before an analyzer's: what it samples can be changed."""

    def __init__(self, analyzer: tuple[str, int]) -> None:
        self._analyzer = analyzer
        self.change: Change = whole
        #: set to end the connection, as sigrok does when an analyzer's buffer overruns
        self.cut = Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._closed = False
        self.port: int = self._door.getsockname()[1]
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                host = self._door.accept()[0]
            except OSError:
                return
            with host, socket.create_connection(self._analyzer) as board, suppress(OSError):
                self._pass(host, board)

    def _pass(self, host: socket.socket, board: socket.socket) -> None:
        sampling = False
        while not self.cut.is_set() and not self._closed:
            ready, _, _ = select.select([host, board], [], [], 0.05)
            if host in ready:
                if not (said := host.recv(4096)):
                    return
                sampling |= b"get\n" in said
                board.sendall(said)
            if board in ready:
                if not (said := board.recv(1 << 16)):
                    return
                host.sendall(self.change(said) if sampling else said)
        self.cut.clear()

    def close(self) -> None:
        """Nobody has or gets a connection any more."""
        self._closed = True
        self._door.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._door.close()


class Probe:
    """A TCP port before a virtual debug probe's, which can be pulled out in the middle of what it says."""

    def __init__(self, probe: tuple[str, int]) -> None:
        self._probe = probe
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        #: bytes that it says before it is pulled out; None while it is there
        self._left: int | None = None
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def vanish(self, after: int) -> None:
        """It is gone once it has said so many bytes more."""
        self._left = after

    def comes_back(self) -> None:
        """It is plugged in again."""
        self._left = None

    def _serve(self) -> None:
        while True:
            try:
                host = self._door.accept()[0]
            except OSError:
                return
            with host, suppress(OSError):
                if self._left != 0:
                    with socket.create_connection(self._probe) as probe:
                        self._pass(host, probe)

    def _pass(self, host: socket.socket, probe: socket.socket) -> None:
        for line in (host, probe):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while self._left != 0:
            ready, _, _ = select.select([host, probe], [], [], 0.05)
            for line, other in ((host, probe), (probe, host)):
                if line in ready:
                    if not (said := line.recv(1 << 16)):
                        return
                    if line is probe and self._left is not None:
                        said = said[: self._left]
                        self._left -= len(said)
                    other.sendall(said)

    def close(self) -> None:
        """Nobody gets a connection any more."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._door.close()
