"""What keeps a newcomer from a board of his own: rights, firmware, and a virtual lab that nobody plays."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner

from steelyard.cli import doctor
from steelyard.cli.app import app
from steelyard.lab import flash, load, plugs, probe
from steelyard.lab.analyzer import Analyzer
from steelyard.lab.config import Lab
from steelyard.lab.plugs import denied, missing
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Failure, Reason
from tests.conftest import ROOT, the_target


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with a board of a user's, whose tools are all there."""
    monkeypatch.setattr(plugs.paths, "tool", Path)
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "lab.toml").write_text(
        (ROOT / "docs" / "guides" / "uno.toml").read_text().replace("/dev/", f"{tmp_path}/")
    )
    return load(tmp_path / "lab.toml")


def test_an_analyzer_without_its_firmware_is_not_there(
    real: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    assert list(missing(real.board("uno-1"))) == ["no firmware for fx2lafw: apt install sigrok-firmware-fx2lafw"]
    folder = tmp_path / "sigrok-firmware"
    folder.mkdir()
    (folder / "fx2lafw-saleae-logic.fw").touch()
    assert list(missing(real.board("uno-1"))) == []


def test_a_port_that_may_not_be_used_says_who_may(real: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = tmp_path / "ttyACM0"
    monkeypatch.setenv("SIGROK_FIRMWARE_DIR", str(tmp_path))
    (tmp_path / "fx2lafw-saleae-logic.fw").touch()
    assert denied(port) == ""
    monkeypatch.setattr(plugs.os, "access", lambda *_: False)
    monkeypatch.setattr(Path, "group", lambda _: "dialout")
    port.chmod(0o660)
    why = f"{port} may not be used: sudo usermod -aG dialout $USER, and log in again"
    assert list(missing(real.board("uno-1"))) == [why]
    port.chmod(0o600)
    assert denied(port) == f"{port} may not be used: its owner or a udev rule has to allow it"


def test_a_check_that_fails_says_all_that_is_missing(
    real: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    the_target("uno")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("XDG_DATA_DIRS", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "sigrok-cli").write_text("#!/bin/sh\necho 'No devices found.' >&2\n")
    (tmp_path / "sigrok-cli").chmod(0o755)
    (tmp_path / "ttyACM0").unlink()
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(tmp_path / "lab.toml")])
    assert done.exit_code == 1
    for what in ("No devices found", "no port: plug the board in", "apt install sigrok-firmware-fx2lafw"):
        assert what in done.stdout


def test_a_probe_that_may_not_be_opened_says_what_lets_its_user(
    real: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = (ROOT / "docs" / "guides" / "lab.md").read_text()
    [block] = re.findall(r"```toml\n(\[probes.st-1\]\n.*?)```", guide, re.DOTALL)
    with (tmp_path / "lab.toml").open("a") as file:
        file.write(block)
    station = load(tmp_path / "lab.toml").board("nucleo-1")
    said = "Error: libusb_open() failed with LIBUSB_ERROR_ACCESS"
    program = tmp_path / "openocd"
    program.write_text(f"#!/bin/sh\necho 'Open On-Chip Debugger'\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(plugs.paths, "tool", lambda _: str(program))
    remedy = "; steelyard doctor names the udev rule that lets you use it"
    with pytest.raises(DeviceError) as e:
        probe.restart(station)
    assert e.value.failure.detail == f"st-1: openocd: {said}{remedy}"
    (tmp_path / "both.elf").touch()
    with pytest.raises(DeviceError) as e, program.open("rb") as lock:
        flash.flash(station, tmp_path / "both.elf", lock)
    assert e.value.failure.detail.endswith(f"openocd: {said}{remedy}")


def test_an_analyzer_that_nobody_plays_says_who_does() -> None:
    there = load(ROOT / "docs" / "guides" / "lab.toml").instruments["la"]
    nobody = there.but(driver=there.driver.replace("15555", "1"))

    with pytest.raises(DeviceError, match="it is virtual: steelyard boards virtual -- COMMAND"):
        Analyzer(nobody, Event())


def test_no_cable_is_to_blame_for_a_virtual_board(monkeypatch: pytest.MonkeyPatch) -> None:
    station = load(ROOT / "docs" / "guides" / "lab.toml").board("uno-1")
    lost = Failure(Reason.FLASH_FAILED, "avrdude: not in sync")
    for load_now, busy in ((0.5, ""), (99.0, ", and this machine is busy: load 99 on 2 processors")):
        monkeypatch.setattr(os, "getloadavg", lambda now=load_now: (now, 0.0, 0.0))
        monkeypatch.setattr(os, "cpu_count", lambda: 2)
        said = plugs.told(station, lost)
        assert said.detail == f"uno-1: avrdude: not in sync; the board is virtual{busy}"
        assert "cable" not in said.next_action
        assert "boards virtual" in said.next_action
    real = station.but(board=station.board.but(virtual=False))
    assert plugs.told(real, lost) == Failure(lost.reason, "uno-1: avrdude: not in sync")
    assert "cable" in plugs.told(real, lost).next_action
    hangs = Failure(Reason.RUNAWAY, "no answer")
    assert plugs.told(station, hangs).next_action == hangs.next_action


def test_the_doctor_knows_who_may_use_boards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plugs, "RULES_IN", (tmp_path,))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getgroups", lambda: [1000])
    bare = {part: (status, fix) for part, status, _, fix in doctor._plugs()}
    assert bare["serial ports"] == ("refused", "sudo usermod -aG dialout $USER, and log in again")
    assert bare["60-openocd.rules"] == ("missing", "apt install openocd, and plug the probe in again")
    assert bare["fx2lafw"] == ("missing", "apt install sigrok-firmware-fx2lafw")
    (tmp_path / "60-openocd.rules").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    now = {part: status for part, status, *_ in doctor._plugs()}
    assert (now["serial ports"], now["60-openocd.rules"]) == ("allowed", "found")


def test_what_the_guide_writes_into_a_lab_fits(tmp_path: Path) -> None:
    guides = ROOT / "docs" / "guides"
    blocks = re.findall(r"```toml\n(.*?)```", (guides / "lab.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        (tmp_path / "lab.toml").write_text((guides / "uno.toml").read_text() + block)
        assert "uno-1" in load(tmp_path / "lab.toml").boards
