"""Reads block ciphers of the first FELICS: ``<cipher>_<block bits>_<key bits>_v<version>/source``.

A cipher has four functions, each in a source of its own: two key schedules, encryption and decryption. ``constants.h``
holds the sizes. ``implementation.info`` lists, for each function, further sources of code and of constants, by name
without suffix, and says whether there are key schedules at all. FELICS compiles the C sources and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from ..model.implementation import Phase, Phases
from .escape import escaped
from .felics import INFO, MAX_BYTES, MAX_ITEMS, BadInfoError
from .macros import numbers

CONSTANTS = "constants.h"
#: supplied, unless the tree has its own
ROTATIONS = ("rot8.h", "rot16.h", "rot32.h")
_COMPAT = Path(__file__).resolve().parent / "compat" / "phases"
#: supplied in any case
HEADERS = {name: _COMPAT / name for name in ("api.h", "cipher.h")}
#: folders of a FELICS tree: block ciphers, where they are below it, and rotations
_BLOCKS, _CIPHERS, _ROTATIONS = "block_ciphers", "source/ciphers/", "common/source/rotations"
TEMPLATE = "CipherName_BlockSizeInBits_KeySizeInBits"
#: what constants.h calls the sizes of the primitive
SIZES = {"key": "KEY_SIZE", "block": "BLOCK_SIZE", "context": "ROUND_KEYS_SIZE"}
#: API name and symbol; the harness calls them as FELICS declares them
ENTRY = (
    ("crypto_block_encrypt_schedule", "RunEncryptionKeySchedule"),
    ("crypto_block_encrypt", "Encrypt"),
    ("crypto_block_decrypt_schedule", "RunDecryptionKeySchedule"),
    ("crypto_block_decrypt", "Decrypt"),
)
#: operation, its source, and what its lists in implementation.info are called
_PHASES = (
    ("schedule_encrypt", "encryption_key_schedule", "EncryptionKeySchedule"),
    ("encrypt", "encrypt", "Encrypt"),
    ("schedule_decrypt", "decryption_key_schedule", "DecryptionKeySchedule"),
    ("decrypt", "decrypt", "Decrypt"),
)
_MACHINES = ("AVR", "MSP", "ARM", "PC")
_FOLDER = re.compile(r"(.+)_(\d{1,4})_(\d{1,4})_v(\w{1,20})")


class Named(Struct, frozen=True):
    """What a folder's name says; ``block`` and ``key`` are bits."""

    cipher: str
    block: int
    key: int
    version: str

    @property
    def variant(self) -> str:
        """The name of the variant where no bundled one is meant: as FELICS writes it."""
        return f"{self.cipher}_{self.block}_{self.key}"


def named(parts: Sequence[str]) -> Named | None:
    """What the name of a cipher's folder in the path ``parts`` says, which may end with ``source``; None for another
    folder."""
    folder = parts[-2] if len(parts) > 1 and parts[-1] == "source" else parts[-1]
    found = _FOLDER.fullmatch(folder)
    return Named(escaped(found[1]), int(found[2]), int(found[3]), escaped(found[4])) if found else None


def is_template(parts: Sequence[str]) -> bool:
    """Whether the path is FELICS's template for a new cipher."""
    return any(part.startswith(f"{TEMPLATE}_v") for part in parts[-2:])


def tree_of(path: str) -> str | None:
    """The FELICS tree that the folder ``path`` of one or all block ciphers is in, so that its headers are found; None
    outside of one."""
    own = rotations_of(path)
    return own.removesuffix(f"/{_ROTATIONS}") if own is not None and os.path.isdir(own) else None  # noqa: PTH112


def rotations_of(path: str) -> str | None:
    """Where the headers of rotations are if the folder ``path`` of one or all block ciphers is in a FELICS tree."""
    whole, middle, below = f"{path}/".partition(f"/{_BLOCKS}/")
    inside = middle and (_CIPHERS.startswith(below) or below.startswith(_CIPHERS))
    return f"{whole}/{_ROTATIONS}" if inside else None


def rotation(source: str, name: str, holds: Callable[[str], bool]) -> tuple[str, bool]:
    """The header of rotations called ``name`` for the cipher whose sources are in ``source``: that of its tree, where
    it has one that the root ``holds``, else Steelyard's. True for the tree's."""
    up = "/".join([source, *[".."] * 5, _ROTATIONS, name])
    real = os.path.realpath(up)
    own = holds(real) and os.path.isfile(real)  # noqa: PTH113
    return (real, True) if own else (str(_COMPAT / name), False)


def sizes(data: bytes) -> dict[str, int]:
    """Bytes of ``BLOCK_SIZE``, ``KEY_SIZE`` and ``ROUND_KEYS_SIZE`` as a constants.h defines them; those that are plain
    numbers."""
    found = numbers(data)
    return {name: value for name in SIZES.values() if (value := found.get(name)) is not None}


def parse(data: bytes, stems: Collection[str]) -> tuple[Phases, tuple[str, ...]] | None:
    """The phases that an implementation.info describes, and notes on it; None for a file of other ciphers.

    ``stems`` are the names of the package's sources without suffix. Raises :class:`BadInfoError`.
    """
    if len(data) > MAX_BYTES:
        raise BadInfoError(f"{INFO}: larger than {MAX_BYTES} bytes")
    said: dict[str, list[str]] = {}
    for line in data.decode("utf-8-sig", "replace").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            said.setdefault(key.strip(), []).append(value.strip())
    if not any(key.startswith(("EncryptionKeySchedule", "UseEncryptionKeySchedule")) for key in said):
        return None
    notes: list[str] = []

    def listed(key: str) -> tuple[str, ...]:
        names = [n for value in said.get(key, ()) for n in value.replace(",", " ").split()]
        if len(names) > MAX_ITEMS:
            raise BadInfoError(f"{INFO}: {key} lists {len(names)} sources; at most {MAX_ITEMS} are read")
        notes.extend(f"{INFO}: {key}: no source is called {escaped(n[:100])}" for n in names if n not in stems)
        return tuple(n for n in names if n in stems)

    of = tuple((op, Phase(own, listed(f"{key}Code"), listed(f"{key}Constants"))) for op, own, key in _PHASES)
    uses = [not _says_no(said.get(f"Use{key}", ())) for _, _, key in _PHASES[::2]]
    languages = [f"{m} {escaped(v[:20])}" for m in _MACHINES for v in said.get(f"Implementation{m}", ()) if v]
    if languages:
        notes.append(f"written for {', '.join(languages)}")
    return Phases(of, *uses), tuple(notes)


def _says_no(values: Iterable[str]) -> bool:
    return any(v.lower() == "no" for v in values)
