"""Reads the ``test_vectors.c`` of FELICS and FELICS-AE: one known answer as initialised arrays of bytes."""

from __future__ import annotations

import re
from pathlib import Path

from ..model.call import Vector
from .katfile import MalformedKat

MAX_BYTES = 64 * 1024
#: bytes of message and of associated data in FELICS-AE's only case
LENGTH = 16

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_ARRAY = re.compile(r"\b(expected\w+)\s*\[[^\]\n]{0,100}\]\s*=\s*\{([^{}]*)\}")
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,4}|0+|[1-9]\d{0,3})[uU]?")


def read(path: Path) -> list[Vector]:
    """The one vector of FELICS-AE's file, in a list. Raises :class:`MalformedKat` when there is none, and
    :class:`OSError`."""
    return parse(_text(path), path.name)


def read_block(path: Path, key: int, block: int) -> Vector:
    """The vector of a block cipher of the first FELICS, with ``key`` and ``block`` bytes. Raises as :func:`read`."""
    return parse_block(_text(path), key, block, path.name)


def parse(text: str, name: str = "test_vectors.c") -> list[Vector]:
    """The vector of a text, in a list. Short messages and associated data are padded with zeros, as C does. Raises
    :class:`MalformedKat`."""
    arrays = _Arrays(text, name)
    message, ad = arrays.of("expectedPlaintext", LENGTH), arrays.of("expectedAssociated", LENGTH)
    key, npub, output = arrays.of("expectedKey"), arrays.of("expectedNonce"), arrays.of("expectedCiphertext")
    return [Vector(1, key, npub, message, ad, output)]


def parse_block(text: str, key: int, block: int, name: str = "test_vectors.c") -> Vector:
    """The vector of a block cipher's text. Short arrays are padded with zeros, as C does. Raises
    :class:`MalformedKat`."""
    arrays, found = _Arrays(text, name), []
    for part, size in (("expectedKey", key), ("expectedPlaintext", block), ("expectedCiphertext", block)):
        found.append(arrays.of(part, size))
        if len(found[-1]) > size:
            raise MalformedKat(f"{name}: {part} holds {len(found[-1])} bytes; constants.h has {size}")
    return Vector(1, found[0], b"", found[1], b"", found[2])


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_BYTES:
        raise MalformedKat(f"{path.name}: larger than {MAX_BYTES} bytes")
    return path.read_text(encoding="utf-8", errors="replace")


class _Arrays:
    """The initialised arrays of a text."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._found = {found[1]: found[2] for found in _ARRAY.finditer(_COMMENT.sub(" ", text))}

    def of(self, part: str, fill: int = 0) -> bytes:
        if part not in self._found:
            raise MalformedKat(f"{self._name}: no initialised array {part}")
        numbers = [n.strip() for n in self._found[part].split(",") if n.strip()]
        found = [_NUMBER.fullmatch(n) for n in numbers]
        values = [int(f[1], 0) if f else -1 for f in found]
        if not all(0 <= v <= 255 for v in values):
            wrong = numbers[next(i for i, v in enumerate(values) if not 0 <= v <= 255)]
            raise MalformedKat(f"{self._name}: {part} holds {wrong[:20]!r}, which is not a byte")
        return bytes(values).ljust(fill, b"\0")
