"""A linker's map: which pieces of which objects lie where in an image."""

from __future__ import annotations

import re
from pathlib import Path

#: names of pieces that lie in RAM alone, and take no flash
RAM = r"(?:\.(?:[st]?bss|noinit)\b|COMMON)"
#: the beginning of a line of LLVM's for a piece: "4008 4008 36 2         /.../helpers.o:(.text.memset)"; address and
#: bytes. Symbols, whose names and sizes sources choose, are indented by more
LINE = r"^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(?! )(?:[^\s(]*/)?"


def text_of(map_file: Path) -> tuple[str, bool]:
    """What a linker's map says of the sections in the image, one a line, and whether it is LLVM's. GNU's may have the
    name on a line of its own, and " *fill* 0x0000 0x2" before."""
    text = map_file.read_text(errors="replace")
    if text.lstrip().startswith("VMA"):
        return text, True
    start = text.find("\nLinker script and memory map")
    stop = text.find("\n/DISCARD/", start)
    return re.sub(r"\n( \S+)\n\s+0x", r"\n\1 0x", text[start : stop if stop > 0 else None]), False


def pieces(map_file: Path, objects: str) -> list[tuple[str, int, int]]:
    """Name, address and bytes of the sections that an image has of the objects whose names without suffix match
    ``objects``. What lies in RAM alone is left out."""
    text, llvm = text_of(map_file)
    if llvm:
        lines = rf"{LINE}{objects}\.o:\((?!{RAM})(\S+)\)$"
        found = [(name, at, size) for at, size, name in re.findall(lines, text, re.MULTILINE)]
    else:
        lines = rf"^ (?!{RAM})(\S+) +0x([0-9a-f]+) +0x([0-9a-f]+) +(?:\S*/)?{objects}\.o$"
        found = re.findall(lines, text, re.MULTILINE)
    return [(name, int(at, 16), int(size, 16)) for name, at, size in found]


def ends(map_file: Path) -> list[int]:
    """Addresses at which the pieces of a package's code end in an image."""
    return sorted({at + size for _, at, size in pieces(map_file, "implementation") if size})
