"""The measured code against other people's simulators.

Each commit takes one implementation of a family on the two best-known targets and a few on the others;
``make test-long`` takes all that are bundled.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oracles import machines, replay
from steelyard import building
from steelyard.cli.select import bundled
from steelyard.model.call import DeviceError
from steelyard.model.implementation import Implementation
from steelyard.model.reasons import Reason
from steelyard.model.target import load_target

#: those that the oracles' program can call: not with a context that another call made
ALL = [i for i in bundled().implementations if i.primitive != "crypto_block"]
#: AVR's flash and RAM make it the narrowest judge, so its cycles are compared for two chips
CYCLES = ("uno", "atmega128")
#: chips with the core of one of these, or less: what every commit takes is enough
SISTERS = ("leonardo", "attiny85")
#: one target for each other core that has an oracle
STATES = (
    *("bluepill", "mkrzero", "stm32f407", "nucleo-f746zg", "gd32vf103", "maixduino", "esp32c3", "ch32v003"),
    *("esp8266", "msp430f1611"),
)
#: families that stand for all where a target is not the first of its instruction set
FEW = ("ascon", "tinyjambu", "sparkle")


def representatives() -> set[tuple[str, str]]:
    """(implementation, target) of what every commit compares: the first of each family by name."""
    first: dict[str, Implementation] = {}
    for i in sorted(ALL, key=lambda i: (i.primitive, i.family, i.label)):
        if i.primitive == "crypto_aead":
            first.setdefault(i.family, i)
    rest = [t for t in (*CYCLES, *SISTERS, *STATES) if t not in ("uno", "bluepill")]
    chosen = {(_id(i), t) for i in first.values() for t in ("uno", "bluepill")}
    chosen |= {(_id(i), "bluepill") for i in ALL if i.primitive != "crypto_aead" and i.family == "ascon"}
    return chosen | {(_id(first[f]), t) for f in FEW if f in first for t in rest}


def _id(implementation: Implementation) -> str:
    return f"{implementation.primitive}-{implementation.label}"


def pairs(targets: tuple[str, ...], *, every: bool = True) -> list[object]:
    """Every implementation on every one of ``targets``, most of them for the long run or not at all."""
    chosen, all_of_them = representatives(), []
    for target in targets:
        for i in ALL:
            marks = [] if (_id(i), target) in chosen else [pytest.mark.long]
            if every or not marks:
                all_of_them.append(pytest.param(i, target, id=f"{target}-{_id(i)}", marks=marks))
    return all_of_them


Sizes = list[tuple[int, int]]


def _replay(implementation: Implementation, name: str, flags: tuple[str, ...], sizes: Sizes, folder: Path) -> Path:
    """A replay of calls of those sizes; the test is skipped where that cannot be."""
    target = load_target(name)
    toolchain = building.identify(target.toolchain)
    if toolchain is None:
        pytest.skip(f"{target.toolchain.compiler} is not installed")
    absent = machines.missing(target)
    if absent is not None:
        pytest.skip(f"{absent} is not installed")
    built = building.build(implementation, target, toolchain, flags)
    if built.failure is not None:
        pytest.skip(f"does not build: {built.failure.reason}")
    try:
        calls = replay.requests(implementation, target, built.images["both"], sizes)
    except DeviceError as e:
        if e.failure.reason is not Reason.STACK_OVERFLOW:
            raise
        pytest.skip(f"does not fit: {e.failure.detail}")
    try:
        return replay.link(implementation, target, flags, calls, folder)
    except replay.DoesNotFit as e:
        pytest.skip(f"does not fit: {e}")


@pytest.mark.parametrize(("implementation", "name"), [*pairs(CYCLES), *pairs(SISTERS, every=False)])
def test_avr_cycles_agree_with_simavr(implementation: Implementation, name: str, tmp_path: Path) -> None:
    target = load_target(name)
    image = _replay(
        implementation, name, target.toolchain.default_flags, [(0, 0), (1, 7), (16, 16), (13, 33)], tmp_path
    )
    _, mine = replay.ours(target, image)
    assert len(mine) > replay.SUM_PULSES
    assert mine == machines.simavr(image)


@pytest.mark.parametrize(("implementation", "name"), pairs(STATES))
def test_states_agree_with_the_oracle(implementation: Implementation, name: str, tmp_path: Path) -> None:
    target = load_target(name)
    image = _replay(implementation, name, ("-O3",), [(5, 17)], tmp_path)
    assert machines.steps(target, image) > 1000
    # all states of what every commit takes and of the core that others share; how the rest ends
    thorough = name == "bluepill" or (_id(implementation), name) in representatives()
    difference = (machines.compare if thorough else machines.compare_ends)(target, image)
    assert difference is None, difference


@pytest.mark.long
@pytest.mark.parametrize("implementation", ALL, ids=_id)
def test_small_code_ends_as_in_the_oracle(implementation: Implementation, tmp_path: Path) -> None:
    image = _replay(implementation, "bluepill", ("-Os",), [(5, 17), (16, 32)], tmp_path)
    difference = machines.compare_ends(load_target("bluepill"), image)
    assert difference is None, difference


def test_the_oracles_are_found_out_when_they_are_wrong(tmp_path: Path) -> None:
    """A trace with one bit changed is told apart, at the instruction that made it."""
    if shutil.which("qemu-system-arm") is None or building.identify(load_target("bluepill").toolchain) is None:
        pytest.skip("no compiler or no oracle")
    target = load_target("bluepill")
    implementation = next(i for i in ALL if i.label.startswith("tinyjambu"))
    image = _replay(implementation, "bluepill", ("-O3",), [(1, 1)], tmp_path)
    machine = replay.simulator(target, image)
    mine = machines.states(target, machine)
    assert machines.first_difference(target, machine, mine, mine) is None
    wrong = list(mine)
    wrong[500] = (*mine[500][:3], mine[500][3] ^ 4, *mine[500][4:])
    text = machines.first_difference(target, machine, mine, wrong)
    assert text is not None
    assert f"at {mine[499][-1]:#x}, state 500" in text
    assert [line.split()[0] for line in text.splitlines() if line.endswith("<")] == ["r3"]
    # and the sum at the end is that of the answers
    (tmp_path / "other").mkdir()
    other = _replay(implementation, "bluepill", ("-O3",), [(1, 2)], tmp_path / "other")
    r2 = machines.VIEWS["thumb"].names.index("r2")
    assert mine[-1][r2] == machines.end(target, image)[r2] != machines.end(target, other)[r2]
