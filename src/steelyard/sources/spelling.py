"""Recognises bundled variants under other spellings: ``Romulus-N`` is romulusn."""

from __future__ import annotations

import re
from functools import cache

from ..model import paths

_VERSION = re.compile(r"v\d+")


def bundled_name(primitive: str, variant: str) -> str | None:
    """The bundled variant whose name has the same letters and digits as ``variant``. None when ``variant`` is that name
    already, or when no or several variants match. A name in another spelling does not say which version of a cipher it
    means where there are several: FELICS-AE's TinyJAMBU-128 is NIST's tinyjambu128v2."""
    folded = _folded(variant)
    names = _bundled().get((primitive, folded), frozenset())
    versions = any(p == primitive and _VERSION.fullmatch(name.removeprefix(folded)) for p, name in _bundled())
    return next(iter(names)) if len(names) == 1 and variant not in names and not versions else None


def is_bundled(primitive: str, variant: str) -> bool:
    """Whether there is a bundled variant of this very name."""
    return variant in _bundled().get((primitive, _folded(variant)), ())


def bundled_block(cipher: str, block: int, key: int) -> str | None:
    """The bundled block cipher that another project calls ``cipher``, with ``block`` and ``key`` bits: ``AES``, 128 and
    128 are aes128. None when there is none."""
    names = (_bundled().get(("crypto_block", _folded(f"{cipher}{sizes}"))) for sizes in (f"{block}{key}", key, ""))
    return next((min(found) for found in names if found), None)


@cache
def _bundled() -> dict[tuple[str, str], frozenset[str]]:
    found: dict[tuple[str, str], frozenset[str]] = {}
    for folder in paths.CIPHERS.glob("crypto_*/*/*/"):
        key = (folder.parts[-3], _folded(folder.name))
        found[key] = found.get(key, frozenset()) | {folder.name}
    return found


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
