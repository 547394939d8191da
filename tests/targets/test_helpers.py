"""Functions that Clang calls on an MSP430 and Steelyard provides, compared with Python's arithmetic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.device import Client
from steelyard.model.call import Op, Request
from tests import toys
from tests.conftest import ROOT, Bench, the_target

#: reads two words of 64 bits and writes what every operator makes of them, then what string.h does with a buffer
CODE = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static unsigned char *out;
static void put(uint64_t x, int size) { while (size--) { *out++ = (unsigned char)x; x >>= 8; } }
#define ALL(bits) do { \\
    volatile uint##bits##_t a = (uint##bits##_t)p, b = (uint##bits##_t)q; \\
    volatile int##bits##_t s = (int##bits##_t)a, t; \\
    volatile unsigned char n = (unsigned char)(q % bits); \\
    if (b == 0) b = 1; \\
    t = (int##bits##_t)b; \\
    put((uint64_t)(uint##bits##_t)(a * b), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(a / b), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(a % b), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(s / t), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(s % t), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(a << n), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(a >> n), bits / 8); \\
    put((uint64_t)(uint##bits##_t)(s >> n), bits / 8); \\
} while (0)
uint32_t __mspabi_slll(uint32_t x, unsigned n);
uint32_t __mspabi_srll(uint32_t x, unsigned n);
int32_t __mspabi_sral(int32_t x, unsigned n);
uint64_t __ashldi3(uint64_t x, int n);
uint64_t __lshrdi3(uint64_t x, int n);
int64_t __ashrdi3(int64_t x, int n);
static void all(const unsigned char *m)
{
    static unsigned char buffer[48], other[48];
    uint64_t p, q;
    volatile unsigned to = m[0] % 16u, from = m[1] % 16u, size = m[2] % 33u;
    volatile int byte = m[3];
    int way;
    memcpy(&p, m, 8);
    memcpy(&q, m + 8, 8);
    ALL(16);
    ALL(32);
    ALL(64);
    put(__mspabi_slll((uint32_t)p, m[8] % 40u), 4); /* 32 and more: everything out */
    put(__mspabi_srll((uint32_t)p, m[8] % 40u), 4);
    put((uint32_t)__mspabi_sral((int32_t)p, m[8] % 40u), 4);
    put(__ashldi3(p, m[8] % 64), 8);
    put(__lshrdi3(p, m[8] % 64), 8);
    put((uint64_t)__ashrdi3((int64_t)p, m[8] % 64), 8);
    memcpy(buffer, m + 16, 48);
    if (memmove(buffer + to, buffer + from, size) != buffer + to) abort();
    memcpy(other, buffer, 48);
    if (memcpy(other + from, buffer + to, size) != other + from) abort();
    if (memset(other + to, byte, size) != other + to) abort();
    way = memcmp(other, buffer, size);
    put(way < 0 ? 2u : way > 0, 1);
    buffer[47] = 0;
    put(strlen((char *)buffer + from), 2);
    memcpy(out, buffer, 48);
    memcpy(out + 48, other, 48);
}
"""
LENGTH = 64
_CORNERS = [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000]
_CORNERS += [0xFFFF_FFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 2, 0xFFFF_FFFF_0000_0000]
_WORDS = st.sampled_from(_CORNERS) | st.integers(0, (1 << 64) - 1) | st.integers(0, 0xFFFF)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Client, Path]:
    """The program on a simulator, and the linker's map of it."""
    bench = Bench(tmp_path_factory.mktemp("helpers"))
    target = the_target("msp430f1611")
    encrypt = "out = c; all(m); *clen = mlen + CRYPTO_ABYTES; return 0;"
    built = bench.build(package := bench.package(top=CODE, in_encrypt=encrypt), target)
    assert built.failure is None, built.log
    return bench.client(package, target), built.folder / "both.map"


def expected(message: bytes) -> bytes:
    """The program's answer to ``message``, in Python."""
    p, q = int.from_bytes(message[:8], "little"), int.from_bytes(message[8:16], "little")
    made = b""

    def put(value: int, bits: int) -> None:
        nonlocal made
        made += (value % (1 << bits)).to_bytes(bits // 8, "little")

    def signed(value: int, bits: int) -> int:
        return value - (1 << bits) if value >> (bits - 1) else value

    for bits in (16, 32, 64):
        a, b, n = p % (1 << bits), q % (1 << bits) or 1, q % bits
        s, t = signed(a, bits), signed(b, bits)
        quotient = abs(s) // abs(t) * (-1 if (s < 0) != (t < 0) else 1)
        for value in (a * b, a // b, a % b, quotient, s - quotient * t, a << n, a >> n, s >> n):
            put(value, bits)
    for bits, limit in ((32, 40), (64, 64)):
        n, a = message[8] % limit, p % (1 << bits)
        for value in (a << n, a >> n, signed(a, bits) >> n):
            put(value, bits)
    to, start, size, byte = message[0] % 16, message[1] % 16, message[2] % 33, message[3]
    buffer = bytearray(message[16:64])
    buffer[to : to + size] = buffer[start : start + size]
    other = bytearray(buffer)
    other[start : start + size] = buffer[to : to + size]
    other[to : to + size] = bytes([byte]) * size
    made += bytes([(other[:size] > buffer[:size]) + 2 * (other[:size] < buffer[:size])])
    buffer[47] = 0
    made += buffer[start:].index(0).to_bytes(2, "little")
    return made + bytes(buffer) + bytes(other)


@settings(max_examples=400)
@given(_WORDS, _WORDS, st.binary(min_size=48, max_size=48) | st.just(bytes(48)))
def test_helpers_compute_what_python_does(machine: tuple[Client, Path], p: int, q: int, more: bytes) -> None:
    message = p.to_bytes(8, "little") + q.to_bytes(8, "little") + more
    message += bytes(512)  # room for the answer
    answer = machine[0].call(Request(Op.ENCRYPT, bytes(toys.KEY), bytes(toys.NPUB), b"", message))
    right = expected(message[:LENGTH])
    assert answer.output[: len(right)].hex() == right.hex()


def test_every_helper_is_called(machine: tuple[Client, Path]) -> None:
    text = (ROOT / "targets/msp430f1611/helpers.S").read_text()
    names = set(re.findall(r"^function (\w+)", text, re.M)) - {"setjmp", "longjmp"}  # oracles/torture has these
    assert names - set(re.findall(r"helpers\.o:\(\.text\.(\w+)\)", machine[1].read_text())) == set()
