"""Reads FELICS-AE's folders: ``<cipher>_v<version>/source`` with an ``implementation.info``.

``implementation.info`` holds ``Key: value`` lines and ``#`` comments. ``EncryptCode`` and ``DecryptCode`` list sources
by name without suffix, separated by commas, each followed by a ``!symbol`` for every function that does not belong to
the operation. ``Platforms`` and ``Options`` restrict where FELICS-AE runs it. The first FELICS has the same file with
other keys, and its ciphers are split into phases instead of having the API.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from ..model.implementation import CodeLists
from .escape import escaped

INFO = "implementation.info"
#: compiled into FELICS-AE's own programs, not into the cipher
VECTORS = "test_vectors.c"
#: headers that FELICS-AE supplies, by the name that packages include, and our replacements
HEADERS = {
    name: Path(__file__).resolve().parent / "compat" / "felics" / name.rsplit("/", 1)[-1]
    for name in ("felics/cipher.h", "felics/helpers.S", "crypto_aead.h")
}
#: an implementation.info is a page of text; anything longer is not one
MAX_BYTES = 16 * 1024
MAX_ITEMS = 256

_FOLDER = re.compile(r"([^_]+)_v(.+)")
_NAME = re.compile(r"[\w.+-]{1,100}")
_SYMBOL = re.compile(r"\w{1,200}")
_LISTS = ("EncryptCode", "DecryptCode")


class BadInfoError(Exception):
    """The text says which line is wrong and how."""


class Info(Struct, frozen=True):
    """The content of an implementation.info; ``notes`` describe restrictions and oddities."""

    code: CodeLists
    notes: tuple[str, ...]


def cipher_and_version(parts: Sequence[str]) -> tuple[str, str] | None:
    """Cipher and version from the path ``parts``, when its folder is named as in FELICS-AE: ``("Ascon_v2", "source")``
    gives ``("Ascon", "2")``. None otherwise."""
    folder = parts[-2] if len(parts) > 1 and parts[-1] == "source" else parts[-1]
    found = _FOLDER.fullmatch(folder)
    return (escaped(found[1]), escaped(found[2])) if found else None


def is_template(parts: Sequence[str]) -> bool:
    """Whether the path is FELICS-AE's template for a new cipher."""
    found = cipher_and_version(parts)
    return found is not None and found[0] == "CipherName"


def parse(data: bytes, stems: Collection[str]) -> Info | None:
    """Parses the content of an implementation.info; None for a file of the first FELICS.

    ``stems`` are the names of the package's sources without suffix. Raises :class:`BadInfoError`, which names the line.
    """
    if len(data) > MAX_BYTES:
        raise BadInfoError(f"{INFO}: larger than {MAX_BYTES} bytes")
    said: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        key, colon, value = line.partition(":")
        if colon and not line.lstrip().startswith("#"):
            said[key.strip()] = (number, value.strip())
    if any(key.endswith("Constants") for key in said) or not any(key in said for key in _LISTS):
        return None
    for key in _LISTS:
        if key not in said:
            raise BadInfoError(f"{INFO}: no {key}")
    notes: list[str] = []
    encrypt, decrypt = (_items(key, *said[key], stems, notes) for key in _LISTS)
    limits = [escaped(said[key][1][:200]) for key in ("Platforms", "Options") if key in said and said[key][1]]
    notes += [f"{INFO}: for {limit} only" for limit in limits]
    return Info(CodeLists(encrypt, decrypt), tuple(notes))


def says_anything(data: bytes) -> bool:
    """Whether an implementation.info, of either FELICS, has a line ``Key: value``."""
    return re.search(rb"^\s*\w+\s*:", data.removeprefix(codecs.BOM_UTF8), re.MULTILINE) is not None


def _items(
    key: str, line: int, text: str, stems: Collection[str], notes: list[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Sources and symbols of a list; when a source is named twice, the last entry counts, as in FELICS-AE."""
    items = [item.strip() for item in text.split(",") if item.strip()]
    where = f"{INFO}, line {line}: {key}"
    if not items or len(items) > MAX_ITEMS:
        raise BadInfoError(f"{where} lists {len(items)} sources; write NAME!symbol, NAME, ...")
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        name, *symbols = item.split("!")
        if not _NAME.fullmatch(name) or name not in stems:
            raise BadInfoError(f"{where}: no source is called {escaped(name[:100])}")
        odd = [s for s in symbols if s and not _SYMBOL.fullmatch(s)]
        if odd:
            notes.append(f"{where}: {escaped(odd[0][:100])!r} is not a symbol and leaves nothing out")
        found[name] = tuple(s for s in symbols if _SYMBOL.fullmatch(s))[:MAX_ITEMS]
    return tuple(found.items())
