"""Images that are not ours: run as the simulator runs ours, from reset or function by function."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from steelyard.device import foreign
from steelyard.device.client import encode
from steelyard.device.foreign import returned
from steelyard.lab.image import made
from steelyard.model.call import Op, Request
from steelyard.model.elf import segments
from steelyard.model.target import Target
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target
from tests.device.images import ISAS, built, linked, run


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


def test_images_of_others_are_refused_in_words(tmp_path: Path, bluepill: Target, uno: Target) -> None:
    image = built(tmp_path, bluepill).read_bytes()
    with pytest.raises(ValueError, match=r"is for Arm \(e_machine 40\), the chip is AVR"):
        run(uno, image)
    with pytest.raises(ValueError, match=r"in neither of the chip's memories, flash \(0x8000000 to 0x800ffff\)"):
        run(bluepill, b"1234", base=0x100000)
    for name, other in (("gd32vf103", "maixduino"), ("maixduino", "gd32vf103")):
        bits = 64 if name == "maixduino" else 32
        with pytest.raises(ValueError, match=rf"is of {bits} bits \(EI_CLASS .\), the chip is for {96 - bits} bits"):
            run(the_target(other), built(tmp_path, the_target(name)).read_bytes())
    with pytest.raises(ValueError, match="there is no code at 0x20000000"):
        run(bluepill, image, call=0x20000000)
    with pytest.raises(ValueError, match="leaves no room for a stack"):
        run(bluepill, image, call=foreign.address(image, "work"), arguments=(bytes(20 << 10),))


@pytest.mark.parametrize(
    ("name", "program"),
    [
        *((arm, ".syntax unified\n.thumb\n.word RAM + 0x1000, main\n@main: movs r4, #100\n ldr r0, =RAM + 0x100\n"
           "1: bl f\n subs r4, #1\n bne 1b\n bkpt\n.pool\n.balign 8\n@f: ldr r1, [r0]\n@g: ldr r2, [r0, #4]\n"
           " ldr r3, [r0, #8]\n adds r1, r2\n str r1, [r0]\n bx lr\n")
          for arm in ("bluepill", "stm32f407", "nrf52840", "due", "mkrzero", "nucleo-f746zg")),
        ("gd32vf103", "@main: li s0, 100\n li a0, 0x20000100\n1: jal f\n addi s0, s0, -1\n bnez s0, 1b\n ebreak\n"
         "@f: lw a1, 0(a0)\n@g: addi a1, a1, 1\n sw a1, 0(a0)\n ret\n"),
        # a skip from before a place to behind it
        ("uno", "@main: ldi r20, 100\n1: rcall f\n dec r20\n brne 1b\n break\n@f: inc r0\n sbrs r20, 0\n@g: inc r1\n"
         " lds r2, 0x100\n ret\n"),
    ],
)  # fmt: skip
def test_a_place_inside_of_a_run_changes_no_cycles(tmp_path: Path, name: str, program: str) -> None:
    """Wherever calls are measured, into which another function falls or a loop comes in its middle."""
    target = the_target(name)
    ram = f".equ RAM, {target.chip.ram.base:#x}\n"
    (tmp_path / "a.s").write_text(ram + re.sub("@(main|f|g):", r".globl \1\n.type \1, %function\n\1:", program))
    image = linked(tmp_path, target)
    alone = run(target, image)
    assert alone.end == "breakpoint"
    first, last = (foreign.address(image, n) or 0 for n in ("main", "g"))
    for place in range(first, last + 6, 2):
        seen = run(target, image, trigger=place)
        assert (seen.end, seen.cycles) == ("breakpoint", alone.cycles), hex(place)
    calls = run(target, image, trigger=last).calls
    assert name == "uno" or len(calls) == 100
