"""Serial ports of boards: what is no answer or not there is named, lines restart a chip, and a port has one user."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from unittest import mock

import pytest

from steelyard import lab
from steelyard.device import frame
from steelyard.lab import attempt, line
from steelyard.lab.config import flashers
from steelyard.lab.lock import held
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Reason

from .calls import at, failing

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.mark.usefixtures("port_alone")
def test_garbage_is_no_answer(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    master, port = terminal

    def chatter() -> None:
        with suppress(OSError):
            while os.read(master, 4096):
                os.write(master, b"\xa5\x81garbage" * 5)

    Thread(target=chatter, daemon=True).start()
    reason, text = failing(at(lab.load(described), port), image)
    assert reason == Reason.PROTOCOL
    assert text.endswith(f" bytes from {port}, and no whole answer in them")


@pytest.mark.usefixtures("port_alone")
def test_bytes_that_come_one_by_one_have_an_end(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    master, port = terminal
    over = Event()

    def drip() -> None:
        while not over.wait(0.02):
            os.write(master, b"x")

    drips = Thread(target=drip, daemon=True)
    drips.start()
    station = at(lab.load(described), port)
    reason, text = failing(station.but(board=station.board.but(baud=4_000_000)), image)
    over.set()
    drips.join()  # the next terminal may have its number
    assert reason == Reason.PROTOCOL
    assert text.endswith(f" bytes from {port}, and no whole answer in them")


@pytest.mark.usefixtures("port_alone")
def test_who_waits_for_a_call_says_so(
    described: Path, image: Path, terminal: tuple[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(attempt.Attempt, "step", lambda self, text: steps.append(text))
    station = at(lab.load(described), terminal[1]).but(fast_baud=0)
    with pytest.raises(DeviceError, match=r"runaway: .*no answer"), lab.opened(station, image, 10**7, Event()) as link:
        link.exchange(frame.encode(frame.RUN, b""))
    assert steps[-1] == "waits for an answer: a call may take 1 s"


@pytest.mark.usefixtures("port_alone")
def test_a_board_that_is_unplugged_is_named(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    master, port = terminal

    def unplug() -> None:
        os.read(master, 1)
        os.close(master)

    Thread(target=unplug, daemon=True).start()
    reason, text = failing(at(lab.load(described), port), image)
    assert reason == Reason.BOARD_LOST
    assert text.startswith(f"one: {port}: ")


@pytest.mark.usefixtures("port_alone")
def test_a_port_that_is_not_there_is_named(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    reason, text = failing(at(lab.load(described), Path("/dev/no-such-port")), image)
    assert reason == Reason.BOARD_LOST
    assert text.startswith("one: /dev/no-such-port: No such file or directory; the board is virtual")


class Lines:
    """A serial port whose control lines are seen."""

    def __init__(self) -> None:
        self.seen: list[tuple[bool, bool]] = []
        self._dtr, self._rts = True, True

    dtr = property(lambda self: self._dtr, lambda self, on: self._set(on, self._rts))
    rts = property(lambda self: self._rts, lambda self, on: self._set(self._dtr, on))

    def _set(self, dtr: bool, rts: bool) -> None:
        self._dtr, self._rts = dtr, rts
        self.seen.append((dtr, rts))


def test_one_line_restarts_a_board_and_the_other_keeps_its_boot_loader_away() -> None:
    station = mock.Mock(**{"board.virtual": False})
    for name, other in (("rts", (False, True)), ("dtr", (True, False))):
        line.pull(lines := Lines(), name, station)  # type: ignore[arg-type]
        assert lines.seen == [other, other, (False, False)]


class Loader:
    """A serial port with a boot loader at its other end, which hands over when it is told to, or ``stays``."""

    def __init__(self, stays: bool) -> None:
        self.written: list[str] = []
        self._stays, self._sends = stays, b""

    in_waiting = property(lambda self: len(self._sends))

    def write(self, data: bytes) -> None:
        there = self._stays or "5120" not in self.written
        firmware = frame.encode(frame.HELLO | frame.ANSWER, bytes(frame.HELLO_ANSWER.size))
        self.written.append(data.hex())
        self._sends += bytes.fromhex("1410") if there and len(data) == 2 else b"" if there else firmware

    def read(self, most: int) -> bytes:
        data, self._sends = self._sends[:most], self._sends[most:]
        return data


def test_a_boot_loader_is_told_to_hand_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "SPEAKS", 0.01)
    leave = flashers()["avrdude-arduino"].leave
    assert leave is not None
    goes, stays = Loader(stays=False), Loader(stays=True)
    assert line._leaves(goes, leave, 9.0)  # type: ignore[arg-type]
    assert goes.written == ["3020", "5120", frame.encode(frame.HELLO).hex()]
    assert not line._leaves(stays, leave, 9.0)  # type: ignore[arg-type]
    assert stays.written == goes.written


def test_a_port_has_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where users have folders of their own for temporary files."""
    monkeypatch.delenv("STEELYARD_LOCKS", raising=False)
    with held(str(tmp_path), "port"):
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        monkeypatch.setattr(tempfile, "tempdir", None)
        with pytest.raises(DeviceError, match="port: another Steelyard uses it"):
            held(str(tmp_path), "port")
    held(str(tmp_path), "port").close()


def test_the_lock_of_a_port_is_for_all_users_and_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever who makes it hides from others, and whatever somebody else puts there."""
    monkeypatch.setenv("STEELYARD_LOCKS", str(tmp_path))
    before = os.umask(0o077)
    try:
        held("a port", "port").close()
    finally:
        os.umask(before)
    [file] = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o666
    file.unlink()
    file.symlink_to(tmp_path / "mine")
    with pytest.raises(DeviceError, match=f"port: {file}: .*; remove it"):
        held("a port", "port")
    assert not (tmp_path / "mine").exists()
