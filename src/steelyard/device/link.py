"""The interface of a device: a byte stream, and the pulses of its trigger pin."""

from __future__ import annotations

from typing import Protocol

from ..model.call import Pulse


class Link(Protocol):
    """The host's end of a device. A serial port, a simulator and a test double all have this interface."""

    #: whether pulses carry the call's stack; otherwise the harness paints it and counts
    sees_stack: bool
    #: the number of the build that has to answer; None where nothing else can
    build: int | None
    #: bytes of requests that may be in flight before an answer is awaited
    window: int
    #: whether RAM can be filled for :meth:`longest_untouched`, which then needs that
    fills_ram: bool

    @property
    def resolution(self) -> float:
        """Cycles that one pulse may be off because an instrument samples it; 0 where nothing does. Such calls are
        repeated."""

    @property
    def quantity(self) -> str:
        """What pulses count: ``cycles``, or ``instructions`` or ``ticks`` on machines that do not offer cycles."""

    @property
    def clock(self) -> str:
        """What counts them, for the record: a timing model, or a counter with its machine."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the device for readers of the figures."""

    def reset(self) -> None:
        """Restarts the firmware."""

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data`` and returns the bytes that came back; empty when nothing came in time. Raises
        :class:`DeviceError` when the device fails."""

    def pulses(self) -> list[Pulse]:
        """Removes and returns the trigger pulses since the last call, oldest first."""

    def fill_ram(self) -> None:
        """Restarts the firmware with RAM of which every later change will be seen."""

    def longest_untouched(self) -> int | None:
        """The longest run of RAM bytes after static data that nothing wrote since the image was loaded; None where the
        device cannot tell."""

    def close(self) -> None:
        """Releases the device."""
