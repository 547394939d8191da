"""How much RAM calls use for stack and heap, by their size: what a larger one will."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import TypeVar

from ..model.call import GROWTH, NoRoomError, Op

T = TypeVar("T")

#: bytes of RAM for a byte of input from which on a call keeps a copy of it; below, deeper stack is chance
_COPIES = 0.5
#: bytes that calls of two inputs may use beyond those of each, and that a copy's alignment may
_MORE = 32
#: how often calls that had no room are taken note of, and bytes that are left free for each of them: ``malloc`` of
#: harness/heap.c leaves some to the stack
_TIMES, _FREE = 12, 16
#: sizes of ``GROWTH`` that have to be there: on a small chip the largest have no room
_ENOUGH = 3
#: more than any chip has
_ENDLESS = 1 << 40


class Need:
    """Bytes of stack and heap of the calls seen so far. ``most`` is that of the one that used most; ``spent`` are the
    cycles of attempts before this one, on a simulated chip.

    Where a call copies its input to the stack or the heap, as with an array of its length, larger calls use more: that
    shows where calls of the sizes of ``GROWTH`` are among them, but for the largest where these have no room.
    """

    def __init__(self) -> None:
        self.most = self.spent = 0
        self._at: dict[tuple[Op, int, int], int] = {}
        self._none: list[tuple[Op, int, int]] = []
        self._least: dict[tuple[Op, int, int], int] = {}
        self._used: dict[tuple[Op, int, int], int] = {}
        self._beside: dict[tuple[Op, float, float], float] = {}

    def anew(self) -> Need:
        """What is known of larger calls, for a device that has made none."""
        need = Need()
        need._at, need._none, need.spent = dict(self._at), list(self._none), self.spent
        return need

    def has_no(self, op: Op, mlen: int, adlen: int) -> None:
        """Notes that a call of this size had no room for what it asked for."""
        self._none.append((op, mlen, adlen))

    @property
    def refused(self) -> set[tuple[int, int]]:
        """The sizes of message and associated data, in bytes, of calls that had no room for what they asked for."""
        return {(mlen, adlen) for _, mlen, adlen in self._none}

    @property
    def may_help(self) -> bool:
        """Whether what is known now may be enough to do without such calls."""
        return len(self._none) <= _TIMES and all(m or a for _, m, a in self._none)

    @property
    def grows(self) -> bool:
        """Whether larger calls use more, or had no room for what they asked for."""
        ops = {op for op, _, _ in self._at}
        return bool(self._none) or any(self._growth(op, m, 1 - m) for op in ops for m in (0, 1))

    def saw(self, op: Op, mlen: int, adlen: int, used: int) -> None:
        """Notes a call with its bytes of message, without tag, and of associated data, and what it ``used``. Of equal
        calls the least counts for what larger ones need: one that uses more at times cannot claim to grow."""
        self.most = max(self.most, used)
        if used > self._used.get((op, mlen, adlen), -1):
            self._used[op, mlen, adlen] = used
            self._beside.clear()
        if mlen + adlen in GROWTH and 0 in (mlen, adlen):
            self._at[op, mlen, adlen] = min(used, self._at.get((op, mlen, adlen), used))

    def came(self, op: Op, mlen: int, adlen: int, used: int) -> None:
        """Notes what a call ``used`` that came to its end with all the room that it asked for."""
        self._least[op, mlen, adlen] = min(used, self._least.get((op, mlen, adlen), used))

    def at_least(self, op: Op, mlen: int, adlen: int) -> int:
        """What any call uses that came to its end, of those with half the size or more, if there are any."""
        of = {(m, a): used for (by, m, a), used in self._least.items() if by is op}
        half = [used for (m, a), used in of.items() if 2 * m >= mlen and 2 * a >= adlen]
        return min(half or of.values(), default=0)

    def of(self, op: Op, mlen: int, adlen: int) -> int:
        """What a call of this size will use; endless where one that is not larger had no room."""
        if any(o is op and m <= mlen and a <= adlen for o, m, a in self._none):
            return _ENDLESS
        free = _FREE * len(self._none)
        of_message, of_data = self._growth(op, 1, 0), self._growth(op, 0, 1)
        if not (of_message or of_data):
            return self.most + free
        if (op, of_message, of_data) not in self._beside:
            every = (*self._at.items(), *self._used.items())
            # what calls use beside their copies: the most of any, for larger ones may use it, too
            self._beside[op, of_message, of_data] = max(
                used - of_message * m - of_data * a for (by, m, a), used in every if by is op
            )
        copies = of_message * mlen + of_data * adlen
        return ceil(self._beside[op, of_message, of_data] + copies) + _MORE + free

    def _growth(self, op: Op, message: int, data: int) -> float:
        """Bytes for a byte of one input, where each size says that they are many: the fewest that two say, of which
        known answers show the first two."""
        every = [(n, self._at.get((op, n * message, n * data))) for n in GROWTH]
        used = [(n, u) for n, u in every if u is not None]
        if len(used) < _ENOUGH or used != every[: len(used)]:
            return 0.0
        grows = [(last - first) / (long - short) for (short, first), (long, last) in pairwise(used)]
        return min(grows) if min(grows) >= _COPIES else 0.0


def with_room(need: Need, work: Callable[[Need], T]) -> T:
    """What ``work`` returns; begun anew, with larger calls left out, where one asked for heap that is not there."""
    while True:
        try:
            return work(need)
        except NoRoomError:
            if not need.may_help:
                raise
            need = need.anew()
