"""Calls on a device: requests, answers, and the trigger pulses between them. All stages share these types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from .errors import counted
from .reasons import Failure

#: what the harness of a block cipher calls itself
API_BLOCK = 4
#: the symbol of an image whose value is its build's number
BUILD = "sy_build"


class Op(Enum):
    """Operations of the harness. The empty ones measure the cost of a call itself: the first that of most calls, the
    second that of an AEAD's decryption and of a block cipher's key schedules, whose arguments are others."""

    EMPTY = "empty"
    ENCRYPT = "encrypt"
    DECRYPT = "decrypt"
    EMPTY_DECRYPT = "empty decrypt"
    HASH = "hash"
    SCHEDULE_ENCRYPT = "schedule_encrypt"
    SCHEDULE_DECRYPT = "schedule_decrypt"

    @property
    def is_schedule(self) -> bool:
        """Whether it makes a context of a key."""
        return self in (Op.SCHEDULE_ENCRYPT, Op.SCHEDULE_DECRYPT)


def empty_of(op: Op, api: int) -> Op:
    """The empty call that goes through the call site of ``op`` in the harness that calls itself ``api``."""
    second = op in (Op.EMPTY_DECRYPT, Op.SCHEDULE_ENCRYPT, Op.SCHEDULE_DECRYPT)
    return Op.EMPTY_DECRYPT if second or (op is Op.DECRYPT and api != API_BLOCK) else Op.EMPTY


class Vector(Struct, frozen=True):
    """One input, numbered ``count``, with the expected ``output`` (ciphertext with tag, or digest) where it is
    known."""

    count: int
    key: bytes
    npub: bytes
    message: bytes
    ad: bytes
    output: bytes | None = None


def sizes_of(given: str, data: bytes, ad: bytes, secrets: bytes) -> str:
    """The lengths of a call's inputs in words: ``message 0, associated data 2 bytes``. What has no ``secrets``, key and
    nonce, has a customization string beside its message, or nothing."""
    beside = f", {'associated data' if secrets else 'customization'} {len(ad)}" if secrets or ad else ""
    return f"{given} {len(data)}{beside} bytes"


class Request(Struct, frozen=True):
    """One call: ``data`` is the message, the ciphertext with its tag, or a block; ``npub`` is a block cipher's context.
    ``offset`` misaligns every buffer but contexts by that many bytes, 0 to 7, and ``out_offset`` the output by others.
    ``paint`` asks the harness to measure the stack itself. ``aside`` says that no figure comes from the call: a
    simulator's branch predictor forgets it. ``in_place`` gives the input the output's address. A ``warm`` one comes
    right after a call with other inputs, which are its ``ad`` (context or nonce, key, data), and finds the caches as
    that left them. A ``hollow`` one, of a block cipher, has the harness do all but call the package: what it answers is
    what the output was filled with."""

    op: Op
    key: bytes
    npub: bytes
    ad: bytes
    data: bytes
    offset: int = 0
    out_offset: int | None = None
    paint: bool = False
    aside: bool = False
    in_place: bool = False
    warm: bool = False
    hollow: bool = False

    @property
    def misaligned(self) -> tuple[int, int]:
        """The bytes by which inputs and output are misaligned. Contexts are not."""
        out = self.offset if self.out_offset is None else self.out_offset
        return self.offset, 0 if self.op.is_schedule else out

    def after(self, other: Request) -> Request:
        """The same as a warm call, right after one with the ``other``'s inputs."""
        return replace(self, ad=other.npub + other.key + other.data, warm=True)

    def seen(self, answer: CallResult, count: int = 0) -> Observed:
        """A block cipher's call as it was observed, on the inputs of the vector of this number."""
        return self.op.value, Vector(count, self.key, self.npub, self.data, b""), answer


class Stray(Struct, frozen=True):
    """Bytes that a call wrote outside its own memory. ``area`` is the name of an input, or ``guard``, ``free``,
    ``variables`` or ``frames``. ``changed`` says that an input holds other bytes after the call. ``address`` is the
    lowest of the ``count`` bytes, ``past`` its distance in bytes from the end of the output buffer, ``span`` the bytes
    from it to the last one."""

    area: str
    changed: bool
    address: int
    symbol: str
    count: int
    past: int
    span: int

    @property
    def is_input(self) -> bool:
        """Whether the area is one of the caller's inputs, which some implementations change and restore."""
        return self.area not in ("guard", "free", "variables", "frames")

    @property
    def text(self) -> str:
        """The write as a phrase that follows the call's name: ``writes 3 bytes of free RAM from 0x200, ...``."""
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
    """One pulse of the trigger pin: ``cycles`` between its edges, and where the device sees them ``stack`` in bytes,
    ``unaligned`` accesses, and ``strays``, the call's writes outside its own memory. Where the call was repeated,
    ``cycles`` is the median and ``spread`` the interquartile range as a fraction of it. ``instructions`` is set where a
    machine counts them. ``cycles`` holds instructions or ticks where the link's ``quantity`` says so. ``apart`` is how
    many cycles more the chip's own counter has, where an instrument's pulse was compared with it. ``touched`` are the
    bytes of stack down to the lowest that the call wrote, whatever it wrote there."""

    cycles: int
    stack: int | None = None
    unaligned: int | None = None
    spread: float | None = None
    instructions: int | None = None
    strays: tuple[Stray, ...] = ()
    apart: float | None = None
    touched: int | None = None


class CallResult(Struct, frozen=True):
    """The result of a call: return ``code``, the output ``length`` that it claims, whether the bytes after its output
    buffer are ``intact``, how many bytes it touched ``over`` its output inside the buffer, the painted ``stack`` and
    the ``heap`` peak in bytes, the ``output``, and its trigger pulse. ``counted`` is what the chip's own counter has,
    from a little before the rising edge to a little after the falling one. The output buffer was ``filled`` with this
    byte before the call. The heap was ``full`` where it had no room for a block."""

    code: int
    length: int
    intact: bool
    over: int
    stack: int
    heap: int
    output: bytes
    pulse: Pulse
    counted: int = 0
    filled: int = 0
    full: bool = False


#: bytes that the places of a call's buffers may leave between them, at most
ALIGNED = 5 * 15


class Hello(Struct, frozen=True):
    """What the harness says about itself. Sizes are in bytes, those of a block cipher key, context (as ``npub``) and
    block (as ``a``); ``capacity`` is the free RAM for a call's buffers and
    stack. The chip's own counter of cycles has ``counter_bits``; 0 where there is none. ``image`` is the number of
    the build that its image is of. It ``warms``: where calls find caches settled, it can leave them as they are.
    Where it ``continues``, a block cipher's schedule of decryption goes on from the round keys of encryption's."""

    api: int
    parts: int
    guard: int
    key_bytes: int
    npub_bytes: int
    a_bytes: int
    capacity: int
    clock_hz: int
    counter_bits: int = 0
    image: int = 0
    warms: bool = False
    continues: bool = False

    def zeros(self, op: Op, message: bytes = b"", *, paint: bool = False) -> Request:
        """A call with a key and a nonce, or a context, of zeros."""
        return Request(op, bytes(self.key_bytes), bytes(self.npub_bytes), b"", message, paint=paint)

    def room(self, op: Op, length: int) -> int:
        """Bytes of a call's output buffer, given those of its input (``sy_out_max`` of the harness)."""
        if self.api == API_BLOCK:
            return self.npub_bytes if op.is_schedule else length
        if self.api != 1:
            return self.a_bytes
        return length + (0 if op in (Op.DECRYPT, Op.EMPTY_DECRYPT) else self.a_bytes)

    def fits(self, op: Op, mlen: int, adlen: int, stack: int) -> bool:
        """Whether a call fits the RAM, given the bytes of its message (without tag), associated data and stack; a block
        cipher's has sizes of its own."""
        if self.api == API_BLOCK:
            adlen, data = 0, 0 if op.is_schedule else self.a_bytes
        else:
            data = mlen + (self.a_bytes if self.api == 1 and op in (Op.DECRYPT, Op.EMPTY_DECRYPT) else 0)
        buffers = self.key_bytes + self.npub_bytes + adlen + data + self.room(op, data)
        return buffers + self.guard + ALIGNED + stack <= self.capacity


class Failed(Exception):
    """A run ended without figures; ``failure`` is stored in the record."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.reason}: {failure.detail}")
        self.failure = failure


class DeviceError(Failed):
    """The device, or the program on it, failed."""


#: bytes of one input, the other being empty, whose calls say whether larger ones use more stack or heap: a call that
#: copies its input uses more at each of them, one that goes another way for a second block at one
GROWTH = (16, 32, 48, 64)


class NoRoomError(DeviceError):
    """A call asked for more heap than there is: with less to hold, larger calls left out, there may be."""


class Caller(Protocol):
    """A harness that answers calls."""

    hello: Hello

    @property
    def grows(self) -> bool:
        """Whether larger calls need more stack or heap, as far as calls so far say."""

    @property
    def most(self) -> int:
        """Bytes of stack and heap of the call that used most so far."""

    def call(self, request: Request) -> CallResult:
        """Makes one call. Raises :class:`DeviceError` when the device fails or does not answer."""

    def calls(self, requests: Iterable[Request]) -> Iterator[CallResult]:
        """Makes calls in order; raises as :meth:`call`."""

    def fits(self, op: Op, mlen: int, adlen: int) -> bool:
        """Whether buffers of these sizes, with the stack and heap that the calls so far say, fit the target's RAM, or
        have fitted it."""

    @property
    def lacked(self) -> set[tuple[int, int]]:
        """The sizes of message and associated data, in bytes, of calls that had no room for what they asked for."""

    def nearly_full(self, op: Op, mlen: int, adlen: int) -> bool:
        """Whether a call of this size can have had no room."""

    def no_room(self, op: Op, mlen: int, adlen: int) -> None:
        """Notes that a call of this size asked for more heap than there is."""

    def untouched(self) -> int | None:
        """The longest run of RAM bytes after static data that nothing wrote since the image was loaded; None where the
        device cannot tell."""

    def restart(self) -> None:
        """Brings static data back to its state before the first call, and paints free RAM. Raises :class:`DeviceError`
        when the device does not come back."""

    def inside(self, request: Request) -> int | None:
        """Cycles of one call without its call instruction; None where the device cannot tell them apart."""

    def least(self, request: Request) -> int | None:
        """Cycles that the instructions of one call take wherever they and their operands are; None where the device
        cannot tell."""


def scheduling(client: Caller, op: Op, key: bytes, place: bytes) -> Request:
    """The call of a schedule whose context's place holds the bytes ``place``: where decryption's goes on from
    encryption's round keys, these, which are made for it. Raises :class:`DeviceError`."""
    if op is Op.SCHEDULE_DECRYPT and client.hello.continues:
        place = client.call(Request(Op.SCHEDULE_ENCRYPT, key, place, b"", b"")).output
    return Request(op, key, place, b"", b"")


#: operation name, input and answer: the raw material of verification and measurement
Observed = tuple[str, Vector, CallResult]


class Beside(Struct, frozen=True):
    """Calls whose cycles are in no figure, all with right answers: the ``first`` of each operation after a restart,
    those that come ``late`` in a long row with one context, those with buffers ``elsewhere``: in place, at other
    addresses, and ``decoys`` among those that are."""

    first: list[Observed] = []
    late: list[Observed] = []
    elsewhere: list[Observed] = []
    decoys: list[Observed] = []

    @property
    def all(self) -> tuple[Observed, ...]:
        """All of them."""
        return (*self.first, *self.late, *self.elsewhere, *self.decoys)


#: asks another implementation of the same variant to encrypt or hash: returns its outputs, None where it cannot answer.
#: The first argument is the reading of the specification (``KnownVariant.choice``) that is asked for
Reference = Callable[[str, Sequence[Request]], Sequence[bytes | None]]
