"""Names of files as text that can be shown: a package may use any bytes."""

from __future__ import annotations


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
