"""How much RAM calls use for stack and heap, by their size: what a larger one will."""

from __future__ import annotations

from math import ceil

from ..model.call import Op

#: pairs of bytes of one input, both of them whole blocks of common sizes, or not; the other input is empty
_PAIRS = ((8, 24), (16, 32))
#: bytes of RAM for a byte of input from which on a call keeps a copy of it; below, deeper stack is chance
_COPIES = 0.5
#: what an allocation rounds up to, and leaves to the stack below it (``malloc`` of harness/heap.c), at most
_APART = 128


class Need:
    """Bytes of stack and heap of the calls seen so far. ``most`` is that of the one that used most.

    Where a call copies its input to the stack or the heap, as with an array of its length, larger calls use more: that
    shows in the known answers, whose sizes of 0 to 32 bytes are made first.
    """

    def __init__(self) -> None:
        self.most = 0
        self._at: dict[tuple[Op, int, int], int] = {}

    def saw(self, op: Op, mlen: int, adlen: int, used: int) -> None:
        """Notes a call with its bytes of message, without tag, and of associated data, and what it ``used``."""
        self.most = max(self.most, used)
        if max(mlen, adlen) <= _PAIRS[-1][-1]:
            self._at[op, mlen, adlen] = max(used, self._at.get((op, mlen, adlen), 0))

    def of(self, op: Op, mlen: int, adlen: int) -> int:
        """What a call of this size will use."""
        of_message, of_data = self._growth(op, 1, 0), self._growth(op, 0, 1)
        if not (of_message or of_data):
            return self.most
        longest = _PAIRS[-1][-1]
        base = max(used for (o, _, _), used in self._at.items() if o is op) + _APART
        return base + ceil(of_message * max(0, mlen - longest) + of_data * max(0, adlen - longest))

    def _growth(self, op: Op, message: int, data: int) -> float:
        """Bytes for a byte of one input, where every pair of sizes says that they are many."""
        grows = []
        for short, long in _PAIRS:
            first, last = (self._at.get((op, n * message, n * data)) for n in (short, long))
            if first is None or last is None:
                return 0.0
            grows.append((last - first) / (long - short))
        return max(grows) if min(grows) >= _COPIES else 0.0
