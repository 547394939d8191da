"""A target is one TOML file and one folder of firmware: everything about it, and nothing elsewhere."""

from __future__ import annotations

import hashlib
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from . import paths
from .errors import UserError, unknown


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Region(_Table):
    """A span of addresses: ``base`` and ``size`` in bytes."""

    base: int
    size: int


class FlashTiming(_Table):
    """Flash timing in core cycles and bytes, as the chip's manual gives it."""

    wait_states: int = 0
    line_bytes: int = 0
    prefetch_lines: int = 0
    data_wait_states: int = 0
    cache_lines: int | None = None
    branch_overlap: int | None = None
    ahead_bytes: int | None = None


class Peripheral(_Table):
    """A register block: ``kind`` names the simulator's model of it."""

    kind: str
    base: int
    trigger_bit: int | None = None


class Chip(_Table):
    """What the simulator needs to know about a chip."""

    core: str
    clock_hz: int
    flash: Region
    flash_in_data: int | None = None
    ram: Region
    flash_timing: FlashTiming = FlashTiming()
    peripherals: tuple[Peripheral, ...]


class ToolchainSpec(_Table):
    """Which compiler makes images for the target, and with which fixed options.

    ``family`` names the instruction set as assembly sources and ``architectures`` files know it;
    ``packages`` are the Debian packages that bring it, none where no package does; ``note`` then says
    where it comes from.
    """

    name: str
    compiler: str
    cxx: str
    prefix: str
    packages: tuple[str, ...]
    note: str = ""
    family: str
    flags: tuple[str, ...]
    link: tuple[str, ...] = ()
    default_flags: tuple[str, ...] = ("-O3",)

    @property
    def fix(self) -> str:
        """What to do when the compiler is missing."""
        return f"apt install {' '.join(self.packages)}" if self.packages else self.note


class Energy(_Table):
    """A running chip's supply at one point of its data sheet: what "modelled" energy is made of.

    ``clock_hz`` is the clock of that point, which need not be the target's: energy per cycle hardly
    depends on it. ``source`` names document and table.
    """

    volts: float
    milliamperes: float
    clock_hz: int
    source: str


class Target(_Table):
    """A chip on a board with a toolchain.

    ``device`` is what runs its images; an ``opt_in`` target is weighed only when it is named.
    """

    name: str
    title: str
    chip_name: str
    tier: str
    silicon: str
    chip: Chip
    toolchain: ToolchainSpec
    device: Literal["simulator", "process"] = "simulator"
    opt_in: bool = False
    energy: Energy | None = None
    folder: Path

    @property
    def chip_json(self) -> str:
        """The chip as the simulator reads it."""
        return json.dumps(self.chip.model_dump(exclude_none=True))

    @property
    def digest(self) -> str:
        """SHA-256 over the target's files: description, firmware, linker script."""
        h = hashlib.sha256()
        for f in sorted(self.folder.iterdir()):
            if f.is_file():
                h.update(f"{f.name}\0".encode() + hashlib.sha256(f.read_bytes()).digest())
        return h.hexdigest()

    @property
    def nanojoule_per_cycle(self) -> float | None:
        """Supply power over clock: modelled energy of one cycle."""
        if self.energy is None:
            return None
        return self.energy.volts * self.energy.milliamperes * 1e6 / self.energy.clock_hz


def _describe(file: Path, error: ValidationError) -> UserError:
    lines = []
    for e in error.errors():
        place = ".".join(str(p) for p in e["loc"])
        if e["type"] == "extra_forbidden":
            table: Any = Target
            for part in (p for p in e["loc"][:-1] if isinstance(p, str)):
                field = getattr(table, "model_fields", {}).get(part)
                kind = field.annotation if field else None  # a table, an optional one, or a list of them
                table = next((t for t in (kind, *get_args(kind)) if hasattr(t, "model_fields")), None)
            known = list(getattr(table, "model_fields", {}))
            lines.append(f"{place}: {unknown('key', str(e['loc'][-1]), known)}")
        else:
            lines.append(f"{place}: {e['msg']}")
    return UserError(f"{paths.short(file)}: " + "; ".join(lines))


@cache
def load_target(name: str) -> Target:
    """The target called ``name``; :class:`UserError` with a suggestion when there is none."""
    names = target_names()
    if name not in names:
        raise unknown("target", name, names)
    file = paths.TARGETS / name / "target.toml"
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return Target.model_validate({**table, "name": name, "folder": file.parent})
    except tomllib.TOMLDecodeError as e:
        raise UserError(f"{paths.short(file)}: {e}") from e
    except ValidationError as e:
        raise _describe(file, e) from e


@cache
def target_names() -> tuple[str, ...]:
    """Names of all targets, sorted."""
    return tuple(sorted(f.parent.name for f in paths.TARGETS.glob("*/target.toml")))
