"""What a file is, by its name; and what its bytes say, read once."""

# Paths are strings here, a tree has thousands of them.
# ruff: noqa: PTH122

from __future__ import annotations

import hashlib
import os
import re
import stat
from enum import Enum, auto
from functools import lru_cache

from msgspec import Struct

from ..model.implementation import Language, Primitive
from ..model.reasons import Failure, Reason


class Kind(Enum):
    """The part a file plays in a package."""

    C = auto()
    CXX = auto()
    ASM = auto()
    HEADER = auto()
    WRAPPER = auto()
    KAT = auto()
    FOREIGN_ASM = auto()
    SKETCH = auto()
    MAKEFILE = auto()
    IGNORED = auto()
    UNKNOWN = auto()


LANGUAGE: dict[Kind, Language] = {Kind.C: "c", Kind.CXX: "c++", Kind.ASM: "asm", Kind.HEADER: "header"}
COMPILED = frozenset({Kind.C, Kind.CXX, Kind.ASM})

_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys((".c",), Kind.C),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++"), Kind.CXX),
    **dict.fromkeys((".s", ".sx"), Kind.ASM),
    **dict.fromkeys((".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc"), Kind.HEADER),
    **dict.fromkeys((".def", ".macros", ".table", ".tbl", ".tab", ".in"), Kind.HEADER),
    ".asm": Kind.FOREIGN_ASM,
    ".ino": Kind.SKETCH,
    **dict.fromkeys((".mk", ".cmake"), Kind.MAKEFILE),
    **dict.fromkeys((".md", ".rst", ".pdf", ".html", ".tex", ".png", ".jpg", ".svg"), Kind.IGNORED),
    **dict.fromkeys((".o", ".obj", ".a", ".so", ".lib", ".elf", ".hex", ".exe", ".gch", ".pch"), Kind.IGNORED),
    **dict.fromkeys((".lst", ".map", ".log"), Kind.IGNORED),
    **dict.fromkeys((".d", ".su", ".orig", ".rej", ".bak", ".swp", ".info", ".py", ".sh"), Kind.IGNORED),
}
_IGNORED_NAMES = frozenset(
    {"architectures", "implementors", "designers", "description", "goal-constbranch", "goal-constindex"}
    | {"primary", "used", "nistlwc", "checksumsmall", "checksumbig"}
    | {"copying", "authors", "changelog", "thumbs.db"}
)
_MAKEFILES = frozenset({"makefile", "gnumakefile", "cmakelists.txt", "kconfig", "meson.build"})

#: the measuring framework's table of function pointers, one file name for each primitive
WRAPPERS: dict[Primitive, tuple[str, ...]] = {
    "crypto_aead": ("lwc_crypto_aead.c", "lwc_crypto_aead.cpp"),
    "crypto_hash": ("lwc_crypto_hash.c", "lwc_crypto_hash.cpp"),
    "crypto_cxof": ("lwc_crypto_cxof.c", "lwc_crypto_cxof.cpp"),
}
_WRAPPER_NAMES = frozenset(name for names in WRAPPERS.values() for name in names)

_KAT: dict[Primitive, re.Pattern[str]] = {
    "crypto_aead": re.compile(r"LWC_AEAD_KAT_\w+\.txt", re.I),
    "crypto_hash": re.compile(r"LWC_(?:HASH|XOF)_KAT_\w+\.txt", re.I),
    "crypto_cxof": re.compile(r"LWC_CXOF_KAT_\w+\.txt", re.I),
}

_GENERATOR = re.compile(r"gen_?kat|kat_?gen|test_?vectors?_?gen|gen_?test_?vec", re.I)
_DRIVERS = frozenset({"main", "test", "tests", "bench", "benchmark", "demo", "example"})
#: folders whose sources exercise an implementation or drive a board, and are not part of it
TEST_FOLDERS = frozenset(
    {"test", "tests", "testing", "bench", "benchmark", "benchmarks", "example", "examples", "doc", "docs", "drivers"}
)
#: what development environments for microcontrollers put beside one's own sources
_BOARD = re.compile(r"(?:stm32\w*_(?:it|hal_\w+)|system_stm32\w*|startup_\w+|syscalls|sysmem)\.(?:c|s)", re.I)

_MAIN = re.compile(rb"^[ \t]*(?:(?:int|void)[ \t\r\n]+)?main[ \t]*\(", re.M)
_DIRECTIVE = re.compile(rb"#[ \t]*(?:include|define|if)")


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind:
    """The part that a file of this base name plays."""
    if name in _WRAPPER_NAMES:
        return Kind.WRAPPER
    low = name.lower()
    stem, suffix = os.path.splitext(low)
    if low in _MAKEFILES or stem == "makefile":
        return Kind.MAKEFILE
    if any(pattern.fullmatch(name) for pattern in _KAT.values()):
        return Kind.KAT
    if name.endswith(".C"):
        return Kind.CXX
    if low in _IGNORED_NAMES or stem in ("readme", "license", "licence") or low.startswith("lwc_arch_"):
        return Kind.IGNORED
    return _SUFFIX.get(suffix, Kind.UNKNOWN)


def fits(primitive: Primitive, name: str) -> bool:
    """Whether a KAT file of this name belongs to the primitive."""
    return _KAT[primitive].fullmatch(name) is not None


def is_driver(name: str) -> bool:
    """Whether a source with ``main()`` of this name is a program around the cipher, not the cipher."""
    stem = os.path.splitext(name)[0]
    return stem.lower() in _DRIVERS or is_generator(name)


def is_boards(name: str) -> bool:
    """Whether a source of this name starts or drives a board."""
    return _BOARD.fullmatch(name) is not None


def is_generator(name: str) -> bool:
    """Whether the name is that of a test-vector generator."""
    return _GENERATOR.search(os.path.splitext(name)[0]) is not None


def printable(name: str) -> str:
    """``name`` with every byte or character that cannot be shown written as an escape."""
    if name.isprintable():
        return name
    out = []
    for c in name:
        if c.isprintable():
            out.append(c)
        elif 0xDC80 <= ord(c) <= 0xDCFF:
            out.append(f"\\x{ord(c) - 0xDC00:02x}")
        else:
            out.append(c.encode("unicode_escape").decode("ascii"))
    return "".join(out)


class Content(Struct, frozen=True):
    """What one reading of a file tells."""

    sha256: str
    size: int
    has_main: bool
    stdio: bool
    needs_cpp: bool


class Reader:
    """Reads every real file once, however many links lead to it."""

    def __init__(self, file_bytes: int) -> None:
        self._limit = file_bytes
        self._known: dict[tuple[str, Kind], Content | Failure] = {}

    def content(self, real: str, kind: Kind) -> Content | Failure:
        """Hash and traits of the file at ``real``, a path without links."""
        known = self._known.get((real, kind))
        if known is None:
            data = self.data(real)
            known = data if isinstance(data, Failure) else _content(data, real, kind)
            self._known[real, kind] = known
        return known

    def data(self, real: str) -> bytes | Failure:
        """The bytes, or why not: only regular files within the limit are read, links are refused."""
        try:
            fd = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as e:
            return Failure(Reason.UNREADABLE, getattr(e, "strerror", None) or str(e))
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                return Failure(Reason.UNREADABLE, "not a regular file")
            if info.st_size > self._limit:
                return Failure(Reason.UNREADABLE, f"{info.st_size} bytes, the limit is {self._limit}")
            data = os.read(fd, info.st_size + 1)
            if len(data) != info.st_size:  # it changes while it is read
                while len(data) <= self._limit and (more := os.read(fd, 1 << 16)):
                    data += more
        except OSError as e:
            return Failure(Reason.UNREADABLE, e.strerror or str(e))
        finally:
            os.close(fd)
        if len(data) > self._limit:
            return Failure(Reason.UNREADABLE, f"more than {self._limit} bytes")
        return data


def _content(data: bytes, real: str, kind: Kind) -> Content:
    compiled = kind in (Kind.C, Kind.CXX)
    return Content(
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        has_main=compiled and (b"main(" in data or b"main (" in data) and _MAIN.search(data) is not None,
        stdio=b"stdio.h" in data,
        needs_cpp=kind is Kind.ASM and real.endswith(".s") and _preprocessed(data),
    )


def _preprocessed(data: bytes) -> bool:
    return b"/*" in data or b"//" in data or _DIRECTIVE.search(data) is not None
