"""Reads primitive, family, variant and name of an implementation from its path.

Paths are read from the nearest crypto_* folder downwards. F is a family, V a variant, I an implementation:

====================================  ========  =======  =======
path                                  family    variant  name
====================================  ========  =======  =======
F/crypto_aead/V/I (NIST)              F         V        I
crypto_aead/F/V/I (our own)           F         V        I
crypto_block/F/V/I (our own)          F         V        I
crypto_aead/V/I (SUPERCOP)            stem(V)   V        I
crypto_aead/V/I/J (SUPERCOP)          stem(V)   V        I/J
crypto_core/Vencrypt/I (SUPERCOP)     stem(V)   V        I
V_vI/source (FELICS-AE)               stem(V)   V        I
V_M_N_vI/source (FELICS)              stem(V)   V_M_N    I
V/I                                   stem(V)   V        I
====================================  ========  =======  =======

The folder F above crypto_aead counts as a family when V begins with its name (comparing letters and digits), or when it
is below the folder that the user named and is not a mere container (``implementations``, ``_reference_``). Of three
levels, the first is a variant when it holds an implementation itself; it is a family when the second continues its
name, when the second has a number and the first has none, and always below crypto_block, which SUPERCOP has not.
Outside of all layouts I/V is read where the upper folder is called as implementations are: ``ref/Romulus-N``.
stem(V) drops a version and everything from the first digit on: ascon128v12 -> ascon, xoodyakround3 -> xoodyak.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from ..model.implementation import Primitive
from .escape import escaped
from .felics import cipher_and_version
from .phases import named

#: folder name -> the primitives of an implementation below it
ANCHORS: dict[str, tuple[Primitive, ...]] = {
    "crypto_aead": ("crypto_aead",),
    "crypto_hash": ("crypto_hash",),
    "crypto_cxof": ("crypto_cxof",),
    "crypto_block": ("crypto_block",),
    "crypto_core": ("crypto_block",),
    "crypto_aead_hash": ("crypto_aead", "crypto_hash"),
    "aead_hash": ("crypto_aead", "crypto_hash"),
}
#: SUPERCOP's folders for operations that are not measured
OTHERS = frozenset(
    f"crypto_{name}"
    for name in (
        *(
            "auth",
            "box",
            "decode",
            "dh",
            "encode",
            "encrypt",
            "hashblocks",
            "kdf",
            "kem",
            "mac",
            "onetimeauth",
        ),
        *("pubkey", "rng", "scalarmult", "secretbox", "sign", "sort", "stream", "verify", "xof"),
    )
)

_CONTAINER = re.compile(
    r"_.*|(?:reference_|optimi[sz]ed_|additional_|software_)?implementations?|sources?|src|ciphers"
    r"|candidates|supercop.*|packages?|submissions?",
    re.I,
)
#: what submitters call an implementation of whatever cipher
_IMPLEMENTATION = re.compile(r"(?:ref|reference|opt|optimi[sz]ed)(?:[ _-]?\d+)?", re.I)
_VERSION = re.compile(r"(?:v|round)\d[\d._]*$", re.I)


class Naming(Struct, frozen=True):
    """The names of an implementation; ``primitives`` is empty when the path does not tell."""

    primitives: tuple[Primitive, ...]
    family: str
    variant: str
    name: str


def anchor_of(parts: Sequence[str]) -> int | None:
    """The index of the last crypto_* folder in a path; None without one."""
    for i in range(len(parts) - 1, -1, -1):
        if parts[i] in ANCHORS:
            return i
    return None


def stem(variant: str) -> str:
    """The variant without version and numbers: ``stem("ascon128v12")`` is ``"ascon"``."""
    plain = _VERSION.sub("", variant)
    letters = re.match(r"\D+", plain)
    return (letters[0].rstrip("-_.") if letters else "") or variant


def naming(parts: Sequence[str], given: int, holds: Callable[[int], bool] = lambda _: False) -> Naming:
    """The names of the implementation at the path ``parts``, of which the first ``given`` are the folder that the user
    named.

    ``holds(n)`` says whether the folder ``n`` levels above has an implementation directly below it.
    """
    at = anchor_of(parts)
    shown = [escaped(p) for p in parts]
    if at is None and (felics := cipher_and_version(parts)):
        return Naming((), stem(felics[0]), *felics)
    if at is None and (block := named(parts)):
        return Naming((), block.cipher.lower(), block.variant, block.version)
    if at is None:
        variant, name = shown[-2:] if len(shown) > max(given, 1) else (shown[-1], shown[-1])
        if _IMPLEMENTATION.fullmatch(variant) and not _IMPLEMENTATION.fullmatch(name):
            variant, name = name, variant
        return Naming((), stem(variant), variant, name)
    primitives = ANCHORS[parts[at]]
    below = shown[at + 1 :] or [shown[at - 1] if at else shown[at]]
    if len(below) == 1:
        below = below * 2
    first, second = below[0], below[1]
    nested = len(below) > 2
    above = next((i for i in range(at - 1, -1, -1) if not _CONTAINER.fullmatch(shown[i])), None)
    if nested and not holds(len(below) - 1):
        other = above is not None and _continues(shown[above], first)
        ours = parts[at] == "crypto_block"
        if ours or _continues(first, second) or (not other and stem(first) == first and stem(second) != second):
            return Naming(primitives, first, second, "/".join(below[2:]))
    if above is not None and _continues(shown[above], first):
        return Naming(primitives, shown[above], first, "/".join(below[1:]))
    family = shown[above] if above is not None and above >= given else stem(first)
    return Naming(primitives, family, first, "/".join(below[1:]))


def _continues(short: str, long: str) -> bool:
    """Whether ``long`` begins with ``short``, punctuation ignored."""
    a, b = (re.sub(r"[\W_]", "", s).lower() for s in (short, long))
    return bool(a) and b.startswith(a)
