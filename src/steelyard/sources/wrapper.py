"""Reads the wrapper of NIST's benchmarking framework: its function pointers tell the real names of entry points.

``lwc_crypto_aead.c`` fills an ``aead_ctx`` whose last two members are encrypt and decrypt,
``lwc_crypto_hash.c`` a ``hash_ctx`` whose last member is the hash.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..model.implementation import API, Primitive

#: a wrapper is a page of text; anything longer is not one
MAX_BYTES = 32 * 1024
#: most characters of a function's name and parameters
_ARGUMENTS = 1000

_CONTEXT = re.compile(r"\b(?:aead|hash|cxof)_ctx\s+\w+\s*=\s*\{([^{}]*)\}")
# a string that does not end in its line ends with it, so that no text is read twice
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"?|//[^\n]*|/\*')
_MEMBER = {"encrypt": "crypto_aead_encrypt", "decrypt": "crypto_aead_decrypt"}


class Wrapper(Struct, frozen=True):
    """The content of a wrapper: renamed entry points (API name, symbol), variant, name, and whether it ``defines`` them
    itself."""

    entry: tuple[tuple[str, str], ...]
    variant: str
    name: str
    defines: bool


@lru_cache(64)  # many folders may be links to one
def parse(data: bytes, primitive: Primitive) -> Wrapper | None:
    """Parses a wrapper's structure of function pointers; None if it cannot be understood."""
    if len(data) > MAX_BYTES:
        return None
    text = _without_comments(data.decode("utf-8", "replace"))
    table = _CONTEXT.search(text)
    if table is None:
        return None
    lines = [line for line in table[1].splitlines() if not line.lstrip().startswith("#")]
    fields = [f for f in (f.strip() for f in " ".join(lines).split(",")) if f]
    api = API[primitive]
    names: dict[str, str | None] = {}
    if fields and fields[-1].startswith("."):
        for f in fields:
            member, _, value = f[1:].partition("=")
            member = member.strip()
            names[_MEMBER.get(member, api[0] if member == "hash" else member)] = _symbol(value)
    elif len(fields) >= len(api):
        names = dict(zip(api, (_symbol(f) for f in fields[-len(api) :]), strict=True))
    found = {a: s for a in api if (s := names.get(a)) is not None}
    if len(found) != len(api):
        return None
    shown = [f.strip('" ') for f in fields[:2]] if fields[0].startswith('"') else ["", ""]
    defines = any(_defines(s, text) for s in found.values())
    entry = tuple((a, s) for a, s in found.items() if a != s)
    return Wrapper(entry, shown[0], shown[-1], defines)


def _defines(function: str, text: str) -> bool:
    """Whether the text has ``function(PARAMETERS) {``."""
    heads = (head.rsplit("}", 1)[-1].rsplit(";", 1)[-1].rstrip() for head in text.split("{")[:-1])
    call = re.compile(rf"\b{re.escape(function)}\s*\(")
    return any(head.endswith(")") and call.search(head[-_ARGUMENTS:]) for head in heads)


def _symbol(value: str) -> str | None:
    """The function that a field names: ``f``, ``&f`` or ``(type) f``."""
    m = re.search(r"(?:^|[\s&)])([A-Za-z_]\w*)\s*$", value)
    return None if m is None or m[1] in ("NULL", "nullptr") else m[1]


def _without_comments(text: str) -> str:
    out: list[str] = []
    at = 0
    while m := _TOKEN.search(text, at):
        out.append(text[at : m.start()])
        at = m.end()
        if m[0] == "/*":
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
        elif m[0].startswith('"'):
            out.append(m[0])
        out.append(" ")
    out.append(text[at:])
    return "".join(out)
