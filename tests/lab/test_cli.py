"""The commands of a lab, as a user types them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner, Result

from steelyard import lab
from steelyard.cli.app import app
from steelyard.cli.boards import check, virtual
from steelyard.lab import Lab, load
from steelyard.lab.virtual import played
from steelyard.model.call import DeviceError, Request
from steelyard.model.reasons import Failure, Reason
from tests.lab.conftest import free
from tests.lab.test_daemon import is_there, until
from tests.lab.wired import BOARD, TEXT

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


def said(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


def test_boards_are_listed_with_what_is_missing(described: Path, tmp_path: Path) -> None:
    file = shutil.copy(described, tmp_path)
    found = json.loads(said("boards", "list", "--lab", file, "--json").stdout)
    assert "no port: steelyard boards virtual" in str(found)
    assert "avrdude-arduino" in str(found)


def test_a_board_is_checked_end_to_end(there: Lab, described: Path) -> None:
    done = said("boards", "check", "one", "--lab", described)
    assert (done.exit_code, done.exception) == (0, None) or isinstance(done.exception, SystemExit)
    assert done.exit_code == 0
    for part in ("flash", "handshake", "echo", "edges", "clock_ppm = 0"):
        assert part in done.stdout


def test_the_chips_own_counter_tells_how_fast_its_clock_is(there: Lab, described: Path, tmp_path: Path) -> None:
    """Where lab.toml is wrong about it, a run ends and says so; `check` says what is right."""
    file = tmp_path / "lab.toml"
    text = (
        described.read_text()
        .replace("clock_ppm = 0", "clock_ppm = 20000")
        .replace("ports/", f"{described.parent}/ports/")
    )
    file.write_text(text)
    done = said("boards", "check", "one", "three", "--lab", file)
    assert done.exit_code == 0, done.output
    assert re.findall(r"^(\w+) works$", done.stderr, re.MULTILINE) == ["one", "three"]  # said as each ends
    found = re.findall(
        r"clock_ppm = (-?\d+), within (\d+); lab.toml says 20000, which wins", " ".join(done.stdout.split())
    )
    assert len(found) == 2, done.stdout
    for ppm, within in found:
        assert abs(int(ppm)) <= int(within) < 10
    failed = said("run", "nocrypt", "--on", "one", "--lab", file, "--json", "--db", tmp_path / "x.db")
    assert "counter-differs" in failed.stdout, failed.output


@pytest.mark.parametrize(
    ("bits", "apart", "said"),
    # within 7 cycles of 50 ms, or of as many as a clock that is 5 % off takes half of a counter's width for
    [(32, -6, (0, 2, True)), (32, 400, (100, 2, False)), (16, 6, (0, 11, True))],
)
def test_samples_that_cannot_tell_correct_no_clock(bits: int, apart: int, said: tuple[float, int, bool]) -> None:
    """A correction for a pulse that is off by less than samples would end honest runs."""
    station = mock.Mock(cycles_per_sample=3.0, clock_ppm=0, **{"target.board_hz": 80_000_000})
    client = mock.Mock(**{"hello.zeros": lambda op: Request(op, b"", b"", b"", b""), "hello.counter_bits": bits})

    def calls(requests: list[Request]) -> list[mock.Mock]:
        turns = int.from_bytes(requests[0].ad, "little")
        pulse = mock.Mock(cycles=10 * turns, apart=apart if turns > 1000 else 0)
        return [mock.Mock(pulse=pulse)] * len(requests)

    client.calls = calls
    assert lab.clock(station, client) == pytest.approx(said, rel=1e-2)


@pytest.mark.parametrize(("good", "code"), [(3, 0), (4, 1)])
def test_a_check_has_as_many_attempts_as_a_run(
    there: Lab, described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: int, code: int
) -> None:
    """A flasher that misses its boot loader once has not found a board that does not work."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    made: list[int] = []

    def checked(station: lab.Station, attempt: int) -> Iterator[tuple[str, str]]:
        made.append(attempt)
        yield "flash", "by hand"
        if attempt < good:
            raise DeviceError(Failure(Reason.FLASH_FAILED, "not in sync"))

    monkeypatch.setattr(check, "_checked", checked)
    done = said("boards", "check", "one", "--lab", described, "--json")
    assert (done.exit_code, made) == (code, [1, 2, 3])
    assert done.stdout.count("tried again") == 2
    assert done.stdout.count("by hand") == 1


def test_a_board_that_does_not_work_says_what_to_do(there: Lab, described: Path, tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    ports = iter(range(1, 9))  # where nobody listens
    text = described.read_text().replace('port = "', f'port = "{tmp_path}/')
    file.write_text(re.sub(r"(?<=127\.0\.0\.1/)\d+", lambda _: str(next(ports)), text))
    done = said("boards", "check", "two", "--lab", file, "--json")
    assert done.exit_code == 1
    assert "no port: steelyard boards virtual" in done.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--on", "onne"), "unknown board 'onne'; did you mean one"),
        (("--on", "one", "--target", "uno"), "a board says itself which target it is"),
        (("--on", "lab", "--target", "due"), "no board of it is due"),
        (("--on", ","), "--on names no board"),
    ],
)
def test_what_cannot_be_run_on_a_board_is_refused(described: Path, words: tuple[str, ...], why: str) -> None:
    done = said("run", "nocrypt", "--lab", described, *words)
    assert why in str(done.exception) + done.output


def test_a_whole_lab_is_its_boards_or_those_of_a_target(described: Path, tmp_path: Path) -> None:
    def targets(*words: str) -> set[str]:
        done = said(
            "run", "nocrypt", "--lab", described, "--on", "lab", *words, "--dry-run", "--json", "--db", ":memory:"
        )
        return {job["target"] for job in json.loads(done.stdout)}

    assert targets("--target", "uno,atmega128") == {"uno", "atmega128"}
    unlike = said("run", "nocrypt", "--lab", described, "--on", "lab", "--dry-run")
    assert unlike.exit_code == 1, unlike.output
    assert "three" in str(unlike.exception) + unlike.output
    file = tmp_path / "lab.toml"
    file.write_text(re.sub(r"\[boards\.eight\].*?(?=\n\[|\Z)", "", described.read_text(), flags=re.DOTALL))
    described = file
    assert targets() == {b.target for b in load(file).boards.values()} > {"uno", "bluepill"}


def test_a_virtual_lab_is_named_like_a_campaign(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[boards]\n")
    for words, why in (((file, "true"), "no board of this lab is virtual"), (("--lab", "x", file), "a second lab")):
        assert why in str(said("boards", "virtual", *words).exception)


def test_a_command_runs_inside_a_virtual_lab(described: Path, tmp_path: Path) -> None:
    port = tmp_path / "ports" / "one"
    file = tmp_path / "lab.toml"
    text = described.read_text()
    another = re.sub(
        r"(tcp-raw/127\.0\.0\.1/|backend tcp |bitbang port |\"127\.0\.0\.1:)(\d+)",
        lambda m: f"{m[1]}{int(m[2]) ^ 1}",
        text,
    )
    file.write_text(another)  # the first one is played too
    look = f"import os, sys; sys.exit(7 if os.path.realpath({str(port)!r}).startswith('/dev/') else 1)"
    done = said("boards", "virtual", "--lab", file, "--", sys.executable, "-c", look)
    assert done.exit_code == 7
    assert not port.is_symlink()


def test_a_second_virtual_lab_leaves_the_ports_of_the_first(tmp_path: Path) -> None:
    file, port, foreign = tmp_path / "lab.toml", tmp_path / "a", tmp_path / "b"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    first = lab.load(file)
    with played(first):
        device = port.readlink()
        same = said("boards", "virtual", "--lab", file, "--", "true")
        file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
        other = said("boards", "virtual", "--lab", file, "--", "true")
        assert port.readlink() == device
    for refused in (same, other):
        assert f"another virtual lab is there (process {os.getpid()})" in str(refused.exception)
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="b", channel="P8_45"))
    foreign.symlink_to("/dev/null")
    assert "leads to /dev/null" in str(said("boards", "virtual", "--lab", file, "--", "true").exception)
    assert foreign.is_symlink()


def _children(process: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_virtual_lab_goes_on_under_nohup(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    words = [sys.executable, "-m", "steelyard", "boards", "virtual", "--lab", str(file), "--"]
    script = 'trap "" HUP; exec "$@" sh -c "kill -HUP \\$PPID; sleep 1; exit 5"'
    assert subprocess.run(["sh", "-c", script, "sh", *words], check=False).returncode == 5


@pytest.mark.parametrize("command", [["--", "sleep", "60"], []])
def test_a_virtual_lab_that_is_told_to_end_leaves_nothing(tmp_path: Path, command: list[str]) -> None:
    file, port = tmp_path / "lab.toml", tmp_path / "a"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    words = [sys.executable, "-m", "steelyard", "boards", "virtual", "--lab", str(file), *command]
    playing = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        until(port.is_symlink, 60)
        playing.terminate()
        assert playing.wait(30) == 128 + signal.SIGTERM
        assert not port.is_symlink()
    finally:
        playing.kill()
        playing.communicate()


def test_a_command_that_starts_as_its_virtual_lab_is_told_to_end_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def start(command: tuple[str, ...]) -> subprocess.Popen[bytes]:
        started.append(popen(command))
        signal.raise_signal(signal.SIGTERM)
        return started[0]

    popen = subprocess.Popen
    monkeypatch.setattr(virtual.subprocess, "Popen", start)
    with pytest.raises(SystemExit), virtual._told_to_end() as told:
        virtual._run(("sleep", "60"), told)
    assert started[0].returncode == -signal.SIGTERM


@pytest.mark.parametrize("gap", [0.003, 0.01])
def test_a_virtual_lab_that_is_told_to_end_twice_leaves_nothing(tmp_path: Path, gap: float) -> None:
    """While it starts, and while it ends: a terminal that closes may say so twice."""
    file, port = tmp_path / "lab.toml", tmp_path / "a"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    words = [sys.executable, "-m", "steelyard", "boards", "virtual", "--lab", str(file), "--", "sleep", "60"]
    playing = subprocess.Popen(words)
    try:
        until(port.is_symlink, 60)
        for _ in range(2):
            playing.send_signal(signal.SIGHUP)
            time.sleep(gap)
        # the second one may come when all is done
        assert playing.wait(30) in (128 + signal.SIGHUP, -signal.SIGHUP)
        assert not port.is_symlink()
    finally:
        playing.kill()
        playing.wait()


def test_a_command_in_a_virtual_lab_that_is_told_to_end_may_do_so_in_order(tmp_path: Path) -> None:
    file, begun, ended = tmp_path / "lab.toml", tmp_path / "begun", tmp_path / "ended"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    script = f"trap 'touch {ended}; exit' TERM; touch {begun}; while :; do sleep 0.1; done"
    words = [sys.executable, "-m", "steelyard", "boards", "virtual", "--lab", str(file), "--", "sh", "-c", script]
    playing = subprocess.Popen(words)
    try:
        until(begun.exists, 60)
        playing.terminate()
        assert playing.wait(30) == 128 + signal.SIGTERM
        assert ended.exists()
    finally:
        playing.kill()
        playing.wait()


def test_a_virtual_lab_ends_with_who_plays_it(tmp_path: Path) -> None:
    """Its boards and analyzers, when the process that started them is killed: they would go on for ever."""
    file, port = tmp_path / "lab.toml", tmp_path / "a"
    file.write_text(TEXT.format(port=free(1)[0]) + BOARD.format(name="a", channel="P8_45"))
    words = [sys.executable, "-m", "steelyard", "boards", "virtual", "--lab", str(file), "--", "sleep", "60"]
    playing = subprocess.Popen(words, start_new_session=True)
    try:
        until(port.is_symlink, 60)
        server = next(c for c in _children(playing.pid) if b"forkserver" in Path(f"/proc/{c}/cmdline").read_bytes())
        played_by = _children(server)
        assert len(played_by) == 2  # analyzer and board
        playing.kill()
        playing.wait()
        until(lambda: not any(map(is_there, played_by)))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(playing.pid, signal.SIGKILL)
