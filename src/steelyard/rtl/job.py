"""What is to be done with a design on a device, and the identity of its run."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from msgspec import Struct

from ..model.digest import of_file
from ..model.errors import UserError
from ..model.once import Once
from ..model.record import Setup, Toolchain
from . import bench, ghdl, tools, vendor
from .design import Design
from .device import Device
from .vendor import Report

#: number of this pipeline: what is kept of an older one is made again
RECIPE = "4"
#: seeds of place and route
SEEDS = 6
PRIMITIVE = "lwc_rtl"


class Job(Struct, frozen=True):
    """One run to do: a design on a device, placed with seeds 1 to ``seeds``; or with what a vendor's ``reports`` say of
    it instead. ``every`` asks for the cycles of all sizes. ``modes`` are those that it has to be right in."""

    design: Design
    device: Device
    seeds: int = SEEDS
    origin: str = ""
    every: bool = False
    reports: tuple[Path, ...] = ()
    modes: tuple[str, ...] = bench.MODES

    @property
    def needed(self) -> tuple[str, ...]:
        """The tools that it needs."""
        place = (self.device.place.tool,) if self.device.place else ()
        cells = () if self.reports else ("yosys", *place)
        return ("verilator", *cells, *((self._ghdl,) if "vhdl" in self.design.languages else ()))

    @property
    def _ghdl(self) -> str:
        """GHDL 5, or an older one that simulates only."""
        return "ghdl" if ghdl.serves(self.design) and ghdl.simulator() == "ghdl" else "ghdl-5"

    @property
    def setup(self) -> Setup:
        """Everything that its figures depend on."""
        found = [tools.identify(n) or Toolchain(n, "missing", "") for n in self.needed]
        found += [Toolchain(r.tool, r.version, r.digest) for r in [self.reported] if r]
        digest = hashlib.sha256("".join(t.sha256 for t in found).encode()).hexdigest()
        d = self.design
        return Setup(
            primitive=PRIMITIVE,
            family=d.family,
            variant=d.name,
            implementation=d.variant,
            implementation_digest=digest_of(d),
            target=self.device.name,
            target_digest=self.device.digest,
            device="synthesis",
            toolchain=Toolchain("rtl", ", ".join(f"{t.name} {_number(t.version)}" for t in found), digest),
            flags=f"seeds 1-{self.seeds}" if self.device.place and not self.reports else "",
            workload=self._workload,
            harness=harness(),
            timing_model=self._timing,
        )

    @property
    def reported(self) -> Report | None:
        """What the reports say. Raises :class:`UserError`."""
        return vendor.read(self.reports, self.device) if self.reports else None

    @property
    def _workload(self) -> str:
        """What it is asked, as records name it: with the modes, where these are not all."""
        modes = self.modes if self.modes != bench.MODES else ()
        return "-".join(["lwc", *["every"] * self.every, *modes])

    @property
    def _timing(self) -> str:
        """Whose frequency it is, or of which library the gates are: figures of others are not compared with them."""
        if self.reported:
            return f"{self.reported.tool}, reported"
        if self.device.library is not None:
            return f"gates of {self.device.library.name} {of_file(self.device.library)[:8]}"
        return self.device.place.tool if self.device.place else "none"


def _number(version: str) -> str:
    """The number in what a tool says of its version."""
    found = re.search(r"\d+\.\d[\w.]*", version)
    return found[0] if found else version[:40]


@Once
def harness() -> str:
    """The identity of test bench, vectors and figures."""
    files = [*bench.BENCH, *sorted(Path(bench.__file__).parent.glob("*.py"))]
    return hashlib.sha256((RECIPE + "".join(of_file(f) for f in files)).encode()).hexdigest()


def digest_of(design: Design) -> str:
    """The design's digest; empty where a file is gone. The run will say so."""
    try:
        return design.digest
    except (OSError, UserError):
        return ""
