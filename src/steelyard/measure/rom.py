"""ROM: what an implementation adds to the image, by part and by symbol, and the library members that it pulls in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..model.elf import sections, symbols
from ..model.linked import LINE, RAM, pieces, text_of
from ..model.record import Helper

#: thread-local zeros, which only the C library of a machine has: counted so far, in every image alike
_THREADS = ".tbss"

#: the kind of symbols that take no flash
BSS = "bss"
#: (symbol, kind) of the bytes in flash that no symbol names: constants without a name, alignment
REST = "(unnamed)", "other"
#: (symbol, kind) of the bytes that :func:`uncounted` gives or takes
NOT_COUNTED = "(not counted)", "other"
#: what nocrypt calls of the C library, in line or not: it costs no implementation anything
_CALLED = {
    "crypto_aead": "memcpy",
    "crypto_hash": "memcpy|memset",
    "crypto_cxof": "memcpy|memset",
    "crypto_block": "memcpy",
}


def load_size(image: Path) -> int:
    """Bytes of flash that the image occupies: code, constants and initial values of data."""
    return sum(s.size for s in sections(image.read_bytes()) if s.loaded or s.name == _THREADS)


def static_ram(image: Path) -> int:
    """Bytes of static RAM: .data, .bss and .noinit, and a thread's variables, with initial values or without."""
    wanted = (".data", ".tdata", ".tspace", ".bss", ".noinit")
    return sum(s.size for s in sections(image.read_bytes()) if s.placed and s.name in wanted)


def added(image: Path, baseline: Path, beside: int) -> dict[tuple[str, str], int]:
    """Bytes by (symbol, kind) that an image holds minus those of its baseline, below zero where that has more
    (its own functions). Local symbols of one name add up, what no symbol covers, such as alignment, is :data:`REST`,
    and what is :func:`uncounted`, ``beside`` these, :data:`NOT_COUNTED`: all but bss is ROM, to the byte."""
    sums: dict[tuple[str, str], int] = {}
    for sign, file in ((1, image), (-1, baseline)):
        for s in symbols(file.read_bytes()):
            if s.kind:
                sums[s.name, s.kind] = sums.get((s.name, s.kind), 0) + sign * s.size
    named = sum(size for (_, kind), size in sums.items() if kind != BSS)
    sums[REST] = load_size(image) - load_size(baseline) - named
    sums[NOT_COUNTED] = beside
    return {key: size for key, size in sorted(sums.items()) if size}


# " .text.foo 0x0000 0x1e /usr/lib/.../libgcc.a(_mulsi3.o)". What lies in RAM alone is no ROM
_PIECE = re.compile(rf"^ (?!{RAM})\S+ +0x[0-9a-f]+ +0x([0-9a-f]+) +(\S.*\.a\([^)]+\)|\w+\.provided\.o)$", re.MULTILINE)
# " .text.memset 0x4008 0x36 /.../helpers.o": objects in the target's folder stand for libraries
_FUNCTION = re.compile(
    rf"^ (?!{RAM})\.\w+\.(\S+) +0x[0-9a-f]+ +0x([0-9a-f]+) +(?:\S*/)?(helpers|stdlib)\.o$", re.MULTILINE
)
_OWN_PIECE = re.compile(
    rf"{LINE}(helpers|stdlib|\w+\.provided)\.o:\((?!{RAM})\.\w+\.(\S+)\)$",
    re.MULTILINE,
)


def in_image(map_file: Path, objects: str) -> dict[str, int]:
    """Bytes by name of the sections that an image has of the objects whose names without suffix match ``objects``, from
    the linker's map. What lies in RAM alone is left out."""
    found: dict[str, int] = {}
    for name, _, size in pieces(map_file, objects):
        found[name] = found.get(name, 0) + size
    return found


def library_members(map_file: Path) -> dict[str, int]:
    """Bytes of each library member in the image, by ``library(member)``, from the linker's map:
    ``{"libgcc.a(_mulsi3.o)": 30}``."""
    text, llvm = text_of(map_file)
    if llvm:
        found = [(size, f"{file}({function})") for _, size, file, function in _OWN_PIECE.findall(text)]
    else:
        found = [(size, member.rsplit("/", 1)[-1]) for size, member in _PIECE.findall(text)]
        found += [(size, f"{file}({function})") for function, size, file in _FUNCTION.findall(text)]
    members: dict[str, int] = {}
    for size, name in found:
        members[name] = members.get(name, 0) + int(size, 16)
    return {m: s for m, s in members.items() if s}


def _counted(members: Mapping[str, int], primitive: str) -> dict[str, int]:
    """The library members that count in the ROM of a ``primitive``: all but what nocrypt calls."""
    called = re.compile(rf"(?<![A-Za-z])(?:{_CALLED[primitive]})(?![A-Za-z0-9_])")
    return {m: s for m, s in members.items() if not called.search(m.partition("(")[2])}


def helpers(image_map: Path, baseline_map: Path, primitive: str) -> tuple[Helper, ...]:
    """Library members that count and that the baseline image does not contain, largest first."""
    base = library_members(baseline_map)
    mine = _counted(library_members(image_map), primitive)
    more = {m: s - base.get(m, 0) for m, s in mine.items() if s > base.get(m, 0)}
    return tuple(Helper(m, s) for m, s in sorted(more.items(), key=lambda x: (-x[1], x[0])))


def uncounted(image_map: Path, baseline_map: Path, primitive: str) -> int:
    """Bytes that make ROM of the difference between the sizes of an image and its baseline: of library members the
    baseline takes off only those that count and that the image has too, and the image has only those that count."""
    mine, base = library_members(image_map), library_members(baseline_map)
    shared = sum(min(size, mine.get(m, 0)) for m, size in _counted(base, primitive).items())
    return sum(base.values()) - shared - (sum(mine.values()) - sum(_counted(mine, primitive).values()))
