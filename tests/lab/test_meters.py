"""Energy that a meter measures is the modelled one, through the real ppk2-api and sigrok-cli; what fails says which
part, and what to do, and takes no cycle away.

The boards and the meters in their supply are virtual: they draw what the data sheet says while the chip works.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Condition, Event, Thread
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.cli.app import app
from steelyard.lab import Station, meter
from steelyard.lab.energy import _Metering
from steelyard.lab.metering import Meter, Metered, metered
from steelyard.lab.meters.lines import Driver
from steelyard.lab.virtual import played
from steelyard.measure.energy import measured
from steelyard.model.call import CallResult, DeviceError, Hello, Observed, Op, Pulse, Request, Vector
from steelyard.model.errors import UserError
from steelyard.model.power import Power, Value
from steelyard.model.reasons import MACHINE, Reason
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import Bench, the_target, write

from . import elsewhere
from .conftest import refused

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")

LAB = """
speed = 4.0

[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{la}:logic_channels=8"
samplerate = 24_000_000
channels = ["P8_45", "P8_46"]
virtual = true

[meters.m]
virtual = true
idle_milliamperes = 2
{meter}

[boards.one]
target = "uno"
port = "ports/one"
flasher = "avrdude-arduino"
analyzer = "la"
channel = "P8_45"
clock_ppm = 0
meter = "m"
virtual = true
"""
TRUST = "volts = 5.0\ngain = 0.01\noffset = 1e-5\nmost = 0.1\n"
#: a slow meter looks on for long enough that its spread stays within its gain
METERS = {
    "ppk2": 'driver = "ppk2"\nport = "ports/m"\nvolts = 5.0\ngain = 0.005',
    "scpi-dmm": TRUST + 'driver = "sigrok"\nport = "scpi-dmm:conn=tcp-raw/127.0.0.1/{scpi}"\nchannels = ["P1"]',
    "scpi-pps": TRUST + 'driver = "sigrok"\nport = "scpi-pps:conn=tcp-raw/127.0.0.1/{scpi}"\nchannels = ["V1", "I1"]',
    "ina219-arduino": 'driver = "ina219-arduino"\nport = "ports/m"\nrate = 200',
    "lines": TRUST + 'driver = "lines"\nport = "ports/m"\nrate = 4000\nlatency = 0\ncolumns = ["us", "uW", "bits"]',
}
#: statements that take some milliseconds
WORK = "for (volatile unsigned w = 0; w < 2500; w++) {}"
#: watts of a working chip, from its data sheet
MODELLED = 16e6 * 5.2e-3 * 5.0 / 8e6


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture(scope="module", params=METERS)
def station(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """A virtual uno with each kind of meter in its supply."""
    for tool in ("avrdude", "sigrok-cli", "avr-gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    if request.param == "ppk2":
        pytest.importorskip("ppk2_api", reason="ppk2-api is not installed: scripts/setup test")
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    file.write_text(LAB.format(la=free_port(), meter=METERS[request.param].format(scpi=free_port())))
    found = lab.load(file)
    with played(found):
        yield found.board("one")


def one_kind(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("station", [name], indirect=True)


def some_calls(client: device.Client) -> list[Observed]:
    """Calls as verification makes them, longer ones among them."""
    known: list[Observed] = []
    for n in range(0, 64, 3):
        v = Vector(n, bytes(range(16)), bytes(range(16)), bytes(64), bytes(64 - n))
        answer = client.call(Request(Op.ENCRYPT, v.key, v.npub, v.ad, v.message))
        known.append(("encrypt", v, answer))
        back = client.call(Request(Op.DECRYPT, v.key, v.npub, v.ad, answer.output))
        known.append(("decrypt", v, back))
    return known


@pytest.fixture
def slow(bench: Bench) -> Path:
    """An image of a cipher whose calls take some milliseconds."""
    return bench.build(bench.package(in_tag=WORK), the_target("uno")).images["both"]


def metering(station: Station, image: Path) -> Power:
    with lab.opened(station, image, 10**7, Event()) as link:
        client = device.Client(link)
        power = lab.power(link, client, some_calls(client))
    assert power is not None
    return power


def test_a_meter_measures_what_is_modelled(station: Station, slow: Path) -> None:
    """Gated by the trigger pin where the meter sees it, otherwise by repeated calls."""
    power = metering(station, slow)
    assert power.above.keys() == {"encrypt", "decrypt"}, power.notes
    assert power.idle is not None
    assert abs(power.idle.value - 0.010) <= power.idle.uncertainty + 5e-5  # polling its line is work too
    seen = station.meter is not None and station.meter.bit is not None
    sure = 1 if seen else 2  # the spread of five bursts holds in 95 of 100 cases only
    for op, above in power.above.items():
        assert abs(above.value - MODELLED) <= sure * above.uncertainty, op
        total = power.total[op]
        assert abs(total.value - MODELLED - 0.010) <= sure * total.uncertainty, op
    # without the pin bursts are as even as this machine lets them be
    assert min(above.uncertainty for above in power.above.values()) < (0.3 if seen else 1) * MODELLED
    [note] = power.notes
    assert note.startswith(f"meter m: {station.meter.meter.driver} at ")  # type: ignore[union-attr]
    assert ("gated by D0" in note) == seen


@one_kind("ppk2")
def test_a_run_has_energy_beside_the_modelled(station: Station, bench: Bench) -> None:
    write(bench.package(in_tag=WORK).folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    simulated = bench.job(bench.package(in_tag=WORK), the_target("uno"), "0/16,0/32,0/64")
    job = replace(simulated, on=(station,))
    broken = replace(job, on=(station.but(meter=at(station, "/dev/no-such-port")),))
    without = Pipeline(bench.store, threads=1).weigh(broken)
    assert without.failure is None
    assert not any("_measured" in name for name in without.metrics)
    [why] = [n for n in without.notes if n.startswith("no energy: meter-unreachable: meter m: /dev/no-such-port")]
    assert "plug the meter in" in why
    pipeline = Pipeline(bench.store, threads=1)
    board = pipeline.weigh(job)  # the stored record has no energy, and the meter works now
    assert board.failure is None
    assert (board.points, board.metrics["cycles_encrypt_mean"]) == (
        without.points,
        without.metrics["cycles_encrypt_mean"],
    )
    assert any(n.startswith("meter m: ppk2 at ") for n in board.notes)
    for op in ("encrypt", "decrypt", "reject"):
        name = f"energy_{op}_measured"
        assert abs(board.metrics[name] - board.metrics[f"energy_{op}_modelled"]) <= board.metrics[f"{name}_uncertainty"]
        assert board.metrics[f"{name}_per_byte"] == pytest.approx(board.metrics[f"{name}_per_bit"] * 8 / 1000)
    assert pipeline.weigh(job).id == pipeline.weigh(broken).id == board.id
    assert not any("_measured" in name for name in pipeline.weigh(simulated).metrics)
    assert not any("_measured" in name for name in pipeline.weigh(job.baseline).metrics)


@one_kind("ppk2")
def test_a_meter_at_another_machine_measures_there(
    station: Station, slow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere.connected(tmp_path, monkeypatch).steelyard(elsewhere.REAL)
    [far], _ = lab.stations(elsewhere.described(tmp_path, "uno", "one", at=station.board.port.parents[1]), ["far"])
    power = metering(far, slow)
    for op in ("encrypt", "decrypt"):
        assert abs(power.above[op].value - MODELLED) <= power.above[op].uncertainty, op
    [note] = power.notes
    assert note.startswith("meter m: ppk2 at ")
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(tmp_path / "lab.toml"), "--json"])
    assert "5 V, 2 mA while the board waits; sees the trigger pin at its digital input 0" in done.stdout


@one_kind("ppk2")
def test_the_meter_is_listed_and_checked(station: Station) -> None:
    file = station.board.port.parents[1] / "lab.toml"
    listed = CliRunner().invoke(app, ["boards", "list", "--lab", str(file)])
    assert " m " in listed.stdout
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(file), "--json"])
    assert "5 V, 2 mA while the board waits; sees the trigger pin at its digital input 0" in done.stdout
    assert done.exit_code == 0
    port = station.meter.meter.port  # type: ignore[union-attr]
    other = file.with_name("other.toml")
    other.write_text(file.read_text().replace('port = "ports/m"', 'port = "ports/away"'))
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(other), "--json"])
    assert done.exit_code == 1
    assert f"meter m: {port[:-1]}away: No such file or directory; plug the meter in" in done.stdout


# --- faults ----------------------------------------------------------------------------------------------------------


def at(station: Station, port: Path | str, **changes: object) -> Metered:
    """A meter of lines at another port."""
    base = Meter(name="m", driver="lines", port=str(port), columns=("ms", "V", "mA"), gain=0.01, offset=0.0, most=1.0)
    return metered(base.but(seconds=0.2, **changes))


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    """A serial port with the test at its other end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    for file in (slave, master):
        with suppress(OSError):
            os.close(file)


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
    station: Station, slow: Path, fault: str, terminal: tuple[int, str], monkeypatch: pytest.MonkeyPatch
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
@pytest.mark.parametrize("rate", [50_000.0, 115_000.0])
def test_a_rate_that_is_not_the_meters_is_noticed(station: Station, slow: Path, rate: float) -> None:
    """Where no pin tells how long calls are, too: energy is power times the meter's time."""
    assert station.meter is not None
    [note] = metering(station.but(meter=station.meter.but(bit=None, rate=rate)), slow).notes
    assert note.startswith("no energy: power-lost: meter m: ")
    assert f"by the analyzer: samples are lost, or its rate is not {rate:g}" in note


def test_what_is_no_ppk2_is_named(terminal: tuple[int, str]) -> None:
    pytest.importorskip("ppk2_api", reason="ppk2-api is not installed: scripts/setup test")
    _, port = terminal
    with pytest.raises(DeviceError, match="no answer of a Power Profiler Kit II"):
        meter.Stream(metered(Meter(name="m", driver="ppk2", port=port, volts=3.0)))


# --- other meters ----------------------------------------------------------------------------------------------------


# --- what is played ---------------------------------------------------------------------------------------------------


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


# --- by a clock of its own -------------------------------------------------------------------------------------------


class Played(meter.Stream):
    """A board of exactly 10 mW, and 60 mW more while a call of 20 ms runs, and a meter in its supply whose clock is
    ``fast``: client and stream in one, whose time passes by what they are asked."""

    by_host = False
    hello = Hello(1, 1, 0, 16, 16, 16, 2000, 16_000_000, 16)

    def __init__(self, fast: float) -> None:
        found = Meter(name="m", driver="lines", port="m.csv", columns=("s", "V", "A"), gain=0.001, offset=0.0, most=1.0)
        self.metered = metered(found.but(rate=100.0, latency=0.0))
        self._fast, self._trouble = fast, None
        self._changed, self._latest = Condition(), 0.0
        self.samples, self.count = meter.Samples(), 0
        self.link = SimpleNamespace(sample=1 / 24e6, cycle=1 / 16e6, samples=0, rose=0, over=Event())
        self._now = self._joules = 0.0
        #: seconds and joules at the reading before
        self._before = (0.0, 0.0)

    def _passes(self, seconds: float, watts: float) -> None:
        begin, end = self._now, self._now + seconds
        while (at := self._before[0] + 0.01) <= end:
            joules = self._joules + (at - begin) * watts
            amperes = (joules - self._before[1]) / 0.01 / 5.0
            self.samples.add(meter.Samples([at * self._fast], [5.0], [amperes]))
            self._before = at, joules
            self.count += 1
        self._now, self._joules = end, self._joules + seconds * watts

    def call(self, request: Request) -> CallResult:
        works = request.op is Op.ENCRYPT
        seconds = 0.02 if works else 1e-4
        self._passes(0.0043, 0.010)
        self.link.rose = round(self._now / self.link.sample)
        self._passes(seconds, 0.070)
        self.link.samples += round(seconds / self.link.sample)
        return CallResult(0, 16, True, 0, 0, 0, bytes(16 * works), Pulse(round(seconds / self.link.cycle)))

    def fits(self, *_: object) -> bool:
        return True

    def start(self) -> None:
        self.samples = meter.Samples()

    def wait(self, there: Callable[[], bool], over: Event) -> None:
        while not there():
            self._passes(0.01, 0.010)


@pytest.mark.parametrize("fast", [0.985, 1.0, 1.03])
def test_energy_goes_by_the_analyzers_time(fast: float) -> None:
    """As cycles do, however fast a meter's own clock is; what marks of both leave open is in the uncertainty."""
    played = Played(fast)
    v = Vector(1, bytes(16), bytes(16), b"", bytes(16))
    answer = played.call(Request(Op.ENCRYPT, v.key, v.npub, v.ad, v.message))
    power = _Metering(played.link, played, played).all([("encrypt", v, answer)])  # type: ignore[arg-type]
    above = power.above["encrypt"]
    assert above.value == pytest.approx(0.060, rel=0.002)
    assert abs(above.value - 0.060) <= above.uncertainty < 0.001


# --- formulas --------------------------------------------------------------------------------------------------------


def test_energy_is_power_times_time_with_both_errors() -> None:
    power = Power(
        above={"encrypt": Value(0.050, 0.001)},
        total={"encrypt": Value(0.060, 0.002)},
        idle=Value(0.010, 0.0005),
        cycle=Value(1e-6, 1e-8),
    )
    made = measured({"cycles_encrypt_mean": 1000.0, "encrypt_per_byte": 80.0}, power)
    assert made["power_measured"] == pytest.approx(60.0)
    assert made["power_idle_measured_uncertainty"] == pytest.approx(0.5)
    assert made["energy_encrypt_measured"] == pytest.approx(50.0)
    assert made["energy_encrypt_measured_uncertainty"] == pytest.approx(50 * (0.02**2 + 0.01**2) ** 0.5)
    assert made["energy_encrypt_measured_with_idle"] == pytest.approx(60.0)
    assert made["energy_encrypt_measured_per_byte"] == pytest.approx(4.0)
    assert made["energy_encrypt_measured_per_bit"] == pytest.approx(500.0)


# --- lab.toml --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('meter = "m"', 'meter = "n"', "boards.one: unknown meter 'n'; known: m"),
        ('driver = "ppk2"', 'driver = "ppk"', "meters.m: unknown driver 'ppk'; did you mean ppk2?"),
        ('driver = "ppk2"', 'drivr = "ppk2"', "unknown key 'drivr'; did you mean driver?"),
        ("volts = 5.0\n", "", "meters.m.volts: missing; write volts"),
        ("volts = 5.0", "volts = -1", "meters.m.volts: write volts, from 0.1 to 60"),
        ("gain = 0.005", "gain = nan", "meters.m.gain: write the part of a reading"),
        ("gain = 0.005", "gain = 0.005\nbit = 8", "meters.m.bit: write a digital input's number, from 0 to 7"),
        ("idle_milliamperes = 2", "seconds = 0", "meters.m.seconds: write seconds, from 0.05 to 600"),
        ('driver = "ppk2"', 'driver = "lines"', "meters.m.offset: missing; write the amperes"),
        ('driver = "ppk2"', 'driver = "ina219-arduino"\ncolumns = ["s", "mV"]', "name a current or a power"),
        ('driver = "ppk2"', 'driver = "ina219-arduino"\ncolumns = ["s", "Amp"]', "unknown column 'Amp'"),
        ('driver = "ppk2"', 'driver = "ina219-i2c"', "nobody plays a virtual meter there"),
        ('port = "ports/m"', 'port = ""', "meters.m.port: write where the meter is"),
        ("virtual = true\nidle", "idle", "boards.one.meter: a virtual board has a virtual meter"),
        ('target = "uno"', 'target = "leonardo"', "avrdude-arduino does not program"),
        ("[boards.one]", '[meters."../m"]\ndriver="ppk2"\nport="x"\n[boards.one]', "'../m'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    refused(LAB.format(la=5555, meter=METERS["ppk2"]), tmp_path, old, new, said)


def test_a_meter_is_in_one_boards_supply(tmp_path: Path) -> None:
    text = LAB.format(la=5555, meter=METERS["ppk2"])
    other = text[text.index("[boards.one]") :].replace("one", "two").replace("P8_45", "P8_46")
    file = tmp_path / "lab.toml"
    file.write_text(text + other)
    with pytest.raises(UserError, match=r"boards\.two: has the meter of one"):
        lab.load(file)


def test_a_port_has_one_meter_or_board(tmp_path: Path) -> None:
    text = LAB.format(la=5555, meter=METERS["ppk2"])
    file = tmp_path / "lab.toml"
    file.write_text(text.replace("ports/one", "ports/m"))
    with pytest.raises(UserError, match=r"boards\.one: has the port.* of m"):
        lab.load(file)
    file.write_text(text + text[text.index("[meters.m]") : text.index("[boards")].replace("meters.m", "meters.n"))
    with pytest.raises(UserError, match=r"meters\.n: has the port of m"):
        lab.load(file)
