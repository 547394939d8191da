"""Reads FELICS-AE's ``test_vectors.c``: one known answer as initialised arrays of bytes."""

from __future__ import annotations

import re
from pathlib import Path

from ..model.call import Vector
from .katfile import MalformedKat

MAX_BYTES = 64 * 1024
#: bytes of message and of associated data in FELICS-AE's only case
LENGTH = 16

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ARRAY = re.compile(r"\b(expected\w+)\s*\[[^\]\n]{0,100}\]\s*=\s*\{([^{}]*)\}")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,4}|0+|[1-9]\d{0,3})[uU]?")


def read(path: Path) -> list[Vector]:
    """The one vector of the file, in a list. Raises :class:`MalformedKat` when there is none, and :class:`OSError`."""
    if path.stat().st_size > MAX_BYTES:
        raise MalformedKat(f"{path.name}: larger than {MAX_BYTES} bytes")
    return parse(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse(text: str, name: str = "test_vectors.c") -> list[Vector]:
    """The vector of a text, in a list. Short messages and associated data are padded with zeros, as C does. Raises
    :class:`MalformedKat`."""
    arrays = {found[1]: found[2] for found in _ARRAY.finditer(_COMMENT.sub(" ", text))}

    def array(part: str, fill: int = 0) -> bytes:
        if part not in arrays:
            raise MalformedKat(f"{name}: no initialised array {part}")
        numbers = [n.strip() for n in arrays[part].split(",") if n.strip()]
        found = [_NUMBER.fullmatch(n) for n in numbers]
        values = [int(f[1], 0) if f else -1 for f in found]
        if not all(0 <= v <= 255 for v in values):
            wrong = numbers[next(i for i, v in enumerate(values) if not 0 <= v <= 255)]
            raise MalformedKat(f"{name}: {part} holds {wrong[:20]!r}, which is not a byte")
        return bytes(values).ljust(fill, b"\0")

    message, ad = array("expectedPlaintext", LENGTH), array("expectedAssociated", LENGTH)
    key, npub, output = array("expectedKey"), array("expectedNonce"), array("expectedCiphertext")
    return [Vector(1, key, npub, message, ad, output)]
