"""Devices: FPGAs, each a folder with ``device.toml``. What their tools are told is data."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from msgspec import field
from msgspec.structs import replace

from ..model import toml
from ..model.digest import of_file, of_folder
from ..model.errors import unknown
from ..model.paths import ROOT
from .liberty import library

DEVICES = ROOT / "devices"


class Place(toml.Table, frozen=True):
    """The tool that places and routes, and its arguments. A design with more bits of ports than ``pins`` is placed
    with the arguments ``crowded`` besides, without pins."""

    tool: str
    arguments: tuple[str, ...]
    pins: int = 0
    crowded: tuple[str, ...] = ()


class Device(toml.Table, frozen=True):
    """``synth`` is the yosys command, ``area`` what ``lut`` counts: lookup tables by cell, ``lut_low`` without
    those that mostly share a table. ``models`` are yosys' simulation models of its cells, which are read with
    ``defines``; where they are wrong or absent, the folder has ``cells.v``. Without ``place`` there is
    ``no_frequency``, which says why. ``others`` are the cells that are neither tables nor flip-flops. ``reads`` are the
    inputs of memories and shift registers that reach an output without a clock; at the others a path ends. ``usual``
    ones are weighed where nobody names any. ``elements``: a table and a flip-flop may share an element. ``liberty`` is
    the file of the gates' library, whose areas ``lut``, ``ff`` and ``ge`` then are. ``reports`` are, by the tool of its
    vendor whose reports are taken, what the names of its family's parts begin with, a regular expression."""

    name: str
    folder: Path
    title: str
    synth: str
    area: str
    models: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    lut: dict[str, float] = field(default_factory=dict)
    lut_low: dict[str, float] = field(default_factory=dict)
    ff: dict[str, int] = field(default_factory=dict)
    reads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    place: Place | None = None
    no_frequency: str = ""
    usual: bool = False
    elements: bool = False
    liberty: str = ""
    ge: dict[str, float] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)

    @property
    def library(self) -> Path | None:
        """The liberty file."""
        return self.folder / self.liberty if self.liberty else None

    @property
    def known(self) -> set[str]:
        """The cells that yosys maps to; it notes in some of its own where others come from."""
        return {*self.lut, *self.ff, *self.others, "$scopeinfo"}

    @property
    def digest(self) -> str:
        """SHA-256 over the folder's files, and the liberty file that it is told to take instead of its own."""
        own = of_folder(self.folder)
        other = self.library is not None and self.folder not in self.library.parents
        return hashlib.sha256(f"{own}{of_file(self.library)}".encode()).hexdigest() if other and self.library else own


@cache
def device_names() -> tuple[str, ...]:
    """The names of all devices, sorted."""
    return tuple(sorted(f.parent.name for f in DEVICES.glob("*/device.toml")))


@cache
def usual_devices() -> tuple[str, ...]:
    """The names of those that are weighed where nobody names any; first those that have a frequency."""
    usual = [d for d in map(load_device, device_names()) if d.usual]
    return tuple(d.name for d in sorted(usual, key=lambda d: (d.place is None, d.name)))


@cache
def load_device(name: str, liberty: Path | None = None) -> Device:
    """The device of this name, with the gates of ``liberty`` where it takes such a file. Raises :class:`UserError`."""
    if name not in device_names():
        raise unknown("device", name, device_names())
    folder = DEVICES / name
    device = toml.load(folder / "device.toml", Device, {"name": name, "folder": folder})
    if not device.liberty:
        return device
    device = replace(device, liberty=str(liberty.resolve()) if liberty else device.liberty)
    assert device.library is not None
    cells = library(device.library)
    return replace(device, lut=cells.gates, ff=dict.fromkeys(cells.registers, 1), ge={**cells.gates, **cells.registers})
