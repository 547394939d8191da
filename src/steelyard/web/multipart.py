"""Reads a form with files (RFC 7578), whole and bounded."""

from __future__ import annotations

import re

from ..model.errors import UserError

#: parts of a form, and bytes of a part's headers
_PARTS, _HEADERS = 10, 4096
_BOUNDARY = re.compile(r'multipart/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))', re.IGNORECASE)
_NAME = re.compile(r'form-data\s*;(?:.*;)?\s*name="([^"]*)"', re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r';\s*filename="([^"]*)"', re.IGNORECASE)


def texts(kind: str, body: bytes) -> dict[str, str]:
    """The texts of a form without files."""
    return {n: value.decode("utf-8", "replace") for n, (_, value) in fields(kind, body).items()}


def fields(kind: str, body: bytes) -> dict[str, tuple[str, bytes]]:
    """Each field's file name, empty where it is not a file, and its bytes. Raises :class:`UserError`."""
    found = _BOUNDARY.match(kind)
    if found is None:
        raise UserError("this is not a form with a file; send it as multipart/form-data")
    divider = b"\r\n--" + (found[1] or found[2]).encode("latin-1", "replace")
    parts = (b"\r\n" + body).split(divider, _PARTS + 1)
    if len(parts) > _PARTS + 1 or not parts[-1].startswith(b"--"):
        raise UserError("this form does not end, or has too many parts; send it again")
    made: dict[str, tuple[str, bytes]] = {}
    for part in parts[1:-1]:
        head, end, content = part.partition(b"\r\n\r\n")
        text = head[: _HEADERS + 1].decode("utf-8", "replace")  # so that no search goes through megabytes
        name = _NAME.search(text)
        if not end or len(head) > _HEADERS or name is None or name[1] in made:
            raise UserError("a part of this form has no name, or the name of another; send it again")
        file = _FILE.search(text)
        made[name[1]] = (file[1] if file else "", content)
    return made
