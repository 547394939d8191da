"""An implementation: a folder of sources, identified by the hash of its content."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from msgspec import Struct

from .reasons import Failure

Primitive = Literal["crypto_aead", "crypto_hash", "crypto_cxof", "crypto_block"]
Language = Literal["c", "c++", "asm", "header"]

#: how entry points are called: an AEAD's as NIST has it, or as FELICS-AE has it, with size_t and without nsec; a block
#: cipher's as crypto_block.h has it, or as the first FELICS's ``phases``, in place
Interface = Literal["nist", "felics", "phases"]
#: entry points of each primitive
API: dict[Primitive, tuple[str, ...]] = {
    "crypto_aead": ("crypto_aead_encrypt", "crypto_aead_decrypt"),
    "crypto_hash": ("crypto_hash",),
    "crypto_cxof": ("crypto_cxof",),
    "crypto_block": (
        "crypto_block_encrypt_schedule",
        "crypto_block_encrypt",
        "crypto_block_decrypt_schedule",
        "crypto_block_decrypt",
    ),
}


def is_pattern(text: str) -> bool:
    """Whether a name stands for several: it has characters that match others."""
    return any(c in text for c in "*?[")


class SourceFile(Struct, frozen=True):
    """One file of an implementation.

    ``name`` is its path inside the implementation's folder (POSIX), ``path`` the file that holds its bytes (links
    resolved), ``sha256`` the hash of those bytes. ``language`` is ``header`` for every file that is not compiled by
    itself.
    """

    name: str
    path: Path
    language: Language
    sha256: str


class CodeLists(Struct, frozen=True):
    """The sources that make up an operation's code size in FELICS-AE: names without suffix, each with the symbols that
    do not count."""

    encrypt: tuple[tuple[str, tuple[str, ...]], ...]
    decrypt: tuple[tuple[str, tuple[str, ...]], ...]


class Phase(Struct, frozen=True):
    """One of the four functions of a block cipher of the first FELICS: its ``own`` source, and those of shared ``code``
    and ``constants``, by name without suffix."""

    own: str
    code: tuple[str, ...]
    constants: tuple[str, ...]


class Phases(Struct, frozen=True):
    """The phases by the operation that calls them. A cipher that is not ``keyed`` has no key schedule: it copies the
    key. One that is not ``rekeyed`` decrypts with the round keys of encryption."""

    of: tuple[tuple[str, Phase], ...]
    keyed: bool
    rekeyed: bool


#: a note on a block cipher that is two functions of SUPERCOP's crypto_core
COPIES_KEY = "the functions of crypto_block are Steelyard's: schedules copy the key, which every block expands anew"


class Implementation(Struct, frozen=True):
    """A folder of sources in the NIST/SUPERCOP layout or FELICS's, never modified.

    ``entry`` maps an API name to the symbol that implements it where the package renames it.
    ``kat`` lists the KAT files that travel with the package (in the folder, the variant's, or one
    level up). ``notes`` describe irregularities that did not stop it. ``code`` is set for FELICS-AE packages,
    ``phases`` for block ciphers of the first FELICS.
    ``architectures`` are the machines listed in SUPERCOP's file of this name, empty without such a file.
    ``libraries`` are folders that are a library of their own, each with the function that the library is for.
    """

    primitive: Primitive
    family: str
    variant: str
    name: str
    folder: Path
    files: tuple[SourceFile, ...]
    entry: tuple[tuple[str, str], ...] = ()
    kat: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    code: CodeLists | None = None
    architectures: tuple[str, ...] = ()
    phases: Phases | None = None
    libraries: tuple[tuple[str, str], ...] = ()

    @property
    def scheduled(self) -> bool:
        """Whether schedules of a block cipher are its own: libraries of two functions have none."""
        return not self.libraries

    @property
    def interface(self) -> Interface:
        """How the entry points are called."""
        if self.phases is not None:
            return "phases"
        return "nist" if self.code is None else "felics"

    @property
    def digest(self) -> str:
        """SHA-256 over the names and contents of all files, independent of folder and order."""
        h = hashlib.sha256()
        for f in sorted(self.files, key=lambda f: f.name):
            h.update(f"{f.name}\0{f.sha256}\0".encode(errors="surrogateescape"))
        h.update(repr(self.entry).encode())
        if self.architectures:  # they decide what is built
            h.update(repr(self.architectures).encode())
        if self.libraries:  # so do they
            h.update(repr(self.libraries).encode())
        return h.hexdigest()

    def library_of(self, file: SourceFile) -> str:
        """The function of the library that a source is of: the primitive's name where no folder is one of its own."""
        return dict(self.libraries).get(file.name.partition("/")[0], self.primitive)

    @property
    def label(self) -> str:
        """``variant/name``, the short form that tables show."""
        return f"{self.variant}/{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """What users may call it: family, variant, primitive, label, or all of them."""
        return (self.family, self.variant, self.primitive, self.label, f"{self.primitive}/{self.family}/{self.label}")

    def is_called(self, pattern: str) -> bool:
        """Whether one of its names is like this."""
        if not is_pattern(pattern):  # most are not patterns, and matching takes long
            return pattern in self.names
        return any(fnmatchcase(name, pattern) for name in self.names)


class Rejected(Struct, frozen=True):
    """A folder or archive that looks like an implementation and is not one, with the reason."""

    path: Path
    failure: Failure
