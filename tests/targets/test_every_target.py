"""Every simulated target whose compiler is here runs the harness, verifies a cipher, and repeats its figures."""

from __future__ import annotations

import pytest

from steelyard.cli.select import implementations
from steelyard.pipeline import Pipeline
from tests.conftest import SIMULATED, Bench, the_target


@pytest.mark.parametrize("name", SIMULATED)
def test_a_target_verifies_a_cipher(name: str, bench: Bench) -> None:
    target = the_target(name)
    implementation = implementations(["tinyjambu128v2/small"])[0][0].implementation
    job = bench.job(implementation, target, load="16/64", flags="-Os")
    record = Pipeline(bench.store, threads=1).weigh(job)
    assert record.ok, record.failure
    assert record.verification is not None
    assert record.verification.vectors == 1089
    assert 2000 < record.metrics["cycles_encrypt_mean"] < 600_000
    assert 300 < record.metrics["rom"] < 6000
    assert record.metrics["cycles_reject_mean"] >= record.metrics["cycles_decrypt_mean"] * 0.98
    again = Pipeline(bench.store, threads=1, force=True).weigh(job)
    assert (again.metrics, again.points) == (record.metrics, record.points)
