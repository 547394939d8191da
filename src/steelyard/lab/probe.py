"""What a board's debug probe is asked by OpenOCD: restart the chip, fill its RAM, look at it again.

Renner, Pozzobon and Mottok measure RAM so: random bytes everywhere before, a dump afterwards, and what is still as it
was has not been used.
"""

from __future__ import annotations

import subprocess
import tempfile
from itertools import groupby
from pathlib import Path
from random import Random

from ..model.call import DeviceError
from ..model.errors import cut
from ..model.reasons import Failure, Reason
from .config import Station

#: seconds that OpenOCD gets
PATIENCE = 60.0


def restart(station: Station) -> None:
    """Resets the chip and lets it go. :class:`DeviceError` when the probe does not do so, as with the others."""
    _ask(station, "reset run")


def fill(station: Station, seed: str) -> bytes:
    """Restarts the chip with random bytes in all its RAM; returns them."""
    ram = station.target.chip.ram
    content = Random(seed).randbytes(ram.size)
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        file = Path(folder, "ram.bin")
        file.write_bytes(content)
        _ask(station, "reset halt", f"load_image {file} {ram.base:#x} bin", "resume")
    return content


def dump(station: Station) -> bytes:
    """All RAM as it is; the chip stops for that, and goes on."""
    ram = station.target.chip.ram
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        file = Path(folder, "ram.bin")
        _ask(station, "halt", f"dump_image {file} {ram.base:#x} {ram.size:#x}", "resume")
        content = file.read_bytes()
    if len(content) != ram.size:
        raise _lost(station, f"{len(content)} of {ram.size} bytes of RAM came")
    return content


def longest_untouched(before: bytes, after: bytes) -> int:
    """The longest run of bytes that are the same; a byte that was written with what it held counts as untouched.

    >>> longest_untouched(b"abcdefg", b"abXdefY")
    3
    """
    same = groupby(a == b for a, b in zip(before, after, strict=True))
    return max((len(list(run)) for alike, run in same if alike), default=0)


def _ask(station: Station, *commands: str) -> None:
    assert station.probe is not None
    words = ("openocd", *station.probe.arguments, "-f", station.chip.script)
    try:
        done = subprocess.run(
            (*words, "-c", "; ".join(("init", *commands, "shutdown"))),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except FileNotFoundError:
        raise _lost(station, "openocd is not installed: apt install openocd") from None
    except subprocess.TimeoutExpired:
        raise _lost(station, f"openocd: no end after {PATIENCE:g} s") from None
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith("Error")] or lines or [f"exit code {done.returncode}"]
        raise _lost(station, f"openocd: {cut(telling[0], 200)}")


def _lost(station: Station, text: str) -> DeviceError:
    assert station.probe is not None
    return DeviceError(Failure(Reason.PROBE_LOST, f"{station.probe.name}: {text}"))
