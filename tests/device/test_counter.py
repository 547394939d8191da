"""The chip's own counter is a second time of a call: on every target it agrees with the pulse. Where an instrument's
pulses lack samples, or somebody writes it, the call is no figure."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.device import Client, counter, frame
from steelyard.device.counter import WAY, Counter
from steelyard.model.call import CallResult, DeviceError, Op, Pulse, Request
from steelyard.model.reasons import Reason
from tests.conftest import SIMULATED, Bench, the_target

from .fake import FakeLink

#: the ATtiny85 has no counter of more than eight bits
COUNTING = [n for n in SIMULATED if n != "attiny85"]
ZEROS = bytes(16), bytes(16), b""
#: takes as long as its message says, up to a million of cycles
SLOW = "{ volatile unsigned long k; for (k = 0; k < 100 * mlen; k++) ; }"


@pytest.mark.parametrize("name", COUNTING)
def test_it_is_the_pulse_of_the_simulator_to_a_few_cycles(name: str, bench: Bench) -> None:
    """The same few for all calls of an operation, apart from what branch predictors have not learnt yet."""
    client = bench.client(bench.package(in_encrypt=SLOW), the_target(name))
    bits = client.hello.counter_bits
    assert bits in (16, 24, 32)
    empty = [[client.call(Request(op, *ZEROS, b"")) for _ in range(3)] for op in (Op.EMPTY, Op.EMPTY_DECRYPT)]
    second = Counter.of(bits, 0.0, empty[0], empty[1])
    calls = [Request(Op.ENCRYPT, *ZEROS, bytes(n)) for n in (0, 1, 2, 16, 200, 0)]
    longest = 0
    for request in calls:
        answer = client.call(request)
        assert abs(second.apart(Op.ENCRYPT, answer)) <= WAY
        longest = max(longest, answer.pulse.cycles)
        back = client.call(Request(Op.DECRYPT, *ZEROS, answer.output))
        assert (back.code, back.output) == (0, request.data)
        assert abs(second.apart(Op.DECRYPT, back)) <= WAY
    assert longest > 1 << 16


@given(st.sampled_from([16, 24, 32]), st.integers(0, 1 << 40), st.integers(0, 2000), st.data())
def test_a_count_is_right_modulo_its_width(bits: int, cycles: int, besides: int, data: st.DataObject) -> None:
    more = data.draw(st.integers(-(1 << bits - 1), (1 << bits - 1) - 1))
    seen = CallResult(0, 0, True, 0, 0, 0, b"", Pulse(cycles), (cycles + besides + more) % (1 << bits))
    assert Counter(bits, 1.0, {False: besides, True: -besides}).apart(Op.ENCRYPT, seen) == more


class Sampled(FakeLink):
    """A device with a counter of 16 bits, whose pulses an instrument samples every 4 cycles; what becomes of the
    pulse and the count of a call that copies ten bytes or more."""

    sees_stack = False
    window = 0
    resolution = 4.0
    bits, besides = 16, 150

    def __init__(self, change: Callable[[int, int], tuple[int, int]]) -> None:
        self._change = change
        self.calls = 0
        super().__init__()

    def _answer(self, command: int, payload: bytes) -> None:
        if command == frame.HELLO:
            payload = payload[:-5] + bytes((self.bits,)) + payload[-4:]
        elif command == frame.RUN:
            head, output = payload[: frame.RUN_ANSWER.size], payload[frame.RUN_ANSWER.size :]
            cycles = self._pulses[-1].cycles
            count = cycles + self.besides
            if len(output) >= 10:
                self.calls += 1
                cycles, count = self._change(cycles, count)
            self._pulses[-1] = replace(self._pulses[-1], cycles=cycles)
            fields = frame.RUN_ANSWER.unpack(head)
            payload = frame.RUN_ANSWER.pack(*fields[:-1], count % (1 << self.bits)) + output
        super()._answer(command, payload)


def called(link: Sampled, size: int = 100, *, compares: bool = True) -> CallResult:
    return Client(link, compares=compares).call(Request(Op.ENCRYPT, *ZEROS, bytes(size)))


def failing(link: Sampled) -> tuple[Reason, str]:
    with pytest.raises(DeviceError) as e:
        called(link)
    return e.value.failure.reason, e.value.failure.detail


def test_what_a_sample_and_the_clocks_explain_is_no_difference() -> None:
    assert called(Sampled(lambda cycles, count: (cycles - 8, count + WAY))).pulse.apart == 8 + WAY
    assert called(Sampled(lambda cycles, count: (cycles, count)), 9).pulse.apart == 0
    long = called(Sampled(lambda cycles, count: (cycles + 10_000_000, count + 10_009_999)))
    assert long.pulse.apart == 9_999


def test_calls_show_the_clock_as_well_as_their_length_lets_them() -> None:
    """What samples and the ways to the edges hide may be the clock's, too."""
    room = 2 * Sampled.resolution + WAY
    for cycles, apart, clock in [
        (100, 0, counter.MOST),
        (1000, 5, (5 + room) / 1000),
        (1000, -5, (5 + room) / 1000),
        (500_000, 400, (400 + room) / 500_000),
        (2_000_000, 0, counter.MOST),  # 5 % of which are more than a counter of 16 bits can tell
    ]:
        client = Client(Sampled(lambda _, count, n=cycles, more=apart: (n, n + Sampled.besides + more)))  # type: ignore[misc]
        assert client.clock is None
        client.call(Request(Op.ENCRYPT, *ZEROS, bytes(100)))
        assert client.clock == pytest.approx(clock)
        client.call(Request(Op.ENCRYPT, *ZEROS, bytes(9)))
        assert client.clock == pytest.approx(clock), "a shorter call takes nothing back"


def test_a_pulse_that_lacks_samples_once_is_the_analyzers_fault() -> None:
    link = Sampled(lambda cycles, count: (cycles - 100 * (link.calls == 1), count))
    reason, detail = failing(link)
    assert reason is Reason.ANALYZER_LOST
    assert "a pulse has 100 cycles, the chip's own counter 100 more, and not when the call is made again" in detail
    assert link.calls == 2


def test_a_counter_that_goes_wrong_again_is_not() -> None:
    for change in (
        lambda cycles, count: (cycles, count + 1000),  # a package that writes it
        lambda cycles, _: (cycles, 7),  # or sets it
        lambda cycles, count: (cycles - 60, count),  # an instrument whose time goes slowly
    ):
        reason, detail = failing(Sampled(change))
        assert reason is Reason.COUNTER_DIFFERS
        assert "ppm off, and so they do when the call is made again" in detail


def test_it_can_be_looked_at_alone() -> None:
    assert called(Sampled(lambda cycles, count: (cycles, count + 1000)), compares=False).pulse.apart == 1000


def test_one_of_the_empty_calls_may_lack_samples() -> None:
    right = [CallResult(0, 0, True, 0, 0, 0, b"", Pulse(100), 250)] * (counter.EMPTY - 1)
    short = replace(right[0], pulse=Pulse(40))
    made = Counter.of(16, 4.0, [*right, short], [short, *right])
    assert made.besides == {False: 150, True: 150}


def test_without_a_counter_or_an_instrument_nothing_is_compared() -> None:
    link = Sampled(lambda cycles, count: (cycles, count + 1000))
    link.bits = 0
    assert called(link).pulse.apart is None
    exact = Sampled(lambda cycles, count: (cycles, count + 1000))
    exact.resolution = 0.0
    assert called(exact).pulse.apart is None
