"""The chip's own counter as a second time of a call. The pulse stays the time of record; the counter tells whether an
instrument lost samples inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from ..model.call import CallResult, Op, empty_of
from ..model.reasons import Failure, Reason

#: empty calls that tell what the counter counts besides a pulse
EMPTY = 5
#: cycles by which the ways to the edges differ from operation to operation
WAY = 16
#: how far the clocks of chip and instrument may be apart once ``clock_ppm`` is taken into account
DRIFT = 1e-3
#: how far a clock may be off at all: with more it does not hold a serial line
MOST = 0.05


class Counter(Struct, frozen=True):
    """A counter of ``bits``: a count is right modulo its width. ``besides`` are the cycles that it counts before the
    rising and after the falling edge, of calls through the second call site of the harness ``api`` and through the
    first; ``sample`` is the instrument's, in cycles."""

    bits: int
    sample: float
    besides: dict[bool, float]
    api: int = 1

    @classmethod
    def of(
        cls, bits: int, sample: float, empty: Sequence[CallResult], empty_decrypt: Sequence[CallResult], api: int = 1
    ) -> Counter:
        """The counter that saw these empty calls. Their median counts, as one of them may lack samples."""
        plain = cls(bits, sample, {False: 0.0, True: 0.0})
        ways = {False: empty, True: empty_decrypt}
        return cls(bits, sample, {way: median(plain.apart(Op.EMPTY, a) for a in of) for way, of in ways.items()}, api)

    def apart(self, op: Op, answer: CallResult) -> float:
        """Cycles that the counter has more than the pulse: of all numbers that are right modulo its width, the one
        nearest to 0."""
        width = 1 << self.bits
        more = answer.counted - answer.pulse.cycles - self.besides[empty_of(op, self.api) is Op.EMPTY_DECRYPT]
        return (more + width / 2) % width - width / 2

    def room(self, cycles: int) -> float:
        """Cycles that counter and pulse may be apart: a sample at each edge of this call and of the empty one, the way
        to the edges, and the clocks."""
        return 2 * self.sample + WAY + DRIFT * cycles

    def known(self, within: float, answer: CallResult, apart: float) -> float:
        """Within what fraction the clocks are the same, by what was known before and a call more: all that counter and
        pulse are ``apart`` may be the clock's, and what there is room for may have hidden as much again."""
        cycles, room = max(answer.pulse.cycles, 1), self.room(0)
        if within * cycles + room >= 1 << self.bits - 1:  # the counter may have gone round once more
            return within
        return min(within, (abs(apart) + room) / cycles)

    def differs(self, op: Op, answer: CallResult, again: CallResult) -> Failure:
        """Why counter and pulse are apart in a call, by the same call made ``again``: an instrument that lost samples,
        or a counter that goes on in another way each time it is asked."""
        first, second = self.apart(op, answer), self.apart(op, again)
        cycles = answer.pulse.cycles
        text = (
            f"a pulse has {cycles} cycles, the chip's own counter {abs(first):.0f} {'more' if first > 0 else 'fewer'}"
        )
        if abs(second - first) <= self.room(0):
            clock = f"as if the clock were {first / max(cycles, 1) * 1e6:+.0f} ppm off"
            return Failure(Reason.COUNTER_DIFFERS, f"{text}, {clock}, and so they do when the call is made again")
        return Failure(
            Reason.ANALYZER_LOST,
            f"the analyzer loses samples: {text}, and not when the call is made again; lower its samplerate",
        )
