"""The measured code against other people's simulators, for every bundled implementation."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from oracles import replay
from steelyard import build
from steelyard.cli.select import bundled
from steelyard.model.call import DeviceError
from steelyard.model.implementation import Implementation
from steelyard.model.reasons import Reason
from steelyard.model.target import Target, load_target

IMPLEMENTATIONS = bundled()[0]


def _image(implementation: Implementation, target: Target, flags: tuple[str, ...]) -> Path:
    toolchain = build.identify(target.toolchain)
    if toolchain is None:
        pytest.skip(f"{target.toolchain.compiler} is not installed")
    built = build.build(implementation, target, toolchain, flags)
    if built.failure is not None:
        pytest.skip(f"does not build: {built.failure.reason}")
    return built.images["both"]


@pytest.mark.parametrize("name", ["uno", "atmega128"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda i: f"{i.primitive}-{i.label}")
def test_avr_cycles_agree_with_simavr(implementation: Implementation, name: str, tmp_path: Path) -> None:
    if shutil.which("simavr") is None:
        pytest.skip("simavr is not installed")
    target = load_target(name)
    image = _image(implementation, target, target.toolchain.default_flags)
    try:
        calls = replay.requests(implementation, target, image, [(0, 0), (1, 7), (16, 16), (13, 33)])
    except DeviceError as e:
        if e.failure.reason is not Reason.STACK_OVERFLOW:
            raise
        pytest.skip(f"does not fit: {e.failure.detail}")
    again = replay.link(implementation, target, target.toolchain.default_flags, calls, tmp_path)
    _, mine = replay.ours(target, again)
    assert len(mine) == len(calls)
    assert mine == replay.simavr(again)


@pytest.mark.parametrize("flags", ["-O3", "-Os"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda i: f"{i.primitive}-{i.label}")
def test_arm_semantics_agree_with_qemu(implementation: Implementation, flags: str, tmp_path: Path) -> None:
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    _compare_with_qemu(implementation, load_target("bluepill"), flags, tmp_path)


@pytest.mark.parametrize("name", ["mkrzero", "stm32f407", "nucleo-f746zg"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS, ids=lambda i: f"{i.primitive}-{i.label}")
def test_other_arm_cores_agree_with_qemu(implementation: Implementation, name: str, tmp_path: Path) -> None:
    if shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm is not installed")
    _compare_with_qemu(implementation, load_target(name), "-O3", tmp_path)


def _compare_with_qemu(implementation: Implementation, target: Target, flags: str, tmp_path: Path) -> None:
    image = _image(implementation, target, (flags,))
    calls = replay.requests(implementation, target, image, [(5, 17)])
    again = replay.link(implementation, target, (flags,), calls, tmp_path, flash_at_zero=True)
    theirs = replay.qemu_trace(again, replay.QEMU_MACHINES[target.chip.core])
    simulator, mine = replay.our_trace(target, again, len(theirs) + 1)
    assert len(mine) > 1000
    difference = replay.first_difference(simulator, mine, theirs)
    assert difference is None, difference
