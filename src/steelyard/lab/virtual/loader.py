"""What every boot loader of a virtual board is: flashers talk to it after a reset, and it hands over to the program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from typing import Protocol

from ...model.target import Target
from ..config import FlashedChip


class Loader(Protocol):
    """The boot loader from a reset on."""

    #: whether it has ended
    over: bool

    def feed(self, byte: int) -> bytes:
        """Takes a byte from the line; what it answers."""

    def leave(self) -> None:
        """Puts the program where the chip runs it, if it is not there already."""


class Conversation(ABC):
    """A loader that takes bytes where it waits for them: ``_commands`` yields for each, and adds answers to
    ``_sent``. The program runs where it was written."""

    def __init__(self) -> None:
        self.over = False
        self._sent = bytearray()
        self._loop = self._commands()
        next(self._loop)

    def feed(self, byte: int) -> bytes:
        """Takes a byte; what it answers."""
        if not self.over:
            self._loop.send(byte)
        sent, self._sent = bytes(self._sent), bytearray()
        return sent

    def leave(self) -> None:  # noqa: B027 - most have nothing to do
        """Does nothing."""

    def _take(self, count: int) -> Generator[None, int, bytes]:
        taken = bytearray()
        while len(taken) < count:
            taken.append((yield))
        return bytes(taken)

    @abstractmethod
    def _commands(self) -> Generator[None, int, None]:
        """Takes byte after byte, and leaves what it answers in ``_sent``."""


class ArduinoLoader(Conversation):
    """Programs ``flash``, in whose last bytes it is itself, as the flasher knows of the chip."""

    def __init__(self, known: FlashedChip, flash: bytearray) -> None:
        super().__init__()
        self._flash, self._signature = flash, bytes.fromhex(known.signature)
        self._room, self._address = len(flash) - known.loader_bytes, 0

    @classmethod
    def loaders(cls, _target: Target, known: FlashedChip, flash: bytearray) -> Callable[[], Loader]:
        """See :data:`Loaders`."""
        return lambda: cls(known, flash)


#: makes the loaders of a board, one for each reset, which share what they have stored: of the target, of what the
#: flasher knows of its chip, and of the memory that its code is in, which is changed in place
Loaders = Callable[[Target, FlashedChip, bytearray], Callable[[], Loader]]
