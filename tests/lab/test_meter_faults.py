"""A meter that fails says which part, and what to do, and takes no cycle away."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard import lab
from steelyard.cli.app import app
from steelyard.lab import Station, meter
from steelyard.lab.metering import Meter, metered
from steelyard.lab.meters.lines import Driver
from steelyard.measure.energy import measured
from steelyard.model.call import DeviceError
from steelyard.model.reasons import MACHINE, Reason
from steelyard.pipeline import Pipeline
from tests.conftest import Bench, write

from .supplied import LAB, METERS, at, metering, one_kind, slow, station

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
__all__ = ["slow", "station"]
Say = Callable[[int], bytes | None]


def sending(master: int, say: Say, started: Event) -> None:
    """Once ``started``, writes a line each millisecond until ``say`` has none."""

    def go() -> None:
        n = 0
        started.wait(60)
        try:
            while (line := say(n)) is not None:
                os.write(master, line)
                n += 1
                time.sleep(0.001)
            os.close(master)
        except OSError:
            pass

    Thread(target=go, daemon=True).start()


def steady(n: int) -> bytes:
    return b"%d,5.0,2.0\r\n" % n


def later(when: int, other: Say) -> Say:
    """A meter in order that fails after ``when`` lines."""
    return lambda n: steady(n) if n < when else other(n)


def silence(n: int) -> bytes:
    return b""


FAULTS: dict[str, tuple[Say, dict[str, object], Reason, str]] = {
    "silent": (silence, {}, Reason.METER_LOST, "is silent: no sample for 0.5 s"),
    "falls silent": (later(700, silence), {}, Reason.METER_LOST, "is silent: no sample for 0.5 s"),
    "unplugged": (later(700, lambda n: None), {}, Reason.METER_LOST, "m: "),
    "garbage": (
        later(700, lambda n: random.Random(n).randbytes(40) + b"\n"), {}, Reason.METER_LOST,
        "20 lines in a row are not readings",
    ),
    "another baud rate": (lambda n: b"\xfe" * 40, {}, Reason.METER_LOST, ""),
    "out of range": (
        later(700, lambda n: b"%d,5.0,1200\n" % n), {}, Reason.POWER_LOST, "1.2 A is out of its range of 1 A",
    ),
    "overload": (
        later(700, lambda n: b"%d,5.0,OL\n" % n), {}, Reason.POWER_LOST,
        "says 'OL' for a quantity: it is out of its range",
    ),
    "no supply's voltage": (
        later(700, lambda n: b"%d,1e308,2.0\n" % n), {}, Reason.POWER_LOST,
        "1e+308 V is out of the range of a supply, 60 V",
    ),
    "no number": (later(700, lambda n: b"%d,nan,2\n" % n), {}, Reason.POWER_LOST, "sends what is not a number"),
    "reset": (later(700, lambda n: steady(n - 700)), {}, Reason.POWER_LOST, "its time goes backwards"),
    "not in the supply": (lambda n: b"%d,5.0,0.0\n" % n, {}, Reason.POWER_LOST, "reads 5 V and 0 A"),
    "too slow": (
        lambda n: b"%d,5.0,2.0\n" % (n * 200), {}, Reason.POWER_LOST, "too few: raise its rate, or seconds",
    ),
    "trigger stuck": (
        lambda n: b"%d,2.0,1\n" % n, {"columns": ("ms", "mA", "bits"), "volts": 5.0, "rate": 5000.0, "latency": 0.0},
        Reason.POWER_LOST, "is high while no call runs",
    ),
    "trigger not wired": (
        lambda n: b"%d,2.0,0\n" % n, {"columns": ("ms", "mA", "bits"), "volts": 5.0, "rate": 5000.0, "latency": 0.0},
        Reason.POWER_LOST, "0 pulses on digital input 0 of it, 22 calls",
    ),
}  # fmt: skip


@one_kind("ina219-arduino")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_meter_that_fails_is_named(
    station: Station, slow: Path, fault: str, terminal: tuple[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, and in the middle of, what it measures: no energy, and no call is lost."""
    say, changes, reason, text = FAULTS[fault]
    monkeypatch.setattr(meter, "PATIENCE", 0.5)
    master, port = terminal
    other = station.but(meter=at(station, port, **changes))
    started, start = Event(), Driver.start

    def begin(self: Driver) -> None:
        start(self)
        started.set()

    monkeypatch.setattr(Driver, "start", begin)
    sending(master, say, started)
    power = metering(other, slow)
    assert (power.above, power.idle) == ({}, None)
    assert measured({"cycles_encrypt_mean": 1.0}, power) == {}
    [note] = power.notes
    assert note.startswith(f"no energy: {reason}: meter m: ")
    assert text in note
    assert reason in MACHINE


@one_kind("ppk2")
def test_readings_of_which_no_figure_can_be_made_take_no_cycle_away(
    station: Station, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meter, "mean", lambda _: 1 / 0)
    [note] = metering(station, slow).notes
    assert note.startswith("no energy: power-lost: meter m: its readings make no figure: ZeroDivisionError: ")
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(station.board.port.parents[1] / "lab.toml")])
    assert done.exit_code == 1
    for part in ("flash", "handshake", "echo", "edges", "power-lost"):
        assert part in done.stdout


@one_kind("ppk2")
def test_samples_that_are_lost_are_noticed(station: Station, slow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.lab.meters import ppk2 as reader

    get = reader.PPK2_API.get_data
    monkeypatch.setattr(reader.PPK2_API, "get_data", lambda self: get(self)[:-400])
    [note] = metering(station, slow).notes
    assert note.startswith("no energy: power-lost: meter m: ")


@one_kind("ppk2")
def test_bytes_that_are_lost_are_noticed(station: Station, slow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows is read as other currents and other levels."""
    from steelyard.lab.meters import ppk2 as reader

    get = reader.PPK2_API.get_data
    monkeypatch.setattr(reader.PPK2_API, "get_data", lambda self: get(self)[1:])
    [note] = metering(station, slow).notes
    assert note.startswith("no energy: power-lost: meter m: ")


@one_kind("ppk2")
@pytest.mark.parametrize("rate", [50_000.0, pytest.param(115_000.0, marks=pytest.mark.long)])
def test_a_rate_that_is_not_the_meters_is_noticed(station: Station, slow: Path, rate: float) -> None:
    """Where no pin tells how long calls are, too: energy is power times the meter's time."""
    assert station.meter is not None
    [note] = metering(station.but(meter=station.meter.but(bit=None, rate=rate)), slow).notes
    assert note.startswith("no energy: power-lost: meter m: ")
    assert f"by the analyzer: samples are lost, or its rate is not {rate:g}" in note


def test_what_is_no_ppk2_is_named(terminal: tuple[int, Path]) -> None:
    pytest.importorskip("ppk2_api", reason="ppk2-api is not installed: scripts/setup test")
    _, port = terminal
    with pytest.raises(DeviceError, match="no answer of a Power Profiler Kit II"):
        meter.Stream(metered(Meter(name="m", driver="ppk2", port=str(port), volts=3.0)))


def test_a_run_without_power_stays_when_the_lab_is_gone(
    tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, {"lab.toml": LAB.format(la=5555, meter=METERS["ppk2"])}) / "lab.toml"
    station = lab.load(file).board("one")
    job = replace(bench.job(bench.package(), station.target), on=(station,))
    pipeline = Pipeline(bench.store, threads=1)
    with monkeypatch.context() as m:  # a run whose meter failed
        m.setattr(Pipeline, "_run", lambda self, job, record: replace(record, metrics={"rom": 7.0}))
        first = pipeline.weigh(job)
    assert Pipeline(bench.store, threads=1).weigh(job) == first
    assert len(bench.store.rows()) == 1
    gone = Pipeline(bench.store, threads=1, seed="another").weigh(job)
    assert gone.failure is not None
    assert gone.failure.reason in MACHINE


def test_a_crash_is_said_where_only_power_was_missing(
    tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, {"lab.toml": LAB.format(la=5555, meter=METERS["ppk2"])}) / "lab.toml"
    station = lab.load(file).board("one")
    job = replace(bench.job(bench.package(), station.target), on=(station,))
    monkeypatch.setattr(Pipeline, "_run", lambda self, job, record: replace(record, metrics={"rom": 7.0}))
    first = Pipeline(bench.store, threads=1).weigh(job)
    assert first.ok

    def crashes(*_: object) -> None:
        raise OverflowError("intermediate overflow in fsum")

    monkeypatch.setattr(Pipeline, "_run", crashes)
    again = Pipeline(bench.store, threads=1).weigh(job)
    assert again.failure is not None
    assert again.failure.reason is Reason.INTERNAL
    assert [row["run"] for row in bench.store.rows()] == [first.id]  # which hides nothing
