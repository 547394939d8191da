"""Stack against paint in simavr: another simulator, and no stack pointer that anybody watches."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oracles import machines, replay
from steelyard.cli.select import bundled
from steelyard.device import simulated
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from tests.conftest import Bench, the_target

FEW = ("asconaead128/fast", "tinyjambu128v2/small", "giftcofb128v1/small", "xoodyakround3/fast")
#: as ``oracles/stack.c`` has them
AD, MESSAGE = 20, 40
#: bytes of a frame's lower end that a compiler made room for and does not use
UNUSED = 16


@pytest.mark.parametrize(
    "implementation",
    [i for i in bundled().implementations if i.label in FEW and i.primitive == "crypto_aead"],
    ids=lambda i: i.label,
)
def test_stack_is_as_deep_as_paint_in_simavr_says(bench: Bench, implementation: Implementation, tmp_path: Path) -> None:
    if shutil.which("simavr") is None:
        pytest.skip("simavr is not installed")
    uno = the_target("uno")
    pulses = machines.simavr(replay.painted(implementation, uno, ("-O3",), tmp_path))
    told = sum(1 << bit for bit, pulse in enumerate(pulses[-replay.SUM_PULSES :]) if pulse > min(pulses))
    client = simulated(uno, bench.build(implementation, uno, "-O3").images["both"])
    hello = client.hello
    request = Request(Op.ENCRYPT, bytes(hello.key_bytes), bytes(hello.npub_bytes), bytes(AD), bytes(MESSAGE))
    sealed = client.call(request)
    opened = client.call(Request(Op.DECRYPT, request.key, request.npub, request.ad, sealed.output))
    assert opened.code == 0
    for name, painted, stack in (
        ("encrypt", told & 0xFFFF, sealed.pulse.stack),
        ("decrypt", told >> 16, opened.pulse.stack),
    ):
        assert stack is not None
        assert painted <= stack <= painted + UNUSED, (name, painted, stack)
