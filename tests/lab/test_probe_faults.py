"""A debug probe that vanishes costs an attempt, or becomes the reason of the run: RAM is the simulator's or missing."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.lab import Lab, flash, pool, probe
from steelyard.lab.virtual import played
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.pipeline import Job, Pipeline, nocrypt
from tests import toys
from tests.conftest import Bench, the_target, write
from tests.lab import wires
from tests.lab.conftest import free
from tests.lab.wired import TEXT

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
PILL = """
[probes.swd]
interface = "interface/stlink-dap.cfg"
commands = ["st-link backend tcp {swd}", "transport select dapdirect_swd"]
virtual = true

[boards.pill]
target = "bluepill"
port = "pill"
flasher = "openocd-probe"
probe = "swd"
analyzer = "la"
channel = "P8_45"
clock_ppm = 0
virtual = true
"""


def described(folder: Path, port: int, swd: int) -> Lab:
    folder.mkdir(exist_ok=True)
    (folder / "lab.toml").write_text(TEXT.format(port=port) + PILL.format(swd=swd))
    return lab.load(folder / "lab.toml")


class Probed(NamedTuple):
    """A board, and the wire to its probe."""

    station: lab.Station
    wire: wires.Probe


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    found = described(tmp_path_factory.mktemp("behind"), *free(2))
    with played(found):
        yield found


@pytest.fixture
def there(behind: Lab, tmp_path: Path) -> Iterator[Probed]:
    the_target("bluepill")
    for state in (pool._doubted, pool._faults, pool._out, flash._sure):
        state.clear()
    wire = wires.Probe(behind.probes["swd"].address)
    text = (
        (behind.folder / "lab.toml").read_text().replace(f"tcp {behind.probes['swd'].address[1]}", f"tcp {wire.port}")
    )
    file = tmp_path / "lab.toml"
    file.write_text(text.replace('port = "pill"', f'port = "{behind.boards["pill"].port}"'))
    yield Probed(lab.load(file).board("pill"), wire)
    wire.close()


def once_in(step: str, fault: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """The next time that the probe is asked for that."""
    does = getattr(probe, step)

    def fails(*arguments: object) -> object:
        monkeypatch.setattr(probe, step, does)
        fault()
        return does(*arguments)

    monkeypatch.setattr(probe, step, fails)


def both(bench: Bench, station: lab.Station) -> tuple[Job, Pipeline]:
    write(bench.package().folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    return bench.job(bench.package(), the_target("bluepill"), "0/16"), Pipeline(bench.store, threads=1)


@pytest.mark.parametrize(
    ("step", "after"), [pytest.param("fill", 0, marks=pytest.mark.long), pytest.param("dump", 8000)]
)
def test_a_probe_that_comes_back_costs_an_attempt(
    there: Probed, bench: Bench, monkeypatch: pytest.MonkeyPatch, step: str, after: int
) -> None:
    """In the middle of what it reads, too."""
    once_in(step, lambda: there.wire.vanish(after), monkeypatch)
    back = wires.Probe.comes_back
    monkeypatch.setattr(lab, "begin", lambda *a, begin=lab.begin: (back(there.wire), begin(*a))[1])
    job, pipeline = both(bench, there.station)
    ours, board = (pipeline.weigh(j) for j in (job, replace(job, on=(there.station,))))
    assert (ours.failure, board.failure) == (None, None)
    assert board.metrics["ram_renner"] == ours.metrics["ram_renner"]
    [note] = [n for n in board.notes if "probe-lost" in n]
    assert "pill: swd: openocd: " in note


def test_a_run_whose_probe_stays_away_has_no_figure(
    there: Probed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "AWAY", 0.0)
    once_in("dump", lambda: there.wire.vanish(8000), monkeypatch)
    job, pipeline = both(bench, there.station)
    record: Record = pipeline.weigh(replace(job, on=(there.station,)))
    assert record.failure is not None
    assert record.failure.reason == Reason.PROBE_LOST
    assert re.match(
        r"no board is left: pill is out of order: swd: openocd: .*; the board is virtual.*: see that ",
        record.failure.detail,
    )
    assert (record.metrics, record.points, record.final) == ({}, (), False)


def test_ram_that_does_not_take_what_is_put_there_is_no_figure(there: Probed, bench: Bench) -> None:
    """It is looked at before the calls, too: what was never there would count as used, or as unused."""
    image = bench.build(nocrypt("crypto_aead"), the_target("bluepill")).images["both"]
    flasher = there.station.flasher
    spoilt = flasher.but(fill=tuple(a.replace("dump_image", "mww 0x20000100 0; dump_image") for a in flasher.fill))
    assert spoilt.fill != flasher.fill
    with pytest.raises(DeviceError) as e, lab.opened(there.station.but(flasher=spoilt), image, 10**7, Event()) as link:
        device.Client(link).untouched()
    assert e.value.failure.reason == Reason.PROBE_LOST
    assert re.search(r"swd: [234] bytes of RAM, from 0x2000010[0-3] on, did not take what was put", str(e.value))


def test_a_disk_that_has_no_room_for_a_dump_is_not_the_probes_fault(
    there: Probed, disk: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(disk("16k")))
    with pytest.raises(OSError, match="No space left"):
        probe.dump(there.station)


@pytest.mark.parametrize(("dumped", "why"), [("other", "is there any more"), ("same", "as it was filled")])
def test_ram_that_cannot_be_the_boards_is_no_figure(
    there: Probed, bench: Bench, monkeypatch: pytest.MonkeyPatch, dumped: str, why: str
) -> None:
    """What a probe gives that was put at another chip, or at none, and says nothing of it."""
    image = bench.build(nocrypt("crypto_aead"), the_target("bluepill")).images["both"]
    with lab.opened(there.station, image, 10**7, Event()) as link:
        client = device.Client(link)
        client.call(Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16)))
        assert client.untouched()
        filled: list[bytes] = []
        fill = probe.fill
        monkeypatch.setattr(probe, "fill", lambda *a: (filled.append(fill(*a)), filled[-1])[1])
        monkeypatch.setattr(probe, "dump", lambda _: filled[-1] if dumped == "same" else bytes(len(filled[-1])))
        with pytest.raises(DeviceError, match=why) as e:
            client.untouched()
        assert e.value.failure.reason == Reason.PROBE_LOST


def test_a_probe_at_a_chip_of_the_same_target_is_no_figure(
    there: Probed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both had the image, so calls are answered; that chip takes what is put into RAM, boots, and uses some of it."""
    image = bench.build(nocrypt("crypto_aead"), the_target("bluepill")).images["both"]
    fill = probe.fill

    def of_another(*asked: object) -> bytes:
        filled = fill(*asked)  # type: ignore[arg-type]
        monkeypatch.setattr(probe, "dump", lambda _: filled[:-80] + bytes(80))
        return filled

    with lab.opened(there.station, image, 10**7, Event()) as link:
        client = device.Client(link)
        client.call(Request(Op.ENCRYPT, bytes(16), bytes(16), b"", bytes(16)))
        right = client.untouched()
        assert right == client.untouched()
        monkeypatch.setattr(probe, "fill", of_another)
        with pytest.raises(DeviceError, match=r"swd: the last call over the port left nothing in RAM: is it at") as e:
            client.untouched()
    assert e.value.failure.reason == Reason.PROBE_LOST
