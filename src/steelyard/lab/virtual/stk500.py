"""The boot loader of an Arduino as far as avrdude asks for it: STK500, version 1 (Atmel's application note AVR061)."""

from __future__ import annotations

from collections.abc import Generator

from .loader import ArduinoLoader

OK, FAILED, IN_SYNC, END = b"\x10", b"\x11", b"\x14", 0x20
SYNC, GET, SET_DEVICE, SET_EXTENDED, ENTER, LEAVE, ADDRESS, UNIVERSAL, PROGRAM, READ, SIGNATURE = b"0ABEPQUVdtu"
#: bytes of a command's arguments, before the one that ends it
ARGUMENTS = {GET: 1, SET_DEVICE: 20, SET_EXTENDED: 5, ADDRESS: 2, UNIVERSAL: 4, READ: 3}
#: what it says of itself: a hardware of version 3, a software of 4.4
PARAMETERS = {0x80: 3, 0x81: 4, 0x82: 4}
FLASH = ord("F")


class BootLoader(ArduinoLoader):
    """See :class:`.loader.ArduinoLoader`. Bytes that it does not understand end it."""

    def _commands(self) -> Generator[None, int, None]:
        while not self.over:
            command = yield
            data = yield from self._take(ARGUMENTS.get(command, 0))
            if command == PROGRAM:
                data = yield from self._take(3)
                data += yield from self._take(int.from_bytes(data[:2]))
            if (yield) != END:
                break
            answer = self._answer(command, data)
            if answer is None:
                break
            self._sent += IN_SYNC + answer
        self.over = True
        while True:
            yield

    def _answer(self, command: int, data: bytes) -> bytes | None:
        """What follows the first byte of an answer; None to a command that is none."""
        if command in (SYNC, SET_DEVICE, SET_EXTENDED, ENTER):
            return OK
        if command == LEAVE:
            self.over = True
            return OK
        if command == GET:
            return bytes((PARAMETERS.get(data[0], 0),)) + OK
        if command == SIGNATURE:
            return self._signature + OK
        if command == UNIVERSAL:
            return b"\0" + OK
        if command == ADDRESS:
            self._address = 2 * int.from_bytes(data, "little")
            return OK
        if command == PROGRAM and data[2] == FLASH and self._address + len(data) - 3 <= self._room:
            self._flash[self._address : self._address + len(data) - 3] = data[3:]
            return OK
        if command == READ and data[2] == FLASH:
            part = self._flash[self._address : self._address + int.from_bytes(data[:2])]
            return bytes(part) + OK
        return FAILED if command in (PROGRAM, READ) else None


loaders = BootLoader.loaders
