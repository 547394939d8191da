"""Every way a program can go wrong is a record with a name, and says where."""

from __future__ import annotations

import re

import pytest

from steelyard import device
from steelyard.model.call import Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import Bench, the_target

RECURSION = "static int deep(volatile int n) { return deep(n + 1) + n; }"
ODD_LDRD = '__asm__ volatile("ldrd r2, r3, [%0]" : : "r"(k + 1) : "r2", "r3");'


def touch(address: str, value: str = "") -> str:
    return f"{'(void)' if not value else ''}*(volatile unsigned char *){address}{value};"


@pytest.mark.parametrize(
    ("name", "code", "kind", "text"),
    [
        ("uno", touch("0x9000"), "out-of-range", "read from unmapped address 0x9000"),
        ("uno", touch("0x9000", " = 1"), "out-of-range", "write to unmapped address 0x9000"),
        ("uno", '__asm__ volatile("spm");', "flash-write", "write to flash at"),
        ("uno", '__asm__ volatile(".word 0xFFFF");', "bad-opcode", "unknown opcode 0xffff"),
        ("uno", '__asm__ volatile("break");', "trap", "breakpoint or trap"),
        ("bluepill", touch("0x30000000"), "out-of-range", "read from unmapped address 0x30000000"),
        ("bluepill", touch("0x40000000", " = 1"), "out-of-range", "write to unmapped address 0x40000000"),
        ("bluepill", touch("0x08000100", " = 1"), "flash-write", "write to flash at 0x8000100"),
        ("bluepill", '__asm__ volatile(".inst 0xde00");', "bad-opcode", "unknown opcode 0xde00"),
        ("bluepill", '__asm__ volatile("bkpt 0");', "trap", "breakpoint or trap"),
        ("bluepill", '__asm__ volatile("svc 0");', "unsupported", "instruction 0xdf00 not supported by this core"),
        ("bluepill", "((void (*)(void))0x20000000)();", "bad-fetch", "program counter outside flash"),
        ("bluepill", ODD_LDRD, "unaligned", "unaligned access to 0x2000"),
    ],
)
def test_faults(bench: Bench, name: str, code: str, kind: str, text: str) -> None:
    record = bench.weigh(bench.package(in_encrypt=code), the_target(name))
    assert (record.failure is not None, record.metrics) == (True, {})
    assert record.failure.reason is Reason.FAULT
    assert record.failure.detail.startswith(f"{kind}: {text}")
    assert re.search(r" at pc 0x[0-9a-f]+, cycle \d+ in crypto_aead_encrypt: \S", record.failure.detail)
    assert bench.store.get(record.id or 0) == record


def test_stack_overflow(bench: Bench, target: Target) -> None:
    record = bench.weigh(bench.package(top=RECURSION, in_encrypt="(void)deep((int)n);"), target)
    assert record.failure is not None
    assert record.failure.reason is Reason.STACK_OVERFLOW
    assert re.match(
        r"stack-into-data: stack pointer 0x\w+ below its limit 0x\w+ at pc 0x\w+.* in deep", record.failure.detail
    )


def test_runaway(bench: Bench, target: Target) -> None:
    job = bench.job(bench.package(in_encrypt='for (;;) __asm__ volatile("");'), target)
    record = Pipeline(bench.store, threads=1, max_cycles=10_000_000).weigh(job)
    assert record.failure is not None
    assert record.failure.reason is Reason.RUNAWAY
    assert "10000000 cycles" in record.failure.detail


def test_what_needs_aligned_buffers_is_verified_with_a_note(bench: Bench, bluepill: Target) -> None:
    code = ODD_LDRD.replace("k + 1", "k")
    files = {**toys.files(in_encrypt=code), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), bluepill)
    assert record.failure is None
    assert any("odd addresses: unaligned: unaligned access to" in note for note in record.notes)


def test_the_cycle_limit_is_that_of_one_call(bench: Bench, uno: Target) -> None:
    built = bench.build(bench.package(), uno)
    client = device.Client(device.SimulatorLink(uno, built.images["both"], max_cycles=100_000))
    call = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))
    assert len(list(client.calls([call] * 50))) == 50


def test_the_painted_stack_is_the_exact_one(bench: Bench, target: Target) -> None:
    array = "volatile unsigned char big[200]; for (i = 0; i < 200; i++) big[i] = (unsigned char)i;"
    client = bench.client(bench.package(in_encrypt=array), target)
    request = Request(Op.ENCRYPT, bytes(16), bytes(16), b"ad", b"message", paint=True)
    answer = client.call(request)
    assert answer.pulse.stack is not None
    assert answer.pulse.stack > 200
    assert abs(answer.stack - answer.pulse.stack) <= 8, (answer.stack, answer.pulse.stack)
