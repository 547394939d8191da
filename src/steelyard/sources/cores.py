"""Reads block ciphers among SUPERCOP's ``crypto_core`` folders: ``Vencrypt/I`` and ``Vdecrypt/I`` are one.

Each folder has one function, ``crypto_core(out, in, k, c)``, of one direction, which expands the key in every call.
Functions of crypto_block around it are Steelyard's (``compat/core``): schedules copy the key, and have no figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..model.digest import of_file
from ..model.implementation import COPIES_KEY, Implementation, Language, SourceFile
from ..model.reasons import Failure, Reason
from .escape import escaped, fitting
from .layout import Naming, anchor_of, stem
from .macros import numbers
from .package import Package
from .spelling import bundled_name

ANCHOR = "crypto_core"
DIRECTIONS = ("encrypt", "decrypt")
#: the package's file that has its sizes
SIZES = "encrypt/api.h"
_COMPAT = Path(__file__).resolve().parent / "compat" / "core"
#: ours, by name in the package: what the build compiles and what it includes
_OURS: dict[str, Language] = {
    "api.h": "header",
    "block.c": "c",
    **dict.fromkeys((f"{d}/crypto_core.h" for d in DIRECTIONS), "header"),
}
_SIZES = ("INPUT", "OUTPUT", "KEY", "CONST")


def place(parts: Sequence[str]) -> int | None:
    """How many components from the end of the path ``parts`` the folder of the variant is; None outside of
    ``crypto_core``, and for that folder itself."""
    at = anchor_of(parts)
    return len(parts) - 1 - at or None if at is not None and parts[at] == ANCHOR else None


def turned(folder: Path, at: int, direction: str) -> Path:
    """The folder for a direction, where the variant's is component ``at`` from the end: with aes128decrypt there and
    ``encrypt``, that of aes128encrypt."""
    parts = list(folder.parts)
    if parts[-at].endswith(DIRECTIONS):
        parts[-at] = parts[-at][: -len(direction)] + direction
    return Path(*parts)


def halves(folder: Path) -> list[Path]:
    """The folders that one of ``crypto_core`` belongs with, itself among them; itself alone elsewhere."""
    at = place(folder.parts)
    return list(dict.fromkeys(turned(folder, at, d) for d in DIRECTIONS)) if at else [folder]


def read(naming: Naming, folder: Path, package: Callable[[str], Package | None]) -> Implementation | Failure:
    """The block cipher that a folder of ``crypto_core`` is half of. ``folder`` is that of encryption, ``package`` reads
    that of a direction, or says that there is none."""
    variant = naming.variant
    if not variant.endswith(DIRECTIONS) or variant in DIRECTIONS:
        text = f"{ANCHOR} is measured where it is a block cipher; {escaped(variant)} is not NAMEencrypt or NAMEdecrypt"
        return Failure(Reason.OTHER_PRIMITIVE, text)
    cipher = variant[: -len(DIRECTIONS[0])]
    files: list[SourceFile] = []
    notes: list[str] = [COPIES_KEY]
    found: list[dict[str, int | None]] = []
    machines: list[str] = []
    kat: tuple[Path, ...] = ()
    for direction in DIRECTIONS:
        half = package(direction)
        if half is None:
            text = f"no {escaped(f'{ANCHOR}/{cipher}{direction}/{naming.name}')}: a block cipher has both directions"
            return Failure(Reason.NO_SOURCES, text)
        taken = half.half()
        if isinstance(taken, Failure):
            return replace(taken, detail=f"{direction}: {taken.detail}")
        own, api, remarks, architectures, answers = taken
        files += [replace(f, name=f"{direction}/{f.name}") for f in own if f.name != "crypto_core.h"]
        if any(f.name == "crypto_core.h" for f in own):
            remarks.append("crypto_core.h left out: Steelyard's is in its place")
        notes += [f"{direction}: {n}" for n in remarks]
        machines += architectures
        kat = kat or answers
        said = numbers(api)
        found.append({n: said.get(f"CRYPTO_{n}BYTES") for n in _SIZES})
    wrong = _wrong(*found)
    if wrong is not None:
        return wrong
    for name, language in _OURS.items():
        at = _COMPAT / name
        files.append(SourceFile(name, at, language, of_file(at)))
    called = bundled_name("crypto_block", cipher) or cipher
    if called != cipher:
        notes.append(f"{cipher} taken for {called}, which differs in spelling only")
    return Implementation(
        primitive="crypto_block",
        family=fitting(stem(cipher) if naming.family == stem(variant) else naming.family),
        variant=fitting(called),
        name=fitting(naming.name),
        folder=folder,
        files=tuple(sorted(files, key=lambda f: f.name)),
        kat=kat,
        notes=tuple(notes),
        architectures=tuple(dict.fromkeys(machines)),
        libraries=tuple((d, f"{ANCHOR}_{d}") for d in DIRECTIONS),
    )


def _wrong(*found: dict[str, int | None]) -> Failure | None:
    """Why functions of these sizes are not a block cipher."""
    for direction, sizes in zip(DIRECTIONS, found, strict=True):
        if lacking := [f"CRYPTO_{n}BYTES" for n, size in sizes.items() if size is None]:
            return Failure(Reason.NO_API, f"{direction}: api.h defines no {', '.join(lacking)} as a plain number")
        into, out, key, const = sizes.values()
        if into != out or not into or not key or const:
            text = f"{direction}: {into} bytes in, {out} out, key {key}, constant {const}: not a block cipher"
            return Failure(Reason.OTHER_PRIMITIVE, text)
    if found[0] != found[1]:
        bytes_of = [f"block {f['INPUT']}, key {f['KEY']}" for f in found]
        return Failure(Reason.SIZES_DIFFER, f"encrypt has {bytes_of[0]} bytes, decrypt {bytes_of[1]}")
    return None
