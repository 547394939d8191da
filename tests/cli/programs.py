"""Programs in assembly for tests of ``sim``."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import the_target

#: a Cortex-M's vectors: the stack, and where it begins
VECTORS = ".syntax unified\n.thumb\n.word 0x20000400, _start + 1\n.thumb_func\n_start:\n"


def assembled(folder: Path, source: str, name: str = "uno", behind: int = 0) -> None:
    """Makes x.elf for a target, which has no start-up code, so many bytes behind the beginning of flash."""
    spec, flash = the_target(name).toolchain, the_target(name).chip.flash
    (folder / "x.S").write_text(source)
    image, source_file, place = str(folder / "x.elf"), str(folder / "x.S"), f"-Ttext={flash.base + behind:#x}"
    if spec.linker:
        made = [spec.compiler, *spec.flags, "-c", "-o", str(folder / "x.o"), source_file]
        assert subprocess.run(made, check=False).returncode == 0
        made = [spec.linker, "-n", place, "-e", "_start", "-o", image, str(folder / "x.o")]
    else:
        place = f"-Wl,-n,{place},-e,_start"
        made = [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", place, "-o", image, source_file]
    assert subprocess.run(made, check=False).returncode == 0
