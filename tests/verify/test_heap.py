"""What no call finds of an earlier one: blocks of heap, and the C library's buffer of what is printed."""

from __future__ import annotations

import pytest

from steelyard.model.reasons import Failure, Reason
from tests import toys
from tests.conftest import Bench, the_target
from tests.verify.test_block_ciphers import failure, package

#: a table that is made once, begins where a longer call has its buffers, and has to be as it was
ONCE = (
    """#include <stdlib.h>
static unsigned char *table;

static int there(void)
{
    unsigned n = 0;

    if (table == NULL && (table = malloc(64)) != NULL)
        memset(table, 1, 64);
    while (table != NULL && n < 64 && table[n] == 1)
        n++;
    return n == 64;
}
""",
    "if (!there()) return 1;",
)
#: memory of a call's own, and an answer that is wrong
WRONG = ("#include <stdlib.h>", "free(malloc(8)); out[0] ^= 1;")
#: what newlib has a heap of its own for
OWN = {
    "printf": ("#include <stdio.h>", 'printf("%d", *in);'),
    "srand": ("#include <stdlib.h>", "srand(*in); *out = (unsigned char)rand();"),
    "memalign": ("#include <malloc.h>", "*(volatile char *)memalign(8, 8) = 1;"),
}


@pytest.mark.parametrize("name", ["uno", "bluepill"])
def test_a_block_of_an_earlier_call_is_named(bench: Bench, name: str) -> None:
    found = failure(bench.weigh(package(bench, top=ONCE[0], schedule=ONCE[1], encrypt=ONCE[1]), the_target(name)))
    assert found.reason is Reason.WRONG_OUTPUT
    assert "an earlier call asked for heap and a later one did not" in found.detail


def test_who_asks_in_each_call_is_wrong_without_it(bench: Bench) -> None:
    found = failure(bench.weigh(package(bench, top=WRONG[0], encrypt=WRONG[1]), the_target("uno")))
    assert found.reason is Reason.KAT_MISMATCH
    assert "an earlier call" not in found.detail


@pytest.mark.parametrize("called", OWN)
def test_what_the_c_library_has_a_heap_of_its_own_for_is_named(bench: Bench, called: str) -> None:
    top, encrypt = OWN[called]
    found = failure(bench.weigh(package(bench, top=top, encrypt=encrypt), the_target("bluepill")))
    assert found.reason is Reason.STRAY_WRITE
    assert f"the package calls {called}, or may, for which the C library has a heap of its own" in found.detail


def test_the_heap_that_comes_with_memalign_is_not_the_packages(bench: Bench) -> None:
    found = failure(
        bench.weigh(package(bench, top=OWN["memalign"][0], encrypt=OWN["memalign"][1]), the_target("gd32vf103"))
    )
    assert found.reason is Reason.DUPLICATE_SYMBOL
    assert "the C library's own" in found.detail


def test_a_malloc_of_the_packages_in_two_files_is_its_own(bench: Bench) -> None:
    mine = {f"{name}.c": "void *malloc(__SIZE_TYPE__ n) { return n ? 0 : 0; }" for name in ("one", "two")}
    files = {**toys.files(), **mine}
    built = bench.build(bench.package(files), the_target("gd32vf103"))
    assert built.failure == Failure(Reason.DUPLICATE_SYMBOL, "malloc")
