"""The steps in which a meter gives its readings, declared or seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from .meter import Samples, Stream, mean

#: the part of its step that a reading may be off by: twice the standard deviation of what is anywhere in it
ROUNDED = 1 / math.sqrt(3)
#: readings of a part that are kept
_MOST = 10_000


class Steps:
    """Those of a meter, as what it gave in each part of a measurement shows them: at idle, and in calls."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._declared = stream, stream.metered.resolution
        self._parts: list[list[float]] = []
        self._in_watts = False
        self._found: float | None = None

    def note(self, samples: Samples, among: Sequence[slice]) -> None:
        """Keeps what a part was read as, ``among`` these samples."""
        self._in_watts = bool(samples.w)
        read = [r for some in among for r in samples.read[some]]
        if read:
            self._parts.append(read[:: len(read) // _MOST + 1])
        self._found = None

    @property
    def step(self) -> float:
        """Amperes, or watts where the meter gives watts: what is declared, else that of the part where it is largest.
        :class:`DeviceError` where all readings are the same, which show none."""
        if self._found is None:
            self._found = self._declared or self._seen()
        return self._found

    def off(self, volts: float) -> float:
        """Watts by which a reading may be off because it is rounded: where in the step the truth is nobody knows."""
        return self.step * (1.0 if self._in_watts else volts) * ROUNDED

    @property
    def text(self) -> str:
        """The step in words."""
        text = f"readings in steps of {self.step * 1e6:.3g} {'µW' if self._in_watts else 'µA'}"
        return text if self._declared else f"{text}, as far as they show: write the meter's resolution"

    def _seen(self) -> float:
        """A meter that changes its range by itself has another step in each, and the smallest difference of readings
        near one is no smaller than its step there."""
        near: dict[int, float] = {}
        for a, b in pairwise(sorted({r for part in self._parts for r in part})):
            for octave in (_octave(a), _octave(b)):
                near[octave] = min(near.get(octave, math.inf), b - a)
        if not near:
            raise self._stream.unsound(f"all its readings are {self._parts[0][0]:g}: write its resolution")
        return max(mean([near[_octave(r)] for r in part]) for part in self._parts)


def _octave(reading: float) -> int:
    """The same for readings that are apart by a factor of less than two, as those of one range may be."""
    return math.frexp(reading)[1]
