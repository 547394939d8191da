"""What the host of a board and the machine that wants it say to each other.

After a greeting, which is a line of text, messages go both ways: four bytes of length, the highest first, and one of
the structs below in MessagePack. Whatever comes is bounded and checked, and what is of another kind ends the
connection. Both ends say now and then that they are there: a cable that is pulled out closes no connection, and the
board is to be free again.
"""

from __future__ import annotations

import os
import select
import struct
import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Event, Lock, Thread
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .. import __version__
from ..model.call import CallResult, Request, Vector
from ..model.errors import cut, printable
from ..model.power import Power
from ..model.reasons import Failure
from .attempt import Purpose

#: what the greeting begins with; the version of Steelyard follows
MARK = "steelyard agent "
GREETING = f"{MARK}{__version__}\n"
#: bytes of the largest message: a firmware image, or all known answers of a package
LARGEST = 64 << 20
#: seconds between two signs of life, and without any until the other end counts as gone
BEAT, PATIENCE = 2.0, 60.0
#: bytes that are written and read at once, at the most: less than a pipe holds, so that writing never blocks
_PIECE, _CHUNK = 4096, 1 << 16
#: seconds between two looks whether somebody wants to stop
LOOK = 0.1
_SIZE = struct.Struct(">I")

Name = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")]
Text = Annotated[str, Meta(max_length=4000)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Count = Annotated[int, Meta(ge=0, lt=1 << 62)]


class Message(Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """One of those below; its class stands before its fields."""


class Beat(Message, frozen=True):
    """A sign of life; from an agent with what it does just now."""

    step: Text = ""


# --- what an agent is asked ---------------------------------------------------------------------------------------


class Describe(Message, frozen=True):
    """What is known of a board?"""

    board: Name


class Take(Message, frozen=True):
    """May I have the board, of which I know what has this ``digest``? Asked again until it is free."""

    board: Name
    known: Digest


class Open(Message, frozen=True):
    """Put the image with this ``digest`` into the board; see :func:`..lab.opened`."""

    image: Name
    digest: Digest
    max_cycles: Annotated[int, Meta(gt=0, lt=1 << 62)]
    purpose: Purpose


class Image(Message, frozen=True):
    """The image that was :class:`Wanted`."""

    content: bytes


class Exchange(Message, frozen=True):
    """See :class:`..device.Link`, as the next three; :class:`Came` has the pulses too."""

    data: Annotated[bytes, Meta(max_length=1 << 20)]


class Reset(Message, frozen=True):
    """Restart the firmware."""


class FillRam(Message, frozen=True):
    """Restart it with RAM of which every later change will be seen."""


class Untouched(Message, frozen=True):
    """How long is the longest run of RAM bytes that nothing wrote?"""


class Weigh(Message, frozen=True):
    """What do the calls of these known answers draw, of which one used the most bytes of stack and heap?"""

    known: list[tuple[str, Vector, CallResult]]
    most: Count


class Look(Message, frozen=True):
    """What does the meter read, and does it see this request's call?"""

    request: Request
    output: bytes


class Shut(Message, frozen=True):
    """Done with the image: well, with a failure, or for some ``other`` reason."""

    failure: Failure | None = None
    other: Text = ""


# --- what it answers ----------------------------------------------------------------------------------------------


class Described(Message, frozen=True):
    """The part of ``lab.toml`` that is about the board, as JSON; the digest of its target; and what is missing."""

    lab: Annotated[bytes, Meta(max_length=1 << 20)]
    target: Digest
    missing: Annotated[list[Text], Meta(max_length=20)] = []


class Taken(Message, frozen=True):
    """Whether the board is the asker's from now on; else another has it."""

    mine: bool


class Wanted(Message, frozen=True):
    """The image is not here yet."""


class Opened(Message, frozen=True):
    """What the board's link says of itself."""

    window: Annotated[int, Meta(ge=0, le=1 << 20)]
    fills_ram: bool
    resolution: Annotated[float, Meta(ge=0, lt=1 << 32)]
    clock: Text
    notes: Annotated[list[Text], Meta(max_length=20)]


class Came(Message, frozen=True):
    """What the board sent, the cycles of its calls' pulses or why they are lost, and the samples of all so far."""

    data: bytes
    pulses: Annotated[list[Count], Meta(max_length=1 << 16)]
    lost: Failure | None
    samples: Count


class Longest(Message, frozen=True):
    """The answer to :class:`Untouched`."""

    run: Count | None


class Weighed(Message, frozen=True):
    """The answer to :class:`Weigh`."""

    power: Power | None


class Seen(Message, frozen=True):
    """The answer to :class:`Look`."""

    text: Text


class Done(Message, frozen=True):
    """It is done."""


class Failed(Message, frozen=True):
    """It failed, as at a board here."""

    failure: Failure


class Refused(Message, frozen=True):
    """It cannot be asked for; the text says why."""

    text: Text


Asked = (
    Beat | Describe | Take | Open | Image | Exchange | Reset | FillRam | Untouched | Weigh | Look | Shut  # no wrap
)
Said = (
    Beat | Described | Taken | Wanted | Opened | Came | Longest | Weighed | Seen | Done | Failed | Refused  # no wrap
)


class Gone(Exception):
    """The other end is not there any more, or is none; the text says which."""


class HungUp(Gone):
    """It has ended the connection, and may have said why elsewhere."""


class Channel:
    """One end of a connection, over the file descriptors ``source`` and ``sink``, which stay their owner's.

    ``kind`` is the union of the messages that may come, of which these bytes ``came`` already; ``step`` is what this
    end does, for its signs of life.
    """

    def __init__(self, source: int, sink: int, kind: Any, came: bytes = b"", step: Callable[[], str] = str) -> None:
        self._source, self._sink, self._step = source, sink, step
        self._buffer = bytearray(came)
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._writing = Lock()
        self._came: deque[Message] = deque()
        self._changed = Condition()
        #: set when nothing will come any more, and why
        self.ended = Event()
        self._why = Gone("it was closed")
        self._closed = Event()
        self._threads = [
            Thread(target=run, name=f"agent {run.__name__}", daemon=True) for run in (self._read, self._beat)
        ]
        for thread in self._threads:
            thread.start()

    def get(self, over: Event | None = None) -> Message:
        """The next message that is there or comes. :class:`Gone` when none will, :class:`KeyboardInterrupt` when
        ``over`` is set, whether there is a message or not."""
        with self._changed:
            while True:
                if over is not None and over.is_set():
                    raise KeyboardInterrupt
                if self._came:
                    return self._came.popleft()
                if self.ended.is_set():
                    raise self._why
                self._changed.wait(LOOK)

    def put(self, message: Message) -> None:
        """Sends a message. :class:`Gone` when it cannot be sent."""
        data = msgspec.msgpack.encode(message)
        if len(data) > LARGEST:
            raise Gone(f"a message of {len(data)} bytes is too large")
        with self._writing:
            self._write(_SIZE.pack(len(data)) + data)

    def close(self) -> None:
        """Stops listening. Who owns the file descriptors closes them after that."""
        self._closed.set()
        self._end(Gone("it was closed"))
        for thread in self._threads:
            thread.join()

    def _write(self, data: bytes) -> None:
        poll = select.poll()
        poll.register(self._sink, select.POLLOUT)
        view, end = memoryview(data), time.monotonic() + PATIENCE
        while view:
            if self.ended.is_set():
                raise self._why
            if poll.poll(LOOK * 1000):
                try:
                    view = view[os.write(self._sink, view[:_PIECE]) :]
                except OSError as e:
                    self._end(HungUp(os.strerror(e.errno or 0)))
                    continue
                end = time.monotonic() + PATIENCE
            elif time.monotonic() > end:
                self._end(Gone(f"it takes nothing for {PATIENCE:g} s"))

    def _end(self, why: Gone) -> None:
        with self._changed:
            if not self.ended.is_set():
                self._why = why
                self.ended.set()
            self._changed.notify_all()

    def _beat(self) -> None:
        while not self.ended.wait(BEAT):
            try:
                self.put(Beat(self._step()))
            except Gone:
                return

    def _read(self) -> None:
        try:
            while True:
                [size] = _SIZE.unpack(self._exactly(_SIZE.size))
                if size > LARGEST:
                    raise Gone(f"a message of {size} bytes")
                self._heard(self._decoder.decode(self._exactly(size)))
        except Gone as e:
            self._end(e)
        except OSError as e:
            self._end(HungUp(os.strerror(e.errno or 0)))
        except (msgspec.MsgspecError, ValueError, RecursionError) as e:
            self._end(Gone(f"an agent does not say this: {cut(printable(str(e)), 200)}"))

    def _heard(self, message: Message) -> None:
        with self._changed:
            if isinstance(message, Beat) and not message.step:
                return
            if self._came and isinstance(self._came[-1], Beat):  # nobody asks: only the newest counts
                self._came.pop()
            if len(self._came) > 10:
                raise Gone("more messages than were asked for")
            self._came.append(message)
            self._changed.notify_all()

    def _exactly(self, size: int) -> bytes:
        """So many bytes, which come before patience ends after the ones before."""
        end = time.monotonic() + PATIENCE
        while len(self._buffer) < size:
            if self._closed.is_set():
                raise Gone("it was closed")
            if time.monotonic() > end:
                raise Gone(f"nothing comes for {PATIENCE:g} s")
            if there(self._source, LOOK):
                if not (piece := os.read(self._source, _CHUNK)):
                    raise HungUp("the connection ended")
                self._buffer += piece
                end = time.monotonic() + PATIENCE
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


def there(source: int, seconds: float) -> bool:
    """Whether something comes, or the end, within these seconds."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    return bool(poll.poll(max(seconds, 0) * 1000))
