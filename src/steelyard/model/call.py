"""Calls on a device: what is asked, what comes back. The stages speak of calls in these words only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from .errors import counted
from .reasons import Failure


class Op(Enum):
    """Operations of the harness. The empty ones measure the cost of a call itself."""

    EMPTY = "empty"
    ENCRYPT = "encrypt"
    DECRYPT = "decrypt"
    EMPTY_DECRYPT = "empty decrypt"
    HASH = "hash"


class Vector(Struct, frozen=True):
    """One input, and the expected ``output`` (ciphertext with tag, or digest) where it is known."""

    count: int
    key: bytes
    npub: bytes
    message: bytes
    ad: bytes
    output: bytes | None = None


class Request(Struct, frozen=True):
    """One call: ``data`` is the message, or ciphertext with tag. ``offset`` misaligns every buffer by
    that many bytes; ``paint`` asks the harness to measure its stack itself."""

    op: Op
    key: bytes
    npub: bytes
    ad: bytes
    data: bytes
    offset: int = 0
    paint: bool = False


class Stray(Struct, frozen=True):
    """Bytes that a call wrote outside of its own memory: ``area`` is an input's name, ``guard``, ``free``,
    ``variables`` or ``frames``; ``changed`` inputs hold something else now. ``address`` is the lowest of ``count``
    bytes, ``past`` its distance from the end of the room for output."""

    area: str
    changed: bool
    address: int
    symbol: str
    count: int
    past: int

    @property
    def is_input(self) -> bool:
        """Whether it is the caller's input, which some implementations change and restore."""
        return self.area not in ("guard", "free", "variables", "frames")

    @property
    def text(self) -> str:
        """What happened, after the call's name."""
        size, past = counted(self.count, "byte"), counted(self.past, "byte")
        match self.area:
            case "guard":
                return f"writes {size} after its output buffer, the first {past} past its end"
            case "free":
                return f"writes {size} of free RAM from {self.address:#x}, {past} past its output buffer"
            case "variables":
                return f"writes {size} of the harness's {self.symbol or 'variables'} at {self.address:#x}"
            case "frames":
                return f"writes {size} of the harness's stack at {self.address:#x}"
            case _:
                return f"{'changes' if self.changed else 'writes into'} its input: {self.area}"


class Pulse(Struct, frozen=True):
    """One pulse of the trigger pin: ``cycles`` between the edges; ``stack`` in bytes and ``unaligned``
    accesses where the device sees them. Where the call was repeated ``cycles`` is the median, and
    ``spread`` the distance of the quartiles as a part of it. ``instructions`` where a machine counts
    them; a link whose ``quantity`` says so counts something else than cycles. ``strays`` are the call's writes
    outside of its own memory, where the device sees them."""

    cycles: int
    stack: int | None = None
    unaligned: int | None = None
    spread: float | None = None
    instructions: int | None = None
    strays: tuple[Stray, ...] = ()


class Answer(Struct, frozen=True):
    """What a call left: return ``code``, ``length`` it claims, whether the bytes after its output buffer
    are ``intact``, how many bytes it touched ``over`` its output inside the buffer, painted ``stack`` and
    ``heap`` peak in bytes, ``output``, and its trigger pulse."""

    code: int
    length: int
    intact: bool
    over: int
    stack: int
    heap: int
    output: bytes
    pulse: Pulse


class Hello(Struct, frozen=True):
    """What the harness says of itself; sizes in bytes, ``capacity`` is free RAM for a call's buffers."""

    api: int
    parts: int
    guard: int
    key_bytes: int
    npub_bytes: int
    a_bytes: int
    capacity: int
    clock_hz: int

    def fits(self, op: Op, mlen: int, adlen: int, stack: int) -> bool:
        """Whether a call with ``mlen`` bytes of message (without tag) and ``stack`` bytes of stack fits RAM."""
        tagged = mlen + (self.a_bytes if self.api == 1 else 0)
        data_in = tagged if op in (Op.DECRYPT, Op.EMPTY_DECRYPT) else mlen
        data_out = tagged if self.api == 1 else self.a_bytes
        need = self.key_bytes + self.npub_bytes + adlen + data_in + data_out + self.guard + 5 * 15
        return need + stack <= self.capacity


class DeviceError(Exception):
    """The device or the program on it failed; ``failure`` is what the record says."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {failure.detail}")
        self.failure = failure


class Caller(Protocol):
    """A harness that answers calls."""

    hello: Hello

    def call(self, request: Request) -> Answer:
        """One call. :class:`DeviceError` when the device fails or does not answer."""

    def calls(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Calls in order."""

    def fits(self, op: Op, mlen: int, adlen: int) -> bool:
        """Whether buffers of these sizes and the deepest stack seen so far fit the target's RAM."""

    def untouched(self) -> int | None:
        """Longest run of RAM bytes after static data that nothing wrote since the image was loaded; None where
        nobody can tell."""

    def restart(self) -> None:
        """Static data is as it was before the first call, and free RAM is painted. :class:`DeviceError` when the device
        does not come back."""

    def inside(self, request: Request) -> int | None:
        """Cycles of one call after its call instruction; None where the device cannot tell them apart."""


#: operation name, input, answer: raw material of verification and measurement
Observed = tuple[str, Vector, Answer]

#: what another implementation of the same variant answers to encryptions or hashes: its outputs, None where it cannot
#: say. The first argument is the reading of the specification (``KnownVariant.choice``) that is asked for
Reference = Callable[[str, Sequence[Request]], Sequence[bytes | None]]
