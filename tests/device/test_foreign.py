"""Images that are not ours: run as the simulator runs ours, from reset or function by function, bounded, with what is
not modelled named."""

from __future__ import annotations

import contextlib
import re
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.device import foreign
from steelyard.device.blocks import name_of
from steelyard.device.client import encode
from steelyard.device.foreign import Experiment, Seen, returned
from steelyard.lab.image import made
from steelyard.model.call import Op, Request
from steelyard.model.elf import segments
from steelyard.model.target import Target
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target

#: no start-up code but this, and no header: a program that knows nothing of Steelyard
PROGRAM = """
#if defined(__AVR__)
__asm__(".section .first\\n .global start\\nstart: clr r1\\n rjmp main");
#elif defined(__MSP430__)
__asm__(".section .first,\\"ax\\"\\n .global start\\nstart: mov #0x3800, r1\\n br #main\\n"
        ".section .vector,\\"a\\"\\n .word start");
#elif defined(__arm__)
int main(void);
__attribute__((section(".first"), used)) const void *const vectors[] = {(void *)(RAM + 0x1000), (void *)main};
#elif defined(__riscv)
__asm__(".section .first,\\"ax\\"\\n .global start\\nstart: li sp, RAM+0x1000\\n j main");
#else
__asm__(".section .text.first,\\"ax\\"\\n .align 4\\n .literal_position\\n .global start\\n"
        "start: movi a1, RAM+0x1000\\n j main");
#endif
volatile unsigned kept = 5;
unsigned char sent[4];
__attribute__((noinline)) unsigned work(unsigned n, unsigned char *to)
{
    unsigned i;
    for (i = 0; i < n; i++)
        to[i & 3] = (unsigned char)(to[i & 3] + i * 3u);
    return n + kept;
}
__attribute__((noinline)) void crash(void)
{
    *(volatile unsigned char *)NOWHERE = 1;
    *(volatile unsigned char *)UNKNOWN = 1;
}
int main(void)
{
    unsigned k;
    kept = 9;
    for (k = 0; k < 3; k++)
        work(40, sent);
    *(volatile unsigned char *)UNKNOWN = 7;
    kept = *(volatile unsigned char *)UNKNOWN;
    for (;;)
        ;
}
"""
LAYOUT = """
ENTRY(start)
SECTIONS
{
    . = FLASH;
    .text :
    {
        KEEP(*(.first)) *(.literal.first .text.first) *(.literal .literal.*) *(.text .text.*)
        *(.rodata .rodata.* .srodata .srodata.*)
    }
    .data DATA : AT(LOADADDR(.text) + SIZEOF(.text)) { *(.data .data.* .sdata .sdata.*) }
    .bss : { *(.bss .bss.* .sbss .sbss.* COMMON) }
    VECTOR
    /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) *(.ARM.*) *(.xtensa.info) *(.MSP430.attributes) }
}
"""
#: a register of each chip without a model, and an address where nothing is
ISAS = {
    "uno": (0xB2, 0x3000),
    "bluepill": (0x40000024, 0x30000000),
    "gd32vf103": (0x40000024, 0x30000000),
    "maixduino": (0x502D0004, 0x30000000),
    "msp430f1611": (0x1A2, 0x300),
    "esp8266": (0x60000F00, 0x30000000),
}


def built(folder: Path, target: Target) -> Path:
    """The program for a target, as an ELF file."""
    unknown, nowhere = ISAS[target.name]
    chip, spec = target.chip, target.toolchain
    avr = spec.family == "avr"
    data = chip.ram.base + (0x800000 if avr else 0)
    words = {"FLASH": hex(chip.flash.base), "DATA": hex(data), "VECTOR": ""}
    if spec.family == "msp430":
        words["VECTOR"] = ".vector 0xFFFE : AT(0xFFFE) { KEEP(*(.vector)) }"
    layout = LAYOUT
    for name, value in words.items():
        layout = layout.replace(name, value)
    (folder / "program.c").write_text(PROGRAM.replace("RAM+", f"{chip.ram.base:#x}+"))
    (folder / "program.ld").write_text(layout)
    defines = [f"-DUNKNOWN={unknown:#x}", f"-DNOWHERE={nowhere:#x}", f"-DRAM={chip.ram.base:#x}"]
    flags = [*spec.flags, "-Os", "-ffreestanding", "-fno-pic", *defines]
    subprocess.run([spec.compiler, *flags, "-c", "program.c", "-o", "program.o"], cwd=folder, check=True)
    link = [spec.linker, "-n"] if spec.linker else [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", "-Wl,-n"]
    subprocess.run([*link, "-T", "program.ld", "program.o", "-o", "program.elf"], cwd=folder, check=True)
    return folder / "program.elf"


def linked(folder: Path, target: Target) -> bytes:
    """``a.s`` in ``folder``, where the target's flash begins."""
    spec = target.toolchain
    place = f"-Wl,-Ttext={target.chip.flash.base:#x}"
    link = [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", place, "a.s", "-o", "a.elf"]
    subprocess.run(link, cwd=folder, check=True)
    return (folder / "a.elf").read_bytes()


def from_reset(target: Target, program: str) -> list[tuple[int, bytes]]:
    """Code in hexadecimal where the chip begins, with the vector that leads there where a core has it elsewhere."""
    base = target.chip.flash.base
    vector = [(0xFFFE, base.to_bytes(2, "little"))] if target.toolchain.family == "msp430" else []
    return [(base, bytes.fromhex(program)), *vector]


def run(target: Target, image: bytes | list[tuple[int, bytes]], base: int | None = None, **asked: object) -> Seen:
    given = image if base is None else [(base, image)]
    return foreign.run(target, given, Experiment(**{"cycles": 3_000_000, "seconds": 60.0, **asked}))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ISAS)
def test_a_program_of_its_own(tmp_path: Path, name: str) -> None:
    target = the_target(name)
    image = built(tmp_path, target).read_bytes()
    work, crash = foreign.address(image, "work"), foreign.address(image, "crash")
    seen = run(target, image, trigger=work)
    assert (seen.end, seen.function, seen.counted) == ("loops", "main", 3)
    unknown, nowhere = ISAS[name]
    [used] = seen.unmodelled
    assert (used.address, used.reads, used.writes, used.first.function) == (unknown, 1, 1, "main")
    assert {f[0] for f in seen.functions} == {"work"}
    assert sum(f[3] for f in seen.functions) == sum(c.cycles for c in seen.calls)
    assert seen.calls[1].cycles == seen.calls[2].cycles > 200  # predictors and fetch buffers know the second one

    pointed = bytes((1, 2, 3, 4))
    called = run(target, image, call=work, arguments=((40, 2), pointed))
    assert called.end == "returned"
    assert called.result is not None
    assert returned(target, called.result)["2"] == 45  # initial data are in place without start-up code
    assert bytes(called.buffers[0]) == bytes(
        (b + sum(3 * i for i in range(k, 40, 4))) & 255 for k, b in enumerate(pointed)
    )
    [one] = called.calls
    assert abs(one.cycles - seen.calls[0].cycles) <= 12  # where it comes from may leave a line of code behind
    assert called.cycles == one.cycles

    failed = run(target, image, call=crash)
    assert (failed.end, failed.fault, failed.fine) == ("fault", "out-of-range", False)
    assert f"write to unmapped address {nowhere:#x}" in failed.text
    assert sum(f[3] for f in failed.functions) == failed.cycles, "the rest of its block was not done"
    assert failed.unmodelled == (), "nor has it an effect"
    assert " in crash: " in failed.text
    whole = run(target, image)
    assert {"main", "work"} <= {f[0] for f in whole.functions}
    assert sum(f[3] for f in whole.functions) == whole.cycles
    assert run(target, image, cycles=100).end == "cycles"
    assert run(target, image, seconds=0.0, cycles=1 << 40).end == "time"

    if name == "esp8266":
        return  # literals lie before the first instruction, where bytes without an entry begin
    flat = made("bin", image, target.chip.flash.base, target.chip.flash.size)
    again = run(target, flat, base=target.chip.flash.base, trigger=work)
    assert again.calls == seen.calls


@pytest.mark.parametrize("name", SIMULATED)
def test_our_images_take_the_cycles_that_they_take(bench: Bench, name: str) -> None:
    """A request at the serial port makes the pulse that the harness's device measures; and a call of the function gives
    the same answer without it, where its arguments fit into registers and stack."""
    target = the_target(name)
    implementation = bench.package()
    client = bench.client(implementation, target, "-O2")
    key, nonce = bytes(range(client.hello.key_bytes)), bytes(range(50, 50 + client.hello.npub_bytes))
    request = Request(Op.ENCRYPT, key, nonce, bytes(5), bytes(range(7)))
    client.link.exchange(encode(request))
    [pulse] = client.link.pulses()
    image = bench.build(implementation, target, "-O2").images["both"].read_bytes()
    seen = run(target, image, input=encode(request), cycles=50_000_000)
    assert seen.end == "waits"
    assert [(p.cycles, p.stack) for p in seen.pulses] == [(pulse.cycles, pulse.stack)]
    assert seen.timing_model == client.link.clock
    assert set(seen.settings) <= {None}, "what is assumed is what our start-up code sets"
    assert seen.output

    numbers = [(7, 8), (5, 8), (0, 2 if target.chip.core.startswith(("avr", "msp430")) else 4)]
    arguments = (bytes(64), bytes(8), bytes(range(7)), numbers[0], bytes(5), numbers[1], numbers[2], nonce, key)
    entry = foreign.address(image, "crypto_aead_encrypt")
    called = run(target, image, call=entry, arguments=arguments)
    assert called.end == "returned"
    assert set(called.settings) <= {None}
    length = int.from_bytes(bytes(called.buffers[1]), "little")
    assert length == 7 + client.hello.a_bytes
    assert bytes(called.buffers[0][:length]) == client.call(request).output
    assert abs(called.calls[0].stack - pulse.stack) <= 64


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("uno", "01e0 03bf 8895 ffcf"),  # SMCR.SE is set
        ("bluepill", "0010 0020 0900 0008 30bf fee7"),
        ("gd32vf103", "7300 5010 6f00 0000"),
        ("msp430f1611", "32d0 1000 b240 cdab e001 ff3f"),  # what follows in its block: mov #0xabcd, &0x1e0
        ("esp32", "0070 0006 ffff"),
    ],
)
def test_a_core_that_sleeps(name: str, program: str) -> None:
    target = the_target(name)
    base = target.chip.flash.base
    seen = foreign.run(target, from_reset(target, program), Experiment(cycles=1000, seconds=60.0))
    before = {"bluepill": 8, "uno": 4}
    assert (seen.end, seen.fine, seen.text, seen.pc) == ("sleeps", True, "", base + before.get(name, 0))
    assert [u.address for u in seen.unmodelled] == ([0x53] if name == "uno" else [])  # SMCR


def test_nothing_is_sent_and_no_pin_moves_after_a_fault(tmp_path: Path, uno: Target) -> None:
    """A read of an unmapped address is followed, in its block, by a byte to send, the trigger's pin and a register."""
    for before, sent, pulses in (("nop", "", 0), ("sts 0xc6, r16\n sbi 5, 5\n cbi 5, 5", "58", 1)):
        text = f".globl main\n.type main,@function\nmain: ldi r16, 0x58\n sbi 4, 5\n {before}\n lds r17, 0x0a00\n"
        rest = " sts 0xc6, r16\n sbi 5, 5\n cbi 5, 5\n sts 0xb2, r16\n1: rjmp 1b\n"
        (tmp_path / "a.s").write_text(text + rest)
        seen = run(uno, linked(tmp_path, uno))
        assert (seen.fault, seen.unmodelled) == ("out-of-range", ())
        assert (bytes(seen.output).hex(), seen.pulsed) == (sent, pulses)


def test_a_fault_is_not_lost_behind_a_look_for_a_byte(uno: Target) -> None:
    """lds r16, UCSR0A, twice; lds r17, 0x0a00; rjmp to the beginning: one block"""
    seen = run(uno, bytes.fromhex("0091 c000 0091 c000 1091 000a f9cf"), base=0)
    assert (seen.fault, seen.pc, seen.cycles) == ("out-of-range", 8, 6)


@pytest.mark.parametrize(
    ("name", "enable"),
    [
        ("uno", "01e0 03bf"),  # ldi r16, 1; out SMCR, r16
        ("attiny85", "00e2 05bf"),  # MCUCR
        ("atmega128", "00e2 05bf"),
        ("nano-every", "01e0 0093 5000"),  # SLPCTRL.CTRLA
    ],
)
def test_sleep_does_nothing_until_it_is_enabled(name: str, enable: str) -> None:
    target = the_target(name)
    passed, other = (run(target, bytes.fromhex(f"{word} 9895"), base=0) for word in ("8895", "0000"))  # sleep or nop
    assert (passed.fault, passed.pc, passed.cycles) == ("trap", 2, other.cycles)
    before = bytes.fromhex(enable)
    slept = run(target, before + bytes.fromhex("8895 9895"), base=0)
    assert (slept.end, slept.pc) == ("sleeps", len(before))


def test_an_event_that_was_left_ends_one_wait(bluepill: Target) -> None:
    """sev; wfe; sev.w; wfe.w; wfe"""
    program = bytes.fromhex("0010 0020 0900 0008 40bf 20bf aff3 0480 aff3 0280 20bf fee7")
    seen = run(bluepill, program, base=bluepill.chip.flash.base)
    assert (seen.end, seen.pc) == ("sleeps", bluepill.chip.flash.base + 20)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("nrf52840", "0010 0020 0900 0000 30ee 200a fee7"),  # vadd.f32 s0, s0, s1
        ("gd32vf103", "5370 0000 6f00 0000"),  # fadd.s
        ("gd32vf103", "8861 0000"),  # c.flw
        ("esp32", "0000 0a06 ffff"),  # add.s
    ],
)
def test_floating_point_has_a_name(name: str, program: str) -> None:
    target = the_target(name)
    seen = foreign.run(target, [(target.chip.flash.base, bytes.fromhex(program))], Experiment(cycles=99, seconds=60.0))
    assert seen.fault in ("bad-opcode", "unsupported")
    assert "it is of a floating-point unit" in seen.text


@pytest.mark.parametrize(
    ("name", "program", "end", "read"),
    [
        ("uno", "83b1 fecf", "loops", {0x23}),  # in r24, PINB
        ("uno", "8091 c000 93b1 fccf", "waits", {0x23, 0xC0}),  # lds r24, UCSR0A; in r25, PINB
        ("attiny85", "82b7 fecf", "loops", {0x52}),  # in r24, TCNT0, which a model keeps and does not count
        ("uno", "ffcf", "loops", set()),
    ],
)
def test_what_a_round_reads_is_told(name: str, program: str, end: str, read: set[int]) -> None:
    """The program may wait for it, whether a model answers or none."""
    target = the_target(name)
    seen = run(target, b"".join(map(bytes.fromhex, program.split())), base=target.chip.flash.base, cycles=20_000_000)
    assert (seen.end, {r.address for r in seen.round}) == (end, read)


@pytest.mark.parametrize(
    ("name", "program", "read"),
    [
        ("gd32vf103", "7325 20b0 6ff0 dfff", "minstret"),  # csrr a0, minstret; j .-4
        ("gd32vf103", "7325 10c0 6ff0 dfff", "time"),
        ("ch32v003", "7325 00b0 6ff0 dfff", "mcycle"),
    ],
)
def test_a_register_of_the_core_that_a_round_reads_is_told(name: str, program: str, read: str) -> None:
    target = the_target(name)
    seen = run(target, bytes.fromhex(program), base=target.chip.flash.base, cycles=20_000_000)
    assert (seen.end, [(r.address, r.name) for r in seen.round]) == ("loops", [(None, read)])


@pytest.mark.parametrize(("word", "what"), [("8821", "XW"), ("0080", "XW"), ("8861", "floating-point unit")])
def test_loads_and_stores_of_wch_are_no_floating_point(word: str, what: str) -> None:
    target = the_target("ch32v003")
    seen = run(target, bytes.fromhex(f"{word} 0000"), base=target.chip.flash.base)
    assert (seen.fault, what in seen.text) == ("bad-opcode", True)


#: needs more windows than the ESP32 has registers, and no optimiser makes a loop of it
DEEP = """
__attribute__((noinline, noclone)) static unsigned deep(unsigned n, unsigned a)
{
    unsigned rest;
    if (n == 0)
        return a;
    rest = deep(n - 1, a ^ n);
    __asm__ volatile("" : "+r"(rest));
    return 3 * n + rest;
}
"""


@pytest.mark.parametrize("more", [0, 1])
def test_a_call_whose_windows_overflow_and_come_back(bench: Bench, more: int) -> None:
    """The caller has where to keep all its registers, whether arguments are on its stack or not."""
    target = the_target("esp32")
    package = bench.package(toys.files(top=DEEP, in_encrypt="c[0] ^= (unsigned char)deep(mlen & 1, 0);"))
    image = bench.build(package, target, "-O2").images["both"].read_bytes()
    deep = foreign.address(image, "deep")
    asked = ((40, 4), (7, 4), *((0, 4),) * (7 * more))
    seen = run(target, image, call=deep, arguments=asked)
    assert (seen.end, returned(target, seen.result or 0)["4"]) == ("returned", 3 * 820 + (40 ^ 7))
    nameless = segments(image)  # its handlers are found by what they do
    alone = run(target, nameless, call=deep, arguments=asked)
    assert (alone.end, alone.result, alone.cycles) == (seen.end, seen.result, seen.cycles)
    lost = run(
        target, [(at, b.replace(b"\0\xc5\x49", b"\0\xc6\x49")) for at, b in nameless], call=deep, arguments=asked
    )
    assert lost.fault == "no-handlers"
    assert "the image has no handlers of window exceptions" in lost.text


@pytest.mark.parametrize(("name", "program", "loop", "cycles"), [
    ("bluepill", "0138 fdd1 7047", 1_333_330, 3),  # subs r0, #1; bne; bx lr
    ("gd32vf103", "7d15 7dfd 8280", 1_999_990, 2),  # addi a0, a0, -1; bnez; ret
])  # fmt: skip
def test_a_return_is_seen_wherever_a_look_at_loops_ends(name: str, program: str, loop: int, cycles: int) -> None:
    """Every 4 000 000 cycles a loop that goes on for ever is looked for."""
    target = the_target(name)
    base = target.chip.flash.base
    for n in range(loop - 25, loop + 20, 2):
        seen = run(target, [(base, bytes.fromhex(program))], call=base, arguments=((n, 4),), cycles=9_000_000)
        assert (seen.end, len(seen.calls)) == ("returned", 1), n
        assert abs(seen.calls[0].cycles - cycles * n) < 20


def test_the_global_pointer_is_set_for_a_call(tmp_path: Path) -> None:
    """Linkers reach data by it unless told otherwise, and start-up code sets it, which a call has not."""
    target = the_target("gd32vf103")
    spec, ram = target.toolchain, target.chip.ram.base
    (tmp_path / "a.s").write_text(".globl f\n.type f, @function\nf: mv a0, gp\nlw a1, 0(gp)\nret\n")
    layout = f"SECTIONS {{ . = {target.chip.flash.base:#x}; .text : {{ *(.text) }} __global_pointer$ = {ram + 4:#x}; }}"
    (tmp_path / "a.ld").write_text(f"ENTRY(f) {layout}")
    link = [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", "-Ta.ld", "a.s", "-o", "a.elf"]
    subprocess.run(link, cwd=tmp_path, check=True)
    image = (tmp_path / "a.elf").read_bytes()
    seen = run(target, image, call=foreign.address(image, "f"))
    assert (seen.end, returned(target, seen.result or 0)["4"]) == ("returned", ram + 4)


def test_the_bus_of_instructions_gives_aligned_words() -> None:
    """auipc a0, 0; lw a1, 0(a0); beqz a1, .; lbu a2, 0(a0)"""
    target = the_target("esp32c3")
    base = target.chip.flash.base
    seen = run(target, bytes.fromhex("17050000 83250500 63800500 03460500"), base=base)
    assert (seen.fault, seen.pc, seen.unmodelled) == ("out-of-range", base + 12, ())
    written = run(target, bytes.fromhex("17050000 2320a500"), base=base)  # auipc a0, 0; sw a0, 0(a0)
    assert written.fault == "out-of-range"
    assert all("the memory for code, whose bus only loads, and aligned words alone" in s.text for s in (seen, written))


def test_an_environment_call_is_no_breakpoint() -> None:
    target = the_target("gd32vf103")
    ends = {word: run(target, bytes.fromhex(word), base=target.chip.flash.base) for word in ("73000000", "73001000")}
    assert [(s.fault, s.fine) for s in ends.values()] == [("unsupported", False), ("trap", True)]


def test_a_global_label_ends_a_function_without_a_size(tmp_path: Path, uno: Target) -> None:
    """Assembly leaves functions without type and size; local labels are inside them."""
    (tmp_path / "a.s").write_text(
        ".globl main\n.type main,@function\nmain: rcall work\nrcall work\nlast: rjmp last\n"
        ".globl mulx\nmulx: mul r24,r22\nret\n"
        ".globl work\n.type work,@function\nwork: ldi r18,8\nagain: rcall mulx\ndec r18\nbrne again\nret\n"
        ".size work,.-work\n"
    )
    seen = run(uno, linked(tmp_path, uno))
    assert {(name, calls) for name, _, calls, _ in seen.functions} == {("main", 1), ("work", 2), ("mulx", 16)}


@pytest.mark.parametrize(
    ("name", "program"),
    [
        # as -msave-restore does: the link is in t0
        ("gd32vf103", "main: li sp, 0x20001000\n jal f\n jal f\n1: j 1b\n@f: jal t0, save\n jal g\n j restore\n"
         "@g: ret\n@save: addi sp, sp, -16\n sw ra, 0(sp)\n jr t0\n@restore: lw ra, 0(sp)\n addi sp, sp, 16\n ret\n"),
        # the link of the caller is in another register
        ("stm32f407", "main: bl f\n bl f\n1: b 1b\n@f: mov r12, lr\n bl save\n bl g\n bl restore\n bx r12\n"
         "@g: bx lr\n@save: bx lr\n@restore: bx lr\n"),
        # as -mcall-prologues does: the link is in Z
        ("uno", "main: rcall f\n rcall f\n1: rjmp 1b\n@f: ldi r30, pm_lo8(2f)\n ldi r31, pm_hi8(2f)\n rjmp save\n"
         "2: rcall g\n rjmp restore\n@g: ret\n@save: push r28\n ijmp\n@restore: pop r28\n ret\n"),
    ],
)  # fmt: skip
def test_calls_that_do_not_move_the_stack_pointer(tmp_path: Path, name: str, program: str) -> None:
    """They are calls none the less, and what is called from their caller afterwards is not in them."""
    target = the_target(name)
    head = ".syntax unified\n.thumb\n.word 0x20001000, main\n" if name == "stm32f407" else ""
    label = re.compile("^@?(main|f|g|save|restore):", re.MULTILINE)
    (tmp_path / "a.s").write_text(head + label.sub(r".globl \1\n.type \1, %function\n\1:", program))
    functions = run(target, linked(tmp_path, target), cycles=3_000_000).functions
    callers = {name: (functions[parent][0], calls) for name, parent, calls, _ in functions}
    assert {n: c for n, c in callers.items() if n not in ("main", "other")} == {
        "f": ("main", 2), "save": ("f", 2), "g": ("f", 2), "restore": ("f", 2)
    }  # fmt: skip


def test_a_loop_to_a_function_s_beginning_is_no_call(tmp_path: Path) -> None:
    """Nor is it where a call inside left another link in its register; and what is past all code has no name."""
    target = the_target("stm32f407")
    (tmp_path / "a.s").write_text(
        ".syntax unified\n.thumb\n.word 0x20001000, main\n.type main, %function\nmain: movs r4, #3\n"
        "1: movs r5, #5\n ldr r0, =2f+1\n mov r12, r0\n bl f\n2: subs r4, #1\n bne 1b\n ldr r0, =0x20000001\n bx r0\n"
        ".type f, %function\n.globl f\nf: bl g\n subs r5, #1\n bne f\n bx r12\n.type g, %function\ng: bx lr\n"
    )
    image = linked(tmp_path, target)
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.counted, seen.left, seen.fault, seen.function) == (3, 0, "bad-fetch", "")
    assert all(c.cycles > 35 for c in seen.calls)


def test_headers_before_the_code_are_left_out(tmp_path: Path) -> None:
    target = the_target("gd32vf103")
    base = target.chip.flash.base
    (tmp_path / "a.s").write_text(".globl _start\n.type _start, @function\n_start: j _start\n")
    seen = run(target, linked(tmp_path, target))
    assert (seen.end, seen.function, seen.left_out) == ("loops", "_start", ((base - 0x1000, 0x1000),))


def test_what_is_not_modelled_has_a_name(bluepill: Target, uno: Target) -> None:
    assert name_of(bluepill, 0x40000024) == "TIM2, a timer"
    assert name_of(bluepill, 0xE000E104) == "NVIC, the interrupt controller"
    assert name_of(bluepill, 0x40010818) == "stm32f1-gpio at 0x40010800, of which this is not modelled"
    assert name_of(bluepill, 0x40010800, modelled=True) == "stm32f1-gpio at 0x40010800"
    assert name_of(the_target("esp8266"), 0x60000200).startswith("SPI0"), "the flash controller is no serial port"
    assert name_of(the_target("esp8266"), 0x60000400) == ""
    assert name_of(bluepill, 0x4FF00000) == ""
    assert name_of(uno, 0xB2) == "timer 2"


def test_images_of_others_are_refused_in_words(tmp_path: Path, bluepill: Target, uno: Target) -> None:
    image = built(tmp_path, bluepill).read_bytes()
    with pytest.raises(ValueError, match=r"is for Arm \(e_machine 40\), the chip is AVR"):
        run(uno, image)
    with pytest.raises(ValueError, match=r"in neither of the chip's memories, flash \(0x8000000 to 0x800ffff\)"):
        run(bluepill, b"1234", base=0x1000)
    for name, other in (("gd32vf103", "maixduino"), ("maixduino", "gd32vf103")):
        bits = 64 if name == "maixduino" else 32
        with pytest.raises(ValueError, match=rf"is of {bits} bits \(EI_CLASS .\), the chip is for {96 - bits} bits"):
            run(the_target(other), built(tmp_path, the_target(name)).read_bytes())
    with pytest.raises(ValueError, match="there is no code at 0x20000000"):
        run(bluepill, image, call=0x20000000)
    with pytest.raises(ValueError, match="leaves no room for a stack"):
        run(bluepill, image, call=0x08000100, arguments=(bytes(20 << 10),))


@pytest.mark.parametrize(
    ("name", "program", "end", "last"),
    [
        # the multiplier adds 200 to its sum until that is 0x4000000, with the same registers each time
        ("msp430f1611", "b240 c800 3401 b240 0100 3801 b290 0004 3c01 f62b ff3f", "loops", 0x14),
        # a loop of 2^32 rounds without a branch: movi a2, -1; loop a2; nop; nop. The boot ROM left PS.EXCM at 0
        ("esp32", "22af ff76 8205 f020 00f0 2000 06ff ff", "cycles", None),
        # PSP rises by 4, with the same registers each time: mrs, adds, msr, movs, b
        ("bluepill", "0010 0020 0900 0008 eff3 0980 0430 80f3 0988 0020 f8e7", "cycles", None),
    ],
)
def test_a_loop_that_changes_what_no_register_shows_is_not_for_ever(
    name: str, program: str, end: str, last: int | None
) -> None:
    target = the_target(name)
    base = target.chip.flash.base
    seen = foreign.run(target, from_reset(target, program), Experiment(cycles=20_000_000, seconds=60.0))
    assert seen.end == end
    assert seen.cycles > 5_000_000
    assert last is None or seen.pc == base + last


@pytest.mark.parametrize(
    ("program", "trigger", "seconds", "end"),
    [
        # calls a function that returns at once, for ever
        ("d001 cffe 9508", 4, 1.0, "time"),
        # so again, and each call sends 256 bytes: TXEN0, then UDR0
        ("e088 9380 00c1 d001 cffe 9380 00c6 959a f7e1 9508", 10, 60.0, "output"),
    ],
)
def test_limits_hold_while_measured_calls_follow_each_other(
    uno: Target, program: str, trigger: int, seconds: float, end: str
) -> None:
    image = b"".join(bytes.fromhex(word)[::-1] for word in program.split())
    assert run(uno, image, base=0, trigger=trigger, cycles=3_000_000_000, seconds=seconds).end == end


def test_a_million_functions_at_one_place(uno: Target) -> None:
    """Every function ends where the next one begins; finding that out takes no more time than reading them."""
    count, code, names = 1 << 20, bytes.fromhex("ffcf"), b"\0f\0"
    symbols = struct.pack("<IIIBBH", 1, 0, 0, 0x12, 0, 1) * count
    at = [52, 84, 84 + len(code), 84 + len(code) + len(names)]
    sections = (
        (0,) * 10,
        (1, 1, 6, 0, at[1], len(code), 0, 0, 2, 0),
        (1, 3, 0, 0, at[2], len(names), 0, 0, 1, 0),
        (1, 2, 0, 0, at[3], len(symbols), 2, 0, 4, 16),
    )
    head = struct.pack(
        "<16sHHIIIIIHHHHHH", b"\x7fELF\1\1\1", 2, 83, 1, 0, 52, at[3] + len(symbols), 0, 52, 32, 1, 40, 4, 2
    )
    load = struct.pack("<8I", 1, at[1], 0, 0, len(code), len(code), 5, 1)
    table = b"".join(struct.pack("<10I", *s) for s in sections)
    seen = run(uno, b"".join((head, load, code, names, symbols, table)))
    assert (seen.end, seen.function) == ("loops", "f")


def test_damaged_images_end_in_bounds(tmp_path: Path, target: Target) -> None:
    good = built(tmp_path, target).read_bytes()

    @settings(max_examples=80)
    @given(
        st.lists(st.tuples(st.integers(0, 0xFFFF), st.integers(0, 255)), min_size=1, max_size=12),
        st.integers(0, len(good)),
        st.sampled_from([{}, {"trigger": target.chip.flash.base + 20}, {"call": target.chip.flash.base + 20}]),
    )
    def damage(changes: list[tuple[int, int]], length: int, asked: dict[str, int]) -> None:
        for reach in (len(good), 0x100):  # the headers are where it hurts
            image = bytearray(good)
            for at, value in changes:
                image[at % reach] = value
            for some in (bytes(image), bytes(image[:length])):
                with contextlib.suppress(ValueError):
                    seen = run(target, some, cycles=100_000, **asked)
                    assert seen.cycles < 200_000
                    assert (seen.fault is None) == (seen.text == "")

    damage()
