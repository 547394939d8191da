"""Replies that are kept, compressed, as long as the database stays as it is, within a bound of bytes."""

from __future__ import annotations

import gzip
import time
from collections import OrderedDict

from msgspec import Struct
from msgspec.structs import replace

from .reply import Reply

#: bytes of all kept replies
MOST = 16 << 20
#: seconds after which an older answer is no longer good enough, unless others wait for new ones; it is only good enough
#: where making a new one takes longer than ``QUICK``, and that is tried after ``REST`` times as long
STALE, QUICK, REST = 60.0, 0.15, 10.0
_TEXT = ("text/", "image/svg", "application/json", "application/atom")


class Kept(Struct, frozen=True):
    """A reply as it is sent. ``packed`` says that its body is compressed."""

    reply: Reply
    packed: bool
    made: float

    @property
    def age(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self.made

    @property
    def slow(self) -> bool:
        """Whether it took long to make."""
        return self.reply.seconds > QUICK

    @property
    def plain(self) -> bytes:
        """The body as it is for who takes nothing compressed."""
        return gzip.decompress(self.reply.body) if self.packed else self.reply.body


def packed(reply: Reply) -> Kept:
    """A reply, compressed where that makes it smaller."""
    if reply.kind.startswith(_TEXT) and len(reply.body) > 500:
        body = gzip.compress(reply.body, compresslevel=5, mtime=0)
        return Kept(replace(reply, body=body), True, time.monotonic())
    return Kept(reply, False, time.monotonic())


class Cache:
    """Kept replies by address, those that were not asked for the longest dropped first."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._bytes = most, 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def get(self, address: str) -> Kept | None:
        """What is kept of an address."""
        if found := self._kept.get(address):
            self._kept.move_to_end(address)
        return found

    def put(self, address: str, kept: Kept) -> None:
        """Keeps a reply; errors of the server are not kept, and neither is what takes a quarter of the room."""
        if old := self._kept.pop(address, None):
            self._bytes -= self._size(address, old)
        size = self._size(address, kept)
        if kept.reply.status >= 500 or size > self._most // 4:
            return
        self._kept[address] = kept
        self._bytes += size
        while self._bytes > self._most:
            self._bytes -= self._size(*self._kept.popitem(last=False))

    @staticmethod
    def _size(address: str, kept: Kept) -> int:
        return len(kept.reply.body) + len(address) + 500
