"""Drivers of meters against what their makers, the kernel and libraries send, without a board."""

from __future__ import annotations

import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from types import ModuleType
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import lab
from steelyard.lab import meter
from steelyard.lab.metering import Meter, kinds, metered
from steelyard.lab.virtual import ppk2, supply
from steelyard.lab.virtual.analyzer import EDGE, LEAD, LEAVE, MARK
from steelyard.lab.virtual.clock import SECOND, Clock
from steelyard.model.call import DeviceError
from steelyard.model.errors import UserError

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


def test_a_library_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "smbus2", None)
    kind = kinds()["ina219-i2c"].but(library="no_such_library")
    found = metered(Meter(name="m", driver="ina219-i2c", port="/dev/i2c-1"))
    with pytest.raises(DeviceError, match="meter m: no no_such_library: pip install smbus2"):
        meter.Stream(found.but(kind=kind))


def readings(found: Meter, count: int) -> list[tuple[float, float]]:
    stream = meter.Stream(metered(found))
    try:
        stream.start()
        stream.wait(lambda: len(stream.samples.t) >= count, Event())
        samples = stream.samples
        assert samples.t == sorted(samples.t)
        return list(zip(samples.v, samples.i, strict=True))[:count]
    finally:
        stream.close()


@pytest.mark.parametrize(
    "files",
    [
        {"in1_input": "3304", "curr1_input": "12"},
        {
            "in_voltage1_raw": "826", "in_voltage1_scale": "4.000000000",
            "in_current3_raw": "12", "in_current3_scale": "1.000000000",
        },
    ],
    ids=["hwmon", "iio"],
)  # fmt: skip
def test_an_ina219_of_the_kernel_is_read(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    there = Meter(name="m", driver="ina219-sysfs", port=str(tmp_path), rate=1000)
    assert readings(there, 3) == [(pytest.approx(3.304), pytest.approx(0.012))] * 3
    (tmp_path / "name").write_text("ina226\n")  # whose shunt's register ends at 81.92 mV
    for name, text in (("in0_input", "82"), ("in_voltage0_raw", "32767"), ("in_voltage0_scale", "0.002500000")):
        (tmp_path / name).write_text(f"{text}\n")
    with pytest.raises(DeviceError, match=r"power-lost: meter m: inf A is out of its range"):
        readings(there, 1)
    (tmp_path / "name").write_text("ina219\n")
    assert readings(there, 1) == [(pytest.approx(3.304), pytest.approx(0.012))]
    (tmp_path / "curr1_input").unlink(missing_ok=True)
    (tmp_path / "in_current3_raw").unlink(missing_ok=True)
    with pytest.raises(DeviceError, match="name the folder of an INA219"):
        readings(Meter(name="m", driver="ina219-sysfs", port=str(tmp_path)), 1)


def test_an_ina219_on_a_bus_is_read_by_its_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data sheet's own example (SBOS448G, 8.5.1): 11.98 V behind a shunt with 20 mV; here of 0.1 ohm. What the
    shunt takes is not the board's."""
    registers = {1: b"\x07\xd0", 2: b"\x5d\x98"}
    written: list[tuple[int, int, list[int]]] = []

    class Bus:
        def __init__(self, number: int) -> None:
            assert number == 3

        def write_i2c_block_data(self, *words: object) -> None:
            written.append(words)  # type: ignore[arg-type]

        def read_i2c_block_data(self, address: int, register: int, count: int) -> list[int]:
            assert (address, count) == (0x41, 2)
            return list(registers[register])

        def close(self) -> None: ...

    module = ModuleType("smbus2")
    module.__spec__ = ModuleSpec("smbus2", None)
    module.SMBus = Bus  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "smbus2", module)
    monkeypatch.delitem(sys.modules, "steelyard.lab.meters.i2c", raising=False)
    found = Meter(name="m", driver="ina219-i2c", port="/dev/i2c-3", address=0x41, rate=1000)
    assert readings(found, 2) == [(pytest.approx(11.98), pytest.approx(0.2))] * 2
    assert written == [(0x41, 0, [0x39, 0x9F])]
    registers[2] = b"\x5d\x99"
    with pytest.raises(DeviceError, match="overflow"):
        readings(found, 2)
    registers[2] = b"\x5d\x98"
    for end in (b"\x7d\x00", b"\x83\x00"):  # 8.6.3.1: positive and negative full scale, whatever the shunt
        registers[1] = end
        for ohms in (0.1, 1.0):
            with pytest.raises(DeviceError, match=r"power-lost: meter m: -?inf A is out of its range"):
                readings(found.but(shunt_ohms=ohms), 1)


@pytest.mark.parametrize("driver", ["ina219-i2c", "ina219-sysfs", "ina219-arduino"])
def test_the_shunt_makes_the_range_and_the_offset(driver: str) -> None:
    found = Meter(name="m", driver=driver, port="/dev/i2c-1")
    for ohms, most, offset in ((0.1, 3.2, 1e-3), (1.0, 0.32, 1e-4), (0.01, 32.0, 1e-2)):
        made = metered(found.but(shunt_ohms=ohms))
        assert (made.most, made.offset) == (pytest.approx(most), pytest.approx(offset))
    assert metered(found.but(most=0.4)).most == 0.4
    at_its_end = meter.Samples([0.0], [5.0], [3200 * 1e-3])
    with pytest.raises(meter.Unsound, match=r"out of its range of 3\.2 A"):
        meter._check(at_its_end, metered(found), 0.0)


def test_a_joulescope_is_read_by_its_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its driver's documentation has them; no Joulescope was ever there."""
    said: list[tuple[str, object]] = []

    class Driver:
        def device_paths(self) -> list[str]:
            return ["u/js220/1", "u/js110/2"]

        def open(self, path: str) -> None:
            said.append(("open", path))

        def publish(self, topic: str, value: object) -> None:
            said.append((topic, value))

        def subscribe(self, topic: str, _kind: str, took: Callable[[str, object], None]) -> None:
            signals = {n: {"avg": {"value": x}} for n, x in (("voltage", 3.3), ("current", 0.012))}
            for _ in range(3):
                took(topic, {"signals": signals})

        def unsubscribe(self, topic: str, _took: object) -> None:
            said.append(("over", topic))

        def close(self, path: str) -> None:
            said.append(("close", path))

        def finalize(self) -> None: ...

    module = ModuleType("pyjoulescope_driver")
    module.__spec__ = ModuleSpec("pyjoulescope_driver", None)
    module.Driver = Driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyjoulescope_driver", module)
    monkeypatch.delitem(sys.modules, "steelyard.lab.meters.joulescope", raising=False)
    found = Meter(name="m", driver="joulescope", port="u/js220/1", rate=1000)
    assert readings(found, 2) == [(3.3, 0.012)] * 2
    assert ("u/js220/1/s/stats/scnt", 1000) in said, "a statistic each millisecond"
    assert said[-1] == ("close", "u/js220/1")
    with pytest.raises(DeviceError, match="2 Joulescopes are any; there are: u/js220/1, u/js110/2"):
        readings(Meter(name="m", driver="joulescope", port="any"), 1)


def test_a_file_that_grows_is_read_from_its_end(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("time,volts,current\n0.0,9.9,9.9\n")
    found = Meter(name="m", driver="lines", port=str(file), columns=("s", "-", "V", "uA"), gain=0.0, offset=0.0, most=1)
    stream = meter.Stream(metered(found))
    try:
        stream.start()
        with file.open("a") as more:
            more.write("1.5; x; 3.3; 250\n1.6 y 3.2 260\nno reading\n")
        stream.wait(lambda: len(stream.samples.t) == 2, Event())
        assert (stream.samples.t, stream.samples.v) == ([1.5, 1.6], [3.3, 3.2])
        assert stream.samples.i == pytest.approx([250e-6, 260e-6])
    finally:
        stream.close()


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([supply.WORK, supply.TRIGGER])), max_size=12),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_no_charge_is_lost_wherever_it_is_cut(changes: list[tuple[int, int]], cuts: list[int]) -> None:
    levels, told, works = [0, 0], deque[tuple[int, int, int]](), [0] * 1000
    for at, which in sorted(changes):
        levels[which] ^= 1
        told.append((at, levels[which], which))
        works[at:] = [levels[supply.WORK]] * len(works[at:])
    current = supply.Current(0.5, 2.0)
    current.told(told)
    charge = sum(current.mean(b) * (b - a) for a, b in pairwise([0, *sorted(cuts), 1000]))
    assert charge == pytest.approx(0.5 * 1000 + 2.0 * sum(works))
    assert current.trigger == levels[supply.TRIGGER]


@given(st.floats(1e-5, 1.0))
def test_what_the_ppk2_sends_its_library_reads(amperes: float) -> None:
    pytest.importorskip("ppk2_api", reason="ppk2-api is not installed: scripts/setup test")
    from ppk2_api.ppk2_api import PPK2_API

    kit = PPK2_API.__new__(PPK2_API)
    with mock.patch("ppk2_api.ppk2_api.serial.Serial"):
        kit.__init__("")  # type: ignore[misc]
    kit._parse_metadata(ppk2.description())
    kit.current_vdd = 3000
    [read], [bits] = kit.get_samples(ppk2.sample(amperes, 5, 1))
    assert bits == 1
    assert read * 1e-6 == pytest.approx(amperes, rel=0.005)


def test_every_kind_has_its_module_and_says_what_to_install() -> None:
    for name, kind in kinds().items():
        assert (Path(lab.__file__).parent / "meters" / f"{kind.module}.py").exists(), name
        assert bool(kind.package) == bool(kind.library or kind.program), name


def lines_of(tmp_path: Path, columns: tuple[str, ...], *written: str) -> list[float]:
    """The amperes of lines that are written to a file while it is read."""
    file = tmp_path / "log.csv"
    file.write_text("")
    found = Meter(name="m", driver="lines", port=str(file), columns=columns, volts=5.0, gain=0.0, offset=0.0, most=1)
    stream = meter.Stream(metered(found))
    try:
        stream.start()
        with file.open("a") as more:
            more.write("".join(f"{line}\n" for line in (*written, "end of what is sent")))
        while file.stat().st_size > stream._driver._file.tell():  # type: ignore[attr-defined]
            time.sleep(0.01)
        stream.stop()
        stream.check()
        return stream.samples.i
    finally:
        stream.close()


def test_lines_without_a_number_for_a_quantity_never_just_pass(tmp_path: Path) -> None:
    three, banner = ("ms", "V", "mA"), "time,volts,current"
    assert lines_of(tmp_path, three, banner, "3 sensors found", "1,5.0,2.0", banner, "2,5.0", "3,5.0,4") == [2e-3, 4e-3]
    assert lines_of(tmp_path, ("mA",), "ready", "2.0", "more to say", "4") == [2e-3, 4e-3]
    for columns, word, line in (
        (three, "OL", "2,5.0,OL"),
        (three, "OVER", "2,5.0,OVER RANGE"),
        (three, "5_0.0", "2,5_0.0,2.0"),
        (three, "", "2,5.0,"),
        (("mA",), "OL", "OL"),
        (("-", "uW"), "----", "12:01:05 ----"),
    ):
        first = {"mA": "2.0", "-": "12:01:04 2.0"}.get(columns[0], "1,5.0,2.0")
        with pytest.raises(DeviceError, match=f"power-lost: meter m: says '{word}' for a quantity"):
            lines_of(tmp_path, columns, first, line)
    for line in ("2,5.0,inf", "2,5.0,9.9E+37", "2,9.9E+37,0", "2,1e200,2.0", "2,-70,2.0", "1e300,5.0,2.0"):
        with pytest.raises(DeviceError, match=r"power-lost: meter m: (.* is out of|sends what is not)"):
            lines_of(tmp_path, three, "1,5.0,2.0", line)


@pytest.mark.parametrize(
    ("channels", "lines", "read"),
    [
        (("P1",), ["P1: 20.0 mA DC", "P1: inf µA DC"], [(5.0, 0.02), (5.0, float("inf"))]),
        (("P1",), ["P1: -inf A", "P1: OL A"], [(5.0, float("-inf")), (5.0, float("inf"))]),
        (
            ("I1", "V1"),
            ["V1: 5 V DC", "I1: 20 mA DC", "I1: inf A DC", "V1: 5 V DC", "V1: 5 V", "I1: 1 A"],
            [(5.0, 0.02), (5.0, float("inf")), (5.0, 1.0)],
        ),
        (("P1",), ["FRAME-BEGIN", "P1: 20.0 °C"], None),
    ],
)
def test_what_sigrok_reads_out_of_range_is_no_sample(
    channels: tuple[str, ...], lines: list[str], read: list[tuple[float, float]] | None
) -> None:
    """The last reading is never taken again in its place, and no reading is left out."""
    from steelyard.lab.meters import sigrok

    text = Meter(name="m", driver="sigrok", port="x", channels=channels, volts=5.0, gain=0.0, offset=0.0, most=9.0)
    driver, made = sigrok.Driver(metered(text)), meter.Samples()
    driver._seen = {}
    if read is None:
        *before, last = lines
        for line in before:
            driver._line(line, made)
        with pytest.raises(ValueError, match="is not a reading in V, A or W"):
            driver._line(last, made)
        return
    for line in lines:
        driver._line(line, made)
    assert list(zip(made.v, made.i, strict=True)) == read
    if not all(abs(i) < 9 for i in made.i):
        with pytest.raises(meter.Unsound, match="out of its range"):
            meter._check(made, metered(text), 0.0)


@pytest.mark.parametrize("lines", [["1: 5 V"], ["1: 1 A", "2: 5 V", "3: 5 V"], ["1: 1 A", "2: 5 W", "3: 1 A"]])
def test_channels_without_a_current_or_with_one_twice_measure_nothing(lines: list[str]) -> None:
    from steelyard.lab.meters import sigrok

    channels = tuple(line[0] for line in lines)
    there = Meter(name="m", driver="sigrok", port="x", channels=channels, volts=5.0, gain=0.0, offset=0.0, most=9.0)
    with pytest.raises(UserError, match=r"meters\.m\.channels: name each once"):
        metered(there.but(channels=(*channels, channels[0])))
    driver = sigrok.Driver(metered(there))
    driver._seen = {}
    *before, last = lines
    for line in before:
        driver._line(line, meter.Samples())
    with pytest.raises(ValueError, match="channels have to be of a current or a power, and of each quantity one"):
        driver._line(last, meter.Samples())


@pytest.mark.parametrize("line", ["I1: 1e+05 uA", "I1: 1e-04 kA", "I1: 100.0 mA", "I1: 1e2mA"])
def test_sigroks_numbers_are_read_in_all_their_forms(line: str) -> None:
    from steelyard.lab.meters import sigrok

    text = Meter(name="m", driver="sigrok", port="x", channels=("I1",), volts=5.0, gain=0.0, offset=0.0, most=1.0)
    driver, made = sigrok.Driver(metered(text)), meter.Samples()
    driver._seen = {}
    driver._line(line, made)
    assert made.i == [pytest.approx(0.1)]


def test_a_late_board_is_let_no_further_than_a_meter_can_follow(tmp_path: Path) -> None:
    late = Clock(time.monotonic_ns() - 3600 * 10**9)  # the lab began an hour ago, and the board has come one second far
    played = mock.Mock(**{"files.return_value": [], "behind.side_effect": lambda reached: reached})
    wire = tmp_path / "wire"
    there = supply.Supply(wire, late, supply.Current(0.5, 2.0), lambda _: played)
    Thread(target=there.serve, daemon=True).start()
    with socket.socket(socket.AF_UNIX) as board:
        board.settimeout(20)
        board.connect(str(wire))
        board.sendall(EDGE.pack(SECOND, MARK, 0))
        let = 0
        while let < SECOND:
            (let,) = LEAVE.unpack(board.recv(LEAVE.size, socket.MSG_WAITALL))
    assert let == SECOND + LEAD


@pytest.mark.parametrize(("line", "gives"), [("P1: 20.0 mA DC", []), ("P1: 20.0 mW", [0.02])])
def test_watts_are_kept_as_they_were_read(line: str, gives: list[float], tmp_path: Path) -> None:
    """Their steps are not those of the amperes that follow from them."""
    from steelyard.lab.meters import lines, sigrok

    text = Meter(name="m", driver="sigrok", port="x", channels=("P1",), volts=5.0, gain=0.0, offset=0.0, most=9.0)
    driver, made = sigrok.Driver(metered(text)), meter.Samples()
    driver._seen = {}
    driver._line(line, made)
    assert made.w == gives
    file = tmp_path / "m.csv"
    file.touch()
    columns = ("V", "mW") if gives else ("V", "mA")
    reader = lines.Driver(metered(text.but(driver="lines", port=str(file), columns=columns)))
    made = meter.Samples()
    assert reader._sample("5.004,20.0", 0.0, made)
    reader.close()
    assert made.w == gives
    assert made.read == (gives or [0.02])
