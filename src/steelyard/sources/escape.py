"""Names of files as text that can be shown: a package may use any bytes."""

from __future__ import annotations

import hashlib

#: characters of a name that a record holds, and digits of the hash that ends a longer one
LONGEST, _DIGITS = 255, 16


def escaped(name: str) -> str:
    """``name`` with every byte or character that cannot be shown written as an escape, such as ``\\x80`` or ``\\n``."""
    if name.isprintable():
        return name
    out = []
    for c in name:
        if c.isprintable():
            out.append(c)
        elif 0xDC80 <= ord(c) <= 0xDCFF:
            out.append(f"\\x{ord(c) - 0xDC00:02x}")
        else:
            out.append(c.encode("unicode_escape").decode("ascii"))
    return "".join(out)


def fitting(name: str) -> str:
    """``name`` as a record can hold it: a longer one ends with a hash of all of it, so that names stay apart."""
    if len(name) <= LONGEST:
        return name
    whole = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()
    return f"{name[: LONGEST - _DIGITS - 1]}~{whole[:_DIGITS]}"
