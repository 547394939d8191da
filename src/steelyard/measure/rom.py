"""ROM: the size of images, and the library members that an implementation pulls in."""

from __future__ import annotations

import re
from pathlib import Path

from .. import _native
from ..model.record import Helper


def load_size(image: Path) -> int:
    """Bytes of flash that the image occupies: code, constants and initial values of data."""
    return sum(size for _, _, size, loaded in _native.elf_sections(image.read_bytes()) if loaded)


def static_ram(image: Path) -> int:
    """Bytes of static RAM: .data, .bss and .noinit."""
    wanted = (".data", ".bss", ".noinit")
    return sum(size for name, _, size, _ in _native.elf_sections(image.read_bytes()) if name in wanted)


# " .text.foo 0x0000 0x1e /usr/lib/.../libgcc.a(_mulsi3.o)", where the name may be on a line of its own
_PIECE = re.compile(r"^ \S+\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(\S.*\.a\([^)]+\)|\w+\.provided\.o)$", re.MULTILINE)
# LLVM's: "4008 4008 36 2 /.../helpers.o:(.text.memset)": objects in the target's folder stand for libraries
_OWN_PIECE = re.compile(
    r"^(?: *[0-9a-f]+){2} +([0-9a-f]+) +\d+ +(?:\S*/)?(helpers|stdlib|\w+\.provided)\.o:\(\.\w+\.(\S+)\)$", re.MULTILINE
)


def library_members(map_file: Path) -> dict[str, int]:
    """Bytes of each library member in the image, by ``library(member)``, from the linker's map:
    ``{"libgcc.a(_mulsi3.o)": 30}``."""
    text = map_file.read_text(errors="replace")
    if text.lstrip().startswith("VMA"):
        pieces = ((int(size, 16), f"{file}({function})") for size, file, function in _OWN_PIECE.findall(text))
        return {name: size for size, name in pieces if size}
    start = text.find("\nLinker script and memory map")
    stop = text.find("\n/DISCARD/", start)
    text = re.sub(r"\n( \.\S+)\n\s+0x", r"\n\1 0x", text[start : stop if stop > 0 else None])
    members: dict[str, int] = {}
    for size, member in _PIECE.findall(text):
        name = member.rsplit("/", 1)[-1]
        members[name] = members.get(name, 0) + int(size, 16)
    return {m: s for m, s in members.items() if s}


def helpers(image_map: Path, baseline_map: Path) -> tuple[Helper, ...]:
    """Library members that the baseline image does not contain, largest first."""
    base = library_members(baseline_map)
    more = {m: s - base.get(m, 0) for m, s in library_members(image_map).items() if s > base.get(m, 0)}
    return tuple(Helper(m, s) for m, s in sorted(more.items(), key=lambda x: (-x[1], x[0])))
