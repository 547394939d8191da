"""A debug probe that speaks GDB's remote serial protocol over TCP, as far as mspdebug's driver ``gdbc`` asks for it:
memory, reset, run, and ``monitor erase``. Whoever connects stops the chip, which goes on when the connection ends."""

from __future__ import annotations

from ...model.target import Target
from .. import config
from .board import Chip
from .server import Server

OK, NO, STOPPED = b"OK", b"E01", b"S05"
_BREAK, _ERASED = 0x03, 0xFF
#: the most bytes of a packet, and of memory that one may ask for
_MOST, _READ = 1 << 14, 1 << 12


def probe(wanted: config.Probe, chip: Chip, target: Target, flash: bytearray) -> Gdb:
    """The probe that the lab's commands speak of, at this chip."""
    return Gdb(wanted.address, chip, target, flash)


class Gdb(Server):
    """See :class:`.board.Probe`. ``content`` is the chip's flash, changed in place."""

    def __init__(self, address: tuple[str, int], chip: Chip, target: Target, content: bytearray) -> None:
        super().__init__(address)
        self._came = b""
        self._chip, self._content, self._base = chip, content, target.chip.flash.base
        chip.start(bytes(content))

    def _begin(self) -> None:
        self._came, self._chip.halted = b"", True

    def _leave(self) -> None:
        super()._leave()
        self._chip.halted = False

    def feed(self, data: bytes) -> bytes | None:
        """The answers to packets and breaks; None where anything else but acknowledgements has come."""
        self._came += data
        answers = b""
        while self._came:
            if self._came[0] == _BREAK:
                self._chip.halted = True
                answers += _packet(STOPPED)
            elif self._came[:1] == b"$":
                packet, mark, rest = self._came[1:].partition(b"#")
                if len(packet) > _MOST:
                    return None
                if not mark or len(rest) < 2:
                    return answers
                answer = self._does(packet)
                answers += b"+" + (_packet(answer) if answer is not None else b"")
                self._came = rest[2:]
                continue
            elif self._came[:1] not in (b"+", b"-"):
                return None
            self._came = self._came[1:]
        return answers

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


def _packet(content: bytes) -> bytes:
    return b"$%b#%02x" % (content, sum(content) & 0xFF)
