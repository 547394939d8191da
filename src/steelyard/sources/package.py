"""Turns a folder into one implementation for each of its primitives, or into a failure.

Nothing is edited and nothing is run. Harmless irregularities become notes. Defects that only a compiler can find
(foreign instructions, missing headers, duplicate symbols) are left to the build.
"""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH119, PTH122

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..model.implementation import API, CodeLists, Implementation, Phases, Primitive, SourceFile
from ..model.paths import CIPHERS
from ..model.reasons import Failure, Reason
from . import felics, phases
from .escape import escaped, fitting
from .kind import (
    COMPILED,
    LANGUAGE,
    WRAPPERS,
    Kind,
    fits,
    is_driver,
    is_generator,
    kind_of,
)
from .layout import Naming
from .limits import Limits
from .listing import Listing, listed, named
from .reader import Reader
from .spelling import bundled_block, bundled_name
from .tree import Folder
from .wrapper import Wrapper, parse

_BUNDLED = f"{CIPHERS}/"
_COMPAT = Path(__file__).resolve().parent / "compat"
_CITED = re.compile(rb'["</]([^"<>/\n]{1,255})[">]')
_BLOCK_API = (b"CRYPTO_KEYBYTES", b"CRYPTO_BLOCKBYTES", b"CRYPTO_CONTEXTBYTES")
#: what tells the primitive where no folder and no file does
_BY_API: dict[Primitive, tuple[bytes, ...]] = {
    "crypto_aead": (b"CRYPTO_ABYTES",),
    "crypto_hash": (b"CRYPTO_BYTES",),
    "crypto_block": _BLOCK_API,
}
_NIST_API = re.compile(rb"\bint\s+crypto_aead_encrypt\s*\(")


class Half(NamedTuple):
    """A part of an implementation; ``api`` is the content of its api.h."""

    files: tuple[SourceFile, ...]
    api: bytes
    notes: list[str]
    architectures: tuple[str, ...]
    kat: tuple[Path, ...]


class Package:
    """A folder that is taken for an implementation, with the folders ``above`` it, nearest first."""

    def __init__(
        self,
        folder: Folder,
        above: Sequence[Folder],
        apart: frozenset[str],
        naming: Naming,
        reader: Reader,
        limits: Limits,
        holds: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._folder, self._above, self._naming = folder, above, naming
        self._reader, self._limits, self._holds = reader, limits, holds
        self._notes: list[str] = []
        self._listing = listed(folder, apart)

    def read(self) -> list[Implementation] | Failure:
        """The implementations in this folder, in the order of its primitives, or why there is none."""
        fault = self._listing.fault(self._limits.package_files)
        if fault is not None:
            return fault
        code = self._felics()
        if isinstance(code, Failure):
            return code
        if isinstance(code, Phases):
            return self._block(code)
        wrappers = {p: self._wrapper(p) for p in API}
        taken = self._take(wrappers, code is not None)
        if isinstance(taken, Failure):
            return taken
        files, api = taken
        primitives = self._naming.primitives or _guess(api, wrappers, self._listing)
        if code is not None:
            primitives = ("crypto_aead",)
        if not primitives:
            return Failure(Reason.NO_API, "api.h defines neither CRYPTO_ABYTES, CRYPTO_BYTES nor CRYPTO_BLOCKBYTES")
        if "crypto_block" in primitives and (lacking := [m.decode() for m in _BLOCK_API if not _has(m, api)]):
            text = f"a crypto_block whose API is not that of crypto_block.h: api.h has no {', '.join(lacking)}"
            return Failure(Reason.OTHER_PRIMITIVE, text)
        self._note_irregular()
        naming = self._named(wrappers)
        out = []
        for p in primitives:
            wrapper = wrappers[p]
            notes, variant = self._notes, naming.variant
            if not self._folder.path.startswith(_BUNDLED) and (bundled := bundled_name(p, variant)):
                notes, variant = (
                    [*notes, f"{variant} taken for {bundled}, which differs in spelling only"],
                    bundled,
                )
            out.append(
                Implementation(
                    primitive=p,
                    family=fitting(naming.family),
                    variant=fitting(variant),
                    name=fitting(naming.name),
                    folder=Path(self._folder.path),
                    files=files,
                    entry=wrapper[2].entry if wrapper is not None and wrapper[2] is not None else (),
                    kat=self._kat(p, code is not None),
                    notes=tuple(notes),
                    code=code,
                    architectures=self._architectures() or (),
                )
            )
        return out

    def half(self) -> Half | Failure:
        """What it brings to an implementation of several folders."""
        taken = self._listing.fault(self._limits.package_files) or self._take({}, False)
        self._note_irregular()
        if isinstance(taken, Failure):
            return taken
        return Half(*taken, self._notes, self._architectures() or (), self._kat("crypto_block", False))

    # -- FELICS-AE

    def _felics(self) -> CodeLists | Phases | Failure | None:
        """What implementation.info lists; None for a package without one."""
        real = self._folder.files.get(felics.INFO)
        if real is None:
            return None
        data = self._reader.data(real)
        if isinstance(data, Failure):
            return Failure(data.reason, f"{felics.INFO}: {data.detail}")
        stems = {os.path.splitext(name)[0] for kind in COMPILED for name, _ in self._listing.of(kind)}
        try:
            block = phases.parse(data, stems)
            said = felics.parse(data, stems) if block is None else None
        except felics.BadInfoError as e:
            return Failure(Reason.BAD_INFO, str(e))
        if block is not None and not self._has_nist_api():
            self._notes += block[1]
            return block[0]
        if said is None:
            if self._has_nist_api():
                self._notes.append(
                    f"{felics.INFO} ignored: it is from the first FELICS, and the sources define the NIST API"
                )
                return None
            if not felics.says_anything(data):
                return Failure(Reason.BAD_INFO, f"{felics.INFO}: no line of the form KEY: VALUE")
            return Failure(Reason.FELICS_PHASES, "a cipher of the first FELICS: it is split into phases and has no API")
        self._notes += said.notes
        return said.code

    def _block(self, said: Phases) -> list[Implementation] | Failure:
        """A block cipher of the first FELICS."""
        chosen = {name: (real, kind) for kind in (Kind.C, Kind.HEADER) for name, real in self._listing.of(kind)}
        lacking = [n for n in (f"{p.own}.c" for _, p in said.of) if n not in chosen]
        lacking += [n for n in (phases.CONSTANTS, felics.VECTORS) if n not in chosen]
        if lacking:
            return Failure(Reason.NO_SOURCES, f"no {', '.join(lacking)}, which FELICS cannot do without")
        wrong = self._wrong_sizes(chosen[phases.CONSTANTS][0])
        if wrong is not None:
            return wrong
        vectors = chosen[felics.VECTORS][0]
        chosen[felics.VECTORS] = (vectors, Kind.HEADER)
        chosen[felics.INFO] = (self._folder.files[felics.INFO], Kind.HEADER)
        chosen |= {name: (str(ours), Kind.HEADER) for name, ours in phases.HEADERS.items()}
        cited = self._cited(chosen)
        for name in phases.ROTATIONS:
            if name.encode() in cited and name not in chosen:
                real, own = phases.rotation(self._folder.real, name, self._holds)
                chosen[name] = (real, Kind.HEADER)
                if not own:
                    text = "is Steelyard's, which may be slow: FELICS's is in common/source/rotations of its tree"
                    self._notes.append(f"{name} {text}")
        if others := self._listing.of(Kind.ASM, Kind.CXX, Kind.FOREIGN_ASM):
            self._notes.append(f"{named(others)} left out: FELICS compiles C alone")
        files = self._read(chosen)
        if isinstance(files, Failure):
            return files
        naming, called = self._naming, self._block_name()
        variant = bundled_block(called.cipher, called.block, called.key) if called is not None else None
        if variant is not None and variant != naming.variant:
            self._notes.append(f"{naming.variant} taken for {variant}")
        return [
            Implementation(
                primitive="crypto_block",
                family=fitting(naming.family),
                variant=fitting(variant or naming.variant),
                name=fitting(naming.name),
                folder=Path(self._folder.path),
                files=files,
                entry=phases.ENTRY,
                kat=(Path(vectors),),
                notes=tuple(self._notes),
                phases=said,
            )
        ]

    def _block_name(self) -> phases.Named | None:
        return phases.named((f"{self._naming.variant}_v{self._naming.name}",))

    def _wrong_sizes(self, constants: str) -> Failure | None:
        """Why the sizes of a block cipher cannot be used: constants.h lacks one, or the folder's name has others."""
        data = self._reader.data(constants)
        if isinstance(data, Failure):
            return data
        found = phases.sizes(data)
        if lacking := [n for n in phases.SIZES.values() if n not in found]:
            return Failure(Reason.NO_API, f"{phases.CONSTANTS} defines no {', '.join(lacking)} as a plain number")
        name = self._block_name()
        bits = (8 * found["BLOCK_SIZE"], 8 * found["KEY_SIZE"])
        if name is not None and (name.block, name.key) != bits:
            text = f"block {bits[0]}, key {bits[1]} bits in {phases.CONSTANTS}, {name.block} and {name.key} in the name"
            return Failure(Reason.SIZES_DIFFER, text)
        return None

    def _cited(self, chosen: dict[str, tuple[str, Kind]]) -> set[bytes]:
        """What the chosen files have in quotes or angle brackets, as the names of included files."""
        cited: set[bytes] = set()
        size = 0
        for real, _ in chosen.values():
            data = self._reader.data(real)
            if isinstance(data, bytes):
                size += len(data)
                cited.update(_CITED.findall(data))
            if size > self._limits.package_bytes:
                break
        return cited

    def _has_nist_api(self) -> bool:
        """Whether a source defines the NIST API, as some packages do around FELICS's phases."""
        sources = [real for _, real in self._listing.of(*COMPILED, Kind.WRAPPER)]
        return any(isinstance(data := self._reader.data(r), bytes) and _NIST_API.search(data) for r in sources)

    def _settle_felics(self, chosen: dict[str, tuple[str, Kind]]) -> None:
        """Adds FELICS-AE's headers, and the files that describe the package without being compiled."""
        for name, ours in felics.HEADERS.items():
            chosen.setdefault(name, (str(ours), Kind.HEADER))
        for name in (felics.INFO, felics.VECTORS):
            if name in self._folder.files:
                chosen[name] = (self._folder.files[name], Kind.HEADER)

    # -- wrapper

    def _wrapper(self, primitive: Primitive) -> tuple[str, str, Wrapper | None] | None:
        """The wrapper in the folder or the nearest one above: (name, real path, content if understood)."""
        own = {os.path.basename(name): real for name, real in reversed(self._listing.of(Kind.WRAPPER))}
        for files in (own, *(folder.files for folder in self._above)):
            for name in WRAPPERS[primitive]:
                if name in files:
                    data = self._reader.data(files[name])
                    said = None if isinstance(data, Failure) else parse(data, primitive)
                    if said is None:
                        self._notes.append(f"{name} was not understood; the API's own names are used")
                    return name, files[name], said
        return None

    def _named(self, wrappers: dict[Primitive, tuple[str, str, Wrapper | None] | None]) -> Naming:
        """The names, with the variant from a wrapper where the path does not tell it."""
        naming = self._naming
        if naming.primitives or naming.variant != naming.name:
            return naming
        for w in wrappers.values():
            if w is not None and w[2] is not None and w[2].variant and w[2].name:
                variant = escaped(w[2].variant)
                return Naming((), naming.family, variant, escaped(w[2].name))
        return naming

    # -- files

    def _take(
        self, wrappers: dict[Primitive, tuple[str, str, Wrapper | None] | None], felics_ae: bool
    ) -> tuple[tuple[SourceFile, ...], bytes] | Failure:
        chosen = {name: (real, kind) for kind in LANGUAGE for name, real in self._listing.of(kind)}
        for w in wrappers.values():
            self._settle(w, chosen)
        if felics_ae:
            self._settle_felics(chosen)
        if not any(kind in COMPILED for _, kind in chosen.values()):
            foreign = self._listing.of(Kind.FOREIGN_ASM)
            if foreign:
                return Failure(Reason.FOREIGN_ASSEMBLER, f"only {named(foreign)}")
            made = self._listing.of(Kind.BINARY)
            unlinked = f"; objects and libraries are not linked: {named(made)}" if made else ""
            return Failure(Reason.NO_SOURCES, f"no .c, .S, .s or .cpp file{unlinked}")
        api = self._api(chosen, wrappers)
        if api is None:
            return Failure(Reason.NO_API, "no api.h in the folder or above it")
        chosen["api.h"] = (api, Kind.HEADER)
        for name, real in self._included(chosen):
            chosen[name] = (real, Kind.HEADER)
            self._notes.append(f"{escaped(name)} kept: a source includes it")
        files = self._read(chosen)
        if isinstance(files, Failure):
            return files
        data = self._reader.data(api)
        return files, data if isinstance(data, bytes) else b""

    def _settle(self, wrapper: tuple[str, str, Wrapper | None] | None, chosen: dict[str, tuple[str, Kind]]) -> None:
        """Leaves the wrapper out, unless it is the implementation itself."""
        if wrapper is None:
            return
        name, real, said = wrapper
        if said is None or not said.defines:
            self._notes.append(f"{name} left out: it belongs to NIST's benchmarking framework")
            return
        chosen[name] = (real, Kind.CXX if name.endswith(".cpp") else Kind.C)
        header = os.path.splitext(name)[0] + ".h"
        compat = _COMPAT / header
        if header not in chosen and compat.is_file():
            chosen[header] = (str(compat), Kind.HEADER)
        self._notes.append(f"{name} kept: it holds the entry points; {header} is supplied")

    def _api(
        self,
        chosen: dict[str, tuple[str, Kind]],
        wrappers: dict[Primitive, tuple[str, str, Wrapper | None] | None],
    ) -> str | None:
        """The real path of api.h: in the folder, below it, one level up, or beside the wrapper."""
        if "api.h" in chosen:
            return chosen["api.h"][0]
        below = [n for n in chosen if n.endswith("/api.h")]
        if below:
            name = min(below, key=lambda n: (n.count("/"), n))
            self._notes.append(f"api.h taken from {escaped(name)}")
            return chosen[name][0]
        at_wrapper = {w[1] for w in wrappers.values() if w is not None}
        for level, folder in enumerate(self._above):
            real = folder.files.get("api.h")
            if real and (level == 0 or at_wrapper & set(folder.files.values())):
                self._notes.append(f"api.h taken from {escaped(folder.name)}/")
                return real
        return None

    def _included(self, chosen: dict[str, tuple[str, Kind]]) -> list[tuple[str, str]]:
        """Files of unknown kind that a source includes: it has their name in quotes or angle brackets."""
        unknown = self._listing.of(Kind.UNKNOWN)
        if not unknown:
            return []
        cited = self._cited(chosen)
        return [f for f in unknown if os.fsencode(os.path.basename(f[0])) in cited]

    def _read(self, chosen: dict[str, tuple[str, Kind]]) -> tuple[SourceFile, ...] | Failure:
        files: list[SourceFile] = []
        mains: list[str] = []
        drivers: list[str] = []
        preprocessed: list[str] = []
        stdio = size = 0
        for name in sorted(chosen):
            real, kind = chosen[name]
            content = self._reader.content(real, kind)
            if isinstance(content, Failure):
                return Failure(content.reason, f"{escaped(name)}: {content.detail}")
            size += content.size
            if size > self._limits.package_bytes:
                return Failure(Reason.UNREADABLE, f"more than {self._limits.package_bytes} bytes of sources")
            if content.has_main:
                (drivers if is_driver(os.path.basename(name)) else mains).append(name)
            stdio += content.stdio
            if content.needs_cpp:
                preprocessed.append(escaped(name))
            files.append(SourceFile(name, Path(real), LANGUAGE[kind], content.sha256))
        kept = [f for f in files if f.name not in drivers]
        if any(f.language != "header" for f in kept):
            self._listing.left_out += drivers
        else:
            kept, mains = files, mains + drivers
        if mains:
            self._notes.append(f"main() inside: {', '.join(map(escaped, mains))}")
        if stdio:
            self._notes.append(f"stdio in {stdio} file{'s' * (stdio > 1)}")
        if preprocessed:
            self._notes.append(f"{', '.join(preprocessed)}: assembly that needs the preprocessor")
        return tuple(kept)

    # -- KAT and notes

    def _kat(self, primitive: Primitive, felics_ae: bool) -> tuple[Path, ...]:
        """The nearest KAT files of the primitive: in the folder, the variant's, or one level up."""
        vectors = self._folder.files.get(felics.VECTORS)
        if felics_ae and vectors:
            return (Path(vectors),)
        own = [(n, r) for n, r in self._listing.of(Kind.KAT) if fits(primitive, os.path.basename(n))]
        if own:
            return tuple(Path(real) for _, real in own)
        for folder in self._above:
            near = sorted((n, r) for n, r in folder.files.items() if fits(primitive, n))
            if near:
                return tuple(Path(real) for _, real in near)
        return ()

    def _architectures(self) -> tuple[str, ...] | None:
        """The machines listed in SUPERCOP's file ``architectures``; None without that file."""
        file = self._folder.files.get("architectures")
        data = self._reader.data(file) if file is not None else None
        if not isinstance(data, bytes):
            return None
        return tuple(escaped(word) for word in data[:4096].decode("utf-8-sig", "replace").split())

    def _note_irregular(self) -> None:
        notes, listing = self._notes, self._listing
        if (machines := self._architectures()) is not None:
            notes.append(f"architectures: {' '.join(machines) or 'none'}")
        notes += [f"marker: {escaped(n)}" for n in sorted(self._folder.files) if n.startswith("lwc_arch_")]
        if "lwc_constraints.h" in self._folder.files:
            notes.append("lwc_constraints.h: input lengths are restricted")
        for kind, what in (
            (Kind.FOREIGN_ASM, "not GNU assembler"),
            (Kind.SKETCH, "Arduino sketch"),
            (Kind.MAKEFILE, "own build file"),
        ):
            if found := listing.of(kind):
                notes.append(f"{named(found)} ignored: {what}")
        above = ((f"{folder.name}/{n}", real) for folder in self._above for n, real in folder.files.items())
        odd = [*listing.of(Kind.UNKNOWN), *(f for f in above if kind_of(os.path.basename(f[0])) is Kind.UNKNOWN)]
        if found := sorted(f for f in odd if self._reader.is_kat(f[1])):
            notes.append(f"{named(found)} not used: known answers are read from LWC_*_KAT_*.txt")
        if listing.left_out:
            shown = ", ".join(escaped(n) for n in sorted(listing.left_out)[:8])
            notes.append(f"{shown} left out: programs around the cipher")


def own_sources(folder: Folder) -> bool:
    """Whether the folder itself holds something to compile, apart from generators and wrappers."""
    return any(kind_of(n) in COMPILED and not is_generator(n) for n in folder.files)


def _guess(
    api: bytes,
    wrappers: dict[Primitive, tuple[str, str, Wrapper | None] | None],
    listing: Listing,
) -> tuple[Primitive, ...]:
    """The primitives of a package outside any crypto_* folder: by wrapper, KAT file, or api.h."""
    by_wrapper = tuple(p for p, w in wrappers.items() if w is not None)
    if by_wrapper:
        return by_wrapper
    kats = [os.path.basename(n) for n, _ in listing.of(Kind.KAT)]
    by_kat = tuple(p for p in API if any(fits(p, n) for n in kats))
    if by_kat:
        return by_kat
    return tuple(p for p, macros in _BY_API.items() if all(_has(m, api) for m in macros))


def _has(macro: bytes, api: bytes) -> bool:
    return re.search(rb"\b%s\b" % macro, api) is not None
