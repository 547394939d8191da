"""A board is weighed as the simulator is, through the field's own tools; what fails says which part, and what to do.

avrdude, pyserial and sigrok-cli are the real ones; the boards are our simulated chips behind them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.lab import Lab, Station, flash, link, probe
from steelyard.lab.lock import held
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Reason
from steelyard.pipeline import Pipeline, nocrypt
from tests import toys
from tests.conftest import Bench, the_target, write

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
CALL = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16))


@pytest.fixture
def image(bench: Bench) -> Path:
    """nocrypt for board one."""
    return bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]


def call(station: Station, image: Path) -> int:
    """Cycles of one call on the board."""
    with lab.opened(station, image, 10**6, Event()) as opened:
        return device.Client(opened).call(CALL).pulse.cycles


def failing(station: Station, image: Path) -> tuple[Reason, str]:
    """Why a call on the board fails."""
    with pytest.raises(DeviceError) as e:
        call(station, image)
    return e.value.failure.reason, e.value.failure.detail


@pytest.mark.parametrize("name", ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
def test_pulses_are_the_simulators_to_the_sample(there: Lab, bench: Bench, name: str) -> None:
    station = there.board(name)
    image = bench.build(bench.package(), the_target(station.board.target)).images["both"]
    requests = [Request(Op.ENCRYPT, bytes(16), bytes(16), bytes(n % 7), bytes(n)) for n in range(0, 200, 5)]
    simulated = device.Client(device.SimulatorLink(station.target, image)).calls(requests)
    with lab.opened(station, image, 10**8, Event()) as opened:
        for board, ours in zip(device.Client(opened).calls(requests), simulated, strict=True):
            assert board.output == ours.output
            assert abs(board.pulse.cycles - ours.pulse.cycles) <= max(station.cycles_per_sample, 1)


SLOW = [pytest.param(n, marks=pytest.mark.long) for n in ("six", "eight", "nine")]


@pytest.mark.parametrize("name", ["one", "three", "four", "five", "seven", *SLOW])
def test_a_board_gives_the_simulators_record(there: Lab, bench: Bench, name: str) -> None:
    """Its RAM too, as Renner measures it, where a debug probe can look."""
    station = there.board(name)
    variant = bench.package().folder.parent
    write(variant, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    simulated = bench.job(bench.package(), the_target(station.board.target), "0/16,16/0")
    pipeline = Pipeline(bench.store, threads=1)
    ours, board = (pipeline.weigh(job) for job in (simulated, replace(simulated, on=(station,))))
    assert (ours.failure, board.failure) == (None, None)
    assert board.verification == ours.verification
    assert (board.setup.device, board.setup.timing_model) == ("virtual-board", station.clock)
    assert lab.board_of(board.setup.device, board.notes) == name
    assert len(ours.points) == 6
    for a, b in zip(board.points, ours.points, strict=True):
        assert (a.operation, a.adlen, a.mlen) == (b.operation, b.adlen, b.mlen)
        assert abs(a.cycles - b.cycles) <= 2 * max(station.cycles_per_sample, 1)  # a call's pulse and the empty one's
    for metric in ("rom", "ram_static", "heap", *(["image_ram_touched", "ram_renner"] if station.probe else [])):
        assert board.metrics[metric] == ours.metrics[metric]
    assert pipeline.weigh(replace(simulated, on=(station,))).id == board.id


def test_an_image_that_is_there_is_not_flashed_again(there: Lab, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    station = there.board("one")
    cycles = call(station, image)
    broken = station.but(flasher=station.flasher.but(program="false"))
    assert call(broken, image) == cycles
    monkeypatch.setattr(flash, "_sure", {})  # as in a process that has not seen the board yet
    assert call(station.but(flasher=station.flasher.but(write=("--no-such-option",))), image) == cycles
    other = image.with_name("encrypt.elf")
    assert failing(broken, other) == (Reason.FLASH_FAILED, f"one: {station.board.port}: false: exit code 1")


_KILLED = """
import os, sys
from pathlib import Path
from threading import Thread
from steelyard import lab
from steelyard.lab.flash import flash
from steelyard.lab.lock import held
station = lab.load(Path(sys.argv[1])).board("one")
station = station.but(flasher=station.flasher.but(program="sh", write=("-c", "echo; sleep 2"), verify=()))
lock = held("a port", "a port")
Thread(target=flash, args=(station, Path(sys.argv[1]), lock.fileno())).start()
os.read(0, 1)
"""


def test_a_flasher_that_outlives_its_process_keeps_the_port(described: Path, tmp_path: Path) -> None:
    """What kill -9 leaves may be in the middle of writing."""
    started = tmp_path / "started"
    text = _KILLED.replace("echo;", f"echo > {started};")
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "home")}
    process = subprocess.Popen([sys.executable, "-c", text, str(described)], env=env, stdin=subprocess.PIPE)
    try:
        while not started.exists():
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.communicate()
    with pytest.raises(DeviceError, match="another Steelyard uses it"):
        held("a port", "a port")
    held("a port", "a port", Event()).close()


_ANOTHER = """
import os, sys
from pathlib import Path
from threading import Event
from steelyard import lab
with lab.opened(lab.load(Path(sys.argv[1])).board("one"), Path(sys.argv[2]), 10**6, Event()):
    pass
"""


def test_another_process_may_flash_between_two_jobs(
    there: Lab, described: Path, bench: Bench, image: Path, tmp_path: Path
) -> None:
    """It may have another home, so that no note of ours says so."""
    station = there.board("one")
    cycles = call(station, image)
    other = bench.build(bench.package(), the_target("uno")).images["both"]
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "other")}
    subprocess.run([sys.executable, "-c", _ANOTHER, str(described), str(other)], env=env, check=True, timeout=120)
    assert call(station, image) == cycles


def test_a_flasher_that_fails_says_so(there: Lab, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash, "_sure", {})
    station = there.board("one")
    wrong = station.flasher.but(
        write=tuple(w.replace("{chip}", "ATmega2560") for w in station.flasher.write), verify=("-?",)
    )
    (flash.paths.home() / "lab" / "one.image").unlink(missing_ok=True)
    reason, text = failing(station.but(flasher=wrong), image)
    assert reason == Reason.FLASH_FAILED
    assert "avrdude" in text
    assert "signature" in text
    reason, text = failing(station.but(flasher=wrong.but(program="no-such-flasher", package="apt install it")), image)
    assert (reason, text.split(": ", 2)[2]) == (
        Reason.FLASH_FAILED,
        "no-such-flasher: is not installed: apt install it",
    )


def test_a_probe_that_is_not_there_is_named(there: Lab, image: Path) -> None:
    station = there.board("three")
    assert station.probe is not None
    gone = station.probe.but(name="gone", commands=("st-link backend tcp 1", "transport select dapdirect_swd"))
    image = image.with_name("both.elf")
    assert failing(station.but(probe=gone), image)[0] == Reason.FLASH_FAILED
    with pytest.raises(DeviceError) as e:
        probe.restart(station.but(probe=gone))
    assert e.value.failure.reason == Reason.PROBE_LOST
    assert e.value.failure.detail.startswith("gone: openocd: Error")


def test_a_channel_without_edges_is_named(there: Lab, image: Path) -> None:
    station = there.board("one")
    bare = station.but(board=station.board.but(channel="P8_43"))
    text = "one: channel P8_43 of la stays low: 0 of 1 pulse; there were some on P8_45: were boards or wires swapped?"
    assert failing(bare, image) == (Reason.PULSES_LOST, text)


def test_an_analyzer_that_is_not_there_is_named(there: Lab, image: Path) -> None:
    station = there.board("one")
    driver = "beaglelogic:conn=tcp-raw/127.0.0.1/1:logic_channels=8"
    reason, text = failing(station.but(instrument=station.instrument.but(name="gone", driver=driver)), image)
    assert reason == Reason.ANALYZER_LOST
    assert text.startswith("one: gone: sigrok-cli ended: ")


def test_a_pulse_that_no_call_made_ends_the_run(there: Lab, image: Path) -> None:
    station = there.board("one")
    with lab.opened(station, image, 10**6, Event()) as opened:
        client = device.Client(opened)
        client.call(CALL)
        opened._pulses._seen["P8_45"].append((0, 1))  # type: ignore[attr-defined]
        with pytest.raises(DeviceError, match="1 pulse on channel P8_45 that no call made"):
            client.call(CALL)


class Quiet:
    """An analyzer that sees nothing."""

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        return []

    def drop(self, channel: str) -> int:
        return 0


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Path]]:
    """A serial port with the test at its other end, and no flasher."""
    monkeypatch.setattr(link, "flash", lambda *_: None)
    monkeypatch.setattr(link, "PLAYED_SILENCE", 0.2)
    monkeypatch.setattr(lab, "_sampled", lambda *_: nullcontext(Quiet()))
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, Path(os.ttyname(slave))
    os.close(slave)
    with suppress(OSError):
        os.close(master)


def at(there: Lab, port: Path) -> Station:
    station = there.board("one")
    return station.but(board=station.board.but(port=port), flasher=station.flasher.but(boot_seconds=0))


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


def test_a_board_that_is_unplugged_is_named(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    master, port = terminal

    def unplug() -> None:
        os.read(master, 1)
        os.close(master)

    Thread(target=unplug, daemon=True).start()
    reason, text = failing(at(lab.load(described), port), image)
    assert reason == Reason.BOARD_LOST
    assert text.startswith(f"one: {port}: ")


def test_a_port_that_is_not_there_is_named(described: Path, image: Path, terminal: tuple[int, Path]) -> None:
    reason, text = failing(at(lab.load(described), Path("/dev/no-such-port")), image)
    assert (reason, text) == (Reason.BOARD_LOST, "one: /dev/no-such-port: No such file or directory")


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
    board = link.BoardLink.__new__(link.BoardLink)
    for line, other in (("rts", (False, True)), ("dtr", (True, False))):
        board._line = lines = Lines()  # type: ignore[assignment]
        board._pull(line)
        assert lines.seen == [other, other, (False, False)]


def test_a_port_has_one_user(tmp_path: Path) -> None:
    with held(str(tmp_path), "port"), pytest.raises(DeviceError, match="port: another Steelyard uses it"):
        held(str(tmp_path), "port")
    held(str(tmp_path), "port").close()
