"""A debug probe that speaks GDB's remote serial protocol over TCP, as far as mspdebug's driver ``gdbc`` asks for it:
memory, reset, run, and ``monitor erase``. Whoever connects stops the chip, which goes on when the connection ends."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress

from ...model.target import Target
from .. import config
from .board import Chip

OK, NO, STOPPED = b"OK", b"E01", b"S05"
_BREAK, _ERASED = 0x03, 0xFF
#: the most bytes of a packet, and of memory that one may ask for
_MOST, _READ = 1 << 14, 1 << 12


def probe(wanted: config.Probe, chip: Chip, target: Target, flash: bytearray) -> Gdb:
    """The probe that the lab's commands speak of, at this chip."""
    return Gdb(wanted.address, chip, target, flash)


class Gdb:
    """See :class:`.board.Probe`. ``content`` is the chip's flash, changed in place."""

    busy = False

    def __init__(self, address: tuple[str, int], chip: Chip, target: Target, content: bytearray) -> None:
        self._listener = socket.create_server(address, backlog=1)
        self._listener.setblocking(False)
        self._line: socket.socket | None = None
        self._came = b""
        self._chip, self._content, self._base = chip, content, target.chip.flash.base
        chip.start(bytes(content))

    @property
    def sockets(self) -> Sequence[socket.socket]:
        """Where something may come."""
        return [self._listener, *([self._line] if self._line else [])]

    def serve(self) -> None:
        """Answers what has come."""
        with suppress(BlockingIOError):
            line, _ = self._listener.accept()
            self._leave()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.settimeout(1.0)
            self._line, self._came, self._chip.halted = line, b"", True
        if self._line is None:
            return
        try:
            data = self._line.recv(_MOST, socket.MSG_DONTWAIT)
            self._came += data
            if not data or not self._answer_all():
                self._leave()
        except BlockingIOError:
            return
        except OSError:
            self._leave()

    def _leave(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line, self._chip.halted = None, False

    def _answer_all(self) -> bool:
        """Whether all that came are packets, breaks and acknowledgements."""
        assert self._line is not None
        while self._came:
            if self._came[0] == _BREAK:
                self._chip.halted = True
                self._send(STOPPED)
            elif self._came[:1] == b"$":
                packet, mark, rest = self._came[1:].partition(b"#")
                if len(packet) > _MOST:
                    return False
                if not mark or len(rest) < 2:
                    return True
                self._line.sendall(b"+")
                answer = self._does(packet)
                if answer is not None:
                    self._send(answer)
                self._came = rest[2:]
                continue
            elif self._came[:1] not in (b"+", b"-"):
                return False
            self._came = self._came[1:]
        return True

    def _send(self, answer: bytes) -> None:
        assert self._line is not None
        self._line.sendall(b"$%b#%02x" % (answer, sum(answer) & 0xFF))

    def _does(self, packet: bytes) -> bytes | None:
        """The answer; None where none comes yet, and nothing in it where the command is not known."""
        kind, rest = packet[:1], packet[1:]
        try:
            if kind == b"m":
                address, count = (int(n, 16) for n in rest.split(b","))
                return self._read(address, count).hex().encode() if count <= _READ else NO
            if kind == b"M":
                place, data = rest.split(b":")
                address, count = (int(n, 16) for n in place.split(b","))
                content = bytes.fromhex(data.decode("ascii"))
                return OK if len(content) == count and self._write(address, content) else NO
            if packet.startswith(b"qRcmd,"):
                return self._monitor(bytes.fromhex(rest[5:].decode("ascii")))
        except ValueError:
            return NO
        if kind in (b"r", b"R"):
            self._chip.start(bytes(self._content))
            self._chip.halted = True
            return OK
        if kind == b"c":
            self._chip.halted = False
            return None
        return STOPPED if kind == b"?" else b""

    def _monitor(self, command: bytes) -> bytes:
        if command.split()[:1] != [b"erase"]:
            return b""
        self._content[:] = bytes([_ERASED]) * len(self._content)
        return OK

    def _read(self, address: int, count: int) -> bytes:
        """Bytes; zeros where nothing is."""
        at = address - self._base
        if at >= 0 and at + count <= len(self._content):
            return bytes(self._content[at : at + count])
        try:
            return self._chip.native.read(address, count)
        except (ValueError, OverflowError):
            return bytes(count)

    def _write(self, address: int, data: bytes) -> bool:
        """Writes RAM and registers, and programs flash, where bits can only be cleared; whether something is there."""
        at = address - self._base
        if at >= 0 and at + len(data) <= len(self._content):
            for k, byte in enumerate(data):
                self._content[at + k] &= byte
            return True
        try:
            self._chip.native.write(address, data)
        except (ValueError, OverflowError):
            return False
        return True
