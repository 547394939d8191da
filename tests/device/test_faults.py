"""Every way in which a program can fail gives a record with a name and an address."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from steelyard import device
from steelyard.device import simulator
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.model.target import Target
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import SIMULATED, UNTOUCHED, Bench, built_compilers, the_target

RECURSION = "static int deep(volatile int n) { return deep(n + 1) + n; }"
ODD_LDRD = '__asm__ volatile("ldrd r2, r3, [%0]" : : "r"(k + 1) : "r2", "r3");'
#: one target for each instruction set
FAMILIES = ("uno", "bluepill", "gd32vf103", "esp8266", "msp430f1611")
#: what is outside flash has no function, but there is where the program came from
WHERE = r" at pc 0x[0-9a-f]+, cycle \d+(, from 0x[0-9a-f]+)? in crypto_aead_encrypt: [a-z.]"


@pytest.fixture(scope="module", autouse=True)
def compilers() -> Iterator[None]:
    with built_compilers():
        yield


def touch(address: str, value: str = "", kind: str = "char") -> str:
    return f"{'(void)' if not value else ''}*(volatile unsigned {kind} *){address}{value};"


def asm(text: str, address: str = "0") -> str:
    """Assembly in which ``%0`` is a register with an address."""
    return f'__asm__ volatile("{text}" : : "r"({address}) : "memory");'


def call(address: str) -> str:
    return f"((void (*)(void)){address})();"


FAULTS = {
    "uno": [
        (touch("0x9000"), "out-of-range", "read from unmapped address 0x9000"),
        (touch("0x9000", " = 1"), "out-of-range", "write to unmapped address 0x9000"),
        (asm("spm"), "flash-write", "write to flash at"),
        (asm(".word 0xFFFF"), "bad-opcode", "unknown opcode 0xffff"),
        (asm("break"), "trap", "breakpoint or trap"),
        (asm("sleep"), "unsupported", "instruction 0x9588 is not modelled"),
        (call("0x5000"), "bad-fetch", "program counter outside flash"),
    ],
    "nano-every": [
        (touch("0x1000"), "out-of-range", "read from unmapped address 0x1000"),
        (touch("0x1000", " = 1"), "out-of-range", "write to unmapped address 0x1000"),
        (touch("0x4100", " = 1"), "flash-write", "write to flash at 0x4100"),
        (asm(".word 0xFFFF"), "bad-opcode", "unknown opcode 0xffff"),
    ],
    "attiny85": [
        (asm(".word 0x9c01"), "bad-opcode", "unknown opcode 0x9c01"),  # mul r0, r1
        (asm(".word 0x940e, 0"), "bad-opcode", "unknown opcode 0x940e"),  # call 0
        (touch("0x0260"), "out-of-range", "read from unmapped address 0x260"),
    ],
    "attiny1614": [
        (touch("0x8100", " = 1"), "flash-write", "write to flash at 0x8100"),
        (touch("0x3700"), "out-of-range", "read from unmapped address 0x3700"),
    ],
    "bluepill": [
        (touch("0x30000000"), "out-of-range", "read from unmapped address 0x30000000"),
        (touch("0x40000000", " = 1"), "out-of-range", "write to unmapped address 0x40000000"),
        (touch("0x08000100", " = 1"), "flash-write", "write to flash at 0x8000100"),
        (asm(".inst 0xde00"), "bad-opcode", "unknown opcode 0xde00"),
        (asm("bkpt 0"), "trap", "breakpoint or trap"),
        (asm("svc 0"), "unsupported", "instruction 0xdf00 is not modelled"),
        (
            call("0x20000000"),
            "bad-fetch",
            "branch to an even address: Arm state, which a Cortex-M does not have, at pc 0x8",
        ),
        (asm("bx %0", "0x08000400"), "bad-fetch", "branch to an even address: Arm state"),
        (asm("push {%0}; pop {pc}", "0x08000400"), "bad-fetch", "branch to an even address: Arm state"),
        (call("0x20000001"), "bad-fetch", "program counter outside flash"),
        (ODD_LDRD, "unaligned", "unaligned access to 0x2000"),
    ],
    "mkrzero": [
        (asm("ldr r3, [%0]", "0x20000402"), "unaligned", "unaligned access to 0x20000402"),
        (asm(".inst.w 0xfbb0f0f0"), "bad-opcode", "unknown opcode 0xfbb0f0f0"),  # udiv
    ],
    "stm32f407": [
        (asm(".inst.w 0xee300a20"), "bad-opcode", "unknown opcode 0xee300a20"),  # vadd.f32
    ],
    "gd32vf103": [
        (touch("0x30000000"), "out-of-range", "read from unmapped address 0x30000000"),
        (touch("0x40000000", " = 1"), "out-of-range", "write to unmapped address 0x40000000"),
        (touch("0x08000100", " = 1"), "flash-write", "write to flash at 0x8000100"),
        (asm(".word 0xffffffff"), "bad-opcode", "unknown opcode 0xffffffff"),
        (asm(".word 0x00007053"), "bad-opcode", "unknown opcode 0x7053"),  # fadd.s
        (asm(".word 0x34001073"), "unsupported", "instruction 0x34001073 is not modelled"),  # csrw mscratch
        (asm("wfi"), "unsupported", "instruction 0x10500073 is not modelled"),
        (asm("ebreak"), "trap", "breakpoint or trap"),
        (call("0x20000000"), "bad-fetch", "program counter outside flash"),
        (asm("lw t0, 0(%0)", "0x20000402"), "unaligned", "unaligned access to 0x20000402"),
    ],
    "esp32c3": [
        (asm(".word 0x00b5252f"), "bad-opcode", "unknown opcode 0xb5252f"),  # amoadd.w
        (touch("0x3FC80200", " = 1"), "flash-write", "write to flash at 0x3fc80200"),
        (touch("0x40380200"), "out-of-range", "read from unmapped address 0x40380200"),  # by the instruction bus
        (
            asm(".word 0xb0002573"),
            "unsupported",
            "instruction 0xb0002573 is not modelled",
        ),  # csrr a0, mcycle
    ],
    "ch32v003": [
        (asm(".word 0x02b50533"), "bad-opcode", "unknown opcode 0x2b50533"),  # mul a0, a0, a1
        (asm(".word 0x00050813"), "bad-opcode", "unknown opcode 0x50813"),  # mv a6, a0
        (asm("lw t0, 0(%0)", "0x20000402"), "unaligned", "unaligned access to 0x20000402"),
        (touch("0x00000100", " = 1"), "flash-write", "write to flash at 0x100"),
    ],
    "rp2040": [
        (touch("0x20000200", " = 1"), "flash-write", "write to flash at 0x20000200"),
        (asm("ldr r3, [%0]", "0x20020402"), "unaligned", "unaligned access to 0x20020402"),
    ],
    "maixduino": [
        (touch("0x10000000"), "out-of-range", "read from unmapped address 0x10000000"),
        (touch("0x80000100", " = 1"), "flash-write", "write to flash at 0x80000100"),
        (asm("ld t0, 0(%0)", "0x80100404UL"), "unaligned", "unaligned access to 0x80100404"),
    ],
    "esp8266": [
        (touch("0x20000000"), "out-of-range", "read from unmapped address 0x20000000"),
        (touch("0x20000000", " = 1"), "out-of-range", "write to unmapped address 0x20000000"),
        (touch("0x40100100", " = 1", "int"), "flash-write", "write to flash at 0x40100100"),
        (asm(".byte 0x00, 0x00, 0x0a"), "bad-opcode", "unknown opcode 0xa0000"),  # add.s
        (asm("waiti 0"), "unsupported", "instruction 0x7000 is not modelled"),
        (asm("break 1, 15"), "trap", "breakpoint or trap"),
        (asm("ill"), "trap", "breakpoint or trap"),
        (call("0x20000000"), "bad-fetch", "program counter outside flash"),
        (asm("l32i a2, %0, 0", "0x3FFE8402"), "unaligned", "unaligned access to 0x3ffe8402"),
        (touch("0x40100100"), "unaligned", "unaligned access to 0x40100100"),
    ],
    "msp430f1611": [
        (touch("0x0F00"), "out-of-range", "read from unmapped address 0xf00"),
        (touch("0x0F00", " = 1"), "out-of-range", "write to unmapped address 0xf00"),
        (touch("0x4100", " = 1"), "flash-write", "write to flash at 0x4100"),
        (asm(".word 0x0000"), "bad-opcode", "unknown opcode 0x0000"),
        (asm("bis #0x10, sr"), "unsupported", "instruction 0xd032 is not modelled"),  # CPUOFF
        (call("0x2000"), "bad-fetch", "program counter outside flash"),
        (asm("mov @%0, r12", "0x1301"), "unaligned", "unaligned access to 0x1301"),
    ],
}


@pytest.mark.parametrize(
    ("name", "code", "kind", "text"), [(name, *fault) for name, faults in FAULTS.items() for fault in faults]
)
def test_faults(bench: Bench, name: str, code: str, kind: str, text: str) -> None:
    record = bench.weigh(bench.package(in_encrypt=code), the_target(name))
    assert (record.failure is not None, record.metrics) == (True, {})
    assert record.failure.reason is Reason.FAULT
    assert record.failure.detail.startswith(f"{kind}: {text}")
    assert re.search(WHERE, record.failure.detail), record.failure.detail
    assert bench.store.get(record.id or 0) == record


@pytest.mark.parametrize("name", FAMILIES)
def test_stack_overflow(bench: Bench, name: str) -> None:
    record = bench.weigh(bench.package(top=RECURSION, in_encrypt="(void)deep((int)n);"), the_target(name))
    assert record.failure is not None
    assert record.failure.reason is Reason.STACK_OVERFLOW
    assert re.match(
        r"encrypt \(message \d+, associated data \d+ bytes\): stack-into-data: "
        r"stack pointer 0x\w+ below its limit 0x\w+ at pc 0x\w+, cycle \d+ in deep\S*: \S",
        record.failure.detail,
    )


@pytest.mark.parametrize("name", FAMILIES)
def test_runaway(bench: Bench, name: str) -> None:
    job = bench.job(bench.package(in_encrypt='for (;;) __asm__ volatile("");'), the_target(name))
    record = Pipeline(bench.store, threads=1, max_cycles=10_000_000).weigh(job)
    assert record.failure is not None
    assert record.failure.reason is Reason.RUNAWAY
    assert re.search(r"10000000 cycles, at pc 0x\w+ in crypto_aead_encrypt: \S", record.failure.detail)


def test_what_needs_aligned_buffers_is_verified_with_a_note(bench: Bench, bluepill: Target) -> None:
    code = ODD_LDRD.replace("k + 1", "k")
    files = {**toys.files(in_encrypt=code), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), bluepill)
    assert record.failure is None
    assert any("odd addresses: unaligned: unaligned access to" in note for note in record.notes)


def test_the_cycle_limit_is_that_of_one_call(bench: Bench, uno: Target) -> None:
    built = bench.build(bench.package(), uno)
    client = device.simulated(uno, built.images["both"], max_cycles=100_000)
    call = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))
    assert len(list(client.calls([call] * 50))) == 50


def test_many_calls_below_the_limit_are_a_runaway_too(bench: Bench, bluepill: Target) -> None:
    """Else a package could hold its thread for hours."""
    loop = "{ volatile unsigned w; for (w = 0; w < 1000; w++) ; }"
    job = bench.job(bench.package(in_tag=loop), bluepill)
    record = Pipeline(bench.store, threads=1, max_cycles=60_000).weigh(job)
    assert record.failure is not None
    assert record.failure.reason is Reason.RUNAWAY, record.failure
    assert record.failure.detail == "its calls took more than 30000000 cycles altogether"


def test_slow_calls_are_made_one_by_one_and_end_with_the_campaign(bench: Bench, bluepill: Target) -> None:
    """Nothing looks at a signal while the simulator runs."""
    built = bench.build(
        bench.package(in_tag="if (mlen) { volatile unsigned w; for (w = 0; w < 2000000; w++) ; }"), bluepill
    )
    over = Event()
    client = device.simulated(bluepill, built.images["both"], over=over)
    short, long = (Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(n)) for n in (0, 1))
    assert len(list(client.calls([short] * 50))) == 50
    list(client.calls([long]))
    answers = client.calls([long] * 50)
    next(answers)
    over.set()
    with pytest.raises(KeyboardInterrupt):
        next(answers)


@pytest.mark.parametrize("name", ["uno", "msp430f1611", "bluepill"])
def test_wrong_answers_of_code_for_a_wider_int_say_so(bench: Bench, name: str) -> None:
    """As a plain "no answer is right" the author would look for an error in the cipher."""
    code = "{ volatile int wide = 1; known = ((wide << 20) >> 20) & 1; }"
    top = "static volatile int known;"
    files = {
        **toys.files(top=top, in_tag=code, after_encrypt="c[n] ^= (unsigned char)(known ^ 1);"),
        "LWC_AEAD_KAT_128_128.txt": toys.kat(),
    }
    record = bench.weigh(bench.package(files), the_target(name))
    said = "the compiler warns of shifts beyond the width of their type (encrypt.c): code that takes int for wider"
    if name == "bluepill":
        assert record.failure is None
    else:
        assert record.failure is not None
        assert said in record.failure.detail


def test_a_stack_pointer_that_was_not_restored_is_the_packages_doing(bench: Bench, bluepill: Target) -> None:
    """The instruction that meets it is the harness's."""
    front = ".syntax unified\n.thumb\n.section .text.front\n"
    front += ".global crypto_aead_encrypt\n.type crypto_aead_encrypt, %function\n"
    front += "crypto_aead_encrypt: sub sp, #64\n movs r0, #0\n bx lr\n"
    encrypt = toys.source().replace("crypto_aead_encrypt", "unused")
    failure = bench.weigh(bench.package({**toys.files(), "encrypt.c": encrypt, "front.S": front}), bluepill).failure
    assert failure is not None
    assert failure.reason is Reason.FAULT
    assert failure.detail.endswith("; the call had returned with a stack pointer changed that it has to keep")


class _Soon(Event):
    """Set when it was asked for the third time."""

    asked = 0

    def is_set(self) -> bool:
        self.asked += 1
        return self.asked >= 3


def test_calls_that_become_slow_within_a_batch_end_with_the_campaign(bench: Bench, bluepill: Target) -> None:
    slow = "if (mlen) { volatile unsigned w; for (w = 0; w < 2000000; w++) ; }"
    built = bench.build(bench.package(in_tag=slow), bluepill)
    client = device.simulated(bluepill, built.images["both"])
    short, long = (Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(n)) for n in (0, 1))
    assert len(list(client.calls([short] * 9))) == 9
    assert isinstance(client.link, simulator.SimulatorLink)
    client.link._over = _Soon()
    with pytest.raises(KeyboardInterrupt):
        list(client.calls([short, *[long] * 500]))


@pytest.mark.parametrize("piece", [97, 1000, 12345])
def test_pieces_of_time_change_no_answer(bench: Bench, target: Target, piece: int) -> None:
    built = bench.build(bench.package(), target)
    requests = [Request(Op.ENCRYPT, bytes(16), bytes(16), bytes(n), bytes(3 * n)) for n in range(9)]
    whole = [*device.simulated(target, built.images["both"]).calls(requests)]
    client, bounded = (device.simulated(target, built.images["both"], max_cycles=n) for n in (2 * 10**9, 400_000))
    for one in (client, bounded):
        in_pieces(one, piece)
        assert [*one.calls(requests)] == whole
    other = device.simulated(target, built.images["both"])
    in_pieces(other, piece)
    for way in (device.Client.causes, device.Client.profile):
        assert way(other, requests[-1]) == way(device.simulated(target, built.images["both"]), requests[-1])


def in_pieces(client: device.Client, cycles: int) -> None:
    """Has it look at the time after so many cycles."""
    assert isinstance(client.link, simulator.SimulatorLink)
    client.link._native.longest_slice = cycles


@pytest.mark.parametrize("way", [device.Client.call, device.Client.tree, device.Client.causes, device.Client.profile])
def test_a_call_ends_with_the_campaign_however_it_is_looked_at(
    bench: Bench, bluepill: Target, way: Callable[[device.Client, Request], object]
) -> None:
    built = bench.build(bench.package(in_tag="if (mlen) { volatile unsigned w; for (;;) w++; }"), bluepill)
    client = device.simulated(bluepill, built.images["both"], 1 << 60)  # past the usual bound it is in half a second
    assert isinstance(client.link, simulator.SimulatorLink)
    client.link._over = _Soon()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        way(client, Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(1)))
    assert time.monotonic() - began < 3


def test_the_limit_is_that_of_one_call_of_a_batch(bench: Bench, bluepill: Target) -> None:
    slow = "if (mlen) { volatile unsigned w; for (w = 0; w < 2000000; w++) ; }"
    built = bench.build(bench.package(in_tag=slow), bluepill)
    short, long = (Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(n)) for n in (0, 1))
    cycles = next(iter(device.simulated(bluepill, built.images["both"]).calls([long]))).pulse.cycles
    client = device.simulated(bluepill, built.images["both"], max_cycles=cycles + 1_000_000)
    assert len([*client.calls([short, *[long] * 3, short])]) == 5
    client = device.simulated(bluepill, built.images["both"], max_cycles=cycles // 3)
    text = rf"encrypt \(message 1, associated data 0 bytes\): no end after {cycles // 3} cycles, at pc 0x\w+ in tag"
    with pytest.raises(DeviceError, match=text):
        list(client.calls([short, long]))


@pytest.mark.parametrize("name", SIMULATED)
def test_the_painted_stack_is_the_exact_one(bench: Bench, name: str) -> None:
    target = the_target(name)
    array = "volatile unsigned char big[200]; for (i = 0; i < 200; i++) big[i] = (unsigned char)i;"
    client = bench.client(bench.package(in_encrypt=array), target)
    for size in range(9):  # paint begins after the buffers, at any place in eight bytes
        answer = client.call(Request(Op.ENCRYPT, bytes(16), bytes(16), b"ad", bytes(size), paint=True))
        assert answer.pulse.stack is not None
        assert answer.pulse.stack > 200
        assert 0 <= answer.pulse.stack - answer.stack <= UNTOUCHED.get(name, 0), size


def test_a_byte_below_the_room_that_a_call_made_is_stack(bench: Bench) -> None:
    """Published assembly for AVR has arrays that begin where the stack pointer points, in the first free byte."""
    target = the_target("uno")
    store = '__asm__ volatile("in r26, 0x3d\\n in r27, 0x3e\\n st X, r26" ::: "r26", "r27", "memory");'
    client = bench.client(bench.package(in_tag=store), target)
    answer = client.call(Request(Op.ENCRYPT, bytes(16), bytes(16), b"ad", bytes(9), paint=True))
    assert answer.pulse.stack == answer.stack


@pytest.mark.parametrize("name", ["attiny1614", "attiny85", "msp430f1611", "uno"])
def test_a_frame_larger_than_ram_is_seen(bench: Bench, name: str) -> None:
    """The stack pointer wraps to addresses above RAM, where nothing is written."""
    frame = f"unsigned char wide[24000]; {asm('', 'wide')}"
    record = bench.weigh(bench.package(in_encrypt=frame), the_target(name))
    assert record.failure is not None
    assert record.failure.reason is Reason.STACK_OVERFLOW
    assert "a frame wraps around" in record.failure.detail


#: C that takes a frame from the stack and gives it back, in the order of halves that ``{}`` are, with interrupts off
FRAME = """__asm__ volatile("in r30, __SP_L__\\n in r31, __SP_H__\\n movw r20, r30\\n"
    "subi r20, lo8(%0)\\n sbci r21, hi8(%0)\\n cli\\n {taken}" ".rept 8\\n nop\\n .endr\\n" "{given}"
    :: "n"({size}) : "r20", "r21", "r30", "r31");"""
HALVES = {k: f"out __SP_{k}__, r{{}}{n}\\n " for k, n in (("L", 0), ("H", 1))}


@pytest.mark.parametrize("name", ["uno", "nano-every"])
def test_halves_of_the_stack_pointer_in_any_order(bench: Bench, name: str) -> None:
    """What it is between two writes is not seen, and what it is for longer is: also where a half is written thrice."""
    target = the_target(name)

    def weighed(taken: str, given: str, size: int) -> Record:
        of = {
            k: "".join(HALVES[h].format(r) for h in text) for k, text, r in (("taken", taken, 2), ("given", given, 3))
        }
        code = FRAME.format(size=size, **of).replace("\n", " ")
        files = {**toys.files(in_encrypt=code), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
        return bench.weigh(bench.package(files), target)

    for size in (60, 130, 200, 300, 380):
        every = [weighed(taken, given, size) for taken in ("LH", "HL") for given in ("LH", "HL")]
        assert [r.failure for r in every] == [None] * 4
        assert len({r.metrics["stack"] for r in every}) == 1, size
        assert every[0].metrics["stack"] >= size
    for taken, given in (("HLH", "HLH"), ("HLH", "LHL"), ("LHL", "LHL"), ("LH", "LH"), ("HL", "LH")):
        failed = weighed(taken, given, 9000).failure
        assert failed is not None, (taken, given)
        assert failed.reason is Reason.STACK_OVERFLOW
