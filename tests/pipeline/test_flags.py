"""What flags are part of: not of nocrypt, and of fresh inputs where they could hold answers."""

from __future__ import annotations

import pytest

from steelyard.jobs import Job
from steelyard.model.paths import CIPHERS
from steelyard.model.target import Target, load_target
from steelyard.model.workload import workload
from steelyard.sources import discover
from tests import toys
from tests.conftest import Bench

PLAIN = ("-O3", "-flto", "-mcall-prologues", "-falign-functions=4", "-std=gnu99", "-g", "-fno-inline", "-Wall")


def job(*flags: str) -> Job:
    (found,) = discover(CIPHERS / "crypto_block/xtea/xtea/ref").implementations
    return Job(found, load_target("uno"), flags, workload("kat"))


def test_options_of_the_compiler_change_no_input() -> None:
    assert job(*PLAIN).secret == job("-O3").secret == job().implementation.digest


@pytest.mark.parametrize(
    "flag",
    [
        "-DKNOWN={1,2}",
        "-fmacro-prefix-map=s=g79",
        "-fno-builtin-zqdnnjejogflm",
        "-Wno-dnnjejogflm",
        "-mdnnjejogflm",
        "-fstack-limit-register=r",
        "-g3 ",
        "-frandom-seed=7",
        "-march=rv32imac_zba",
        "-include",
        "-fx=" + "7" * 60,
        "-Iother",
        "-Wl,--defsym=a=1",
        "x",
    ],
)
def test_flags_that_hold_data_change_all_inputs(flag: str) -> None:
    assert len({job("-O3", flag).secret, job("-O3", f"{flag}0").secret, job("-O3").secret}) == 3


def test_many_options_can_hold_data_too() -> None:
    """Each is the compiler's own; their order is not."""
    a, b = "-fweb", "-fno-web"
    assert job(*[a, b] * 6).secret == job().secret
    assert len({job(*[a, b] * 20).secret, job(*[b, a] * 20).secret, job().secret}) == 3


def test_nocrypt_has_no_flags_that_make_it_large() -> None:
    """What is above it would be small: macros can spoil functions, and a package can take back what aligns its own."""
    large = (
        "-Dnoinline=aligned(4096)",
        "-falign-functions=4096",
        "-fpatchable-function-entry=500",
        "-malign-functions=12",
        "-mllvm",
        "-misched=x",
    )
    machine = ("-march=rv32im", "-mabi=ilp32", "-mcmodel=medany")
    assert job(*PLAIN, *large, *machine, "-UX", "-Iy").baseline.flags == ("-O3", "-flto", "-mcall-prologues", *machine)


def test_padding_counts(bench: Bench, uno: Target) -> None:
    (xtea,) = discover(CIPHERS / "crypto_block/xtea/xtea/ref").implementations
    plain, padded = (bench.weigh(xtea, uno, flags=f"-O2{more}").metrics for more in ("", " -falign-functions=1024"))
    assert padded["rom"] - plain["rom"] == padded["image_rom"] - plain["image_rom"] > 1024


def test_library_code_that_counts_is_that_of_the_nocrypt_that_is_subtracted(bench: Bench, uno: Target) -> None:
    """Which knows nothing of a package's own macros and functions."""
    copy = "void *xx_copy(void *to, const void *from, __SIZE_TYPE__ n)\n"
    copy += "{ char *t = to; const char *f = from; while (n--) *t++ = *f++; return to; }\n"
    package = bench.package({**toys.files(), "copy.c": copy, "LWC_AEAD_KAT_128_128.txt": toys.kat()})
    record = bench.weigh(package, uno, flags="-O2 -Dmemcpy=xx_copy")
    assert record.failure is None, record.failure
    plain = bench.weigh(package, uno, flags="-O2")
    assert record.metrics["image_rom"] - plain.metrics["image_rom"] == record.metrics["rom"] - plain.metrics["rom"]
