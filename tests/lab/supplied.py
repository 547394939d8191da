"""A virtual uno with each kind of meter in its supply, and what its calls draw."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from steelyard import device, lab
from steelyard.lab import Station
from steelyard.lab.metering import Meter, Metered, metered
from steelyard.lab.virtual import played
from steelyard.model.call import Observed, Op, Request, Vector
from steelyard.model.power import Power
from tests.conftest import Bench, the_target

from .conftest import free

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
TRUST = "volts = 5.0\nresolution = 1e-6\ngain = 0.01\noffset = 1e-5\nmost = 0.1\n"
#: a slow meter looks on for long enough that its spread stays within its gain
METERS = {
    "ppk2": 'driver = "ppk2"\nport = "ports/m"\nvolts = 5.0\ngain = 0.005\nresolution = 5e-5',
    "scpi-dmm": TRUST + 'driver = "sigrok"\nport = "scpi-dmm:conn=tcp-raw/127.0.0.1/{scpi}"\nchannels = ["P1"]',
    "scpi-pps": TRUST + 'driver = "sigrok"\nport = "scpi-pps:conn=tcp-raw/127.0.0.1/{scpi}"\nchannels = ["V1", "I1"]',
    "ina219-arduino": 'driver = "ina219-arduino"\nport = "ports/m"\nrate = 200\nresolution = 1e-5',
    "lines": TRUST + 'driver = "lines"\nport = "ports/m"\nrate = 4000\nlatency = 0\ncolumns = ["us", "uW", "bits"]',
}
#: statements that take some milliseconds
WORK = "for (volatile unsigned w = 0; w < 2500; w++) {}"


@pytest.fixture(scope="module", params=METERS)
def station(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """A virtual uno with each kind of meter in its supply."""
    for tool in ("avrdude", "sigrok-cli", "avr-gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    if request.param == "ppk2":
        pytest.importorskip("ppk2_api", reason="ppk2-api is not installed: scripts/setup test")
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    la, scpi = free(2)
    file.write_text(LAB.format(la=la, meter=METERS[request.param].format(scpi=scpi)))
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
    """What calls of the image draw, by the board's meter."""
    with lab.opened(station, image, 10**7, Event()) as link:
        client = device.Client(link)
        power = lab.power(link, client, some_calls(client))
    assert power is not None
    return power


def at(station: Station, port: Path | str, **changes: object) -> Metered:
    """A meter of lines at another port."""
    base = Meter(name="m", driver="lines", port=str(port), columns=("ms", "V", "mA"), gain=0.01, offset=0.0, most=1.0)
    return metered(base.but(seconds=0.2, **changes))
