"""Boot loaders that have to be called: by a touch at 1200 baud, or by a pulse of the reset line where they have a port
of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from steelyard import lab
from steelyard.lab import Station, touch
from steelyard.lab.virtual.pty import Port

serial = pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touch, "PULSE", 0.01)
    monkeypatch.setattr(touch, "READY", 0.0)
    monkeypatch.setattr(touch, "COMES", 0.5)


def test_a_port_knows_at_which_speed_it_was_closed(tmp_path: Path) -> None:
    port = Port(tmp_path / "port")
    seen = []
    for baud in (115200, 1200, 9600):
        serial.Serial(str(tmp_path / "port"), baud).close()
        seen.append((port.opened(), port.touched(), port.touched()))
    assert seen == [(True, False, False), (True, True, False), (True, False, False)]
    with serial.Serial(str(tmp_path / "port"), 1200):
        assert (port.opened(), port.touched()) == (True, False), "while it is open"


def test_a_port_that_two_opened_at_once_is_open_until_both_have_closed_it(tmp_path: Path) -> None:
    """The kernel tells of equal events that nobody has read yet once."""
    port = Port(tmp_path / "port")
    first, second = (os.open(tmp_path / "port", os.O_RDWR | os.O_NOCTTY) for _ in range(2))
    assert (port.opened(), port.is_open) == (True, True)
    for fd, still in ((first, True), (second, False)):
        os.close(fd)
        assert (port.opened(), port.is_open) == (False, still)
    os.close(os.open(tmp_path / "port", os.O_RDWR | os.O_NOCTTY))
    assert (port.opened(), port.is_open) == (True, False)


@contextmanager
def seeing(port: Port, then: list[str], boot: Port | None = None) -> Iterator[None]:
    """What becomes of ports meanwhile, as ``then`` says it; a pulse brings the boot loader's."""
    over = Event()

    def look() -> None:
        last = False
        while not last:
            last = over.wait(0.005)
            if port.opened() and boot:
                then.append("pulse")
                boot.plug()
            if boot:
                boot.opened()
            if (boot or port).touched():
                then.append("touch")

    thread = Thread(target=look)
    thread.start()
    yield
    over.set()
    thread.join()


def test_a_boot_loader_behind_the_same_port_is_touched(described: Path, tmp_path: Path) -> None:
    station = at(lab.load(described).board("eighteen"), tmp_path)
    then: list[str] = []
    with seeing(Port(tmp_path / "port"), then):
        assert touch.call(station) is None
    assert then[:1] == ["touch"]


def test_a_boot_loader_with_a_port_of_its_own_is_touched_or_reset(
    described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    station = at(lab.load(described).board("seventeen"), tmp_path)
    port, boot = Port(tmp_path / "port"), Port(tmp_path / "boot")
    then: list[str] = []
    with seeing(port, then, boot):
        monkeypatch.setattr(touch, "VANISHES", 0.3)
        assert touch.call(station) is None, "a boot loader that runs already stays where it is"
        boot.unplug()
        assert touch.call(station) is None
    assert then == ["touch", "pulse"]
    boot.unplug()
    why = touch.call(station)
    assert why is not None
    assert why.startswith(f"no boot loader at {tmp_path / 'boot'}; connect DTR")
    assert "cannot be called" in str(touch.call(at(station, tmp_path / "nowhere")))


def test_who_need_not_be_called_are_left_alone(described: Path, tmp_path: Path) -> None:
    assert touch.call(at(lab.load(described).board("one"), tmp_path / "nowhere")) is None


def at(station: Station, folder: Path) -> Station:
    """The board with its ports in that folder."""
    own = {"boot_port": folder / "boot"} if station.flasher.needs_boot_port else {}
    return station.but(board=station.board.but(port=folder / "port", **own))
