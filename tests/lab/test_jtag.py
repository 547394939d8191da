"""Test access ports and the RISC-V debug module, bit by bit: what no well-behaved debugger asks for too."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.lab.config import Probe
from steelyard.lab.virtual import ports
from steelyard.lab.virtual.bitbang import Bitbang
from steelyard.lab.virtual.board import Chip
from steelyard.lab.virtual.jtag import Chain, boundary
from steelyard.lab.virtual.parts import part
from steelyard.lab.virtual.riscv import DebugModule
from steelyard.model.errors import UserError
from steelyard.model.target import load_target

from .conftest import free

TARGET = load_target("gd32vf103")
RAM = TARGET.chip.ram.base
DMCONTROL, DMSTATUS, ABSTRACTCS, COMMAND, BUFFER, DATA = 0x10, 0x11, 0x16, 0x17, 0x20, 0x04
HALT, RESUME, ACTIVE = 1 << 31, 1 << 30, 1
READ, WRITE, EXECUTE = 0x0022_0000, 0x0023_0000, 0x0004_0000
S0, S1, DPC, MISA = 0x1008, 0x1009, 0x7B1, 0x301


@pytest.fixture
def module() -> DebugModule:
    made = DebugModule(Chip(TARGET, 115200), TARGET, bytearray(b"\xff" * TARGET.chip.flash.size))
    made.tell(DMCONTROL, ACTIVE)
    return made


def error(module: DebugModule) -> int:
    """That of abstract commands; it is cleared."""
    found = module.ask(ABSTRACTCS) >> 8 & 7
    module.tell(ABSTRACTCS, 7 << 8)
    return found


def put(module: DebugModule, number: int, value: int) -> None:
    module.tell(DATA, value)
    module.tell(COMMAND, WRITE | number)


def got(module: DebugModule, number: int) -> int:
    module.tell(COMMAND, READ | number)
    return module.ask(DATA)


def halted(module: DebugModule) -> bool:
    return bool(module.ask(DMSTATUS) >> 9 & 1)


def test_a_hart_halts_goes_on_and_is_reset_by_its_line_alone(module: DebugModule) -> None:
    assert not halted(module)
    module.tell(COMMAND, READ | S0)
    assert error(module) == 4, "it runs"
    module.tell(DMCONTROL, ACTIVE | HALT)
    assert halted(module)
    put(module, DPC, TARGET.chip.flash.base + 8)
    module.tell(DMCONTROL, ACTIVE | 2)
    module.tell(DMCONTROL, ACTIVE)
    assert (halted(module), got(module, DPC)) == (True, TARGET.chip.flash.base + 8), "ndmreset does nothing"
    module.tell(DMCONTROL, ACTIVE | HALT)
    module.reset()
    assert (halted(module), got(module, DPC)) == (True, TARGET.chip.flash.base)
    module.tell(DMCONTROL, ACTIVE | RESUME)
    assert not halted(module)
    module.tell(DMCONTROL, ACTIVE | 1 << 16 | HALT)
    assert module.ask(DMSTATUS) >> 15 & 1, "there is no second hart"
    module.tell(DMCONTROL, ACTIVE)
    assert not halted(module)


#: what is in the program buffer, and S1 after it, where S0 points to ``8182 8384`` in RAM, which are signed
PROGRAMS = [
    ("lb s1, 1(s0)", 0x0014_0483, 0xFFFF_FF83),
    ("lbu s1, 1(s0)", 0x0014_4483, 0x83),
    ("lh s1, 2(s0)", 0x0024_1483, 0xFFFF_8182),
    ("lhu s1, 2(s0)", 0x0024_5483, 0x8182),
    ("lw s1, 0(s0)", 0x0004_2483, 0x8182_8384),
    ("addi s1, s0, -4", 0xFFC4_0493, RAM + 0x3C),
    ("csrr s1, misa", 0x3010_24F3, part(TARGET.chip_name).misa),
    ("fence.i", 0x0000_100F, 7),
]


@pytest.mark.parametrize(("name", "word", "value"), PROGRAMS)
def test_a_program_in_the_buffer_does_what_its_instructions_say(
    module: DebugModule, name: str, word: int, value: int
) -> None:
    module.tell(DMCONTROL, ACTIVE | HALT)
    module.write(RAM + 0x40, struct.pack("<I", 0x8182_8384))
    put(module, S0, RAM + 0x40)
    module.tell(BUFFER, word)
    module.tell(DATA, 7)
    module.tell(COMMAND, WRITE | EXECUTE | S1)
    assert (error(module), got(module, S1)) == (0, value)


@pytest.mark.parametrize(
    ("word", "left"),  # sw s1, -8(s0); sh s1, -6(s0); sb s1, -1(s0)
    [(0xFE94_2C23, "0403020100000000"), (0xFE94_1D23, "0000040300000000"), (0xFE94_0FA3, "0000000000000004")],
)
def test_stores_have_their_width(module: DebugModule, word: int, left: str) -> None:
    module.tell(DMCONTROL, ACTIVE | HALT)
    module.write(RAM + 0x38, bytes(8))
    put(module, S0, RAM + 0x40)
    module.tell(BUFFER, word)
    module.tell(DATA, 0x0102_0304)
    module.tell(COMMAND, WRITE | EXECUTE | S1)
    assert (error(module), module.read(RAM + 0x38, 8).hex()) == (0, left)


@pytest.mark.parametrize(
    ("command", "why"),
    [(0x0200_0000, 2), (READ | 1 << 19 | S0, 2), (0x0032_0000 | S0, 2), (READ | 0xC00, 3), (WRITE | 0xC00, 3)],
)
def test_a_command_that_fails_says_why_and_stops_those_after_it(module: DebugModule, command: int, why: int) -> None:
    module.tell(DMCONTROL, ACTIVE | HALT)
    module.tell(COMMAND, command)
    put(module, S0, 5)
    assert error(module) == why
    assert got(module, S0) == 0
    module.tell(BUFFER, 0x0000_0073)  # ECALL
    module.tell(COMMAND, EXECUTE)
    assert error(module) == 3


def test_registers_that_say_what_the_hart_is_stay(module: DebugModule) -> None:
    module.tell(DMCONTROL, ACTIVE | HALT)
    before = got(module, MISA)
    put(module, MISA, 0)
    put(module, 0x1000, 5)
    assert (got(module, MISA), got(module, 0x1000), error(module)) == (before, 0, 0)


def shifted(chain: Chain, bits: int, value: int = 0) -> int:
    """What a scan of the data registers gets, from Run-Test/Idle and back."""
    for tms in (1, 0, 0):
        chain.clock(bool(tms), False)
    found = 0
    for k in range(bits):
        found |= chain.out << k
        chain.clock(k == bits - 1, bool(value >> k & 1))
    for tms in (1, 0):
        chain.clock(bool(tms), False)
    return found


def test_identities_come_in_the_order_of_the_chain_and_bypass_is_one_bit() -> None:
    chain = Chain([boundary(0x1000563D), boundary(0x790007A3)])
    for tms in (1, 1, 1, 1, 1, 0):
        chain.clock(bool(tms), False)
    assert shifted(chain, 70, 0x2B) == 0x2B << 64 | 0x790007A3_1000563D, "what went in follows"
    for tms in (1, 1, 0, 0):
        chain.clock(bool(tms), False)
    for k in range(10):
        chain.clock(k == 9, True)
    for tms in (1, 0):
        chain.clock(bool(tms), False)
    assert shifted(chain, 6, 0b1111) == 0b111100
    chain.reset()
    chain.clock(False, False)
    assert shifted(chain, 64) == 0x790007A3_1000563D


@pytest.mark.parametrize(
    ("name", "command", "why"),
    [("gd32vf103", "st-link backend tcp 1", "an ST-Link reaches no GD32VF103CB"),
     ("due", "remote_bitbang port 1", "no virtual ATSAM3X8E has JTAG")],
)  # fmt: skip
def test_a_probe_that_reaches_no_such_chip_is_refused(name: str, command: str, why: str) -> None:
    target = load_target(name)
    probe = Probe(name="p", interface="", commands=(command,), virtual=True)
    with pytest.raises(UserError, match=why):
        ports.probe(probe, Chip(target, 115200), target, bytearray(target.chip.flash.size))


#: clocks through states in which registers are written, with what they get
scans = st.binary(max_size=60).map(lambda b: b"".join(b"%cR%c" % (48 + (c & 3), 52 + (c & 3)) for c in b))


@pytest.mark.parametrize("name", ["gd32vf103", "bluepill"])
def test_whatever_is_sent_to_a_probe_it_goes_on(name: str) -> None:
    target = load_target(name)
    flash = bytearray(b"\xff" * target.chip.flash.size)
    probe = Probe(name="p", interface="", commands=(f"remote_bitbang port {free(1)[0]}",), virtual=True)
    made = ports.probe(probe, Chip(target, 115200), target, flash)
    assert isinstance(made, Bitbang)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(scans | st.binary(max_size=40), max_size=6))
    def test(came: list[bytes]) -> None:
        for data in came:
            answer = made.feed(data)
            assert (answer is None) == (b"Q" in data)
            assert answer is None or len(answer) == data.count(b"R")

    test()
    to_the_shift_register = b"".join(b"%d%d" % (2 * tms, 4 + 2 * tms) for tms in (1, 1, 1, 1, 1, 0, 1, 0, 0))
    said = made.feed(b"rsr" + to_the_shift_register + b"0R4" * 64)
    assert said is not None
    first, second = part(target.chip_name).jtag
    assert int(said[::-1], 2) == second << 32 | first
    made.sockets[0].close()
    assert len(flash) == target.chip.flash.size


words = st.integers(0, (1 << 32) - 1) | st.sampled_from([0x0023_1008, 0x0027_1009, 0x0004_0000, 0x0022_07B1, RAM, 0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([4, 5, 16, 22, 23, 24, 32, 33]), words), max_size=40))
def test_whatever_a_debugger_tells_the_module_it_answers(came: list[tuple[bool, int, int]]) -> None:
    module = DebugModule(Chip(TARGET, 115200), TARGET, bytearray(b"\xff" * TARGET.chip.flash.size))
    module.tell(DMCONTROL, ACTIVE | HALT)
    for write, address, value in came:
        if write:
            module.tell(address, value)
        assert 0 <= module.ask(address) < 1 << 32
        module.go_on()
