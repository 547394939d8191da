"""What a board's debug probe is asked through its flasher: restart the chip, fill its RAM, look at it again.

Renner, Pozzobon and Mottok measure RAM so: random bytes everywhere before, a dump afterwards, and what is still as it
was has not been used.
"""

from __future__ import annotations

import subprocess
import tempfile
from itertools import groupby
from pathlib import Path
from random import Random

from ..model import paths
from ..model.call import DeviceError
from ..model.errors import cut
from ..model.reasons import Failure, Reason
from .attempt import heard
from .config import PROBE, Station
from .plugs import by_usb

#: seconds that a flasher gets
PATIENCE = 60.0


def restart(station: Station) -> None:
    """Resets the chip and lets it go. :class:`DeviceError` when the probe does not do so, as with the others."""
    _ask(station, station.flasher.restart, Path())


def fill(station: Station, seed: str) -> bytes:
    """Restarts the chip with random bytes in all its RAM; returns them."""
    content = Random(seed).randbytes(station.target.chip.ram.size)
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        file = Path(folder, "ram.bin")
        file.write_bytes(content)
        _ask(station, station.flasher.fill, file)
    return content


def dump(station: Station) -> bytes:
    """All RAM as it is; the chip stops for that, and goes on."""
    size = station.target.chip.ram.size
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        file = Path(folder, "ram.bin")
        _ask(station, station.flasher.dump, file)
        content = file.read_bytes() if file.exists() else b""
    if len(content) != size:
        raise _lost(station, f"{len(content)} of {size} bytes of RAM came")
    return content


def longest_untouched(before: bytes, after: bytes) -> int:
    """The longest run of bytes that are the same; a byte that was written with what it held counts as untouched.

    >>> longest_untouched(b"abcdefg", b"abXdefY")
    3
    """
    same = groupby(a == b for a, b in zip(before, after, strict=True))
    return max((len(list(run)) for alike, run in same if alike), default=0)


def _ask(station: Station, arguments: tuple[str, ...], file: Path) -> None:
    assert station.probe is not None
    flasher, ram = station.flasher, station.target.chip.ram
    chip = station.chip
    words = {"script": chip.script, "go": chip.go, "file": str(file), "base": hex(ram.base), "size": hex(ram.size)}
    probe = station.probe.arguments(flasher)
    spelt = (probe if a == PROBE else (a.format(**words),) for a in arguments)
    program = flasher.program
    try:
        done = subprocess.run(
            (paths.tool(program) or program, *(word for many in spelt for word in many)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except FileNotFoundError:
        raise _lost(station, f"{program} is not installed: {flasher.package}") from None
    except subprocess.TimeoutExpired:
        raise _lost(station, f"{program}: no end after {PATIENCE:g} s") from None
    heard(program, done.stdout + b"\n" + done.stderr)
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower()] or lines or [f"exit code {done.returncode}"]
        raise _lost(station, f"{program}: {cut(telling[0], 200)}{by_usb(telling[0])}")


def _lost(station: Station, text: str) -> DeviceError:
    assert station.probe is not None
    return DeviceError(Failure(Reason.PROBE_LOST, f"{station.probe.name}: {text}"))
