"""Every bundled implementation verified on simulated targets: the official known answers and the second set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.model.implementation import Implementation
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.model.workload import workload
from steelyard.pipeline import Job, Pipeline
from steelyard.store import Store
from steelyard.verify.known import readings
from steelyard.verify.knownblock import COUNT
from tests.ciphers.common import BLOCKS, EVERY, name
from tests.conftest import STANDARD, the_target

pytestmark = pytest.mark.long

#: where it goes when a standard target is not for it: the same instruction sets with more memory
FURTHER = ("atmega128", "stm32f407")
#: why an implementation has no figures on a target; everything else is verified
UNFIT = {
    ("ascon-crypto_aead-asconaead128/avr", "bluepill"): Reason.FOREIGN_ISA,
    ("ascon-crypto_aead-asconaead128/armv7m", "uno"): Reason.FOREIGN_ISA,
    ("ascon-crypto_aead-asconaead128/armv7m", "atmega128"): Reason.FOREIGN_ISA,
    # tables that an AVR copies to RAM
    ("aes-gcm-crypto_aead-aes128gcm/mbedtls", "uno"): Reason.FLASH_OVERFLOW,
    ("aes-gcm-crypto_aead-aes128gcm/mbedtls", "atmega128"): Reason.RAM_OVERFLOW,
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all tests, so that baselines are measured once."""
    with Store.open(tmp_path_factory.mktemp("targets") / "results.db") as store:
        yield store


def weigh(store: Store, implementation: Implementation, target_name: str) -> Record:
    target = the_target(target_name)
    job = Job(implementation, target, target.toolchain.default_flags, workload("kat"))
    return Pipeline(store, threads=1).weigh(job)


@EVERY
def test_on_two_targets(implementation: Implementation, store: Store) -> None:
    row = readings(implementation.primitive, implementation.variant)[0]
    second: dict[str, int] = {}
    for target in (*STANDARD, *FURTHER):
        if target in FURTHER and len(second) == 2:
            break
        record = weigh(store, implementation, target)
        unfit = UNFIT.get((name(implementation), target))
        if unfit is not None:
            assert record.failure is not None, f"{target}: no longer {unfit}"
            assert record.failure.reason is unfit, record.failure
            continue
        assert record.ok, (target, record.failure)
        assert record.verification is not None
        assert record.verification.source == "known"
        assert record.verification.vectors == len(row.kat()), target
        second[target] = record.verification.ext_vectors
    assert len(second) == 2
    # a small target cannot hold the longest; as submitted, ciphers with a mistake have no second set
    assert max(second.values()) == (0 if implementation.name == "submitted" else len(row.ext())), second


@pytest.mark.parametrize("implementation", BLOCKS, ids=name)
def test_block_ciphers_on_two_targets(implementation: Implementation, store: Store) -> None:
    for target in STANDARD:
        record = weigh(store, implementation, target)
        foreign = implementation.architectures and (implementation.name == "avr") != (target == "uno")
        if foreign:
            assert record.failure is not None, target
            assert record.failure.reason is Reason.FOREIGN_ISA, record.failure
            continue
        assert record.ok, (target, record.failure)
        assert record.verification is not None
        assert (record.verification.source, record.verification.vectors) == ("known", COUNT)
