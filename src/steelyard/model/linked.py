"""A linker's map: which pieces of which objects lie where in an image."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

#: how names of pieces begin that lie in RAM alone, and take no flash; packages have nothing else under such names
RAM = r"(?:\.[st]?bss|\.noinit|COMMON)\b"
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
    stop = text.find("\n/DISCARD/\n", start)  # a section's name goes on, or its address follows
    return _in_lines(text[start : stop if stop > 0 else None]), False


def _in_lines(text: str) -> str:
    return re.sub(r"\n( \S+)\n\s+0x", r"\n\1 0x", text)


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


def unlisted(map_file: Path, objects: str, names: Iterable[str]) -> list[str]:
    """Those of the ``names`` of sections with bytes in flash, of objects that match, that a linker's map says nothing
    of: neither :func:`pieces` nor its list of dropped ones has them. LLVM's has no such list, and nothing is said of
    it."""
    if text_of(map_file)[1]:
        return []
    whole = map_file.read_text(errors="replace")
    start = whole.find("\nDiscarded input sections")
    dropped = _in_lines(whole[start : whole.find("\nLinker script and memory map", start)]) if start >= 0 else ""
    found = re.findall(rf"^ (\S+) +0x[0-9a-f]+ +0x[0-9a-f]+ +(?:\S*/)?{objects}\.o$", dropped, re.MULTILINE)
    return sorted(Counter(names) - Counter([*found, *(name for name, *_ in pieces(map_file, objects))]))


def ends(map_file: Path) -> list[int]:
    """Addresses at which the pieces of a package's code end in an image."""
    return sorted({at + size for _, at, size in pieces(map_file, "implementation") if size})
