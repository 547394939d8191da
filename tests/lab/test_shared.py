"""What two processes of two homes want at once: one has it, the other says whom it waits for, and goes on later."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from steelyard import device, lab
from steelyard.jobs import failure_of
from steelyard.lab import Lab, attempt, flash, pool
from steelyard.lab.lock import held, holder
from steelyard.lab.metering import Meter, metered
from steelyard.lab.virtual import played
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Reason
from steelyard.pipeline import nocrypt
from tests.conftest import ROOT, Bench, the_target
from tests.lab import wires

from . import test_probe_faults
from .calls import CALLS, at, near
from .conftest import free
from .supplied import TRUST

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
METER = f"""
[meters.m]
virtual = true
idle_milliamperes = 2
driver = "lines"
port = "m"
rate = 4000
latency = 0
columns = ["us", "uW", "bits"]
{TRUST}
"""
#: opens a board and keeps it until its standard input ends
_HAS = """
import os, sys
from pathlib import Path
from threading import Event
from steelyard import lab
with lab.opened(lab.load(Path(sys.argv[1])).board("pill"), Path(sys.argv[2]), 10**7, Event()):
    print("ready", flush=True)
    os.read(0, 1)
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A board with a probe and a meter."""
    the_target("bluepill")
    folder = tmp_path_factory.mktemp("shared")
    test_probe_faults.described(folder, *free(2))
    file = folder / "lab.toml"
    file.write_text(file.read_text().replace('channel = "P8_45"', 'channel = "P8_45"\nmeter = "m"') + METER)
    found = lab.load(file)
    with played(found):
        yield found


@pytest.mark.parametrize("part", ["meter", "probe"])
def test_a_part_that_another_process_has_is_waited_for(there: Lab, bench: Bench, tmp_path: Path, part: str) -> None:
    """The board itself has another port in the second lab, so that nothing but the part is in the way."""
    for state in (pool._doubted, pool._faults, pool._out, flash._sure):
        state.clear()
    image = bench.build(nocrypt("crypto_aead"), the_target("bluepill")).images["both"]
    wire = wires.Serial(tmp_path / "pill", there.boards["pill"].port)
    second = there.board("pill")
    second = second.but(board=second.board.but(port=tmp_path / "pill"), meter=second.meter if part == "meter" else None)
    env = os.environ | {"STEELYARD_HOME": str(tmp_path / "home")}
    words = [sys.executable, "-c", _HAS, str(there.folder / "lab.toml"), str(image)]
    cycles: list[int] = []

    def use() -> None:
        with lab.opened(second, image, 10**7, Event()) as opened:
            cycles.extend(a.pulse.cycles for a in device.Client(opened).calls(CALLS))

    waits = Thread(target=use)
    with subprocess.Popen(words, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"ready\n"
        waits.start()
        name = "swd" if part == "probe" else "m"
        text = f"waits for {part} {name}: another Steelyard uses it (process {first.pid})"
        while waits.is_alive() and ((now := attempt.now(second.board)) is None or now.step != text):
            time.sleep(0.02)
        assert waits.is_alive(), "it did not wait"
        assert cycles == []
        first.communicate()
    waits.join()
    wire.unplug()
    assert near(second, cycles, image)


def test_who_does_not_wait_hears_who_has_it(tmp_path: Path) -> None:
    what = f"probe {tmp_path}"
    with held(what, "probe swd"):
        with pytest.raises(DeviceError, match=rf"probe swd: another Steelyard uses it \(process {os.getpid()}\)"):
            held(what, "probe swd")
        assert holder(what) == os.getpid()
    assert holder(what) == 0


def test_a_meter_is_locked_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "by-id").symlink_to(tmp_path / "ttyACM0")
    names = (tmp_path / "by-id", tmp_path / "ttyACM0")
    places = {metered(Meter(name="m", driver="ppk2", port=str(port), volts=5.0)).place for port in names}
    assert len(places) == 1


@pytest.mark.usefixtures("port_alone")
def test_a_full_folder_of_locks_is_not_the_boards_fault(
    described: Path,
    bench: Bench,
    terminal: tuple[int, Path],
    disk: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = disk("16k")
    monkeypatch.setenv("STEELYARD_LOCKS", str(place))
    (place / "filler").write_bytes(bytes(16 << 10))
    image = bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]
    with (
        pytest.raises(OSError, match="No space left") as e,
        lab.opened(at(lab.load(described), terminal[1]), image, 10**6, Event()),
    ):
        pass
    assert failure_of(e.value).reason == Reason.DISK_FULL
