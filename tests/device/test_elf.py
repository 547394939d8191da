"""Images are untrusted bytes: damaged ones are refused with a sentence or run into a named fault, never worse."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import _native
from steelyard.model.target import Target
from tests.conftest import Bench

BYTES = st.tuples(st.integers(0, 0xFFFF), st.integers(0, 255))


def run(target: Target, image: bytes) -> None:
    """Loads and runs an image; only documented errors may be raised."""
    simulator = _native.Simulator(target.chip_json)
    with contextlib.suppress(ValueError):
        simulator.load(image)
        with contextlib.suppress(_native.SimulatorFault, _native.BudgetExceeded):
            simulator.exchange(b"\xa5\x01\0\0\xfe", 200_000)
    with contextlib.suppress(ValueError):
        _native.elf_sections(image)


def test_damaged_images(bench: Bench, target: Target) -> None:
    good = bench.build(bench.package(), target).images["both"].read_bytes()

    @settings(max_examples=60)
    @given(st.lists(BYTES, min_size=1, max_size=12), st.integers(0, len(good)))
    def damage(changes: list[tuple[int, int]], length: int) -> None:
        image = bytearray(good)
        for at, value in changes:
            image[at % len(image)] = value
        run(target, bytes(image))
        run(target, bytes(image[:length]))
        head = bytearray(good)  # the headers are where it hurts
        for at, value in changes:
            head[at % 0x100] = value
        run(target, bytes(head))

    damage()
