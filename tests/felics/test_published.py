"""Published FELICS-AE figures, where its sources and results are at hand.

``STEELYARD_FELICS_TREE`` names a FELICS-AE tree (or a folder of its ciphers), ``STEELYARD_FELICS_RESULTS`` its
result files, separated by colons. docs/validation/felics-ae.md has the results.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from steelyard import building, device, measure, verify
from steelyard.model.call import Observed, Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.inputs import Inputs
from steelyard.model.primitive import PRIMITIVES
from steelyard.model.row import Row
from steelyard.model.target import Target
from steelyard.publish import felics
from steelyard.sources import discover
from tests.conftest import the_target

pytestmark = pytest.mark.long
#: the compiler that the published AVR figures are reproduced with to the byte
COMPILER = "avr-gcc (GCC) 5.4.0"


@pytest.fixture(scope="module")
def tree() -> dict[str, Implementation]:
    place = os.environ.get("STEELYARD_FELICS_TREE")
    if not place:
        pytest.skip("STEELYARD_FELICS_TREE names no FELICS-AE tree")
    found = discover(Path(place))
    assert not [r for r in found.rejected if r.failure.reason != "felics-phases"]
    return {i.label: i for i in found.implementations}


@pytest.fixture(scope="module")
def published() -> list[Row]:
    places = os.environ.get("STEELYARD_FELICS_RESULTS")
    if not places:
        pytest.skip("STEELYARD_FELICS_RESULTS names no result files")
    rows = [row for place in places.split(":") for row in felics.read(Path(place))]
    return list({(r["label"], r["flags"]): r for r in rows if r["target"] == "atmega128"}.values())


@contextmanager
def harness(target: Target, built: building.Build) -> Iterator[device.Client]:
    with device.opened(target, built.images["both"], ()) as link:
        yield device.Client(link)


def long_and_short_calls(client: device.Client, answers: Sequence[Observed]) -> tuple[int, int]:
    """The number of instructions of the measured call that could take a cycle less or more elsewhere in flash."""
    vector = answers[0][1]
    message = bytes(range(16, 0, -1))
    _, mix, _ = client.profile(Request(Op.ENCRYPT, vector.key, vector.npub, vector.ad, message))
    return mix.get("call", 0) + mix.get("jmp", 0), mix.get("rcall", 0)


def test_avr_rows(tree: dict[str, Implementation], published: list[Row]) -> None:
    """Code size and RAM to the byte. Time to the cycle, but for one cycle for each executed call or jump that is
    long here and short there or the other way round: which ones depends on the functions' addresses in flash."""
    target = the_target("atmega128")
    toolchain = building.identify(target.toolchain)
    assert toolchain is not None
    if toolchain.version != COMPILER:
        pytest.skip(f"another compiler: {toolchain.version}")
    rows = [row for row in published if row["label"] in tree]
    assert len(rows) > 40
    exact = 0
    for row in rows:
        implementation, name = tree[str(row["label"])], f"{row['label']} {row['flags']}"
        built = building.build(implementation, target, toolchain, [str(row["flags"])])
        assert built.failure is None, name
        with harness(target, built) as client:
            empty = measure.empty_calls(client, PRIMITIVES["crypto_aead"].operations)
            expected = verify.expected(implementation, client.hello)
            verifier = verify.Verifier(client, implementation, expected, Inputs(implementation.digest))
            answers = verify.known_answers(verifier).calls
            objects, case = building.objects(built, implementation), measure.case(client, answers)
            ours = measure.felics(client, implementation, target, objects, case, empty.cycles).figures
            longer, shorter = long_and_short_calls(client, answers)
        for metric in ("felics_code_size", "felics_code_ram"):
            assert ours[metric] == row[metric], (name, metric)
        time, theirs = ours["felics_code_time"], row["felics_code_time"]
        assert isinstance(theirs, int)
        assert time - longer <= theirs <= time + shorter, (name, time, theirs, longer, shorter)
        exact += time == theirs
    assert exact > 10
