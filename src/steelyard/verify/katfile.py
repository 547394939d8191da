"""Reads a package's own KAT file, with limits and exact errors."""

from __future__ import annotations

import codecs
from pathlib import Path

from ..model.call import Vector
from ..model.implementation import Primitive

MAX_BYTES = 64 << 20
MAX_VECTORS = 100_000
_DIGITS = 9
_FIELDS = {
    "crypto_aead": {"key": "Key", "npub": "Nonce", "message": "PT", "ad": "AD", "output": "CT"},
    "crypto_hash": {"message": "Msg", "output": "MD"},
    "crypto_block": {"key": "Key", "message": "PT", "output": "CT"},
    "crypto_cxof": {"message": "Msg", "ad": "Z", "output": "MD"},
}


class MalformedKat(Exception):
    """The text says which line is wrong and how."""


def read(path: Path, primitive: Primitive) -> list[Vector]:
    """The vectors of a KAT file. Raises :class:`MalformedKat`, and :class:`OSError`."""
    if path.stat().st_size > MAX_BYTES:
        raise MalformedKat(f"{path.name}: larger than {MAX_BYTES} bytes")
    text = path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("ascii", "replace")
    return parse(text, primitive, path.name)


def parse(text: str, primitive: Primitive, name: str = "KAT") -> list[Vector]:
    """The vectors of a KAT text; ``name`` is for messages. Raises :class:`MalformedKat`."""
    wanted = {v: k for k, v in _FIELDS[primitive].items()}
    strict = primitive == "crypto_block"  # the format is ours; submissions number vectors alike, and have more fields
    counts: set[int] = set()
    vectors: list[Vector] = []
    current: dict[str, bytes] = {}
    count: int | None = None

    def finish(line: int) -> None:
        if count is None:
            return
        missing = [n for n, k in wanted.items() if k not in current]
        if missing:
            raise MalformedKat(f"{name}, line {line}: vector {count} has no {', '.join(missing)}")
        parts = {"key": b"", "npub": b"", "ad": b""} | current
        vectors.append(Vector(count, parts["key"], parts["npub"], parts["message"], parts["ad"], parts["output"]))
        if len(vectors) > MAX_VECTORS:
            raise MalformedKat(f"{name}: more than {MAX_VECTORS} vectors")

    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        field, equals, value = line.partition("=")
        field, value = field.strip(), value.strip()
        if not equals:
            raise MalformedKat(f"{name}, line {number}: no '=' in {line[:40]!r}")
        if field == "Count":
            finish(number)
            current = {}
            if not (value.isascii() and value.isdecimal() and len(value) <= _DIGITS):  # details name it
                what = f"Count is not a number of at most {_DIGITS} digits"
                raise MalformedKat(f"{name}, line {number}: {what}: {value[:40]!r}")
            count = int(value)
            if strict and count in counts:
                raise MalformedKat(f"{name}, line {number}: Count = {count} is there twice")
            counts.add(count)
        elif field in wanted:
            if count is None:
                raise MalformedKat(f"{name}, line {number}: {field} before the first Count")
            if strict and wanted[field] in current:
                raise MalformedKat(f"{name}, line {number}: {field} of vector {count} is there twice")
            try:
                current[wanted[field]] = bytes.fromhex(value)
            except ValueError:
                raise MalformedKat(f"{name}, line {number}: {field} is not hexadecimal") from None
        elif strict:
            text = f"no field is called {field[:40]!r}; Count, {', '.join(wanted)} are"
            raise MalformedKat(f"{name}, line {number}: {text}")
    finish(number + 1)
    if not vectors:
        raise MalformedKat(f"{name}: no vectors")
    return vectors
