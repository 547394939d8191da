"""Every bundled implementation: known answers on this machine, and what any AEAD or hash promises, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.cli.select import bundled
from steelyard.model.implementation import Implementation
from steelyard.model.paths import HARNESS
from steelyard.pipeline import Pipeline
from steelyard.verify.known import known
from tests.conftest import Bench, the_target

#: the baseline keeps none of the promises, by design
CIPHERS = [i for i in bundled()[0] if i.family != "nocrypt"]
EVERY = pytest.mark.parametrize("implementation", CIPHERS, ids=lambda i: f"{i.family}-{i.primitive}-{i.label}")
DRIVER = Path(__file__).parent / "driver.c"
KINDS = {"crypto_aead": "AEAD", "crypto_hash": "HASH", "crypto_cxof": "CXOF"}
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g", "-w")


def portable(implementation: Implementation) -> bool:
    """Whether this machine can run it: no assembly of another one."""
    return all(f.language in ("c", "header") for f in implementation.files)


def limits(implementation: Implementation) -> list[str]:
    """What the driver must know of algorithms that do not take everything."""
    if implementation.primitive == "crypto_cxof":
        return ["-DMAX_AD=256"]  # SP 800-232, section 5.3
    if implementation.variant.startswith("spook128mu"):
        return ["-DIGNORED_KEY_BITS=2"]  # Spook, section 3.1: the public tweak has 126 bits
    row = known(implementation.primitive, implementation.variant)[0]
    return ["-DMAX_AD=0", "-DONE_BLOCK=1", f"-DMAX_MESSAGE={row.max_mlen}"] if row.one_block else []


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


@EVERY
def test_promises(implementation: Implementation, tmp_path: Path) -> None:
    if not portable(implementation):
        pytest.skip("assembly; checked on its target")
    the_target("host")
    program = tmp_path / "driver"
    sources = [str(implementation.folder / f.name) for f in implementation.files if f.language == "c"]
    folders = dict.fromkeys(str((implementation.folder / f.name).parent) for f in implementation.files)
    include = [f"-I{p}" for p in (implementation.folder, *folders, HARNESS / "include")]
    command = ["gcc", *SANITIZERS, f"-D{KINDS[implementation.primitive]}", *limits(implementation), *include]
    command += [str(DRIVER), *sources]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[:4000]
