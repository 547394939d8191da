"""What every boot loader of a virtual board is: flashers talk to it after a reset, and it hands over to the program."""

from __future__ import annotations

from collections.abc import Callable
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


#: makes the loaders of a board, one for each reset, which share what they have stored: of the target, of what the
#: flasher knows of its chip, and of the memory that its code is in, which is changed in place
Loaders = Callable[[Target, FlashedChip, bytearray], Callable[[], Loader]]
