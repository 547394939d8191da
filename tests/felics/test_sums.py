"""What is put together of several calls: both schedules of a package, and the wanted output of a mode."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.measure.phases import _wanted, joined
from steelyard.model.call import CallResult, Op, Pulse, Request


def called(cycles: int, stack: int, *, heap: int, instructions: int, unaligned: int) -> CallResult:
    pulse = Pulse(cycles, stack=stack, unaligned=unaligned, instructions=instructions)
    return CallResult(0, 0, True, 0, stack, heap, b"", pulse)


@pytest.mark.parametrize("deeper", ["first", "second"])
def test_the_context_of_a_decryption_costs_both_schedules(deeper: str) -> None:
    stacks = (90, 20) if deeper == "first" else (20, 90)
    heaps = stacks[::-1]
    one, two = (
        called(1000 * k, stack, heap=heap, instructions=100 * k, unaligned=k)
        for k, stack, heap in zip((1, 2), stacks, heaps, strict=True)
    )
    empty: Any = SimpleNamespace(cycles={"schedule_encrypt": 7}, instructions={"schedule_encrypt": 5})
    given: Any = [
        ("schedule_encrypt", SimpleNamespace(key=b"k"), one),
        ("schedule_decrypt", SimpleNamespace(key=b"k"), two),
    ]
    (_, _, before), (_, _, after) = joined(given, empty)
    assert before == one
    assert (after.stack, after.heap, after.pulse.stack) == (90, 90, 90)
    assert (after.pulse.cycles, after.pulse.instructions, after.pulse.unaligned) == (2993, 295, 3)


class Adds:
    """A cipher of two bytes that adds the key's first byte to each."""

    hello = SimpleNamespace(npub_bytes=3, a_bytes=2, key_bytes=1)

    def call(self, request: Request) -> Any:
        if request.op == Op.SCHEDULE_ENCRYPT:
            return SimpleNamespace(output=request.key * 3)
        assert request.npub == request.key * 3
        return SimpleNamespace(output=bytes(b + request.key[0] & 255 for b in request.data))


@pytest.mark.parametrize(
    ("scenario", "iv", "output"),
    [
        (0, "", None),
        (1, "00ff", "02fe 01fe 03fd"),  # CBC: each block with the one before it
        (2, "00ff", "0002 0302 0200"),  # CTR: the last byte counts, and begins anew after 255
    ],
)
def test_the_wanted_output_of_a_mode_is_made_of_blocks(scenario: int, iv: str, output: str | None) -> None:
    client: Any = Adds()
    found, context = _wanted(client, scenario, b"\x01", bytes.fromhex("0102 0203 0302"), bytes.fromhex(iv))
    assert context == b"\x01\x01\x01"
    assert found.output == (None if output is None else bytes.fromhex(output))
