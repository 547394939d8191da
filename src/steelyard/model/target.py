"""A target is one TOML file and one folder of firmware: everything about it, and nothing elsewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from .._native import Chip as Chip
from .._native import Simulator
from . import paths, toml
from .digest import of_folder
from .errors import UserError, unknown

#: a target's names of peripherals, and settings, that no model answers for; no image and no figure depends on them
BLOCKS = "blocks.toml"
#: what avr-gcc adds to addresses of data
_AVR_DATA = 0x80_0000
#: a region of a linker script
_REGION = re.compile(
    r"^ *(?P<name>flash|ram) *\(\w+\) *: *ORIGIN *= *(?P<origin>\w+), *"
    r"LENGTH *= *\(?(?P<length>(?:0x[0-9a-f]+|\d+)[km]?)(?: *- *(?P<less>(?:0x[0-9a-f]+|\d+)[km]?))?\)? *$",
    re.MULTILINE | re.IGNORECASE,
)
_Positive = Annotated[float, Meta(gt=0, lt=1e6)]


class ToolchainSpec(toml.Table, frozen=True, kw_only=True):
    """Which compiler makes images for the target, and with which fixed options.

    ``family`` names the instruction set as assembly sources and ``architectures`` files know it;
    ``packages`` are the Debian packages that bring it, none where no package does; ``note`` then says
    where it comes from. ``linker`` is the program that links, where the compiler's driver does not;
    ``harness`` are options of the harness alone, which keep its loops from becoming calls of the C library.
    ``{folder}`` in ``flags`` is the target's folder.
    """

    name: str
    compiler: str
    cxx: str
    prefix: str
    linker: str = ""
    packages: tuple[str, ...]
    note: str = ""
    family: str
    flags: tuple[str, ...]
    link: tuple[str, ...] = ()
    harness: tuple[str, ...] = ("-fno-tree-loop-distribute-patterns",)
    default_flags: tuple[str, ...] = ("-O3",)

    @property
    def fix(self) -> str:
        """What to do when the compiler is missing."""
        return f"apt install {' '.join(self.packages)}" if self.packages else self.note

    @property
    def missing(self) -> str:
        """That it is missing, whether a package brings it, and what to do."""
        return f"missing: {self.fix}" if self.packages else f"missing, and no Debian package: {self.fix}"


class Energy(toml.Table, frozen=True, kw_only=True):
    """A running chip's supply at one point of its data sheet: what "modelled" energy is made of.

    ``clock_hz`` is the clock of that point, which need not be the target's: energy per cycle hardly
    depends on it. ``source`` names document and table.
    """

    volts: _Positive
    milliamperes: _Positive
    clock_hz: Annotated[int, Meta(gt=0)]
    source: str


class Wiring(toml.Table, frozen=True, kw_only=True):
    """Where a chip's pins are wired: what the trigger is on, what the serial port sends and receives on, each with its
    place on the board, the port's bits in a second when the firmware starts, and those that it can be told to go on
    with, 0 where there are none.

    ``board_hz`` is the clock that a board's core has after our start-up code, where that is not the chip's nominal
    one, and the port's clock is the core's over ``serial_divides``."""

    trigger: str
    transmit: str
    receive: str
    baud: Annotated[int, Meta(gt=0)] = 115200
    fast_baud: Annotated[int, Meta(ge=0)] = 0
    board_hz: Annotated[int, Meta(ge=0)] = 0
    serial_divides: Annotated[int, Meta(gt=0)] = 1


class Target(toml.Table, frozen=True, kw_only=True):
    """A chip on a board with a toolchain.

    ``device`` is what runs its images: the simulator, a process on this machine, or one on a machine of that
    ``architecture`` over ssh, which the user names in :attr:`host_variable`. A job that says where it runs has a board
    there instead of the simulator. Where its own compiler is not
    here a ``substitute`` makes the images; ``toolchain`` is then that one, ``preferred`` the own one, and
    records carry the substitute's note. Every ``alternative`` is a toolchain that the user may choose instead.
    An ``opt_in`` target is weighed only when it is named. ``felics`` is what
    FELICS-AE's result files call the chip.
    """

    name: str
    title: str
    chip_name: str
    tier: Literal["exact", "compared", "fitted", "not validated", "measured here", "measured there"]
    silicon: str
    chip: Chip
    toolchain: ToolchainSpec
    device: Literal["simulator", "process", "ssh", "board", "virtual-board"] = "simulator"
    architecture: str = ""
    opt_in: bool = False
    felics: str = ""
    substitute: ToolchainSpec | None = None
    preferred: ToolchainSpec | None = None
    alternative: tuple[ToolchainSpec, ...] = ()
    energy: Energy | None = None
    wiring: Wiring | None = None
    folder: Path

    @property
    def is_chip(self) -> bool:
        """Whether it is a microcontroller, simulated or real, and no machine with an operating system."""
        return self.device not in ("process", "ssh")

    @property
    def stand_in(self) -> str:
        """What figures owe to a substitute compiler; empty where the target's own one is used."""
        return self.toolchain.note if self.preferred else ""

    @property
    def board_hz(self) -> int:
        """The clock that the core of a board has after our start-up code; :attr:`chip` has the nominal one, which
        modelled energy and time are for."""
        return (self.wiring.board_hz if self.wiring else 0) or self.chip.clock_hz

    @property
    def host_variable(self) -> str:
        """Environment variable that names the machine of an ``ssh`` target, as ssh knows it."""
        return f"STEELYARD_{self.name.upper().replace('-', '_')}"

    @property
    def digest(self) -> str:
        """SHA-256 over the target's files that images and figures depend on: description, firmware, linker script."""
        return of_folder(self.folder, but=BLOCKS)

    @property
    def toolchains(self) -> tuple[ToolchainSpec, ...]:
        """The toolchain in use, and those that could be."""
        return (self.toolchain, *(a for a in self.alternative if a.name != self.toolchain.name))

    def using(self, name: str) -> Target:
        """The target with its toolchain of that name; itself where it has none such."""
        return next((self.but(toolchain=spec) for spec in self.toolchains if spec.name == name), self)

    @property
    def nanojoule_per_cycle(self) -> float | None:
        """Supply power over clock: modelled energy of one cycle."""
        if self.energy is None:
            return None
        return self.energy.volts * self.energy.milliamperes * 1e6 / self.energy.clock_hz


@cache
def load_target(name: str) -> Target:
    """The target called ``name``; :class:`UserError` with a suggestion when there is none."""
    names = target_names()
    if name not in names:
        raise unknown("target", name, names)
    file = paths.TARGETS / name / "target.toml"
    target = toml.load(file, Target, {"name": name, "folder": file.parent})
    if target.is_chip:
        if target.device != "simulator":
            raise UserError(f"{paths.short(file)}: device: boards are named in lab.toml; leave it out for their target")
        if target.wiring is None:
            raise UserError(f"{paths.short(file)}: wiring: missing")
        try:
            Simulator(target.chip)
        except ValueError as e:
            raise UserError(f"{paths.short(file)}: chip: {e}") from e
        _compare(target, file.with_name("link.ld"))
    alternative = tuple(_placed(a, file.parent) for a in target.alternative)
    target = target.but(toolchain=_placed(target.toolchain, file.parent), alternative=alternative)
    if target.substitute is None or _here(target.toolchain) or not _here(target.substitute):
        return target
    return target.but(toolchain=_placed(target.substitute, file.parent), preferred=target.toolchain)


def _compare(target: Target, script: Path) -> None:
    """That the linker's memory is the chip's: else an image is refused that fits, or made of what is not there."""
    if not script.exists():
        return
    data = _AVR_DATA if target.toolchain.family == "avr" else 0
    regions = {m["name"]: m for m in _REGION.finditer(script.read_text(encoding="utf-8"))}
    for name, mine, offset in (("flash", target.chip.flash, 0), ("ram", target.chip.ram, data)):
        where = f"{paths.short(script)}: {name}"
        if name not in regions:
            raise UserError(f"{where}: write its ORIGIN and LENGTH as numbers")
        base = int(regions[name]["origin"], 0)
        less = regions[name]["less"]  # a boot loader's, or vectors
        size = _bytes(regions[name]["length"]) - (_bytes(less) if less else 0)
        if base != mine.base + offset or size > mine.size or (name == "ram" and size != mine.size):
            chips = f"{mine.size} at {mine.base + offset:#x} in {script.with_name('target.toml').name}"
            raise UserError(f"{where} is {size} bytes at {base:#x}, and {chips}")


def _bytes(number: str) -> int:
    """A linker's number."""
    scale = {"K": 1 << 10, "M": 1 << 20}.get(number[-1].upper(), 1)
    return int(number if scale == 1 else number[:-1], 0) * scale


def _placed(spec: ToolchainSpec, folder: Path) -> ToolchainSpec:
    return spec.but(flags=tuple(f.replace("{folder}", str(folder)) for f in spec.flags))


def _here(spec: ToolchainSpec) -> bool:
    return paths.compiler(spec.compiler) is not None


@cache
def target_names() -> tuple[str, ...]:
    """Names of all targets, sorted."""
    return tuple(sorted(f.parent.name for f in paths.TARGETS.glob("*/target.toml")))
