"""Reads sizes from an ``api.h`` without compiling it."""

from __future__ import annotations

import re

from msgspec import Struct

from ..model.implementation import Implementation

_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+CRYPTO_(KEYBYTES|NPUBBYTES|ABYTES|BYTES)[ \t]+\(?(\d{1,6})\)?\s", re.M
)
_MAX_BYTES = 1 << 16


class Sizes(Struct, frozen=True):
    """Bytes of key, nonce, and tag or digest; None where the header does not give a plain number."""

    key: int | None = None
    nonce: int | None = None
    tag: int | None = None


def sizes(implementation: Implementation) -> Sizes:
    """Bytes of an implementation's key, nonce and tag, or of its digest (as ``tag``)."""
    header = next((f.path for f in implementation.files if f.name.rsplit("/", 1)[-1] == "api.h"), None)
    if header is None:
        return Sizes()
    try:
        with header.open("rb") as f:
            found = dict(_DEFINE.findall(f.read(_MAX_BYTES) + b"\n"))
    except OSError:
        return Sizes()

    def number(name: bytes) -> int | None:
        return int(found[name]) if name in found else None

    if implementation.primitive == "crypto_aead":
        return Sizes(number(b"KEYBYTES"), number(b"NPUBBYTES"), number(b"ABYTES"))
    return Sizes(tag=number(b"BYTES"))
