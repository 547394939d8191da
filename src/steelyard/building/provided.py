"""Primitives of SUPERCOP and OpenSSL that Steelyard provides: which ones a package needs, and an image contains."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..model import paths
from ..model.elf import defined

#: functions by source in harness/provided/; including the header of the same name selects a source
FUNCTIONS = {
    **{f"crypto_core_aes{name}": (f"crypto_core_aes{name}",) for name in ("128encrypt", "128decrypt")},
    **{f"crypto_core_aes{name}": (f"crypto_core_aes{name}",) for name in ("256encrypt", "256decrypt")},
    "openssl_aes": ("AES_set_encrypt_key", "AES_set_decrypt_key", "AES_encrypt", "AES_decrypt"),
}
_INCLUDED = re.compile(rb'#[ \t]*include[ \t]*["<](crypto_core_aes\w+|openssl/aes)\.h[">]')

SOURCES = paths.HARNESS / "provided"
#: the targets of the links among the sources
READABLE = (paths.CIPHERS / "shared" / "aes",)


def wanted(text: bytes) -> set[str]:
    """Names of the primitives whose headers a source with this ``text`` includes."""
    return {name.decode().replace("/", "_") for name in _INCLUDED.findall(text)} & FUNCTIONS.keys()


def notes(image: Path, names: Iterable[str]) -> list[str]:
    """Notes on ``image``, which was linked with the primitives ``names``: the provided functions that it contains."""
    there = defined(image.read_bytes())
    used = [f for name in names for f in FUNCTIONS[name] if f in there]
    return [f"AES is Steelyard's and part of every figure: the package calls {', '.join(used)}"] if used else []
