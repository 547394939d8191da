"""Tells by a file's name what part it plays in a package."""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH122

from __future__ import annotations

import os
import re
from enum import Enum, auto
from functools import lru_cache

from ..model.implementation import Language, Primitive


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
    BINARY = auto()
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
    **dict.fromkeys((".o", ".obj", ".a", ".so", ".lib", ".elf", ".hex", ".exe", ".gch", ".pch"), Kind.BINARY),
    **dict.fromkeys((".lst", ".map", ".log"), Kind.IGNORED),
    **dict.fromkeys((".d", ".su", ".orig", ".rej", ".bak", ".swp", ".info", ".py", ".sh"), Kind.IGNORED),
}
_IGNORED_NAMES = frozenset(
    {"architectures", "implementors", "designers", "description", "goal-constbranch", "goal-constindex"}
    | {"primary", "used", "nistlwc", "checksumsmall", "checksumbig"}
    | {"copying", "authors", "changelog", "thumbs.db"}
)
_MAKEFILES = frozenset({"makefile", "gnumakefile", "cmakelists.txt", "kconfig", "meson.build"})

#: sources with NIST's benchmarking framework's structure of function pointers, by primitive
WRAPPERS: dict[Primitive, tuple[str, ...]] = {
    "crypto_aead": ("lwc_crypto_aead.c", "lwc_crypto_aead.cpp"),
    "crypto_hash": ("lwc_crypto_hash.c", "lwc_crypto_hash.cpp"),
    "crypto_cxof": ("lwc_crypto_cxof.c", "lwc_crypto_cxof.cpp"),
    "crypto_block": (),
}
_WRAPPER_NAMES = frozenset(name for names in WRAPPERS.values() for name in names)

_KAT: dict[Primitive, re.Pattern[str]] = {
    "crypto_aead": re.compile(r"LWC_AEAD_KAT_\w+\.txt", re.I),
    "crypto_hash": re.compile(r"LWC_(?:HASH|XOF)_KAT_\w+\.txt", re.I),
    "crypto_cxof": re.compile(r"LWC_CXOF_KAT_\w+\.txt", re.I),
    "crypto_block": re.compile(r"LWC_BLOCK_KAT_\w+\.txt", re.I),  # ours: NIST's have no block ciphers
}

_GENERATOR = re.compile(r"gen_?kat|kat_?gen|test_?vectors?_?gen|gen_?test_?vec", re.I)
_DRIVERS = frozenset({"main", "test", "tests", "bench", "benchmark", "demo", "example"})
#: folders whose sources test an implementation or drive a board, and are not part of it
TEST_FOLDERS = frozenset(
    {"test", "tests", "testing", "bench", "benchmark", "benchmarks", "example", "examples", "doc", "docs", "drivers"}
)
#: files that development environments for microcontrollers add to a project
_BOARD = re.compile(r"(?:stm32\w*_(?:it|hal_\w+)|system_stm32\w*|startup_\w+|syscalls|sysmem)\.(?:c|s)", re.I)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind:
    """The part that a file plays, by its base name: ``kind_of("encrypt.c")`` is ``Kind.C``."""
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
    """Whether a file of this name is a KAT file of the primitive."""
    return _KAT[primitive].fullmatch(name) is not None


def is_driver(name: str) -> bool:
    """Whether a source of this name that has a ``main()`` is a program around the cipher, not the cipher."""
    stem = os.path.splitext(name)[0]
    return stem.lower() in _DRIVERS or is_generator(name)


def is_boards(name: str) -> bool:
    """Whether a source of this name starts or drives a board."""
    return _BOARD.fullmatch(name) is not None


def is_generator(name: str) -> bool:
    """Whether a source of this name generates test vectors."""
    return _GENERATOR.search(os.path.splitext(name)[0]) is not None
