"""An ST-Link, as OpenOCD talks to one over TCP (``st-link backend tcp``): version 2, with the whole debug access port.

A request of the USB kind is a command of 16 bytes with the data that follow it or that it asks for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from .arm import DebugPort
from .dap import Dap
from .server import Server

#: requests of the server: refresh, count, information, open, close, USB, version; with the bytes of each
_LENGTHS = {0: 2, 1: 1, 2: 8, 3: 8, 4: 8, 5: 32, 6: 4}
_INFORM, _OPEN, _USB, _VERSION = 2, 3, 5, 6
_ONE = struct.pack("<I", 1)
_SERIAL = b"STEELYARD"
_VENDOR, _PRODUCT = 0x0483, 0x3748
#: ST-Link 2, JTAG 37, SWIM 7
_FIRMWARE = 2 << 12 | 37 << 6 | 7
_DEBUG_MODE = 2
#: what commands with a status answer
_OK = 0x80
#: kinds of joined accesses, others of which do nothing here
_WRITE_AT, _WRITE, _READ = 1, 2, 3
#: the most that a request may bring
_MOST = 1 << 16


class StLink(Server):
    """See :class:`.board.Probe`."""

    def __init__(self, address: tuple[str, int], port: DebugPort) -> None:
        super().__init__(address, port)
        self._came = b""
        self._port, self._dap = port, Dap(port)
        self._reset_line = True
        self._joined = b""

    def _begin(self) -> None:
        self._came = b""

    def feed(self, data: bytes) -> bytes | None:
        """The answers to whole requests; None where there is no such request, or one brings too much."""
        self._came += data
        answers = b""
        while self._came:
            kind, more = self._came[0], 0
            if (length := _LENGTHS.get(kind)) is None:
                return None
            head = self._came[:length]
            if kind == _USB and len(head) == length:
                reads, size = head[24], struct.unpack_from("<I", head, 28)[0]
                if size > _MOST:
                    return None
                more = 0 if reads else size
            if len(self._came) < length + more:
                break
            brought, self._came = self._came[length : length + more], self._came[length + more :]
            answers += self._usb(head, brought) if kind == _USB else self._plain(kind)
        return answers

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
        return _status() + b"\0\0" + struct.pack("<I", self._dap.read(access, register))

    def _do_46(self, c: bytes, data: bytes) -> bytes:
        access, register, value = struct.unpack_from("<HHI", c, 2)
        self._dap.write(access, register, value)
        return _status()

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

    def _do_51(self, c: bytes, data: bytes) -> bytes:
        """Accesses to words of memory, joined: the kind of each item, filled up to words, and a word of each. No manual
        says so, but what OpenOCD sends, and what it takes for an answer."""
        count = struct.unpack_from("<H", c, 2)[0]
        kinds = (count + 3) // 4 * 4
        if len(data) < kinds + 4 * count:
            return b""
        words = struct.unpack_from(f"<{count}I", data, kinds)
        address, values = 0, [0] * count
        for k, (kind, word) in enumerate(zip(data, words, strict=False)):
            if kind == _WRITE_AT:
                address = word
            elif kind == _WRITE:
                self._port.write(address, struct.pack("<I", word))
            elif kind == _READ:
                values[k] = int.from_bytes(self._port.read(word, 4), "little")
        self._joined = struct.pack(f"<{2 * count}I", *values, *([_OK] * count))
        return b""

    def _do_52(self, c: bytes, data: bytes) -> bytes:
        """What the joined accesses answered: the value of each item, and the status of each."""
        return self._joined


def _status() -> bytes:
    return bytes((_OK, 0))
