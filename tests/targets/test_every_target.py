"""Every simulated target whose compiler is here runs the harness, verifies a cipher, and repeats its figures."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from steelyard.cli.select import implementations
from steelyard.device import Client
from steelyard.lab.energy import CHOICE, SETTLED
from steelyard.measure.rom import library_members, load_size, static_ram
from steelyard.model.call import Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.target import load_target
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target
from tests.felics import blocks


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


@pytest.mark.parametrize("name", ["uno", "due", "msp430f1611", "esp32", "maixduino", "nucleo-f746zg"])
@pytest.mark.parametrize("felics", [False, True])
def test_the_harness_does_the_same_for_a_hollow_call(name: str, felics: bool, bench: Bench) -> None:
    """It receives, fills, looks at and sends as many bytes: a meter's figure is what the function alone draws."""
    implementation = blocks.package(bench) if felics else implementations(["speck64128/ref"])[0][0].implementation
    client = bench.client(implementation, the_target(name))
    client.link.sees_stack = True  # paint depends on the call
    hello = client.hello
    for op in (Op.ENCRYPT, Op.DECRYPT, Op.SCHEDULE_ENCRYPT, Op.SCHEDULE_DECRYPT):
        besides = []
        for hollow in (False, True):
            request = replace(hello.zeros(op, bytes(0 if op.is_schedule else hello.a_bytes)), hollow=hollow)
            size = len(client.call(request).output)
            before = client.link._native.cycles  # type: ignore[attr-defined]
            pulse = client.call(request).pulse.cycles
            besides.append((size, client.link._native.cycles - before - pulse))  # type: ignore[attr-defined]
        (size, cycles), (same, others) = besides
        assert size == same
        assert felics or size == (hello.npub_bytes if op.is_schedule else hello.a_bytes)
        assert abs(cycles - others) <= (SETTLED if hello.warms else CHOICE), op


#: sets errno, by the C library's strtol too where it has that one, and reads it back
ERRNO = """
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
static unsigned char told(unsigned n)
{
    if (n == 3)
        errno = EDOM;
    return (unsigned char)((errno == EDOM) | @STRTOL@ << 1);
}
#define DIGITS "99999999999999999999"
static volatile int base = 10;
static int large(void)
{
    int before = errno, found;
    errno = 0;
    found = strtol(DIGITS, NULL, base) == LONG_MAX && errno == ERANGE;
    errno = before;
    return found;
}
"""
#: variables of a thread beside others: with initial values or without, and aligned by more than these
THREAD = """
static _Thread_local unsigned char first = 5;
static _Alignas(32) _Thread_local unsigned char next[3] = {9};
static _Thread_local unsigned char zero;
static _Alignas(64) _Thread_local unsigned char last[2];
static unsigned kept = 7, cleared;
static unsigned char told(unsigned n)
{
    if (((unsigned long)next & 31) + ((unsigned long)last & 63) + n == 0 || next[2] + last[0] != 0)
        return 0;
    kept++;
    cleared++;
    return (unsigned char)(first++ + next[0]++ + 16 * (++zero + ++last[1]) + 2 * (kept - cleared - 7));
}
"""


def _told(client: Client) -> bytes:
    """What :data:`ERRNO` or :data:`THREAD` tell in three calls and the first one after a restart."""
    requests = [Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(m)) for m in (1, 3, 2)]
    told = [client.call(r).output[0] for r in requests]
    client.restart()
    return bytes([*told, client.call(requests[0]).output[0]])


@pytest.mark.parametrize("name", SIMULATED)
def test_errno_keeps_what_is_set(name: str, bench: Bench) -> None:
    target = the_target(name)
    without = target.toolchain.family == "msp430" or target.chip.core == "xtensa-lx6"  # no strtol from helpers
    top = "static int large(void);" + ERRNO.replace("@STRTOL@", "0" if without else "large()")
    if without:
        top = top.replace("strtol(DIGITS, NULL, base)", "LONG_MAX")
    package = bench.package(top=top, after_encrypt="c[0] = told(n); (void)large;")
    client = bench.client(package, target)
    more = 0 if without else 2
    assert _told(client) == bytes([more, 1 | more, 1 | more, more])
    if target.toolchain.family == "riscv":
        members = library_members(bench.build(package, target).maps["both"])
        assert any("strto" in m for m in members)
        assert not any("errno" in m for m in members), "it takes RAM alone"


@pytest.mark.parametrize("name", SIMULATED)
def test_variables_of_a_thread_work_or_are_refused(name: str, bench: Bench) -> None:
    """They are in static RAM, which is counted, and begin anew with the chip."""
    target = the_target(name)
    package = bench.package(top=THREAD, after_encrypt="c[0] = told(n);")
    built = bench.build(package, target)
    if target.toolchain.family != "riscv":
        assert built.failure is not None
        assert re.search("_Thread_local|thread-local storage is not supported", built.failure.detail), built.failure
        return
    assert _told(bench.client(package, target)) == bytes([46, 80, 114, 46])
    sizes = []
    for top in (THREAD, THREAD.replace("last[2]", "last[130]"), THREAD.replace("next[3]", "next[35]")):
        image = bench.build(bench.package(top=top, after_encrypt="c[0] = told(n);"), target).images["both"]
        sizes.append((static_ram(image), load_size(image)))
    (ram, rom), *more = sizes
    assert more == [(ram + 128, rom), (ram + 32, rom + 32)]


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
