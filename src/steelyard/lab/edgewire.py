"""What the process that samples an analyzer (daemon.py) and those that use it (analyzer.py) say over a socket.

Who comes says in a line of JSON what he wants sampled, and a line answers whether it is. Then come words of a fixed
size: for an edge the number of the first sample with other levels, and these; from time to time a mark, how many
samples there have been; at last why it is over. Nothing that comes is believed: lines and texts are bounded, and
samples go forwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct as Packed
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from .config import Instrument

VERSION = 1
#: bytes of a line, and of the text that says why it is over
LINE, TEXT = 1 << 14, 400
#: a number, and what it is of: levels of the channels, or one of these
WORD = Packed("<QH")
MARK, OVER = 256, 257


class Asked(Struct, frozen=True):
    """What somebody wants sampled, as ``lab.toml`` has it."""

    version: int = 0
    driver: str = ""
    samplerate: int = 0
    channels: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    """Why he does not get it; or the number of the process, the samples so far, and the levels of the last one.
    ``again`` says that another process is the right one, or will be."""

    version: int = VERSION
    refused: str = ""
    again: bool = False
    pid: int = 0
    count: Annotated[int, Meta(ge=0)] = 0
    levels: Annotated[int, Meta(ge=0, le=255)] = 0


Said = TypeVar("Said", Asked, Answer)


def asked(instrument: Instrument) -> Asked:
    """What to say for an instrument."""
    return Asked(VERSION, instrument.driver, instrument.samplerate, instrument.channels)


def line(said: Asked | Answer) -> bytes:
    """How it goes over a socket."""
    return msgspec.json.encode(said) + b"\n"


def understood(data: bytes, kind: type[Said]) -> Said:
    """A line that came. :class:`ValueError` where it is none of that kind."""
    try:
        said = msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError) as e:
        raise ValueError(f"it said something that is not understood: {e}") from None
    if said.version != VERSION:
        text = f"one Steelyard speaks version {said.version}, the other {VERSION}: install the same on both"
        raise ValueError(text)
    return said


def differs(wanted: Asked, there: Asked) -> str:
    """How what is sampled differs from what is wanted; empty where it does not."""
    for key in ("driver", "samplerate", "channels"):
        mine, other = (_shown(getattr(a, key)) for a in (wanted, there))
        if mine != other:
            return f"{key} is {other} and not {mine}"
    return ""


def _shown(value: str | int | tuple[str, ...]) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def last(why: str) -> bytes:
    """The word and the text that say why it is over."""
    text = why.encode(errors="replace")[:TEXT]
    return WORD.pack(len(text), OVER) + text


class Told:
    """Takes what comes after the answer. ``count`` is the number of samples so far, ``over`` why it has ended."""

    def __init__(self, count: int, mask: int) -> None:
        self.count, self._mask = count, mask
        self.over: str | None = None
        self._rest, self._text = b"", -1

    def feed(self, data: bytes) -> Iterator[tuple[int, int]]:
        """The edges in it: number of a sample, levels. :class:`ValueError` where it is not what is said here."""
        data, at = self._rest + data, 0
        while self._text < 0 and len(data) - at >= WORD.size:
            number, what = WORD.unpack_from(data, at)
            at += WORD.size
            if what == OVER and number <= TEXT:
                self._text = number
            elif number < self.count or (what != MARK and what & ~self._mask):
                raise ValueError("these bytes are not a stream of edges")
            elif what == MARK:
                self.count = number
            else:
                self.count = number + 1
                yield number, what
        self._rest = data[at:]
        if 0 <= self._text <= len(self._rest):
            self.over = " ".join(self._rest[: self._text].decode(errors="replace").split())
            self._rest = b""
