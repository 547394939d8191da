"""Every bundled implementation: known answers on this machine, and what any AEAD or hash promises, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.model.implementation import Implementation
from steelyard.pipeline import Pipeline
from steelyard.verify.known import readings
from tests.ciphers.common import EVERY, driver, portable, sources
from tests.conftest import Bench, the_target

#: what an implementation may leave to the C library and to the compiler's own
LIBRARY = {"memcmp", "memcpy", "memmove", "memset", "strcmp"}
#: C99 without arrays of variable length, whatever the size of int
STRICT = ("-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Wvla", "-Werror", "-fsyntax-only")
INTS = {32: ("gcc", "-Walloca"), 16: ("avr-gcc", "-mmcu=atmega328p")}


@EVERY
def test_known_answers(implementation: Implementation, bench: Bench) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    job = bench.job(implementation, the_target("host"), flags="-O2")
    record = Pipeline(bench.store, threads=1).weigh(job)
    assert record.ok, record.failure
    assert record.verification is not None
    assert record.verification.source == "known"
    assert record.verification.skipped == 0
    row = readings(implementation.primitive, implementation.variant)[0]
    assert record.verification.vectors == len(row.kat())
    # what was submitted with a mistake has its official answers alone
    assert record.verification.ext_vectors == (0 if implementation.name == "submitted" else len(row.ext()))
    assert row.ext_label

    built = bench.build(implementation, job.target, *job.flags)
    unresolved = ["nm", "-u", "-P", str(built.folder / "implementation.o")]
    named = subprocess.run(unresolved, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in named.splitlines()} <= LIBRARY


@EVERY
def test_promises(implementation: Implementation, tmp_path: Path) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    the_target("host")
    program = driver(implementation, tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[:4000]


@pytest.mark.parametrize("bits", INTS)
@EVERY
def test_it_is_plain_c(implementation: Implementation, bits: int) -> None:
    the_target({32: "host", 16: "uno"}[bits])
    command = [*INTS[bits], *STRICT, *sources(implementation)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
