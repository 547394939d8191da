"""Cycles by function of images that are not ours, where functions have no calls between them, or seem to have some."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from steelyard.device import foreign
from steelyard.device.foreign import returned
from tests.conftest import the_target
from tests.device.images import assembled, linked, run

ARM = ".syntax unified\n.thumb\n.word RAM + 0x1000, main\n"


@pytest.mark.parametrize(
    ("name", "program", "frame"),
    [
        *((name, f"{ARM}@main: bl short\n bl long\n bkpt\n@short: movs r0, #1\n@long:\n.rept 100\n adds r0, r1\n.endr\n"
           " bx lr\n", False) for name in ("bluepill", "stm32f407", "nrf52840", "nucleo-f746zg", "mkrzero")),
        *((name, "@main: li sp, RAM + 0x400\n jal short\n jal long\n ebreak\n@short: li a0, 1\n@long:\n.rept 100\n"
           " add a0, a0, a1\n.endr\n ret\n", False) for name in ("gd32vf103", "ch32v003", "maixduino")),
        ("uno", "@main: rcall short\n rcall long\n break\n@short: ldi r24, 1\n@long:\n.rept 100\n add r24, r25\n.endr\n"
         " ret\n", False),
        ("bluepill", f"{ARM}@main: bl short\n bl long2\n bkpt\n@short: push {{lr}}\n@long:\n.rept 100\n adds r0, r1\n"
         ".endr\n pop {pc}\n@long2: push {lr}\n b long\n", True),
    ],
)  # fmt: skip
def test_who_falls_into_a_function_has_no_cycles_of_it(tmp_path: Path, name: str, program: str, frame: bool) -> None:
    target = the_target(name)
    image = assembled(tmp_path, target, program)
    seen = run(target, image)
    cycles = {n: sum(f[3] for f in seen.functions if f[0] == n) for n in ("short", "long")}
    calls = {n: sum(f[2] for f in seen.functions if f[0] == n) for n in ("short", "long")}
    assert (seen.end, calls) == ("breakpoint", {"short": 1, "long": 2})
    assert 0 < cycles["short"] <= 30  # the run's waits for code are where it begins
    assert cycles["long"] >= 200
    assert sum(f[3] for f in seen.functions) == seen.cycles
    measured = run(target, image, trigger=foreign.address(image, "long"))
    assert measured.cycles == seen.cycles
    assert frame or len(measured.calls) == 2
    assert sum(f[2] for f in measured.functions if f[0] == "long") == 2
    short = run(target, image, trigger=foreign.address(image, "short"))
    assert {f[0]: f[2] for f in short.functions} == {"short": 1, "long": 1}


@pytest.mark.parametrize(
    ("name", "program"),
    [
        # a register holds the address after the loop: a0 of the chip's 16 or 32, Z
        *((name, "@main: li sp, RAM + 0x400\n la a2, 1f\n li a0, 100\n jal f\n ebreak\n@f: addi a1, a1, 1\n"
           " addi a0, a0, -1\n bnez a0, f\n1: ret\n") for name in ("gd32vf103", "ch32v003", "maixduino")),
        ("uno", "@main: ldi r30, pm_lo8(1f)\n ldi r31, pm_hi8(1f)\n ldi r24, 200\n rcall f\n break\n@f: add r1, r0\n"
         " dec r24\n brne f\n1: ret\n"),
        ("uno", "@main: ldi r30, 0\n ldi r31, 0\n ldi r24, 200\n rcall f\n break\n@f: lpm r0, Z+\n dec r24\n brne f\n"
         " ret\n"),
    ],
)  # fmt: skip
def test_a_register_that_holds_an_address_by_chance_makes_no_call(tmp_path: Path, name: str, program: str) -> None:
    target = the_target(name)
    image = assembled(tmp_path, target, program)
    calls = lambda seen: {f[0]: f[2] for f in seen.functions}  # noqa: E731
    seen = run(target, image)
    assert (seen.end, calls(seen)) == ("breakpoint", {"main": 1, "f": 1})
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.counted, seen.left, calls(seen)) == (1, 0, {"f": 1})


@pytest.mark.parametrize(
    ("longjmp", "seen_as"),
    [("b longjmp", ("loops", 0, True)), ("add sp, #4\n ldr r0, =out + 1\n bx r0", ("breakpoint", 1, False))],
)
def test_one_longjmp_goes_on_in_another(tmp_path: Path, longjmp: str, seen_as: tuple[str, int, bool]) -> None:
    """And leaves the call, or turns round, as what stands in for a library's may."""
    target = the_target("bluepill")
    main = "@main: movs r4, #0\n bl setjmp\n@out: cbnz r4, 1f\n movs r4, #1\n bl f\n nop\n1: bkpt\n"
    program = f"{ARM}{main}@f: push {{lr}}\n bl siglongjmp\n@siglongjmp: b longjmp\n@setjmp: bx lr\n"
    image = assembled(tmp_path, target, f"{program}@longjmp: {longjmp}\n")
    seen = run(target, image, trigger=foreign.address(image, "f"), cycles=50_000_000)
    assert (seen.end, seen.left, seen.unfinished) == seen_as


def test_a_function_without_a_frame_lands_in_itself(tmp_path: Path) -> None:
    """With the address that it returns to on top of the stack, which is where it began."""
    target = the_target("uno")
    jumps = "@setjmp: ret\n@longjmp: pop r0\n pop r0\n rjmp out\n"
    within = assembled(tmp_path, target, f"@main: rcall f\n break\n@f: rcall setjmp\n rcall longjmp\nout: ret\n{jumps}")
    seen = run(target, within, trigger=foreign.address(within, "f"))
    assert (seen.end, seen.counted, seen.doubtful) == ("breakpoint", 1, 0)


def test_calls_without_end_end_with_the_seconds(tmp_path: Path) -> None:
    """A function that calls itself and keeps nothing: what is kept of its calls does not make the simulator slow."""
    target = the_target("gd32vf103")
    image = assembled(tmp_path, target, "@main: jal main\n")
    began = time.monotonic()
    seen = run(target, image, cycles=1 << 60, seconds=1.0)
    assert seen.end in ("time", "loops")  # whichever is seen first
    assert time.monotonic() - began < 10  # also on a machine that does much else
    assert seen.cycles > 100_000


def test_code_of_xtensa_may_begin_at_an_odd_address(tmp_path: Path) -> None:
    """A lowest bit that is 1 is a mode on Arm alone."""
    target = the_target("esp8266")
    called = "".join(f" .literal .L{n}, {n}\n l32r a4, .L{n}\n callx0 a4\n" for n in "fg")
    image = assembled(
        tmp_path,
        target,
        f".begin no-transform\n@_start:\n{called} ill.n\n@g: movi a2, 1\n ret.n\n@f: movi a2, 13\n movi a3, 100\n"
        "1: addi a3, a3, -1\n bnez a3, 1b\n ret.n\n.end no-transform\n",
    )
    f = foreign.address(image, "f") or 0
    assert f % 2 == 1
    alone = run(target, image, call=f)
    assert (alone.end, returned(target, alone.result or 0)["4"]) == ("returned", 13)
    for seen in (alone, run(target, image, trigger=f), run(target, image)):
        assert [c for n, _, c, _ in seen.functions if n == "f"] == [1]
        assert sum(n[3] for n in seen.functions if n[0] == "f") > 200
    arm = the_target("bluepill")
    (tmp_path / "a.s").write_text(".syntax unified\n.thumb\n.word 0x20001000, f\n.type f, %function\nf: bx lr\n")
    assert run(arm, linked(tmp_path, arm), call=arm.chip.flash.base + 9).end == "returned"
    with pytest.raises(ValueError, match=r"no instruction of AVR begins at an odd address such as 0x1"):
        run(the_target("uno"), b"\x08\x95\x08\x95", base=0, call=1)


@pytest.mark.parametrize("name", ["stm32f407", "bluepill", "nucleo-f746zg", "mkrzero"])
def test_functions_that_begin_inside_of_a_run_change_no_cycles(tmp_path: Path, name: str) -> None:
    target = the_target(name)
    cycles = set()
    for label in ("@f", ".Lf"):
        body = "".join(f"{label}{n}: ldr r1, [r0, #{4 * n}]\n adds r1, #{n}\n" for n in range(30))
        program = f"{ARM}@main: ldr r0, =RAM\n movs r4, #9\n1:\n{body} subs r4, #1\n bne 1b\n bkpt\n"
        seen = run(target, assembled(tmp_path, target, program))
        assert seen.end == "breakpoint"
        cycles.add(seen.cycles)
    assert len(cycles) == 1


@pytest.mark.parametrize("known", ["f, main", "f"])
def test_a_caller_may_begin_with_its_call_right_behind_what_it_calls(tmp_path: Path, known: str) -> None:
    """The return from which is where a longer call would begin."""
    target = the_target("uno")
    called = "@f: ldi r24, 9\n1: dec r24\n brne 1b\n ret\n"
    program = f".global {known}\nrjmp main\n{called}main: rcall f\n rcall f\n break\n"
    image = assembled(tmp_path, target, program)
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left) == ("breakpoint", 2, 0)


def test_a_jump_may_lead_to_what_lies_right_behind_it(tmp_path: Path) -> None:
    """Which is where it would return to; but with another stack."""
    target = the_target("bluepill")
    main = "@main: movs r0, #1\n bl setjmp\n movs r4, #0\n bl f\n bkpt\n@setjmp: bx lr\n"
    jump = "@longjmp: ldr r0, =RAM + 0x800\n mov sp, r0\n ldr r0, =again + 1\n bx r0\n"
    called = "@f: push {lr}\n cbnz r4, 1f\n bl longjmp\n@again: movs r4, #1\n bl f\n bkpt\n1: pop {pc}\n"
    image = assembled(tmp_path, target, f"{ARM}{main}{jump}{called}")
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left) == ("breakpoint", 1, 1)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("bluepill", "@main: ldr r0, =fin + 1\n mov lr, r0\n b f\n@f: movs r1, #9\n bx lr\n@fin: bkpt\n"),
        ("gd32vf103", "@main: la ra, fin\n j f\n@f: addi a0, a0, 1\n ret\n@fin: ebreak\n"),
        (
            "uno",
            "@main: ldi r24, pm_lo8(fin)\n push r24\n ldi r24, pm_hi8(fin)\n push r24\n rjmp f\n"
            "@f: inc r1\n ret\n@fin: break\n",
        ),
    ],
)
def test_what_lies_before_where_a_call_returns_to_may_be_no_call(tmp_path: Path, name: str, program: str) -> None:
    """But its own return, where the address was put in its place by hand."""
    target = the_target(name)
    image = assembled(tmp_path, target, f"{ARM if name == 'bluepill' else ''}{program}")
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left) == ("breakpoint", 1, 0)


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("bluepill", "bl f\n b 1b\n@f: subs r4, #1\n bmi 2f\n ldr r0, =main\n bx r0\n2: bkpt\n"),
        ("gd32vf103", "jal f\n j 1b\n@f: addi s0, s0, -1\n bltz s0, 2f\n j 1b\n2: ebreak\n"),
        ("uno", "rcall f\n rjmp 1b\n@f: subi r16, 1\n brmi 2f\n pop r0\n pop r0\n rjmp 1b\n2: break\n"),
    ],
)
def test_a_call_that_goes_back_to_before_its_call_is_left(tmp_path: Path, name: str, program: str) -> None:
    """To its very instruction, which may have each of the sizes that calls have."""
    target = the_target(name)
    sets = {"bluepill": "movs r4, #3", "gd32vf103": "li s0, 3", "uno": "ldi r16, 3"}[name]
    start = f"{ARM.replace('main', 'go')}@go: {sets}\n" if name == "bluepill" else f"@go: {sets}\n"
    main = "1: @main: " if name == "bluepill" else "@main: 1: "
    image = assembled(
        tmp_path, target, f"{start}{main}{program}".replace("1: @main:", "@main: 1:").replace("=main", "=main + 1")
    )
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left) == ("breakpoint", 0, 3)
