"""Small C programs at every optimisation level: the same sums here, in the oracle and on this machine."""

from __future__ import annotations

import shutil
import subprocess
from array import array
from pathlib import Path

import pytest

from oracles import machines, replay
from steelyard import building
from steelyard.model.target import Target, load_target

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
#: one target for each core that has an oracle; the flash of uno and ch32v003 is too small for -O0
TARGETS = ("bluepill", "mkrzero", "stm32f407", "gd32vf103", "esp32c3", "maixduino", "esp8266", "msp430f1611")
#: where the images leave the sum: registers, and how far each is shifted
SUM = {
    "avr": {"r22": 0, "r23": 8, "r24": 16, "r25": 24},
    "thumb": {"r2": 0},
    "riscv": {"x12": 0},
    "xtensa": {"a4": 0},
    "msp430": {"r12": 0, "r13": 16},
}


def the_target(name: str) -> Target:
    """A target whose compiler and oracle are here."""
    target = load_target(name)
    if building.identify(target.toolchain) is None:
        pytest.skip(f"{target.toolchain.compiler} is not installed")
    absent = machines.missing(target)
    if absent is not None:
        pytest.skip(f"{absent} is not installed")
    return target


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The sum on this machine, whose int has 32 bits."""
    program = tmp_path_factory.mktemp("torture") / "host"
    sources = sorted(str(c) for c in (replay.HERE / "torture").glob("*.c"))
    subprocess.run(["gcc", "-std=gnu99", "-DHOST", "-O1", *sources, "-o", str(program)], check=True)
    return int(subprocess.run([program], check=True, capture_output=True, text=True).stdout, 16)


def sum_of(target: Target, state: machines.State) -> int:
    """The sum in the last state of a run."""
    values = dict(zip(machines.VIEWS[target.toolchain.family].names, state, strict=True))
    return sum(values[name] << shift for name, shift in SUM[target.toolchain.family].items()) & 0xFFFF_FFFF


def compare_ends(target: Target, level: str, folder: Path) -> int:
    """The sum, the same here and in the oracle."""
    image = replay.torture(target, level, folder)
    machine, _ = replay.ours(target, image)
    mine = sum_of(target, machines.states(target, machine, 1)[0])
    assert mine == sum_of(target, machines.end(target, image)), level
    return mine


def avr(level: str, folder: Path) -> int:
    """The sum of an AVR, the same in simavr, each program after the same number of cycles."""
    target = the_target("atmega128")
    image = replay.torture(target, level, folder)
    machine, mine = replay.ours(target, image)
    assert mine == machines.simavr(image)
    last = dict(zip(machine.registers, array("I", machine.trace(1)), strict=True))
    return sum(last[name] << shift for name, shift in SUM["avr"].items())


@pytest.mark.parametrize("name", TARGETS)
def test_sums_are_the_oracles_and_this_machines(name: str, expected: int, tmp_path: Path) -> None:
    target = the_target(name)
    found = {level: compare_ends(target, level, tmp_path) for level in ("-O0", "-O2")}
    wide = target.toolchain.family != "msp430"
    assert set(found.values()) == ({expected} if wide else {found["-O0"]}), found


def test_avr_sums_and_cycles_are_simavrs(tmp_path: Path) -> None:
    found = {level: avr(level, tmp_path) for level in ("-O0", "-O2")}
    assert found["-O0"] == found["-O2"]


@pytest.mark.long
def test_ints_of_16_bits_agree_on_both_cores_that_have_them(tmp_path: Path) -> None:
    other = the_target("msp430f1611")
    found = [avr(level, tmp_path) for level in LEVELS]
    found += [compare_ends(other, level, tmp_path) for level in LEVELS]
    assert len(set(found)) == 1, [f"{s:08x}" for s in found]


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TARGETS)
def test_every_state_is_the_oracles(name: str, level: str, tmp_path: Path) -> None:
    target = the_target(name)
    difference = machines.compare(target, replay.torture(target, level, tmp_path))
    assert difference is None, difference


def test_the_programs_have_no_undefined_behaviour(tmp_path: Path) -> None:
    sources = sorted(str(c) for c in (replay.HERE / "torture").glob("*.c"))
    command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-DHOST", "-O1", "-fsanitize=undefined"]
    program = tmp_path / "host"
    built = subprocess.run([*command, *sources, "-o", str(program)], capture_output=True, text=True, check=False)
    if "libubsan" in built.stderr or shutil.which("gcc") is None:
        pytest.skip("gcc has no sanitiser here")
    assert built.returncode == 0, built.stderr
    assert subprocess.run([program], capture_output=True, text=True, check=True).stderr == ""
