"""What a device must offer to the host: a byte line, and the pulses of its trigger pin."""

from __future__ import annotations

from typing import Protocol

from ..model.call import Pulse


class Link(Protocol):
    """The host's end of a device. A serial port, a simulator and a test double all look like this."""

    #: whether pulses carry the call's stack; where not, the harness paints and counts
    sees_stack: bool
    #: bytes of requests that may be on their way before an answer is awaited
    window: int

    @property
    def quantity(self) -> str:
        """What pulses count: cycles; where a machine offers none, instructions or ticks of a timer."""

    @property
    def clock(self) -> str:
        """What counts them, for the record."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the figures must know of the device."""

    def reset(self) -> None:
        """Restarts the firmware."""

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data`` and returns what came back; empty when nothing came in time."""

    def pulses(self) -> list[Pulse]:
        """Takes the trigger pulses since the last time, oldest first."""

    def longest_untouched(self) -> int | None:
        """Longest run of RAM bytes after static data that nothing wrote since the image was loaded;
        None where nobody can tell."""

    def close(self) -> None:
        """Lets go of the device."""
