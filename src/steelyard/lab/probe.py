"""What a board's debug probe is asked through its flasher: restart the chip, fill its RAM, look at it again.

Renner, Pozzobon and Mottok measure RAM so: random bytes everywhere before, a dump afterwards, and what is still as it
was has not been used.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from itertools import groupby
from pathlib import Path
from random import Random

from ..model.call import DeviceError
from ..model.errors import counted
from ..model.reasons import Failure, Reason
from .arguments import Looked
from .config import Station
from .program import run

#: seconds that a flasher gets
PATIENCE = 120.0


def restart(station: Station) -> None:
    """Resets the chip and lets it go. :class:`DeviceError` when the probe does not do so, as with the others."""
    _ask(station, station.flasher.restart, Path())


def fill(station: Station, seed: str) -> bytes:
    """Restarts the chip with random bytes in all its RAM; returns them, as a dump before the chip went on had them."""
    content = Random(seed).randbytes(station.target.chip.ram.size)
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        file = Path(folder, "ram.bin")
        file.write_bytes(content)
        _ask(station, station.flasher.fill, file)
        there = file.read_bytes()
    if there == content:
        return there
    wrong = [at for at, (a, b) in enumerate(zip(there, content, strict=False)) if a != b]
    if len(there) != len(content) or not wrong:
        raise _lost(station, f"{len(there)} of {len(content)} bytes of RAM came")
    where = station.target.chip.ram.base + wrong[0]
    raise _lost(station, f"{counted(len(wrong), 'byte')} of RAM, from {where:#x} on, did not take what was put there")


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
    flasher, chip, ram = station.flasher, station.chip, station.target.chip.ram
    words = Looked(script=chip.script, go=chip.go, file=str(file), base=hex(ram.base), size=hex(ram.size))
    if (why := run(station, arguments, words, PATIENCE)) is not None:
        raise _lost(station, f"{flasher.program}: {why}")


def _lost(station: Station, text: str) -> DeviceError:
    """The probe is lost; :class:`OSError` where what it says may have had no room."""
    folder = tempfile.gettempdir()
    if shutil.disk_usage(folder).free < station.target.chip.ram.size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)
    assert station.probe is not None
    return DeviceError(Failure(Reason.PROBE_LOST, f"{station.probe.name}: {text}"))
