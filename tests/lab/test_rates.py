"""The serial line's second rate: the firmware goes on with it, and no chip is too slow for it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from steelyard.device import SimulatorLink, frame
from steelyard.device.client import Client, encode
from steelyard.lab.image import flat
from steelyard.lab.virtual.board import BITS, Chip
from steelyard.lab.virtual.clock import SECOND
from steelyard.model.call import Op, Request
from steelyard.model.target import Target, load_target
from steelyard.pipeline import nocrypt
from tests.conftest import SIMULATED, Bench, the_target

FAST = [name for name in SIMULATED if (w := load_target(name).wiring) and w.fast_baud]
#: a hundred bytes of all kinds each way
CALL = Request(Op.ENCRYPT, bytes(range(16)), bytes(16), bytes(range(9)), bytes(range(60, 160)), paint=True)


def passed(chip: Chip, data: bytes, seconds: float) -> tuple[bytes, list[int]]:
    """What the chip says after ``data``, which come at its line's rate, and the picoseconds from byte to byte."""
    chip.receive(data)
    chip.run(chip.time + int(seconds * SECOND))
    times = [at for at, _ in chip.sent]
    said = bytes(byte for _, byte in chip.sent)
    chip.sent.clear()
    return said, [b - a for a, b in pairwise(times)]


def wired(target: Target) -> tuple[int, int]:
    assert target.wiring is not None
    return target.wiring.baud, target.wiring.fast_baud


@pytest.mark.parametrize("name", FAST)
def test_no_byte_is_lost_at_the_second_rate(bench: Bench, name: str) -> None:
    """Of a request without a gap, with a byte that the port holds; and the answer goes out as fast."""
    target = the_target(name)
    image = bench.build(nocrypt("crypto_aead"), target, *target.toolchain.default_flags).images["both"]
    slow, fast = wired(target)
    simulated = Client(SimulatorLink(target, image))
    assert simulated.hello.clock_hz == target.board_hz // 10_000 * 10_000
    expected = simulated.call(CALL)
    chip = Chip(target, slow, fast)
    chip.start(flash_of(image, target))
    chip.run(SECOND // 10)
    assert chip.native.bit is not None
    assert target.wiring is not None
    rate = target.board_hz / target.wiring.serial_divides / chip.native.bit
    assert abs(rate / slow - 1) < 0.022, "the divider that the firmware wrote is for another clock than a board has"
    said, apart = passed(chip, frame.encode(frame.HASTEN), 0.1)
    assert said == frame.encode(frame.HASTEN | frame.ANSWER)
    assert apart[0] == SECOND * BITS // slow
    said, apart = passed(chip, encode(CALL), 0.5)
    [(command, payload)] = frame.Decoder().feed(said)
    assert command == frame.RUN | frame.ANSWER
    assert payload[frame.RUN_ANSWER.size :] == expected.output
    assert min(apart) == SECOND * BITS // fast


def test_an_avr_with_a_slow_clock_has_time_for_the_places_of_a_call(bench: Bench) -> None:
    """They are computed between a request's head and its inputs, for longer than a byte takes."""
    target = the_target("uno")
    image = bench.build(nocrypt("crypto_block"), target, *target.toolchain.default_flags).images["both"]
    request = Request(Op.ENCRYPT, bytes(range(16)), bytes(range(16)), b"", bytes(range(16)), in_place=True)
    chip = Chip(target, *wired(target), clock_error_ppm=-8000)
    chip.start(flash_of(image, target))
    chip.run(SECOND // 10)
    passed(chip, frame.encode(frame.HASTEN), 0.1)
    said, _ = passed(chip, encode(request), 0.1)
    [(command, payload)] = frame.Decoder().feed(said)
    assert command == frame.RUN | frame.ANSWER
    assert payload[frame.RUN_ANSWER.size :] == request.data


def flash_of(image: Path, target: Target) -> bytes:
    """What a flasher writes."""
    flash = target.chip.flash
    return flat(image.read_bytes(), flash.base, flash.size).ljust(flash.size, b"\xff")
