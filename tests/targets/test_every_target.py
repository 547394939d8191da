"""Every simulated target whose compiler is here runs the harness, verifies a cipher, and repeats its figures."""

from __future__ import annotations

import pytest

from steelyard.cli.select import implementations
from steelyard.model.call import Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.target import load_target
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target


@pytest.mark.parametrize("name", SIMULATED)
def test_a_target_verifies_a_cipher(name: str, bench: Bench) -> None:
    target = the_target(name)
    implementation = implementations(["tinyjambu128v2/small"])[0][0].implementation
    job = bench.job(implementation, target, load="16/64", flags="-Os")
    record = Pipeline(bench.store, threads=1).weigh(job)
    assert record.ok, record.failure
    assert record.verification is not None
    # what 512 bytes of RAM have no room for beside the stack is left out and counted; newer compilers take more stack
    small = target.chip.ram.size <= 512
    left_out = record.verification.skipped if small else 0
    assert (900 if small else 1000) < record.verification.vectors <= 1089 <= record.verification.vectors + left_out
    assert 2000 < record.metrics["cycles_encrypt_mean"] < 600_000
    assert 300 < record.metrics["rom"] < 6000
    assert record.metrics["cycles_reject_mean"] >= record.metrics["cycles_decrypt_mean"] * 0.98
    again = Pipeline(bench.store, threads=1, force=True).weigh(job)
    assert (again.metrics, again.points) == (record.metrics, record.points)


@pytest.mark.parametrize("name", SIMULATED)
def test_an_analyzer_sees_an_empty_call(name: str, bench: Bench) -> None:
    """At least two samples of 24 MS/s, the rate that the guide's analyzer has, lie in its pulse."""
    client = bench.client(bench.package(), the_target(name))
    for op in (Op.EMPTY, Op.EMPTY_DECRYPT):
        pulse = client.call(Request(op, bytes(16), bytes(16), b"", b"")).pulse
        assert pulse.cycles / the_target(name).chip.clock_hz >= 2 / 24e6


#: calls deeper than there are register windows, through pointers, with arrays of variable size in between
DEEP = """
typedef unsigned (*function)(unsigned, unsigned);
static unsigned fold(const volatile unsigned char *p, unsigned n)
{
    unsigned i, sum = n;
    for (i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}
static unsigned deep(unsigned depth, unsigned x);
static volatile function next = deep;
static unsigned deep(unsigned depth, unsigned x)
{
    volatile unsigned char before[8], array[depth % 7 + 1];
    unsigned i, sum;
    if (depth == 0)
        return x;
    for (i = 0; i < sizeof before; i++)
        before[i] = (unsigned char)(x + i);
    for (i = 0; i < sizeof array; i++)
        array[i] = (unsigned char)(x * i);
    sum = next(depth - 1, x * 5 + depth);
    {
        volatile unsigned char later[sum % 9 + 1]; /* moves the stack while the caller's window is in memory */
        for (i = 0; i < sizeof later; i++)
            later[i] = (unsigned char)(sum + i);
        sum += fold(later, sizeof later);
    }
    return (sum ^ fold(before, sizeof before)) * 3 + fold(array, sizeof array) + x / (depth + 1) + x % (depth + 2);
}
"""


def _deep(depth: int, x: int) -> int:
    """The same in Python."""
    mask = 0xFFFFFFFF

    def fold(data: bytes) -> int:
        total = len(data)
        for byte in data:
            total = (total * 31 + byte) & mask
        return total

    if depth == 0:
        return x
    before = bytes((x + i) & 0xFF for i in range(8))
    array = bytes((x * i) & 0xFF for i in range(depth % 7 + 1))
    total = _deep(depth - 1, (x * 5 + depth) & mask)
    total = (total + fold(bytes((total + i) & 0xFF for i in range(total % 9 + 1)))) & mask
    return ((total ^ fold(before)) * 3 + fold(array) + x // (depth + 1) + x % (depth + 2)) & mask


@pytest.mark.parametrize("flags", ["-O0", "-O3"])
def test_register_windows_overflow_and_come_back(bench: Bench, flags: str) -> None:
    right = _deep(40, 123456789)
    for variant, expected in (("right1", right), ("wrong1", right ^ 1)):
        check = f"if (next(40, 123456789u) != {expected}u) c[0] ^= 1;"
        record = bench.weigh(
            bench.package(variant=variant, top=DEEP, after_encrypt=check),
            the_target("esp32"),
            load="16/16",
            flags=flags,
        )
        assert record.failure is not None  # nobody knows the toy's answers
        reason = Reason.NO_EXPECTED if expected == right else Reason.DECRYPT_MISMATCH
        assert record.failure.reason is reason, record.failure
        assert bool(the_target("esp32").stand_in) == any("stands in" in n or "made by" in n for n in record.notes)


#: what published code calls in places that a verified call does not reach
DEBUG = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
"""
DEBUGS = """
    assert(n < 60000u);
    if (n > 60000u) {
        printf("%u\\n", n), puts("no"), putchar('x'), fprintf(stderr, "%u", n), fputs("y", stdout), fflush(stdout);
        perror("z");
        if (n & 1)
            abort();
        exit(1);
    }
"""


@pytest.mark.parametrize("name", SIMULATED)
def test_debug_output_and_assert_link_and_cost_no_flash_that_is_not_there(name: str, bench: Bench) -> None:
    target = the_target(name)
    files = toys.files(top=DEBUG, in_encrypt=DEBUGS) | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), target)
    assert record.failure is None
    failing = toys.files(top=DEBUG, in_encrypt="assert(n < 9);") | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(failing, variant="toy2"), target)
    assert record.failure is not None
    assert record.failure.reason in (Reason.FAULT, Reason.RUNAWAY)


@pytest.mark.parametrize("name", [n for n in SIMULATED if load_target(n).toolchain.family == "avr"])
def test_a_table_of_jumps_is_in_flash(name: str, bench: Bench) -> None:
    """AVR's GCC from 8 on has sections of their own for them, and reads them by LPM."""
    table = '.section .jumptables.gcc.core,"a",@progbits\n.global jumps\njumps: .word 0x1234\n'
    top = "extern const char jumps[]; static char got(void) { char r; "
    top += '__asm__ volatile("lpm %0, Z" : "=r"(r) : "z"(jumps)); return r; }'
    files = toys.files(top=top, in_encrypt="if (got() != 0x34) c[0] ^= 1;") | {"jumps.S": table}
    record = bench.weigh(bench.package({**files, "LWC_AEAD_KAT_128_128.txt": toys.kat()}), the_target(name))
    assert record.failure is None, record.failure


@pytest.mark.parametrize("name", [n for n in SIMULATED if load_target(n).toolchain.family == "avr"])
def test_odd_data_among_a_package_s_code_move_no_harness_to_an_odd_address(name: str, bench: Bench) -> None:
    """AVR's assembler asks for no alignment."""
    odd = '.section .text.zzz,"ax",@progbits\n.global odd\nodd: .byte 1, 2, 3\n'
    top = "extern const char odd[]; const char *volatile at = odd;"
    files = toys.files(top=top, in_encrypt="if (!at) c[0] ^= 1;") | {"odd.S": odd}
    record = bench.weigh(bench.package({**files, "LWC_AEAD_KAT_128_128.txt": toys.kat()}), the_target(name))
    assert record.failure is None, record.failure


@pytest.mark.parametrize("name", ["uno", "bluepill", "gd32vf103", "maixduino", "esp8266", "msp430f1611"])
def test_constants_of_any_size_move_no_library_to_an_odd_address(name: str, bench: Bench) -> None:
    """picolibc's assembly for RISC-V asks for no alignment."""
    target = the_target(name)
    for size in (1, 2, 3):
        top = f'#include <string.h>\nstatic const char odd[] = "{"x" * size}";\nstatic const char *volatile at = odd;\n'
        copy = (
            "unsigned char copy[16]; volatile unsigned size = at[0] & 15; memset(copy, 0, size); memcpy(copy, k, size);"
        )
        files = toys.files(top=top, in_encrypt=copy) | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
        record = bench.weigh(bench.package(files, variant=f"toy{size}"), target)
        assert record.failure is None, (size, record.failure)
