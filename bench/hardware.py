"""``make bench``, hardware: what a design takes from nothing, from the store, and with all sizes."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from steelyard.asked import Asked, swept
from steelyard.model.inputs import SEED
from steelyard.model.paths import ROOT
from steelyard.rtl import bench, tools
from steelyard.rtl.design import Design
from steelyard.rtl.reading import designs_of

#: the design of three thousand tables, and those of which all sizes are simulated: a fast one, and a slow one
WHOLE, SWEPT = "ascon/x2", ("ascon/x1", "tinyjambu/default")
SEEDS = 10
_PR_SET_CHILD_SUBREAPER = 36
Row = tuple[str, str, str, str, str]


def hardware(folder: Path) -> list[Row]:
    """The rows; one that says what is missing where the tools are not there."""
    if gone := tools.missing(("verilator", "yosys", "nextpnr-ecp5")):
        return [("hardware", gone.detail, "-", "-", "-")]
    what = f"{WHOLE}, 3 devices, {SEEDS} seeds"
    cold, wall = _weighed(folder)
    kept, again = _weighed(folder)
    rows = [
        (f"{what}: nothing cached", f"{cold:.0f} CPU s", "-", "-", "240 CPU s"),
        (f"{what}: cores kept busy", f"{cold / wall:.2f} of {os.cpu_count()}", "-", "-", "1.80 of 2"),
        (f"{what}: from the store", f"{again:.2f} s, {kept:.2f} CPU s", "-", "-", "1 s"),
    ]
    return [*rows, *(_swept(folder, label) for label in SWEPT)]


def _weighed(folder: Path) -> tuple[float, float]:
    """CPU and wall seconds of the command. Raises :class:`subprocess.CalledProcessError` where it fails."""
    home = {**os.environ, "STEELYARD_HOME": str(folder / "hardware")}
    before, start = _children(), time.monotonic()
    command = [sys.executable, "-m", "steelyard", "rtl", WHOLE, "--seeds", str(SEEDS)]
    subprocess.run(command, env=home, check=True, capture_output=True)
    return _children() - before, time.monotonic() - start


def _children() -> float:
    """Processor seconds of all that was started, once it has ended. A sandbox leaves its tools behind when it ends:
    they come to us, and count after we have waited for them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _swept(folder: Path, label: str) -> Row:
    """All sizes from 0 to 2 KiB of all operations, without the compilation of the test bench."""
    design = next(d for d in _bundled() if d.label == label)
    work = folder / label.replace("/", "-")
    work.mkdir()
    bench.build(design, bench.own(design), work)
    asked = Asked(design, SEED)
    sizes = asked.sizes()
    before, start = _children(), time.process_time()
    found, cycles = swept(asked, work, sizes, [0] * len(sizes))
    seconds = _children() - before + time.process_time() - start
    done = f"{len(found) - len(sizes)} operations, {sum(cycles) / 1e6:.0f} million cycles: {seconds:.1f} CPU s"
    return (f"{label}, all sizes to 2 KiB", done, "-", "-", "10 CPU s")


def _bundled() -> list[Design]:
    return [d for file in sorted((ROOT / "rtl").glob("*/*/design.toml")) for d in designs_of(file.parent)]
