"""The boot loader in the system memory of STM32 chips, on a serial port: ST's application note AN3155.

Each command is its number and its complement, each answer begins with a byte that says yes or no.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import reduce
from operator import xor

from ...model.target import Target
from ..config import FlashedChip
from .flash import ERASED
from .loader import Conversation
from .parts import part

INIT, YES, NO = 0x7F, b"\x79", b"\x1f"
GET, VERSION, IDENTITY, READ, GO, WRITE, ERASE = 0x00, 0x01, 0x02, 0x11, 0x21, 0x31, 0x43
COMMANDS = (GET, VERSION, IDENTITY, READ, GO, WRITE, ERASE)
_VERSION = 0x22
_ALL = 0xFF
PAGE = 1024


def loaders(target: Target, _known: FlashedChip, flash: bytearray) -> Callable[[], SystemLoader]:
    """See :data:`.loader.Loaders`."""
    identity = part(target.chip_name).device
    return lambda: SystemLoader(flash, target.chip.flash.base, identity)


class SystemLoader(Conversation):
    """Programs ``flash``, which begins at ``base``. Bytes that it does not understand before it was asked to begin end
    it."""

    def __init__(self, flash: bytearray, base: int, identity: int) -> None:
        super().__init__()
        self._flash, self._base, self._identity = flash, base, identity

    def _commands(self) -> Generator[None, int, None]:
        self.over = (yield) != INIT
        self._sent += YES
        does = {READ: self._read, GO: self._go, WRITE: self._write, ERASE: self._erase}
        while True:
            command, complement = yield from self._take(2)
            if command ^ complement != 0xFF or command not in COMMANDS:
                self._sent += NO
            elif command in does:
                self._sent += YES
                answer = yield from does[command]()
                self._sent += answer
            else:
                self._sent += YES + self._says(command) + YES

    def _says(self, command: int) -> bytes:
        if command == GET:
            return bytes((len(COMMANDS), _VERSION, *COMMANDS))
        return bytes((_VERSION, 0, 0)) if command == VERSION else b"\1" + self._identity.to_bytes(2)

    def _place(self) -> Generator[None, int, int | None]:
        """The offset that an address names; None where it is not in the flash."""
        *address, check = yield from self._take(5)
        at = int.from_bytes(address) - self._base
        return at if reduce(xor, address) == check and 0 <= at < len(self._flash) else None

    def _read(self) -> Generator[None, int, bytes]:
        at = yield from self._place()
        if at is None:
            return NO
        self._sent += YES
        most, complement = yield from self._take(2)
        if most ^ complement != 0xFF or at + most >= len(self._flash):
            return NO
        return YES + bytes(self._flash[at : at + most + 1])

    def _write(self) -> Generator[None, int, bytes]:
        at = yield from self._place()
        if at is None:
            return NO
        self._sent += YES
        most = yield
        *data, check = yield from self._take(most + 2)
        if reduce(xor, data, most) != check or at + most >= len(self._flash):
            return NO
        for k, byte in enumerate(data):  # bits can only be cleared
            self._flash[at + k] &= byte
        return YES

    def _erase(self) -> Generator[None, int, bytes]:
        most = yield
        *pages, check = yield from self._take(1 if most == _ALL else most + 2)
        if reduce(xor, pages, most) != check and not (most == _ALL and check == 0):
            return NO
        if any((page + 1) * PAGE > len(self._flash) for page in pages):
            return NO
        for page in range(len(self._flash) // PAGE) if most == _ALL else pages:
            self._flash[page * PAGE : (page + 1) * PAGE] = bytes([ERASED]) * PAGE
        return YES

    def _go(self) -> Generator[None, int, bytes]:
        at = yield from self._place()
        self.over = at is not None
        return YES if self.over else NO
