"""Finds where channels change in a stream of samples. Long spans without an edge cost next to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

#: samples that are compared with a constant at once
BLOCK = 1 << 14


class Edges:
    """Samples are bytes, a bit for each channel; only ``bits`` of them count, the lowest of levels first. Before the
    first all are low."""

    def __init__(self, bits: Sequence[int]) -> None:
        self._bits = bytes(sum((value >> bit & 1) << k for k, bit in enumerate(bits)) for value in range(256))
        self._blocks: dict[int, bytes] = {}
        self._level = 0
        #: a block of samples like the last one
        self._last = b""
        #: samples so far
        self.count = 0

    def feed(self, samples: bytes) -> Iterator[tuple[int, int]]:
        """Takes what came: number of each first sample with other levels than the one before, and the levels."""
        for at in range(0, len(samples), BLOCK):
            size = min(BLOCK, len(samples) - at)
            if self._last and samples.startswith(self._last[:size], at):  # in all channels, those that count among them
                self.count += size
                continue
            block = samples[at : at + size]
            yield from self._block(block.translate(self._bits))
            self._last = bytes((block[-1],)) * BLOCK

    def _block(self, data: bytes) -> Iterator[tuple[int, int]]:
        at = 0
        while (at := self._next(data, at)) < len(data):
            self._level = data[at]
            yield self.count + at, self._level
        self.count += len(data)

    def _next(self, data: bytes, at: int) -> int:
        """The first index from ``at`` on with another level; the end where there is none."""
        same = self._blocks.setdefault(self._level, bytes((self._level,)) * BLOCK)
        end = len(data)
        if data[at:] == same[: end - at]:
            return end
        while end - at > 1:  # the first half up to the middle is all the same, or it is not
            middle = (at + end) // 2
            if data[at:middle] == same[: middle - at]:
                at = middle
            else:
                end = middle
        return at
