"""An ST-Link, as OpenOCD talks to one over TCP (``st-link backend tcp``): version 2, with the whole debug access port.

A request of the USB kind is a command of 16 bytes with the data that follow it or that it asks for.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from .arm import DebugPort

#: requests of the server: refresh, count, information, open, close, USB, version; with the bytes of each
_LENGTHS = {0: 2, 1: 1, 2: 8, 3: 8, 4: 8, 5: 32, 6: 4}
_INFORM, _OPEN, _USB, _VERSION = 2, 3, 5, 6
_ONE = struct.pack("<I", 1)
_SERIAL = b"STEELYARD"
_VENDOR, _PRODUCT = 0x0483, 0x3748
#: ST-Link 2, JTAG 31, SWIM 7: later ones join commands
_FIRMWARE = 2 << 12 | 31 << 6 | 7
_DEBUG_MODE = 2
#: what commands with a status answer
_OK = 0x80
_DP = 0xFFFF
_DPIDR, _CTRL_STAT = 0, 4
_CSW, _TAR, _DRW, _BASE, _IDR = 0x00, 0x04, 0x0C, 0xF8, 0xFC
_BANKED = range(0x10, 0x20)
_ROM_TABLE = 0xE00FF003
#: power-up requests of CTRL/STAT, which are acknowledged a bit above each
_POWER = 1 << 28 | 1 << 30
#: the most that a request may bring
_MOST = 1 << 16


class StLink:
    """The server; ``sockets`` are what can be waited for."""

    def __init__(self, address: tuple[str, int], port: DebugPort) -> None:
        self._listener = socket.create_server(address, backlog=1)
        self._listener.setblocking(False)
        self._line: socket.socket | None = None
        self._came = b""
        self._port = port
        self._registers: dict[tuple[int, int], int] = {}
        self._reset_line = True

    @property
    def sockets(self) -> list[socket.socket]:
        """Where something may come."""
        return [self._listener, *([self._line] if self._line else [])]

    @property
    def busy(self) -> bool:
        """Whether a loader runs."""
        return self._port.busy

    def serve(self) -> None:
        """Answers what has come; a loader goes on."""
        self._answer()
        self._port.go_on()

    def _answer(self) -> None:
        with suppress(BlockingIOError):
            line, _ = self._listener.accept()
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.setblocking(False)
            if self._line:
                self._line.close()
            self._line, self._came = line, b""
        if self._line is None:
            return
        try:
            while data := self._line.recv(_MOST):
                self._came += data
                self._answer_all()
        except BlockingIOError:
            return
        except OSError:
            pass
        self._line.close()
        self._line = None

    def _answer_all(self) -> None:
        assert self._line is not None
        while self._came:
            kind = self._came[0]
            length = _LENGTHS.get(kind)
            if length is None:
                raise OSError("no such request")
            if len(self._came) < length:
                return
            head = self._came[:length]
            more = 0
            if kind == _USB:
                reads, size = head[24], struct.unpack_from("<I", head, 28)[0]
                if size > _MOST:
                    raise OSError("too much")
                more = 0 if reads else size
            if len(self._came) < length + more:
                return
            data, self._came = self._came[length : length + more], self._came[length + more :]
            answer = self._usb(head, data) if kind == _USB else self._plain(kind)
            self._line.setblocking(True)
            self._line.sendall(answer)
            self._line.setblocking(False)

    def _plain(self, kind: int) -> bytes:
        if kind == _VERSION:
            return struct.pack("<4I", 3, 1, 0, 0)
        if kind == _INFORM:
            serial = _SERIAL.ljust(32, b"\0")
            return _ONE + struct.pack("<I", 1) + serial + struct.pack("<HHB", _VENDOR, _PRODUCT, 0)
        if kind == _OPEN:
            return _ONE + struct.pack("<I", 1)
        return _ONE

    def _usb(self, head: bytes, data: bytes) -> bytes:
        command, reads, size = head[8:24], head[24], struct.unpack_from("<I", head, 28)[0]
        answer = self._command(command, data)
        return _ONE + (answer[:size].ljust(size, b"\0") if reads else b"")

    def _command(self, c: bytes, data: bytes) -> bytes:
        """The answer to a command of 16 bytes."""
        if c[0] == 0xF1:
            return struct.pack(">H", _FIRMWARE) + struct.pack("<HH", _VENDOR, _PRODUCT)
        if c[0] == 0xF5:
            return bytes((_DEBUG_MODE, 0))
        if c[0] == 0xF7:  # 2 x 1.2 V x second / first: 3.3 V
            return struct.pack("<II", 800, 1100)
        if c[0] != 0xF2:
            return b""
        does: Callable[[bytes, bytes], bytes] | None = getattr(self, f"_do_{c[1]:02x}", None)
        return does(c, data) if does else _status()

    def _do_31(self, c: bytes, data: bytes) -> bytes:
        return _status() + b"\0\0" + struct.pack("<I", self._port.part.dpidr)

    def _do_3c(self, c: bytes, data: bytes) -> bytes:
        """The reset line: low, high, or a pulse. It is high at every attachment, which resets nothing."""
        high = c[2] != 0
        if (high and not self._reset_line) or c[2] == 2:
            self._port.reset()
        self._reset_line = high
        return _status()

    def _do_45(self, c: bytes, data: bytes) -> bytes:
        access, register = struct.unpack_from("<HH", c, 2)
        return _status() + b"\0\0" + struct.pack("<I", self._read(access, register))

    def _do_46(self, c: bytes, data: bytes) -> bytes:
        access, register, value = struct.unpack_from("<HHI", c, 2)
        self._registers[access, register] = value
        if access == 0 and (place := self._place(register)):
            address, width = place
            lane = 8 * (address % 4)
            self._port.write(address, (value >> lane & ((1 << 8 * width) - 1)).to_bytes(width, "little"))
        return _status()

    def _place(self, register: int) -> tuple[int, int] | None:
        """Where a data register of the access port leads, and how many bytes it moves: DRW, after which the address may
        go on, or one of four banked ones; None for others."""
        at, control = self._registers.get((0, _TAR), 0), self._registers.get((0, _CSW), 2)
        if register in _BANKED:
            return at & ~0xF | register & 0xC, 4
        if register != _DRW:
            return None
        width = 1 << (control & 3)
        if control >> 4 & 3:
            self._registers[0, _TAR] = at + width
        return at, width

    def _read(self, access: int, register: int) -> int:
        kept = self._registers.get((access, register), 0)
        if access == _DP:
            if register == _DPIDR:
                return self._port.part.dpidr
            return kept | (kept & _POWER) << 1 if register == _CTRL_STAT else kept
        if access != 0:
            return 0
        if place := self._place(register):
            address, width = place
            return int.from_bytes(self._port.read(address, width), "little") << 8 * (address % 4)
        return {_IDR: self._port.part.apidr, _BASE: _ROM_TABLE, _CSW: kept | 0x40}.get(register, kept)

    def _do_07(self, c: bytes, data: bytes) -> bytes:
        return self._port.read(*struct.unpack_from("<IH", c, 2))

    def _do_08(self, c: bytes, data: bytes) -> bytes:
        self._port.write(struct.unpack_from("<I", c, 2)[0], data)
        return b""

    _do_0c = _do_47 = _do_07
    _do_0d = _do_48 = _do_08

    def _do_3e(self, c: bytes, data: bytes) -> bytes:
        return _status().ljust(12, b"\0")

    def _do_36(self, c: bytes, data: bytes) -> bytes:
        address = struct.unpack_from("<I", c, 2)[0]
        return _status() + b"\0\0" + self._port.read(address, 4)

    def _do_35(self, c: bytes, data: bytes) -> bytes:
        address, value = struct.unpack_from("<II", c, 2)
        self._port.write(address, struct.pack("<I", value))
        return _status()


def _status() -> bytes:
    return bytes((_OK, 0))
