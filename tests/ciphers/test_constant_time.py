"""What ``variant.toml`` says of a block cipher's time is what calls take: for other keys and blocks as many cycles.

No simulated chip has a cache for constants. So what is said to depend on data only with such a cache is held to be
constant here too, and that a cache tells tables is not shown.
"""

from __future__ import annotations

import re

import pytest

from steelyard import building, device
from steelyard.model.call import Request
from steelyard.model.implementation import Implementation
from steelyard.model.inputs import Inputs
from steelyard.model.target import Target
from steelyard.model.variant import variant_of
from steelyard.verify.block import SCHEDULES
from tests.ciphers.common import BLOCKS, name
from tests.conftest import STANDARD, Bench, the_target
from tests.verify.test_block_ciphers import package

#: keys and blocks of each call
CALLS = 24
#: of each way to keep time constant, and of tables, one: the others join in the long run
CHOSEN = {"aes128/avr", "aes128/fixsliced", "aes128/ref", "katan32/ref", "piccolo80/ref", "present80/fast"}


def said(implementation: Implementation) -> str:
    """What the variant's note says of the implementation's time."""
    variant = variant_of(implementation.folder)
    assert variant is not None
    others = {f.name for f in implementation.folder.parent.iterdir()} - {implementation.name}
    sentences = [s for s in variant.note.split(". ") if re.search(r"constant time|depends on data", s, re.I)]
    named = [s for s in sentences if s.startswith(f"{implementation.name}: ")]
    return (named or [s for s in sentences if s.partition(":")[0] not in others] or [""])[0]


def spreads(implementation: Implementation, target: Target) -> dict[str, int]:
    """By how many cycles the calls of each operation differ, with keys and blocks at random."""
    client = device.simulated(target, building.built(implementation, target).images["both"])
    hello, inputs = client.hello, Inputs("constant time")
    vectors = [inputs.vector(f"{k}", k, hello.key_bytes, 0, hello.a_bytes, 0) for k in range(CALLS)]
    found = {}
    for op, schedule in SCHEDULES.items():
        asked = [Request(schedule, v.key, bytes(hello.npub_bytes), b"", b"") for v in vectors]
        scheduled = list(client.calls(asked))
        turns = zip(vectors, scheduled, strict=True)
        answers = list(client.calls([Request(op, v.key, s.output, b"", v.message) for v, s in turns]))
        for which, made in ((schedule, scheduled), (op, answers)):
            cycles = [a.pulse.cycles for a in made]
            found[which.value] = max(cycles) - min(cycles)
    return found


def turns() -> list[object]:
    """Every implementation on every chip that can run it."""
    made = []
    for i in BLOCKS:
        for target in STANDARD:
            if i.architectures and (i.name == "avr") != (target == "uno"):
                continue
            marks = [] if i.label in CHOSEN else [pytest.mark.long]
            made.append(pytest.param(i, target, id=f"{name(i)}-{target}", marks=marks))
    return made


@pytest.mark.parametrize(("implementation", "target"), turns())
def test_time_is_as_the_note_says(implementation: Implementation, target: str) -> None:
    text = said(implementation)
    assert re.search(r"constant time|where memory has a cache", text, re.I), f"its note says of time: {text!r}"
    assert set(spreads(implementation, the_target(target)).values()) == {0}, text


def test_time_that_depends_on_a_key_or_block_is_seen(bench: Bench) -> None:
    delay = "for (volatile unsigned char n = {} & 1; n; n--) ;"
    uno = the_target("uno")
    assert set(spreads(package(bench), uno).values()) == {0}
    found = spreads(package(bench, schedule=delay.format("k[0]"), encrypt=delay.format("in[0]")), uno)
    assert {op for op, cycles in found.items() if cycles} == {"schedule_encrypt", "schedule_decrypt", "encrypt"}
