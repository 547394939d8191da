"""Stack and heap of calls that were not made yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.device import Client
from steelyard.device.need import Need
from steelyard.device.simulator import SimulatorLink
from steelyard.measure.whole import why_not
from steelyard.model.call import GROWTH, Op
from steelyard.model.metric import REFUSED
from steelyard.model.target import Target
from steelyard.model.workload import workload
from tests import toys
from tests.conftest import Bench

KAT = "LWC_AEAD_KAT_128_128.txt"


@given(
    st.integers(0, 400),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(0, 4000),
    st.integers(0, 99),
)
def test_copies_of_the_input_grow_with_it(fixed: int, of_m: int, of_a: int, unit: int, mlen: int, adlen: int) -> None:
    """The prediction is not less than what is used, nor more than what may be rounded up."""

    def used(m: int, a: int) -> int:
        return fixed + -(-(m * of_m + a * of_a) // unit) * unit

    need = Need()
    for n in GROWTH:
        need.saw(Op.ENCRYPT, n, 0, used(n, 0))
        need.saw(Op.ENCRYPT, 0, n, used(0, n))
    assert used(mlen, adlen) <= need.of(Op.ENCRYPT, mlen, adlen) <= used(max(mlen, 16), max(adlen, 16)) + 32


def test_a_stack_that_is_deeper_for_whole_blocks_does_not_grow() -> None:
    need = Need()
    for n in GROWTH:
        need.saw(Op.ENCRYPT, n, 0, 100 + 60 * (n > 16))
    assert need.of(Op.ENCRYPT, 1536, 0) == need.most == 160


def test_of_equal_calls_the_least_grows_and_the_most_is_needed() -> None:
    """One that uses more at times cannot claim to grow, nor hide what it uses."""
    need = Need()
    for n in GROWTH:
        for more in (0, 3 * n, 0):
            need.saw(Op.ENCRYPT, n, 0, 100 + more)
    assert not need.grows
    assert need.of(Op.ENCRYPT, 1536, 0) == 100 + 3 * max(GROWTH)


def test_what_had_no_room_leaves_some_to_the_others() -> None:
    """Each call that had none takes its size out, and of what is free a part."""
    need = Need()
    need.saw(Op.ENCRYPT, 8, 0, 100)
    before = need.of(Op.ENCRYPT, 8, 0)
    need.has_no(Op.ENCRYPT, 64, 0)
    assert need.of(Op.ENCRYPT, 64, 9) > 1 << 30
    assert before < need.of(Op.ENCRYPT, 63, 0) < before + 100


def test_malloc_is_believed_where_calls_of_half_the_size_use_much() -> None:
    """The least that one of those used: smaller ones say nothing as long as there are any."""
    need = Need()
    assert need.at_least(Op.ENCRYPT, 64, 64) == 0
    for mlen, adlen, used in ((31, 64, 10), (64, 31, 20), (32, 32, 300), (32, 32, 200), (64, 64, 400)):
        need.came(Op.ENCRYPT, mlen, adlen, used)
    assert need.at_least(Op.ENCRYPT, 64, 64) == 200
    assert need.at_least(Op.ENCRYPT, 200, 200) == 10
    assert need.at_least(Op.DECRYPT, 64, 64) == 0


GROWS = {
    "stack": (
        "unsigned char copy[n + 1]; t[0] ^= (unsigned char)((copy[n] = 1) - ((volatile unsigned char *)copy)[n]);",
        "",
    ),
    "heap": (
        "unsigned char *copy = malloc(n + 1); if (!copy) return -2;"
        " copy[n] = 1; t[0] ^= (unsigned char)(1 - ((volatile unsigned char *)copy)[n]); free(copy);",
        "#include <stdlib.h>",
    ),
}


def test_sizes_whose_copy_has_no_room_are_left_out(bench: Bench, uno: Target) -> None:
    """Not taken for a failure: on a chip with more RAM the same call is right."""
    for grows, top in GROWS.values():
        files = toys.files(in_encrypt=grows, in_decrypt=grows, top=top)
        record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno, "0/16,0/256,0/600,0/1000")
        assert record.failure is None, record.failure
        assert {p.mlen for p in record.points} == {16, 256}
        assert record.metrics["cycles_encrypt_mean"] > 0
        assert record.metrics[REFUSED] == 2
        assert not why_not(record, workload("0/16,0/256,0/600,0/1000"), uno)


def test_copies_show_where_the_largest_have_no_room() -> None:
    need = Need()
    for n in GROWTH[:-1]:
        need.saw(Op.ENCRYPT, n, 0, 100 + n)
    assert need.grows
    assert need.of(Op.ENCRYPT, 100, 0) > 200


def test_attempts_that_begin_anew_have_one_limit_together(bench: Bench, uno: Target) -> None:
    image = bench.build(bench.package(), uno).images["both"]
    first = Client(SimulatorLink(uno, image))
    first.call(first.hello.zeros(Op.ENCRYPT))
    first.no_room(Op.ENCRYPT, 100, 0)
    spent = SimulatorLink(uno, image)
    Client(spent, need=first.need.anew())
    assert spent.spent >= first.need.spent > 0


@pytest.mark.parametrize("asked", ["30000", "60 * (mlen + adlen)"])
def test_what_asks_for_heap_that_is_not_there_chooses_no_mean(bench: Bench, uno: Target, asked: str) -> None:
    """Else only its shortest calls would be in it."""
    asks = f"unsigned char *copy = mlen + adlen ? malloc({asked}) : NULL; if (mlen + adlen && !copy) return -2;"
    files = toys.files(in_encrypt=asks, top="#include <stdlib.h>")
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno)
    assert "cycles_encrypt_mean" not in record.metrics


def test_who_asks_for_too_much_at_will_is_refused(bench: Bench, uno: Target) -> None:
    """Also where its first call burns stack, so that there seems to be little."""
    burns = "{ static unsigned char begun; if (!begun++) burn(); } if (n > 32 && !malloc(30000)) return -2;"
    burn = "static __attribute__((noinline)) void burn(void)"
    burn += "{ volatile unsigned char own[700]; own[0] = own[699] = 1; }"
    files = toys.files(in_encrypt=burns, top=f"#include <stdlib.h>\n{burn}")
    failure = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno, "0/16,0/64,0/128").failure
    assert failure is not None
    assert failure.detail.endswith("; smaller calls use much less"), failure


def test_a_copy_in_whole_blocks_of_any_length_is_left_out_where_it_has_no_room(bench: Bench, uno: Target) -> None:
    """As with malloc. No two of the sizes that are looked at show that it grows; a call shows that there is no room."""
    for block in (8, 64):
        copy = f"unsigned char copy[(n + {block}) / {block} * {block} + {block}]; copy[n] = 1;"
        copy += " t[0] ^= (unsigned char)(1 - ((volatile unsigned char *)copy)[n]);"
        files = toys.files(in_encrypt=copy, in_decrypt=copy)
        record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno, "0/16,0/256,0/600")
        assert record.failure is None, record.failure
        assert {p.mlen for p in record.points} == {16, 256}
        assert record.metrics[REFUSED]


def test_one_known_answer_is_no_cipher(bench: Bench, uno: Target) -> None:
    """Who takes the empty message only, with much heap, is not known to be right."""
    asks = "unsigned char *much = malloc(mlen + adlen ? 30000 : 900); if (!much) return -2; much[899] = t[0];"
    files = toys.files(in_encrypt=f"{asks} t[0] = much[899];", top="#include <stdlib.h>")
    failure = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno).failure
    assert failure is not None
    assert failure.reason == "ram-overflow"
    assert "1 of 1089" in failure.detail or "known answers find room" in failure.detail


def test_what_a_deep_call_left_is_gone_when_others_are_measured(bench: Bench, bluepill: Target) -> None:
    """A table of a call of random size below everybody's stack; and the stack of decoys counts."""
    deep = "static __attribute__((noinline)) void deep(unsigned long n) { volatile unsigned char frame[6000];"
    deep += " if (n > 63) frame[0] = 77; }"
    look = "{ if (mlen > 63 && adlen > 63) deep(n); }"
    files = toys.files(in_encrypt=look, top=deep)
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), bluepill, "0/16")
    assert record.failure is None, record.failure
    assert record.metrics["stack"] < 1000, "of a size that no figure has"
    made = "static unsigned char made; static __attribute__((noinline)) void slow(void)"
    made += "{ volatile unsigned i; for (i = 0; i < 500; i++) ; }"
    files = toys.files(in_encrypt="if (!made) slow(); if (mlen > 63 && adlen > 63) made = 1;", top=made)
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), bluepill, "0/16")
    assert next(p.cycles for p in record.points if p.operation == "encrypt") > 2000
    files = toys.files(in_encrypt="if (npub[0] & 1) deep(n);", top=deep)
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), bluepill, "0/16")
    assert record.metrics["stack"] > 6000


def test_what_copies_and_goes_deeper_at_some_size_is_not_refused(bench: Bench, uno: Target) -> None:
    """It needs both for larger calls."""
    copy = "unsigned char copy[n + 1]; copy[n] = 1; t[0] ^= (unsigned char)(1 - ((volatile unsigned char *)copy)[n]);"
    burn = "static __attribute__((noinline)) void burn(void)"
    burn += "{ volatile unsigned char own[700]; own[0] = own[699] = 1; }"
    files = toys.files(in_encrypt=f"{copy} if (n > 95) burn();", top=burn)
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno, "0/16,0/128,0/400")
    assert record.failure is None, record.failure
    assert {p.mlen for p in record.points} == {16, 128}


def test_sizes_that_no_figure_s_stack_leaves_out_are_refused(bench: Bench, uno: Target) -> None:
    """Nobody makes his line end early by deep calls that no figure has."""
    burn = "static __attribute__((noinline)) void burn(void)"
    burn += "{ volatile unsigned char own[1100]; own[0] = own[1099] = 1; }"
    for hook, refused in (("", None), ("if (n > 40 && n < 130) burn();", 1)):
        files = toys.files(in_encrypt=hook, top=burn if hook else "")
        record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno, "0/0,0/8,0/16,0/24,0/400")
        assert record.failure is None, record.failure
        assert record.metrics.get(REFUSED) == refused
        assert ("encrypt_per_byte" in record.metrics) is not bool(refused)
        assert not why_not(record, workload("0/0,0/8,0/16,0/24,0/400"), uno)


def test_heap_that_the_deepest_stack_reaches_is_an_overflow(bench: Bench, uno: Target) -> None:
    """The simulator's guard is where the heap ended when the call began."""
    most = "unsigned char *big; unsigned s = 2000; while (s && !(big = malloc(s))) s -= 8; t[0] ^= deep(); free(big);"
    deep = "static __attribute__((noinline)) unsigned char deep(void)"
    deep += "{ volatile unsigned char own[300]; unsigned i; for (i = 0; i < 300; i++) own[i] = 1; return own[9] - 1; }"
    files = toys.files(in_encrypt=most, top=f"#include <stdlib.h>\n{deep}")
    record = bench.weigh(bench.package({**files, KAT: toys.kat()}), uno)
    assert record.failure is not None
    assert record.failure.detail.endswith("of heap have no room together")
