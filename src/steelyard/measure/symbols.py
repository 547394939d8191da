"""Sizes by symbol, as the toolchain's own nm reads them from a linked image."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..model import paths
from ..model.call import DeviceError
from ..model.reasons import Failure, Reason
from ..model.symbol import Symbol
from ..model.target import Target

#: what a type letter of nm means for ROM and RAM; others take no room in the image
_KINDS = {"t": "code", "w": "code", "r": "constants", "d": "data", "b": "bss", "g": "data", "s": "bss"}
_SECONDS = 30


def symbols(image: Path, target: Target) -> list[Symbol]:
    """Named functions and objects of an image with a size. :class:`DeviceError` when nm cannot read it."""
    name = f"{target.toolchain.prefix}nm"
    tool = shutil.which(name, path=paths.search_path())
    if tool is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, f"{name} not found"))
    command = [tool, "--print-size", "--defined-only", "--format=posix", str(image)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, errors="replace", timeout=_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
        raise DeviceError(Failure(Reason.LINK_ERROR, f"{name}: {e}")) from e
    found = []
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 4 and (kind := _KINDS.get(words[1].lower())) and int(words[3], 16):
            found.append(Symbol(words[0], kind, int(words[3], 16)))
    return found


def added(image: Path, baseline: Path, target: Target) -> dict[tuple[str, str], int]:
    """Bytes by (symbol, kind) that an image holds minus those of its baseline, below zero where that has more
    (its own helpers), so that they add up to ROM. Local symbols of one name add up."""
    sums: dict[tuple[str, str], int] = {}
    for sign, file in ((1, image), (-1, baseline)):
        for s in symbols(file, target):
            sums[s.name, s.kind] = sums.get((s.name, s.kind), 0) + sign * s.size
    return {key: size for key, size in sums.items() if size}
