"""The boot loader of an Arduino Leonardo as far as avrdude asks for it: Atmel's application note AVR109,
"Self-programming", table of commands, with blocks of memory.

It identifies itself as Arduino's does. Blocks erase the pages that they are written to.
"""

from __future__ import annotations

from collections.abc import Generator

from .loader import ArduinoLoader

DONE, YES, UNKNOWN, ESCAPE = b"\r", b"Y", b"?", 0x1B
NAME, VERSION, SERIAL = b"CATERIN", b"10", b"S"
#: bytes of flash that a block may have, and of a page
BLOCK = 128
#: device codes: only avrdude's older versions look at them
_CODES = bytes((0x44, 0))
FLASH = ord("F")
#: bytes of a command's arguments
_ARGUMENTS = {b"T": 1, b"A": 2, b"x": 1, b"y": 1, b"g": 3, b"B": 3}
_PLAIN = {
    b"S": NAME, b"V": VERSION, b"p": SERIAL, b"a": YES, b"b": YES + BLOCK.to_bytes(2), b"t": _CODES,
    b"T": DONE, b"P": DONE, b"L": DONE, b"x": DONE, b"y": DONE,
}  # fmt: skip


class BootLoader(ArduinoLoader):
    """See :class:`.loader.ArduinoLoader`."""

    def _commands(self) -> Generator[None, int, None]:
        while True:
            number = yield
            command = bytes((number,))
            data = yield from self._take(_ARGUMENTS.get(command, 0))
            if command == b"B":
                data += yield from self._take(min(int.from_bytes(data[:2]), BLOCK))
            if number != ESCAPE:  # which resynchronises, and is answered by nothing
                self._sent += self._answer(command, data)

    def _answer(self, command: bytes, data: bytes) -> bytes:
        if command in _PLAIN:
            return _PLAIN[command]
        if command == b"s":  # the last byte first
            return self._signature[::-1]
        if command == b"A":  # in words
            self._address = 2 * int.from_bytes(data)
            return DONE
        if command == b"e":
            self._flash[: self._room] = b"\xff" * self._room
            return DONE
        if command == b"E":
            self.over = True
            return DONE
        if command in (b"B", b"g") and data[2] == FLASH:
            return self._block(command == b"B", int.from_bytes(data[:2]), data[3:])
        return UNKNOWN

    def _block(self, write: bool, count: int, data: bytes) -> bytes:
        """Writes or reads so many bytes, after which the address goes on."""
        start, end = self._address, self._address + count
        if count > BLOCK or end > (self._room if write else len(self._flash)):
            return UNKNOWN
        self._address = end
        if not write:
            return bytes(self._flash[start:end])
        page = start // BLOCK * BLOCK
        self._flash[page : page + BLOCK] = b"\xff" * BLOCK
        self._flash[start:end] = data
        return DONE


loaders = BootLoader.loaders
