"""Calls on board one for the tests, their cycles, and why they fail."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import Event

import pytest

from steelyard import device, lab
from steelyard.lab import Lab, Station
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Reason

CALL = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))
CALLS = [Request(Op.ENCRYPT, bytes(16), bytes(16), bytes(n % 7), bytes(n)) for n in range(0, 100, 5)]


def call(station: Station, image: Path) -> int:
    """Cycles of one call on the board."""
    with lab.opened(station, image, 10**6, Event()) as opened:
        return device.Client(opened).call(CALL).pulse.cycles


def failing(station: Station, image: Path) -> tuple[Reason, str]:
    """Why a call on the board fails."""
    with pytest.raises(DeviceError) as e:
        call(station, image)
    return e.value.failure.reason, e.value.failure.detail


def near(station: Station, found: Iterable[int], image: Path) -> bool:
    """Whether these are the cycles that the simulator has for ``CALLS``, to the sample."""
    simulated = device.Client(device.SimulatorLink(station.target, image)).calls(CALLS)
    pairs = zip(found, simulated, strict=True)
    return all(abs(cycles - ours.pulse.cycles) <= max(station.cycles_per_sample, 1) for cycles, ours in pairs)


def at(there: Lab, port: Path) -> Station:
    station = there.board("one")
    return station.but(board=station.board.but(port=port), flasher=station.flasher.but(boot_seconds=0, leave=None))
