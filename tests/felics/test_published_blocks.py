"""Published figures of the first FELICS's block ciphers, where its sources and results are at hand.

``STEELYARD_FELICS_BLOCKS`` names a FELICS tree, ``STEELYARD_FELICS_ROWS`` its published rows as a csv file
(scripts/felics_blocks.py says which columns). docs/validation/felics-blocks.md has the results.
"""

from __future__ import annotations

import csv
import lzma
import os
from pathlib import Path

import pytest

from steelyard import building, device, measure
from steelyard.model.call import Op, Request, scheduling
from steelyard.model.inputs import Inputs
from steelyard.sources import discover
from steelyard.sources.spelling import bundled_block
from steelyard.verify import felicsfile
from tests.conftest import the_target
from tests.felics.test_published import COMPILER

pytestmark = pytest.mark.long
PHASES = {"eks": Op.SCHEDULE_ENCRYPT, "e": Op.ENCRYPT, "dks": Op.SCHEDULE_DECRYPT, "d": Op.DECRYPT}
SIZES = (*(f"{what}_{p}" for what in ("code", "stack", "data") for p in PHASES), "code_total", "data_total")


def named(variable: str) -> Path:
    if not (place := os.environ.get(variable)):
        pytest.skip(f"{variable} names nothing")
    return Path(place)


def published(file: Path, options: str) -> list[dict[str, str]]:
    """Its rows for the AVR in scenario 0."""
    with (lzma.open if file.suffix == ".xz" else open)(file, "rt", newline="") as f:
        rows = [r for r in csv.DictReader(f) if (r["arch"], r["scenario"], r["options"]) == ("AVR", "0", options)]
    for r in rows:
        bits = int(r["block_bits"]), int(r["key_bits"])
        variant = bundled_block(r["cipher"], *bits) or "_".join(map(str, (r["cipher"], *bits)))
        r["label"] = f"{variant}/{r['version']}"
    return rows


def long_and_short(client: device.Client, op: Op, key: bytes, block: bytes) -> tuple[int, int]:
    """How many calls and jumps of a call could take a cycle less or more elsewhere in flash."""
    schedule = {Op.ENCRYPT: Op.SCHEDULE_ENCRYPT, Op.DECRYPT: Op.SCHEDULE_DECRYPT}.get(op, op)
    request = scheduling(client, schedule, key, bytes(client.hello.npub_bytes))
    if op is not schedule:
        request = Request(op, key, client.call(request).output, b"", block)
    _, mix, _ = client.profile(request)
    return mix.get("call", 0) + mix.get("jmp", 0), mix.get("rcall", 0) + mix.get("rjmp", 0)


@pytest.mark.parametrize("options", ["-O3", "-O2", "-O1", "-Os"])
def test_avr_rows(options: str) -> None:
    """Code, stack and data to the byte. Time to the cycle, but for one cycle for the call itself, and one for each
    executed call or jump that is long here and short there or the other way round."""
    target = the_target("atmega128")
    toolchain = building.identify(target.toolchain)
    assert toolchain is not None
    if toolchain.version != COMPILER:
        pytest.skip(f"another compiler: {toolchain.version}")
    found = {i.label: i for i in discover(named("STEELYARD_FELICS_BLOCKS")).implementations}
    rows = [r for r in published(named("STEELYARD_FELICS_ROWS"), options) if r["label"] in found]
    assert len(rows) > 200
    exact = 0
    for row in rows:
        implementation, name = found[row["label"]], f"{row['label']} {options}"
        built = building.build(implementation, target, toolchain, [options])
        assert built.failure is None, name
        client = device.simulated(target, built.images["both"])
        vector = felicsfile.read_block(implementation.kat[0], client.hello.key_bytes, client.hello.a_bytes)
        said, _ = measure.message(client, 0, vector)
        objects = building.objects(built, implementation)
        ours = measure.phases(client, implementation, target, objects, said, Inputs(implementation.digest)).figures
        assert {f: ours[f"felics_{f}"] for f in SIZES} == {f: int(row[f]) for f in SIZES}, name
        apart = {p: int(row[f"cycles_{p}"]) - ours[f"felics_cycles_{p}"] for p in PHASES}
        exact += not any(apart.values())
        for p, op in PHASES.items():
            if apart[p] not in (0, 1):
                fresh = device.simulated(target, built.images["both"])
                longer, shorter = long_and_short(fresh, op, said.key, vector.output or b"")
                assert -longer <= apart[p] <= shorter + 1, (name, p, apart[p], longer, shorter)
    assert exact > len(rows) / 2
