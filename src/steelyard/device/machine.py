"""Describes the machine that a process runs on: processor, board and frequency governors, read from its kernel's
files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

CPUINFO = "/proc/cpuinfo"
MODEL = "/proc/device-tree/model"
GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
#: Arm's cores by implementer and part, as in the main ID register of their technical reference manuals
_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd05"): "Cortex-A55",
    ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
}


@dataclass(frozen=True)
class Machine:
    """A machine that runs Linux: ``cpuinfo`` and ``model`` as its kernel prints them, ``governors`` by core number.

    ``real`` is False when the kernel reports another processor than the images are made for: then it is emulated.
    """

    name: str
    cpuinfo: str
    model: str = ""
    governors: dict[int, str] = field(default_factory=dict, hash=False)
    real: bool = True

    def describe(self, core: int) -> str:
        """Board, processor and frequency governor of a core, in words."""
        parts = [p for p in (self.model.rstrip("\0 \n"), self._processor(core)) if p]
        parts.append(f"governor {self.governors.get(core, 'unknown')}")
        return ", ".join(parts)

    def _processor(self, core: int) -> str:
        sections = [
            dict(re.findall(r"^([^:\n]+?)[ \t]*:[ \t]*(.*)$", s, re.MULTILINE)) for s in self.cpuinfo.split("\n\n")
        ]
        own = next((s for s in sections if s.get("processor") == str(core)), sections[0])
        if "model name" in own:
            return str(own["model name"]).strip()
        if "CPU part" not in own:
            return "unknown processor"
        made, part = own.get("CPU implementer", ""), own["CPU part"]
        return _PARTS.get((made, part), f"CPU {made} part {part}")


@cache
def this() -> Machine:
    """The machine that this program runs on."""
    governors = {}
    for file in Path("/").glob(GOVERNORS[1:]):
        governors[int(file.parts[-3][3:])] = _read(file)
    return Machine("this machine", _read(Path(CPUINFO)), _read(Path(MODEL)), governors)


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip("\0 \n")
    except OSError:
        return ""
