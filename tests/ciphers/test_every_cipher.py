"""Every bundled implementation: known answers on this machine, and what any AEAD or hash promises, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.model.call import Vector
from steelyard.model.implementation import Implementation
from steelyard.pipeline import Pipeline
from steelyard.verify.known import readings
from tests.ciphers.common import CIPHERS, EVERY, LIBRARY, driver, name, needed, portable, sources
from tests.conftest import Bench, the_target

#: C99 without arrays of variable length, whatever the size of int
STRICT = ("-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wvla", "-Werror", "-fsyntax-only")
INTS = {32: ("gcc", "-Walloca"), 16: ("avr-gcc", "-mmcu=atmega328p")}


#: stand for all where the pipeline measures this machine
WEIGHED = ("asconaead128/fast", "asconhash256/fast", "asconcxof128/fast")


def answers(program: Path, vectors: list[Vector]) -> list[tuple[Vector, bytes]]:
    """What the driver answers, which it has opened again."""
    parts = ((v.key, v.npub, v.ad, v.message) for v in vectors)
    lines = "".join(" ".join(part.hex() or "-" for part in of) + "\n" for of in parts)
    done = subprocess.run([program, "-"], input=lines, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[:4000]
    return list(zip(vectors, map(bytes.fromhex, done.stdout.splitlines()), strict=True))


@EVERY
def test_known_answers(implementation: Implementation) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    the_target("host")
    program = driver(implementation)
    rows = readings(implementation.primitive, implementation.variant)
    known = answers(program, rows[0].kat())
    right = [row for row in rows if row.digest_fits(known)]
    assert right, rows[0].wrong_kat(known)
    second = [row for row in right if row.ext_checks]
    # what was submitted with a mistake has its official answers alone
    assert bool(second) != (implementation.name == "submitted")
    assert all(row.ext_label for row in second)
    assert not second or None in [row.wrong_ext(answers(program, second[0].ext())) for row in second]


@EVERY
def test_it_needs_no_library(implementation: Implementation, tmp_path: Path) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    the_target("host")
    assert needed(sources(implementation), tmp_path) <= LIBRARY


@pytest.mark.parametrize("implementation", [i for i in CIPHERS if i.label in WEIGHED], ids=name)
def test_the_pipeline_verifies_it_on_this_machine(implementation: Implementation, bench: Bench) -> None:
    record = Pipeline(bench.store, threads=1).weigh(bench.job(implementation, the_target("host"), flags="-O2"))
    assert record.ok, record.failure
    assert record.verification is not None
    assert record.verification.source == "known"
    assert record.verification.skipped == 0
    row = readings(implementation.primitive, implementation.variant)[0]
    assert record.verification.vectors == len(row.kat())
    assert record.verification.ext_vectors == len(row.ext())


@EVERY
def test_promises(implementation: Implementation) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    the_target("host")
    done = subprocess.run([driver(implementation)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[:4000]


@pytest.mark.parametrize("bits", INTS)
@EVERY
def test_it_is_plain_c(implementation: Implementation, bits: int) -> None:
    the_target({32: "host", 16: "uno"}[bits])
    command = [*INTS[bits], *STRICT, *sources(implementation)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
