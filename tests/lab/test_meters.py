"""Energy that a meter measures is the modelled one, through the real ppk2-api and sigrok-cli.

The boards and the meters in their supply are virtual: they draw what the data sheet says while the chip works.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from threading import Condition, Event
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard import lab
from steelyard.cli.app import app
from steelyard.lab import Station, meter
from steelyard.lab.energy import _Burst, _Metering, _Part
from steelyard.lab.metering import Meter, metered
from steelyard.lab.steps import ROUNDED
from steelyard.measure.energy import measured
from steelyard.model.call import API_BLOCK, CallResult, DeviceError, Hello, Op, Pulse, Request, Vector
from steelyard.model.errors import UserError
from steelyard.model.power import Power, Value
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import Bench, the_target, write

from . import elsewhere
from .conftest import refused
from .supplied import LAB, METERS, WORK, at, metering, one_kind, slow, station

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
__all__ = ["slow", "station"]
#: watts of a working chip, from its data sheet
MODELLED = 16e6 * 5.2e-3 * 5.0 / 8e6


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


class Played(meter.Stream):
    """A board of exactly 10 mW, and 60 mW more while it works: during a call of up to so many seconds, and for each
    byte that it receives and sends. The meter in its supply has a clock that is ``fast``, and rounds amperes to steps.
    Client and stream in one, whose time passes by what they are asked."""

    by_host = False

    def __init__(
        self,
        fast: float = 1.0,
        *,
        call: float = 0.02,
        received: float = 0.0,
        sent: float = 0.0,
        step: float = 0.0,
        resolution: float | None = 1e-9,
        read: Callable[[float], meter.Samples] | None = None,
        api: int = 1,
        takes_ad: bool = True,
    ) -> None:
        self.hello = Hello(api, 1, 0, 16, 16, 16, 2000, 16_000_000, 16)
        self._call, self._received, self._sent, self._step, self._takes_ad = call, received, sent, step, takes_ad
        found = Meter(name="m", driver="lines", port="m.csv", columns=("s", "V", "A"), gain=0.001, offset=0.0, most=1.0)
        self.metered = metered(found.but(rate=100.0, latency=0.0, resolution=None if step or read else resolution))
        self._given = read or self._rounded
        self._fast, self._trouble = fast, None
        self._changed, self._latest = Condition(), 0.0
        self.samples, self.count = meter.Samples(), 0
        self.link = SimpleNamespace(
            sample=1 / 24e6, cycle=1 / 16e6, resolution=16 / 24, samples=0, rose=0, over=Event()
        )
        self._now = self._joules = 0.0
        #: seconds and joules at the reading before
        self._before = (0.0, 0.0)

    def _passes(self, seconds: float, watts: float) -> None:
        begin, end = self._now, self._now + seconds
        while (at := self._before[0] + 0.01) <= end:
            joules = self._joules + (at - begin) * watts
            came = self._given((joules - self._before[1]) / 0.01)
            came.t = [at * self._fast]
            self.samples.add(came)
            self._before = at, joules
            self.count += 1
        self._now, self._joules = end, self._joules + seconds * watts

    def _rounded(self, watts: float) -> meter.Samples:
        amperes = watts / 5.0
        return meter.Samples([], [5.0], [round(amperes / self._step) * self._step if self._step else amperes])

    def call(self, request: Request) -> CallResult:
        """A ciphertext of zeros is right."""
        block, decrypts = self.hello.api == API_BLOCK, request.op is Op.DECRYPT
        works = request.op in (Op.ENCRYPT, Op.DECRYPT) and not request.hollow
        refused = works and bool(request.ad) and not self._takes_ad
        forged = decrypts and any(request.data)
        tag = 0 if block else 16
        size = 16 if block else len(request.data) + (-tag if decrypts else tag)
        size *= (works or request.hollow) and not refused and not forged
        given = len(request.ad + request.data)
        part = 1.0 if block else 0.25 + 0.75 * (given - decrypts * tag) / 128
        seconds = self._call * part * works + 1e-4
        self._passes(0.0043, 0.010)
        self._passes(given * self._received, 0.070)
        self.link.rose = round(self._now / self.link.sample)
        self._passes(seconds, 0.070)
        self.link.samples += round(seconds / self.link.sample)
        self._passes(size * self._sent, 0.070)
        code = -(refused or forged)
        return CallResult(code, size, True, 0, 0, 0, bytes(size), Pulse(round(seconds / self.link.cycle)))

    def fits(self, *_: object) -> bool:
        return True

    def start(self) -> None:
        self.samples = meter.Samples()

    def wait(self, there: Callable[[], bool], over: Event) -> None:
        while not there():
            self._passes(0.01, 0.010)


def played_power(played: Played, *more: str) -> Power:
    v = Vector(1, bytes(16), bytes(16), bytes(16), b"")
    answer = played.call(Request(Op.ENCRYPT, v.key, v.npub, v.message, b""))
    made = [(op, v, answer) for op in ("encrypt", *more)]
    return _Metering(played.link, played, played).all(made)  # type: ignore[arg-type]


@pytest.mark.parametrize(("received", "sent"), [(20e-6, 5e-6), (5e-6, 9e-6)])
@pytest.mark.parametrize("api", [1, API_BLOCK])
def test_a_short_call_is_not_charged_what_the_harness_does_for_it(api: int, received: float, sent: float) -> None:
    """A byte that is sent costs other work than one that is received, and both more than the call."""
    above = played_power(Played(call=60e-6, received=received, sent=sent, api=api)).above["encrypt"]
    assert abs(above.value - 0.060) <= above.uncertainty < 0.003


@pytest.mark.parametrize("resolution", [1e-9, 1e-4])
@pytest.mark.parametrize("call", [60e-6, 6e-3, 60e-3])
def test_decryption_is_not_charged_the_tag_that_it_receives(call: float, resolution: float) -> None:
    """Nor is a refusal, of calls short and long beside what the harness does for them."""
    played = Played(call=call, received=20e-6, sent=12e-6, resolution=resolution)
    for above in played_power(played, "decrypt", "reject").above.values():
        assert abs(above.value - 0.060) <= above.uncertainty


def test_long_calls_are_surer_than_what_a_few_bytes_more_take() -> None:
    """Of a meter with steps, whose time their input hardly changes."""
    above = played_power(Played(call=0.06, received=1e-6, sent=1e-6, resolution=1e-3)).above["encrypt"]
    assert abs(above.value - 0.060) <= above.uncertainty < 0.008


def test_what_a_package_without_associated_data_sends_is_in_the_uncertainty() -> None:
    above = played_power(Played(call=0.02, received=20e-6, sent=5e-6, takes_ad=False)).above["encrypt"]
    assert abs(above.value - 0.060) <= above.uncertainty < 0.02


def test_a_byte_that_is_sent_is_subtracted_as_one_that_is_received() -> None:
    """Where it costs as much, nothing is left of it."""
    above = played_power(Played(call=0.02, received=20e-6, sent=20e-6, takes_ad=False)).above["encrypt"]
    assert above.value == pytest.approx(0.060, rel=0.02)


@pytest.mark.parametrize(("step", "call", "sure"), [(1e-4, 0.02, 0.005), (1e-3, 0.02, 0.03), (1e-3, 0.06, 0.02)])
def test_readings_in_steps_make_energy_uncertain(step: float, call: float, sure: float) -> None:
    above = played_power(Played(call=call, step=step)).above["encrypt"]
    assert abs(above.value - 0.060) <= above.uncertainty < sure


def in_watts(step: float) -> Callable[[float], meter.Samples]:
    """Watts in steps, and volts that flicker by a step of theirs."""
    volts = cycle((5.0, 5.004, 5.0))

    def read(watts: float) -> meter.Samples:
        v, w = next(volts), round(watts / step) * step
        return meter.Samples([], [v], [w / v], w=[w])

    return read


def of_many_ranges(watts: float) -> meter.Samples:
    """In steps of 1 uA up to 3 mA, and of 1 mA above."""
    step = 1e-6 if watts / 5.0 < 3e-3 else 1e-3
    return meter.Samples([], [5.0], [round(watts / 5.0 / step) * step])


@pytest.mark.parametrize(("read", "least"), [(in_watts(0.002), 0.002), (of_many_ranges, 0.005)])
def test_a_step_is_that_of_what_is_read_and_of_the_range_that_is_used(
    read: Callable[[float], meter.Samples], least: float
) -> None:
    """Volts that flicker make no finer watts, and a fine range at idle no coarse one in calls."""
    power = played_power(Played(call=0.02, read=read))
    above, total = power.above["encrypt"], power.total["encrypt"]
    assert abs(above.value - 0.060) <= above.uncertainty < 0.02
    assert above.uncertainty > least * ROUNDED
    assert total.uncertainty > least * ROUNDED


def test_readings_that_are_all_the_same_are_not_exact() -> None:
    with pytest.raises(DeviceError, match=r"power-lost: meter m: all its readings are 0\.01: write its resolution"):
        played_power(Played(call=6e-4, read=lambda _: meter.Samples([], [5.0], [0.01])))


@pytest.mark.parametrize("gated", [True, False])
def test_a_step_is_in_each_figure(gated: bool) -> None:
    """Of idle, of calls, and of the difference, which has it twice; repeated calls have it in their spread."""
    off = 1e-3 * 5.0 * ROUNDED
    played = Played(resolution=1e-3)
    metering = _Metering(played.link, played, played)  # type: ignore[arg-type]
    metering.volts = 5.0
    part, idle = (_Part(watts, 0.0) for watts in (0.07, 0.01))
    above = metering._above(part, idle, gated).uncertainty
    assert above == pytest.approx(math.hypot(0.001 * 0.06, gated * math.sqrt(2) * off))
    assert metering._total(part, idle).uncertainty == pytest.approx(math.hypot(0.001 * 0.07, off))
    quiet = played_power(played).idle
    assert quiet is not None
    assert quiet.uncertainty == pytest.approx(off, rel=0.01)


def test_what_calls_of_the_harness_may_differ_by_is_in_the_uncertainty() -> None:
    """Seconds by which its choice may be another; joules that were taken for what it sends; factors of both."""
    played = Played(resolution=1e-12)
    metering = _Metering(played.link, played, played)  # type: ignore[arg-type]
    metering.volts = 5.0
    more, less = _Burst(3e-3, 0.03, 0.1, 2e-6), _Burst(1e-3, 0.01, 0.1, 1e-6)
    left = metering._left([(more, 1), (less, -2)], _Part(0.01, 0.0), choice=1e-3, unlike=5e-6)
    assert left.watts == pytest.approx(0.01 + 0.1)
    assert left.spread == pytest.approx(math.hypot(2e-6, 2e-6, 5e-6, 0.1 * 1e-3) / 0.01, rel=1e-3)


def test_what_a_step_hides_is_no_figure() -> None:
    power = played_power(Played(call=60e-6, received=20e-6, sent=5e-6, step=1e-3))
    assert (power.above, power.total) == ({}, {})
    assert power.notes[1].startswith("no energy: power-lost: meter m: encrypt draws ")
    assert "readings in steps of 1e+03 µA" in power.notes[1]
    assert measured({"cycles_encrypt_mean": 1.0}, power).keys() == {
        "power_idle_measured",
        "power_idle_measured_uncertainty",
    }


@pytest.mark.parametrize("fast", [0.985, 1.0, 1.03])
def test_energy_goes_by_the_analyzers_time(fast: float) -> None:
    """As cycles do, however fast a meter's own clock is; what marks of both leave open is in the uncertainty."""
    above = played_power(Played(fast)).above["encrypt"]
    assert above.value == pytest.approx(0.060, rel=0.002)
    assert abs(above.value - 0.060) <= above.uncertainty < 0.001


def test_power_comes_with_how_fine_the_analyzer_sees_cycles() -> None:
    assert played_power(Played()).cycles_per_sample == pytest.approx(16 / 24)


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
