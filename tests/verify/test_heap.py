"""What no call finds of an earlier one: blocks of heap, and the C library's buffer of what is printed."""

from __future__ import annotations

import pytest

from steelyard.model.reasons import Reason
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
PRINTS = ("#include <stdio.h>", 'printf("x");')


@pytest.mark.parametrize("name", ["uno", "bluepill"])
def test_a_block_of_an_earlier_call_is_named(bench: Bench, name: str) -> None:
    found = failure(bench.weigh(package(bench, top=ONCE[0], schedule=ONCE[1], encrypt=ONCE[1]), the_target(name)))
    assert found.reason is Reason.WRONG_OUTPUT
    assert "an earlier call asked for heap and a later one did not" in found.detail


def test_who_asks_in_each_call_is_wrong_without_it(bench: Bench) -> None:
    found = failure(bench.weigh(package(bench, top=WRONG[0], encrypt=WRONG[1]), the_target("uno")))
    assert found.reason is Reason.KAT_MISMATCH
    assert "an earlier call" not in found.detail


def test_a_buffer_of_printf_is_named(bench: Bench) -> None:
    found = failure(bench.weigh(package(bench, top=PRINTS[0], encrypt=PRINTS[1]), the_target("bluepill")))
    assert found.reason is Reason.STRAY_WRITE
    assert "the package prints, or may: the C library's buffer" in found.detail
