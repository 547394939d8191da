"""SUPERCOP's and OpenSSL's primitives that Steelyard stands in for: which a package asks for, which an image holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..model import paths
from ..model.elf import defined

#: functions by source in harness/provided/; a source's header, of which the functions have the name, brings it in
_FUNCTIONS = {
    **{f"crypto_core_aes{name}": (f"crypto_core_aes{name}",) for name in ("128encrypt", "128decrypt")},
    **{f"crypto_core_aes{name}": (f"crypto_core_aes{name}",) for name in ("256encrypt", "256decrypt")},
    "openssl_aes": ("AES_set_encrypt_key", "AES_set_decrypt_key", "AES_encrypt", "AES_decrypt"),
}
_INCLUDED = re.compile(rb'#[ \t]*include[ \t]*["<](crypto_core_aes\w+|openssl/aes)\.h[">]')

PRIMITIVES = tuple(_FUNCTIONS)
SOURCES = paths.HARNESS / "provided"
#: what the sources are links to
READABLE = (paths.CIPHERS / "shared" / "aes",)


def wanted(text: bytes) -> set[str]:
    """Names of the primitives whose headers a source of this ``text`` includes."""
    return {name.decode().replace("/", "_") for name in _INCLUDED.findall(text)} & _FUNCTIONS.keys()


def functions(name: str) -> tuple[str, ...]:
    """What a package can call of the primitive ``name``."""
    return _FUNCTIONS[name]


def notes(image: Path, names: Iterable[str]) -> list[str]:
    """What a reader must know of ``image``, for which the primitives ``names`` were there to be linked."""
    there = defined(image.read_bytes())
    used = [f for name in names for f in functions(name) if f in there]
    return [f"AES is Steelyard's and part of every figure: the package calls {', '.join(used)}"] if used else []
