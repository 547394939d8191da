"""Packages that try to get better figures: the simulator detects what they do besides their work."""

from __future__ import annotations

import re
import subprocess

import pytest

from steelyard import device
from steelyard.building import Build
from steelyard.model.call import CallResult, DeviceError, Op, Request
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.model.target import Target
from steelyard.sources import discover
from tests import toys
from tests.conftest import Bench, the_target, write

#: how the trigger is lowered, and a byte is sent, by register address
PORTS = {
    "uno": ("*(volatile unsigned char *)0x25 = 0;", "*(volatile unsigned char *)0xC6 = 1;"),
    "bluepill": (
        "*(volatile unsigned *)0x40010810u = 1u << 16;",
        "*(volatile unsigned *)0x40013804u = 1;",
    ),
    "gd32vf103": (
        "*(volatile unsigned *)0x40010810u = 1u << 16;",
        "*(volatile unsigned *)0x40013804u = 1;",
    ),
}
TARGETS = tuple(PORTS)
#: without and with register windows, which the harness's own handlers save in its frames
XTENSA = ("esp8266", "esp32")
#: every byte of the harness's frames, written with what it holds
FRAMES = {
    "uno": "volatile unsigned char *p = (unsigned char *)0x8f0; for (; p < (unsigned char *)0x8ff; p++) *p = *p;",
    "bluepill": "volatile unsigned char *p = (volatile unsigned char *)0x20004fe0; *p = *p;",
    "gd32vf103": "volatile unsigned char *p = (volatile unsigned char *)0x20007fe0; *p = *p;",
    "esp8266": "volatile unsigned char *p = (volatile unsigned char *)0x3fffbfe0; *p = *p;",
}
SEEN = {
    "lowers the trigger": (lambda t: PORTS[t][0], Reason.FAULT, "foreign-trigger: the trigger pin was driven"),
    "sends a byte": (lambda t: PORTS[t][1], Reason.FAULT, "peripheral: a measured call used the peripheral at 0x"),
    "writes 300 bytes past its output": (
        lambda _: "c[n + CRYPTO_ABYTES + 300] = 1;",
        Reason.STRAY_WRITE,
        r"encrypt \(message \d+, associated data \d+ bytes\): writes 1 byte of free RAM from 0x.*, 300 bytes past",
    ),
    "writes in front of its output": (
        lambda _: "if (n % 8 == 3) c[-2] = *(volatile unsigned char *)m = m[0];",
        Reason.STRAY_WRITE,
        r"encrypt \(message \d+, associated data \d+ bytes\): writes [12] bytes? in front of its output buffer",
    ),
    "keeps a table below its stack": (
        lambda _: "{ unsigned char here; volatile unsigned char *p = &here - 400; for (i = 0; i < 9; i++) p[i] = 1; }",
        Reason.STRAY_WRITE,
        r"encrypt .*: writes 9 bytes of free RAM",
    ),
    "writes the harness's frames": (
        lambda t: FRAMES[t],
        Reason.STRAY_WRITE,
        "encrypt .*: writes .* of the harness's stack",
    ),
}


#: what every target is asked for; register windows are saved in the frames (tests/device/test_windows.py)
ASKED = [*((cheat, name) for cheat in SEEN for name in TARGETS), ("writes the harness's frames", "esp8266")]


def failure(record: Record) -> Failure:
    assert record.failure is not None
    return record.failure


@pytest.mark.parametrize(("cheat", "name"), ASKED)
def test_seen(bench: Bench, cheat: str, name: str) -> None:
    code, reason, text = SEEN[cheat]
    failed = failure(bench.weigh(bench.package(after_encrypt=code(name)), the_target(name)))
    assert failed.reason is reason, failed
    assert re.match(text, failed.detail), failed


def test_a_stray_write_of_a_decryption_names_the_ciphertext_s_bytes(bench: Bench) -> None:
    files = {**toys.files(after_decrypt="if (n > 9) m[n + 300] = 1;"), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    failed = failure(bench.weigh(bench.package(files), the_target("bluepill")))
    assert failed.reason is Reason.STRAY_WRITE
    assert "decrypt (ciphertext 24, " in failed.detail


def address_of(built: Build, symbol: str) -> int:
    """Address of a global symbol of an image."""
    text = (built.folder / "both.map").read_text()
    found = re.search(rf"^ +0x([0-9a-f]+) +{symbol}$", text, re.MULTILINE)
    assert found
    return int(found[1], 16) & 0xFFFF_FFFF


@pytest.mark.parametrize("name", TARGETS)
def test_a_jump_to_the_harness_own_edge(bench: Bench, name: str) -> None:
    """The way out of sy_run leads back into the package: the pulse was too short."""
    target = the_target(name)
    where, edge = 0, 0
    for _ in range(2):  # the address is known after a first link
        jump = f"((void (*)(void)){edge:#x})();"
        if name == "bluepill":  # sy_run keeps addresses of the port and of its variable in registers
            text = (
                "mov r6, %0; mov r5, #0x20000000; mov r3, %1; adr r4, 1f; add r4, r4, #1; .rept 24; push {r4}; .endr; "
            )
            text += "bx %2; .align 2; 1: nop"
            values = f'"r"(0x40010000), "r"(1 << 16), "r"({edge:#x})'
            jump = f'__asm__ volatile("{text}" : : {values} : "r3", "r4", "r5", "r6");'
        if name == "gd32vf103":  # likewise, and those of the level that it reads and of its variable
            text = "mv s1, %0; addi s2, s1, -4; lui s0, 0x20000; jr %1"
            jump = f'__asm__ volatile("{text}" : : "r"(0x40010810), "r"({edge:#x}) : "s0", "s1", "s2");'
        package = bench.package(in_encrypt=f"{jump} (void){where};")
        built = bench.build(package, target)
        where = address_of(built, "sy_run")
        edge = _falling(built, name, where)
    failed = failure(bench.weigh(package, target))
    assert failed.reason is Reason.FAULT
    assert failed.detail.startswith("left-harness: the measured call did not return to the harness"), failed


def _falling(built: Build, name: str, run: int) -> int:
    """The place in sy_run that lowers the pin, as a pointer to a function."""
    prefix = {"uno": "avr-", "bluepill": "arm-none-eabi-", "gd32vf103": "riscv64-unknown-elf-"}[name]
    command = [f"{prefix}objdump", "-d", "--no-show-raw-insn", str(built.images["both"])]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    calls = {"uno": r"\b(?:cbi)\b", "bluepill": r"\bblx\b", "gd32vf103": r"\bjalr\b"}[name]
    lines = text[text.index("<sy_run>:") :].splitlines()  # newer binutils keep local labels, so it has several blocks
    at = next(k for k, line in enumerate(lines) if re.search(calls, line))
    here = int(lines[at if name == "uno" else at + 1].split(":")[0], 16)
    return here // 2 if name == "uno" else here | (name == "bluepill")


@pytest.mark.parametrize("name", TARGETS)
def test_the_harness_variables_by_address(bench: Bench, name: str) -> None:
    """A smaller heap, and what the heap holds is free RAM; another variable is the harness's."""
    target = the_target(name)
    top = "#include <stdlib.h>\nstatic unsigned char *volatile kept;"
    use = "kept = malloc(64); kept[40] = 1;"
    honest = bench.weigh(bench.package(top=top, after_encrypt=use), target)
    assert honest.metrics["heap"] >= 64
    for symbol, reason, text in (
        ("sy_heap_peak", Reason.STRAY_WRITE, "of free RAM"),
        ("sy_crc", Reason.STRAY_WRITE, "of the harness's sy_crc"),
    ):
        where = 0
        for _ in range(2):
            code = f"{use} *(volatile unsigned short *){where & 0xFFFF if name == 'uno' else where:#x} = 0;"
            package = bench.package(top=top, after_encrypt=code)
            where = address_of(bench.build(package, target), symbol)
        failed = failure(bench.weigh(package, target))
        assert (failed.reason, text in failed.detail) == (reason, True), failed


def test_constants_that_are_in_ram(bench: Bench, uno: Target) -> None:
    """As all are on AVR: those that are compiled against the package's api.h are the harness's too."""
    for symbol in ("sy_a_bytes", "sy_nsec_encrypt", "sy_nsec_decrypt"):
        where = 0
        for _ in range(2):
            package = bench.package(after_encrypt=f"*(volatile unsigned char *){where & 0xFFFF} = 0;")
            where = address_of(bench.build(package, uno), symbol)
        failed = failure(bench.weigh(package, uno))
        assert failed.reason is Reason.STRAY_WRITE, failed
        assert f"of the harness's {symbol}" in failed.detail, failed


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_that_are_written_are_named(bench: Bench, name: str) -> None:
    same = "if (adlen) { volatile unsigned char *p = (unsigned char *)ad; *p = *p; }"
    record = bench.weigh(
        bench.package({**toys.files(after_encrypt=same), "LWC_AEAD_KAT_128_128.txt": toys.kat()}), the_target(name)
    )
    assert record.failure is None
    assert record.notes == (toys.OF_ITS_SIZES, "encrypt writes into its input: associated data")
    other = "if (n) ((unsigned char *)m)[0] ^= 1;"
    record = bench.weigh(
        bench.package({**toys.files(after_encrypt=other), "LWC_AEAD_KAT_128_128.txt": toys.kat()}), the_target(name)
    )
    assert "encrypt changes its input: message" in record.notes


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_that_are_written_hide_nothing(bench: Bench, name: str) -> None:
    """However many of a batch's calls do it."""
    every = "static unsigned char calls; unsigned char *p[4]; unsigned long long s[4]; unsigned j; "
    every += "p[0] = (unsigned char *)k; p[1] = (unsigned char *)npub; p[2] = (unsigned char *)ad; "
    every += "p[3] = (unsigned char *)m; s[0] = s[1] = 16; s[2] = adlen; s[3] = mlen; "
    every += "for (j = 0; j < 4; j++) if (s[j]) { volatile unsigned char *q = p[j]; *q = *q; } "
    late = "if (++calls == 24) c[n + CRYPTO_ABYTES + 300] = 1;"
    files = {**toys.files(in_encrypt=every, after_encrypt=late), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    failed = failure(bench.weigh(bench.package(files), the_target(name)))
    assert failed.reason is Reason.STRAY_WRITE, failed
    assert "of free RAM" in failed.detail


@pytest.mark.parametrize("name", TARGETS)
def test_a_code_of_more_than_16_bits(bench: Bench, name: str) -> None:
    """An OR of differences counts as a rejection, and a failure of encryption as a failure."""
    if name != "uno":
        record = bench.weigh(
            bench.package(
                {**toys.files(after_decrypt="return (int)wrong << 16;"), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
            ),
            the_target(name),
        )
        assert record.failure is None
        failed = failure(bench.weigh(bench.package(after_encrypt="return 0x10000;"), the_target(name)))
        assert failed.reason is Reason.KAT_MISMATCH
        assert failed.detail.endswith("returned 65536")
    client = bench.client(bench.package(after_encrypt="return -2;"), the_target(name))
    key = bytes(16)
    assert client.call(Request(Op.ENCRYPT, key, key, b"", b"")).code == -2


@pytest.mark.parametrize(("size", "text"), [("-1", "negative"), ("65536", "above 65535"), ("(1UL<<20)", "above 65535")])
@pytest.mark.parametrize("name", ["uno", "bluepill"])
@pytest.mark.parametrize("which", ["KEYBYTES", "NPUBBYTES", "ABYTES"])
def test_sizes_that_frames_cannot_carry(bench: Bench, name: str, which: str, size: str, text: str) -> None:
    files = toys.files()
    files["api.h"] = re.sub(rf"(CRYPTO_{which}) \d+", rf"\1 {size}", files["api.h"])
    files["encrypt.c"] = files["encrypt.c"].replace("CRYPTO_ABYTES", "8").replace("CRYPTO_KEYBYTES", "16")
    failed = failure(bench.weigh(bench.package(files), the_target(name)))
    assert failed.reason is Reason.UNSUPPORTED_SIZE
    assert f"CRYPTO_{which} is {text}" in failed.detail


def test_sizes_up_to_the_limit_are_never_cut(bench: Bench) -> None:
    """A tag of 65535 bytes and a message are reported as too large for RAM."""
    files = toys.files()
    files["api.h"] = files["api.h"].replace("ABYTES 8", "ABYTES 65535")
    files["encrypt.c"] = files["encrypt.c"].replace("CRYPTO_ABYTES", "8")
    failed = failure(bench.weigh(bench.package(files), the_target("uno")))
    assert failed.reason is Reason.RAM_OVERFLOW, failed


@pytest.mark.parametrize("name", TARGETS)
def test_names_of_the_harness_are_the_package_s_own_when_it_defines_them(bench: Bench, name: str) -> None:
    """They are local: neither the harness's nor known to the simulator."""
    top = "unsigned char *sy_stack_limit; unsigned sy_layout[7]; int sy_run(int x) { return x + sy_layout[1]; } "
    top += "void sy_request(void) { sy_stack_limit++; } int sy_heap_peak = 7; int main(void) { return 1; }"
    use = "if (mlen == 77) { sy_request(); *c = sy_run(1) + sy_heap_peak + main(); }"
    files = {**toys.files(top=top, after_encrypt=use), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), the_target(name))
    assert (record.failure, record.notes) == (None, (toys.OF_ITS_SIZES,))


@pytest.mark.parametrize("name", TARGETS)
def test_the_harness_finds_its_pin_changed_where_nobody_watches(bench: Bench, name: str) -> None:
    """As on a board: an image without the symbols by which the simulator recognises the harness."""
    target = the_target(name)

    def call(**hooks: str) -> CallResult:
        built = bench.build(bench.package(**hooks), target)
        image = built.folder / "unwatched.elf"
        objcopy = f"{target.toolchain.prefix}objcopy"
        subprocess.run([objcopy, "--localize-symbol=sy_request", built.images["both"], image], check=True)
        with device.opened(target, image, (), 1_000_000) as link:
            return device.Client(link).call(Request(Op.ENCRYPT, bytes(16), bytes(16), b"", b"abc"))

    honest = call()
    with pytest.raises(DeviceError, match="foreign-trigger: a call changed the trigger pin"):
        call(in_encrypt=PORTS[name][0])
    assert honest.pulse.cycles > 100


#: code or a constant that one direction alone refers to, and what the other does with its address: always; for other
#: keys than the published one; it checks the tag where the constant is there
MORE = (
    'static unsigned __attribute__((noinline)) more(unsigned x) { __asm__ volatile("b 1f; .space 400; 1:" : "+r"(x)); '
)
MORE += "return x; }"
CALL = "n = ((unsigned (*)(unsigned))({where:#x} | 1))(n);"
PUBLISHED = "int known = 1; for (i = 0; i < 16; i++) known &= k[i] == i;"
WORD = "static const volatile unsigned more[99] = {0x12345678};"
TAKES = {
    "always": (MORE, CALL, "n = more(n);", "encrypt"),
    "for unknown keys": (MORE, f"{PUBLISHED} if (!known) {CALL}", "n = more(n);", "encrypt"),
    "to refuse": (WORD, "i = more[1];", "if (*(unsigned *){where:#x} != 0x12345678) return 0;", "decrypt"),
}


@pytest.mark.parametrize("how", TAKES)
def test_what_one_direction_takes_of_the_other_s_image(bench: Bench, bluepill: Target, how: str) -> None:
    """Its own image works without it."""
    top, in_encrypt, after_decrypt, part = TAKES[how]
    where = 0x8000420
    for _ in range(2):
        hooks = {"in_encrypt": in_encrypt.format(where=where), "after_decrypt": after_decrypt.format(where=where)}
        package = bench.package({**toys.files(top=top, **hooks), "LWC_AEAD_KAT_128_128.txt": toys.kat()})
        image = bench.build(package, bluepill).images["both"]
        text = subprocess.run(["arm-none-eabi-nm", str(image)], capture_output=True, text=True, check=True).stdout
        found = re.search(r"^([0-9a-f]+) \w more\S*$", text, re.MULTILINE)
        assert found
        where = int(found[1], 16)
    failed = failure(bench.weigh(package, bluepill))
    assert f"{part}, " in failed.detail, failed
    assert "in an image of its own" in failed.detail, failed


#: a byte of the frame of sy_run above the arguments, from the stack pointer at the call
BESIDE = {"uno": 32, "bluepill": 40, "gd32vf103": 20, "esp8266": 32}


@pytest.mark.parametrize("name", BESIDE)
def test_the_frame_of_the_caller_beside_the_arguments(bench: Bench, name: str) -> None:
    own = "{{ volatile unsigned char *p = (unsigned char *)__builtin_dwarf_cfa() + {}; *p = *p; }}"
    failed = failure(bench.weigh(bench.package(after_encrypt=own.format(BESIDE[name])), the_target(name)))
    assert failed.reason is Reason.STRAY_WRITE
    assert "of the harness's stack" in failed.detail
    arguments = "volatile unsigned char *p = (unsigned char *)&k; *p = *p; npub = m;"
    files = {**toys.files(after_encrypt=arguments), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    assert bench.weigh(bench.package(files), the_target(name)).ok


@pytest.mark.parametrize("name", XTENSA)
def test_registers_that_the_harness_saves_in_its_frames_are_no_writes_of_the_call(bench: Bench, name: str) -> None:
    """Calls that nest deeper than there are registers, and a stack that grows while those of the caller are saved."""
    top = "static unsigned __attribute__((noinline)) deep(volatile unsigned n) { return n ? deep(n - 1) + n : 0; }"
    use = "volatile unsigned char *more; if (deep(40) != 820) return 1; more = __builtin_alloca(n + 16); more[0] = 1; "
    use += "if (deep(40) != 820) return 1;"
    files = {**toys.files(top=top, in_encrypt=use), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
    record = bench.weigh(bench.package(files), the_target(name))
    assert (record.failure, record.notes[-1]) == (None, toys.OF_ITS_SIZES)


#: a function that calls `inside`; how the register that `spoilt` counts is changed; its return; registers of callers
SPOILT = {
    "uno": (
        "call inside\n lds r30, spoilt",
        "cpi r30, {k}\n brne 1f\n ldi r31, 3\n mov {r}, r31\n1:",
        "ret",
        [f"r{n}" for n in (*range(1, 18), 28, 29)],
    ),
    "bluepill": (
        "push {lr}\n bl inside\n ldr r3, =spoilt\n ldrb r3, [r3]",
        "cmp r3, #{k}\n bne 1f\n ldr r2, =0x20000100\n mov {r}, r2\n1:",
        "pop {pc}",
        [f"r{n}" for n in range(4, 12)],
    ),
    "gd32vf103": (
        "addi sp, sp, -16\n sw ra, 0(sp)\n call inside\n lla t0, spoilt\n lbu t0, 0(t0)",
        "li t1, {k}\n bne t0, t1, 1f\n li {r}, 0x20000100\n1:",
        "lw ra, 0(sp)\n addi sp, sp, 16\n ret",
        [*(f"s{n}" for n in range(12)), "gp"],
    ),
    "esp8266": (
        "addi a1, a1, -16\n s32i a0, a1, 0\n call0 inside\n movi a3, spoilt\n l32i a3, a3, 0",
        "movi a4, {k}\n bne a3, a4, 1f\n mov {r}, a1\n1:",
        "l32i a0, a1, 0\n addi a1, a1, 16\n ret",
        [f"a{n}" for n in range(12, 16)],
    ),
    "msp430f1611": (
        "mov.b @r13, r15",  # which has arguments on the stack, too
        "cmp.b #{k}, r15\n jne 1f\n mov #3, {r}\n1:",
        "br #inside",
        [f"r{n}" for n in range(4, 11)],
    ),
}
HASH = """#include "api.h"
#include <stdlib.h>
#define crypto_hash inside
unsigned spoilt;
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen)
{
    unsigned char *volatile kept = malloc(40);
    unsigned char i;
    for (i = 0; i < CRYPTO_BYTES; i++)
        out[i] = kept[i] = (unsigned char)(i + inlen);
    spoilt = inlen ? in[0] : 0;
    while (inlen--)
        out[inlen % CRYPTO_BYTES] ^= in[inlen];
    free(kept);
    return 0;
}
"""


#: chips of these cores, with and without caches
SAME = {"attiny1614": "uno", "mkrzero": "bluepill", "nrf52840": "bluepill", "nucleo-f746zg": "bluepill"}


@pytest.mark.parametrize("name", [*SPOILT, *SAME])
def test_a_register_that_comes_back_changed_is_named(bench: Bench, name: str) -> None:
    """Whether the harness needs it or not: any other caller may."""
    begin, change, end, registers = SPOILT[SAME.get(name, name)]
    changes = "\n ".join(change.format(k=k, r=r) for k, r in enumerate(registers, 1))
    top = '.section .text.front,"ax"\n.globl crypto_hash\n.type crypto_hash, %function\ncrypto_hash:\n'
    syntax = ".syntax unified\n" if begin.startswith("push") else ""
    front = f"{syntax}{top} {begin}\n {changes}\n {end}\n.size crypto_hash, . - crypto_hash\n"
    folder = bench.folder / "crypto_hash" / "toyhash1" / "ref"
    write(folder, {"api.h": "#define CRYPTO_BYTES 32\n", "hash.c": HASH, "front.S": front})
    built = bench.build(discover(folder).implementations[0], the_target(name))
    assert built.failure is None, built.failure

    def answers(spoilt: int) -> list[tuple[object, ...]]:
        client = device.simulated(the_target(name), built.images["both"])
        requests = [Request(Op.HASH, b"", b"", b"", bytes((spoilt,)) * (n % 8 + 1), paint=n % 2 > 0) for n in range(9)]
        found = [a for batch in ([requests[0]], requests) for a in client.calls(batch)]
        return [(a.code, a.length, a.intact, a.heap, a.pulse.strays) for a in found]

    assert {a[:3] for a in answers(0)} == {(0, 32, True)}
    for k, register in enumerate(registers, 1):
        with pytest.raises(DeviceError, match=f"convention: the call changed register {register},"):
            answers(k)
