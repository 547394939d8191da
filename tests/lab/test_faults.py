"""What can go wrong between this machine and a board becomes a reason that names the part, and the board works again.

The tools are the real ones, the boards virtual, the wires between them fail (wires.py). No wrong output or pulse is
ever taken for a right one.
"""

from __future__ import annotations

import os
import re
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, cycle
from pathlib import Path
from threading import Event, Timer
from time import sleep
from typing import IO

import pytest
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.cli.live import Doing, doing
from steelyard.jobs import failure_of
from steelyard.lab import Hold, Lab, Station, analyzer, aside, attempt, link, pool
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Failure, Reason
from steelyard.pipeline import Pipeline, nocrypt
from tests import toys
from tests.conftest import Bench, the_target, write
from tests.lab import wires

from .wired import (
    Once,
    Wired,
    behind_wires,
    dead,
    drops,
    hangs_up,
    is_killed,
    noise,
    overruns,
    silent,
    skips,
    stuck,
    wired,
)

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
CALLS = [Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes([n]) * 100) for n in range(8)]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, list[int]]]:
    with behind_wires(tmp_path_factory.mktemp("behind")) as found:
        yield found


@pytest.fixture
def there(behind: tuple[Lab, list[int]], tmp_path: Path) -> Iterator[Wired]:
    with wired(behind, tmp_path / "lab") as found:
        yield found


def prove(image: Path) -> Callable[[Station, Hold], None]:
    def proves(station: Station, lock: IO[bytes]) -> None:
        with lab.opened(station, image, 10**7, Event(), lab.Purpose("nocrypt"), lock) as opened:
            list(lab.proved(station, opened, device.Client(opened)))

    return proves


def attempted(
    there: Wired,
    image: Path,
    boards: str = "a",
    fault: Callable[[], None] = lambda: None,
    mend: Callable[[], None] = lambda: None,
) -> list[Failure]:
    """Calls on one of the boards as a run makes them, the first time with a ``fault`` in the middle, which is mended
    once it was found; why attempts failed. All answers and pulses of the one that did not are the simulator's."""
    stations = [there.lab.board(name) for name in boards]
    expected = list(device.Client(device.SimulatorLink(stations[0].target, image)).calls(CALLS))
    failures: list[Failure] = []
    for number in count(1):
        try:
            with (
                pool.borrowed(stations, Event(), prove(image)) as (station, lock),
                lab.opened(station, image, 10**7, Event(), lab.Purpose("calls", number), lock) as opened,
            ):
                client = device.Client(opened)
                for k, (call, right) in enumerate(zip(CALLS, expected, strict=True)):
                    if number == 1 and k == 3:
                        fault()
                    answer = client.call(call)
                    assert answer.output == right.output
                    assert abs(answer.pulse.cycles - right.pulse.cycles) <= station.cycles_per_sample
            return failures
        except DeviceError as e:
            failures.append(e.failure)
            mend()
            if isinstance(e, lab.NoBoard) or not lab.again(e.failure, number):
                return failures
    raise AssertionError("unreachable")


def only(failures: list[Failure]) -> Failure:
    """The only one, or all are shown."""
    assert len(failures) == 1, failures
    return failures[0]


@pytest.mark.parametrize(
    ("way", "change"),
    [
        pytest.param("to_host", lambda data: b"\xa5\x82garbage" + data, id="garbage"),
        pytest.param("to_host", lambda data: data[1:], id="dropped"),
        pytest.param("to_host", lambda data: data[:1] + data, id="doubled"),
        pytest.param("to_board", lambda data: data[1:], id="dropped-to-board"),
        pytest.param("to_board", lambda data: data[:1] + data, id="doubled-to-board"),
    ],
)
def test_bytes_that_the_line_changes_are_no_answer(there: Wired, image: Path, way: str, change: wires.Change) -> None:
    once = Once(change)
    setattr(there.serial["a"], way, once)
    failures = attempted(there, image, fault=once.arm)
    assert {f.reason for f in failures} <= {Reason.PROTOCOL, Reason.RUNAWAY, Reason.PULSES_LOST}
    assert len(failures) <= 1, "it was one disturbance, and the board has proved itself"
    assert all(f.detail.startswith("a: ") for f in failures)
    assert aside.read(there.lab.boards["a"]) is None


def test_a_host_that_is_late_finds_the_next_answer_as_well(
    there: Wired, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next request has gone out before all of an answer was read."""
    station = there.lab.board("a")
    expected = list(device.Client(device.SimulatorLink(station.target, image)).calls(CALLS))
    write, late_now = link.BoardLink._write, cycle((False, True))

    def late(self: link.BoardLink, data: bytes) -> None:
        write(self, data)
        if next(late_now):
            sleep(0.1)

    monkeypatch.setattr(link.BoardLink, "_write", late)
    with lab.opened(station, image, 10**7, Event()) as opened:
        assert [a.output for a in device.Client(opened).calls(CALLS)] == [a.output for a in expected]


def test_a_board_that_a_busy_machine_keeps_waiting_is_waited_for(
    there: Wired, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its time stands still in a call, for much longer than it may be silent."""
    for limit in ("SILENCE", "PLAYED"):
        monkeypatch.setattr(link, limit, 0.5)

    def goes_on() -> None:
        for pid in there.played:
            os.kill(pid, signal.SIGCONT)

    def stands_still(data: bytes) -> bytes:
        for pid in there.played:
            os.kill(pid, signal.SIGSTOP)
        Timer(2.5, goes_on).start()
        return data

    once = Once(stands_still)
    there.serial["a"].to_board = once
    assert attempted(there, image, fault=once.arm) == []
    assert not once.armed


def test_a_board_says_how_far_it_is(there: Wired, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "TELL", 0.0)
    seen: list[Doing] = []
    with lab.opened(there.lab.board("a"), image, 10**7, Event(), lab.Purpose("three calls")) as opened:
        client = device.Client(opened)
        for call in CALLS[:3]:
            client.call(call)
            seen.append(doing(there.lab, "a"))
    assert {(d.state, d.run, d.attempt) for d in seen} == {("works", "three calls", 1)}
    assert [d.calls - seen[0].calls for d in seen] == [0, 1, 2]


def test_a_pulse_that_no_call_made_is_noticed_after_the_last_one(there: Wired, image: Path) -> None:
    """Nothing is asked after it that would find it."""
    station = there.lab.board("a")
    once = Once(lambda data: b"\1" * 8 + data[8:], 16)

    def calls() -> None:
        with lab.opened(station, image, 10**7, Event()) as opened:
            list(device.Client(opened).calls(CALLS))
            there.samples.change = once
            once.arm()

    with pytest.raises(DeviceError, match="a: 1 pulse on channel P8_45 that no call made"):
        calls()
    assert not once.armed


def test_an_adapter_that_has_no_second_rate_keeps_the_first(there: Wired, image: Path) -> None:
    wire, port = there.serial["a"], there.lab.boards["a"].port
    assert attempted(there, image) == []
    assert wire.speed == termios.B1000000

    def deaf(data: bytes) -> bytes:
        return bytes(b ^ 0xFF for b in data) if wire.speed == termios.B1000000 else data

    wire.to_host = wire.to_board = deaf
    assert attempted(there, image) == []
    assert (wire.speed, link._slow) == (termios.B115200, {port})


def test_a_line_that_loses_bytes_at_its_second_rate_goes_back_to_the_first(there: Wired, image: Path) -> None:
    """And hastens again, where it fails there as well."""
    wire, port = there.serial["a"], there.lab.boards["a"].port
    rates = [termios.B1000000]

    def loses(data: bytes) -> bytes:
        return data[:40] + data[41:] if wire.speed in rates else data

    wire.to_board = loses
    lost = attempted(there, image)
    assert {f.reason for f in lost} <= {Reason.PROTOCOL, Reason.RUNAWAY}
    assert (len(lost), link._slow) == (1, {port})
    rates.append(termios.B115200)
    assert attempted(there, image)
    assert link._slow == set()


def hangs(wire: wires.Serial) -> None:
    """It says nothing any more."""
    wire.to_host = lambda _: b""


def resets(wire: wires.Serial) -> None:
    """By whatever pulls its reset line, when half of a request has come."""

    def change(data: bytes) -> bytes:
        wire.reset.set()
        return data[: len(data) // 2]

    wire.to_board = Once(change, 16, armed=True)


def browns_out(wire: wires.Serial) -> None:
    """It resets and sends what it likes besides."""

    def change(data: bytes) -> bytes:
        wire.reset.set()
        wire.to_host = Once(lambda data: bytes(reversed(data)), armed=True)
        return data

    wire.to_board = Once(change, armed=True)


@pytest.mark.parametrize(
    ("fault", "reasons"),
    [
        (hangs, {Reason.RUNAWAY}),
        (resets, {Reason.RUNAWAY, Reason.PROTOCOL}),
        (browns_out, {Reason.RUNAWAY, Reason.PROTOCOL}),
    ],
)
def test_a_board_that_fails_in_a_call_is_tried_again(
    there: Wired, image: Path, fault: Callable[[wires.Serial], None], reasons: set[Reason]
) -> None:
    wire = there.serial["a"]

    def mend() -> None:
        wire.to_host = wire.to_board = wires.whole

    found = only(attempted(there, image, fault=lambda: fault(wire), mend=mend))
    assert found.reason in reasons
    assert found.detail.startswith("a: ")
    assert str(there.lab.boards["a"].port) in found.detail
    assert aside.read(there.lab.boards["a"]) is None


def test_a_board_may_be_plugged_in_again_elsewhere(there: Wired, image: Path) -> None:
    wire = there.serial["a"]

    def unplug() -> None:
        wire.unplug()
        Timer(1.0, wire.plug).start()

    name = wire.device
    lost = only(attempted(there, image, fault=unplug))
    assert (lost.reason, lost.detail.startswith(f"a: {there.lab.boards['a'].port}: ")) == (Reason.BOARD_LOST, True)
    assert wire.device != name


def test_a_board_that_stays_away_leaves_its_run_to_the_other(
    there: Wired, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "AWAY", 0.5)
    lost = only(attempted(there, image, "ab", fault=there.serial["a"].unplug))
    assert lost.reason == Reason.BOARD_LOST
    why = only(attempted(there, image))  # it could not prove itself
    assert "a is out of order: " in why.detail
    assert re.search("No such file or directory; the board is virtual.*: see that steelyard boards virtual", why.detail)


def test_flash_that_is_not_as_it_was_written(there: Wired, image: Path) -> None:
    """Once: the flasher is called again. Always: the other board takes the run."""

    def wrong(data: bytes) -> bytes:
        return bytes((*data[:50], data[50] ^ 1, *data[51:])) if len(data) > 100 else data  # a page on its way

    wire = there.serial["a"]
    wire.to_board = once = Once(wrong, 101, armed=True)
    assert attempted(there, image) == []
    assert not once.armed
    (there.lab.boards["a"].files / "image").unlink()
    wire.to_board = wrong
    failed = only(attempted(there, image, "ab"))
    assert failed.reason == Reason.FLASH_FAILED
    assert "avrdude" in failed.detail
    assert "verif" in attempt.logs(there.lab.boards["a"])[-1].tools


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [
        (dead, Reason.PULSES_LOST, "channel P8_45 of la stays low: 0 of 1 pulse"),
        (stuck, Reason.PULSES_LOST, "channel P8_45 of la stays high: 0 of 1 pulse"),
        (noise, Reason.PULSES_LOST, "on channel P8_45 that no call made"),
        (silent, Reason.ANALYZER_LOST, "la: no sample for 4 s"),
        (skips, Reason.ANALYZER_LOST, "la loses samples: "),
        (drops, Reason.ANALYZER_LOST, "the analyzer loses samples: a pulse has "),
        (hangs_up, Reason.ANALYZER_LOST, "la: no sample for 4 s"),
        (overruns, Reason.ANALYZER_LOST, "la: sigrok-cli ended"),
        (is_killed, Reason.ANALYZER_LOST, "which sampled it, has ended"),
    ],
)
def test_an_analyzer_that_sees_something_else_is_named(
    there: Wired,
    image: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[Wired], None],
    reason: Reason,
    words: str,
) -> None:
    monkeypatch.setattr(analyzer, "PATIENCE", 4.0)

    def mend() -> None:
        there.samples.change = wires.whole
        monkeypatch.undo()

    found = only(attempted(there, image, fault=lambda: fault(there), mend=mend))
    assert found.reason == reason
    assert found.detail.startswith("a: ")
    assert words in found.detail


def test_a_package_that_writes_the_counter_has_no_figures(there: Wired, bench: Bench) -> None:
    """The pulse stays the time, and the board is in order: what is wrong is the package's doing."""
    write(bench.package().folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    sets = "*(volatile unsigned char *)0x85 = 0; *(volatile unsigned char *)0x84 = 0;"  # TCNT1
    package = bench.package(after_encrypt=sets)
    job = replace(bench.job(package, the_target("uno"), "0/16"), on=(there.lab.board("a"),))
    record = Pipeline(bench.store, threads=1).weigh(job)
    assert record.failure is not None
    assert (record.failure.reason, record.metrics, record.final) == (Reason.COUNTER_DIFFERS, {}, False)
    assert re.match(
        r"a: a pulse has \d+ cycles, the chip's own counter \d+ fewer, as if .* and so they do", record.failure.detail
    )
    assert attempted(there, bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]) == []
    assert aside.read(there.lab.boards["a"]) is None


def test_boards_whose_wires_were_swapped_are_found(there: Wired, image: Path) -> None:
    """Both are the same target: the handshake is right, and the pulses are on the other's channel."""
    there.serial["a"].board, there.serial["b"].board = there.serial["b"].board, there.serial["a"].board
    failures = attempted(there, image)
    assert {f.reason for f in failures} == {Reason.PULSES_LOST}
    assert "stays low: 0 of 1 pulse; there were some on P8_46: were boards or wires swapped?" in failures[0].detail
    assert aside.read(there.lab.boards["a"]) is not None


def test_boards_that_changed_places_are_flashed_anew(there: Wired, image: Path, bench: Bench) -> None:
    """With all their wires, while nobody looked: each port leads to a board with another image than before."""
    other = bench.build(bench.package(), the_target("uno")).images["both"]
    assert attempted(there, image, "a") == attempted(there, other, "b") == []
    a, b = there.serial["a"], there.serial["b"]
    for wire in (a, b):
        wire.unplug()
    a.board, b.board = b.board, a.board
    for wire in (a, b):
        wire.plug()
    one, two = there.lab.boards["a"], there.lab.boards["b"]
    moved = {"a": one.but(channel=two.channel), "b": two.but(channel=one.channel)}
    assert attempted(there._replace(lab=there.lab.but(boards=moved)), image, "a") == []


def test_a_disk_that_is_full_while_a_board_is_flashed(
    there: Wired, image: Path, disk: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = disk("32k")
    monkeypatch.setenv("STEELYARD_HOME", str(place))
    with (place / "filler").open("ab", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(512)):
            pass
    with pytest.raises(OSError, match="No space left") as e:
        attempted(there, image)
    assert failure_of(e.value).reason == Reason.DISK_FULL
    (place / "filler").unlink()
    assert attempted(there, image) == []
