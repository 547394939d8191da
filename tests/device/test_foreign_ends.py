"""How images that are not ours end: asleep, in a loop, by a fault, at a limit; and what is not modelled is named."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.device import foreign
from steelyard.device.blocks import name_of
from steelyard.device.foreign import Experiment
from steelyard.model.errors import UserError
from steelyard.model.target import Target
from tests.conftest import the_target
from tests.device.images import assembled, built, from_reset, linked, run


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
    assert (passed.end, passed.pc, passed.cycles) == ("breakpoint", 2, other.cycles)
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
    assert [(s.end, s.fault, s.fine) for s in ends.values()] == [
        ("fault", "unsupported", False),
        ("breakpoint", None, True),
    ]


@pytest.mark.parametrize("program", ["0000 00", "0c02 2022 c2"])  # ill; movi.n a2, 0 and quou a2, a2, a2
def test_an_exception_of_xtensa_is_no_breakpoint(program: str) -> None:
    target = the_target("esp32")
    seen = run(target, bytes.fromhex(program), base=target.chip.flash.base)
    assert (seen.end, seen.fault, seen.fine) == ("fault", "trap", False)


def test_what_is_not_modelled_has_a_name(bluepill: Target, uno: Target) -> None:
    assert name_of(bluepill, 0x40000024) == "TIM2, a timer"
    assert name_of(bluepill, 0xE000E104) == "NVIC, the interrupt controller"
    assert name_of(bluepill, 0x40010818) == "stm32f1-gpio at 0x40010800, of which this is not modelled"
    assert name_of(bluepill, 0x40010800, modelled=True) == "stm32f1-gpio at 0x40010800"
    assert name_of(the_target("esp8266"), 0x60000200).startswith("SPI0"), "the flash controller is no serial port"
    assert name_of(the_target("esp8266"), 0x60000400) == ""
    assert name_of(bluepill, 0x4FF00000) == ""
    assert name_of(uno, 0xB2) == "timer 2"


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


def test_a_wrong_file_of_blocks_is_named(tmp_path: Path, bluepill: Target) -> None:
    (tmp_path / "blocks.toml").write_text("[settings]\nclock = { address = 1, mask = 1, assumed = 1 }\n")
    target = bluepill.but(folder=tmp_path)
    with pytest.raises(UserError, match=r"blocks\.toml: settings.*address: unknown"):
        foreign.run(target, from_reset(target, "fee7"), Experiment(cycles=1000, seconds=60.0))


def test_what_reads_its_input_does_not_turn_round(tmp_path: Path) -> None:
    """Though nothing else differs from round to round, for more cycles than between two looks."""
    read = "@main: lds r18, 0xC0\n sbrs r18, 7\n rjmp main\n lds r18, 0xC6\n cpi r18, 0x7e\n brne main\n break\n"
    seen = run(
        target := the_target("uno"), assembled(tmp_path, target, read), input=b"." * 600_000 + b"~", cycles=50_000_000
    )
    assert (seen.end, seen.cycles > 4_000_000) == ("breakpoint", True)
