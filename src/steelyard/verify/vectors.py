"""Generates the inputs of known-answer tests: NIST's counting bytes, and independent pseudo-random ones.

genkat (NIST LWC call, 2018): byte i of key, nonce, message and associated data is ``start + i`` mod 256;
AEAD lengths run over message 0..32 and associated data 0..32, hash messages over 0..1024. These inputs cannot reveal a
swapped key and nonce, or errors beyond two blocks. So each variant has a second set, whose input i under a label is
SHAKE-256(label/i/key), .../nonce, .../pt, .../ad, .../msg.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..model.call import Vector
from ..model.implementation import Primitive

#: most bytes of message and of associated data in NIST's known answers
NIST: dict[Primitive, tuple[int, int]] = {"crypto_aead": (32, 32), "crypto_hash": (1024, 0), "crypto_cxof": (32, 32)}
_BYTES = bytes(range(256))


def counting(length: int, start: int = 0) -> bytes:
    """``length`` bytes: start, start + 1, ... mod 256."""
    return (_BYTES * ((start + length) // 256 + 1))[start : start + length]


@lru_cache(maxsize=8)
def genkat(key: int, npub: int, starts: tuple[int, int, int, int], max_mlen: int, max_adlen: int) -> tuple[Vector, ...]:
    """NIST's inputs for messages of 0 to ``max_mlen`` and associated data of 0 to ``max_adlen`` bytes. ``starts`` are
    the first bytes of key, nonce, message and associated data. Cached, because most variants share them."""
    k, n = counting(key, starts[0]), counting(npub, starts[1])
    sizes = ((mlen, adlen) for mlen in range(max_mlen + 1) for adlen in range(max_adlen + 1))
    return tuple(
        Vector(count, k, n, counting(mlen, starts[2]), counting(adlen, starts[3]))
        for count, (mlen, adlen) in enumerate(sizes, 1)
    )


def independent(
    label: str, lengths: tuple[tuple[int, int], ...], key: int, npub: int, primitive: Primitive
) -> Iterator[Vector]:
    """The inputs of the second set; ``lengths`` are pairs (message, associated data) in bytes."""
    message = "pt" if primitive == "crypto_aead" else "msg"

    def stream(i: int, part: str, size: int) -> bytes:
        return hashlib.shake_256(f"{label}/{i}/{part}".encode()).digest(size)

    for i, (mlen, adlen) in enumerate(lengths):
        yield Vector(
            i + 1,
            stream(i, "key", key),
            stream(i, "nonce", npub),
            stream(i, message, mlen),
            stream(i, "ad", adlen),
        )


def format_vector(primitive: Primitive, v: Vector, output: bytes) -> str:
    """One block of a KAT file, as genkat writes it."""
    count, message, ad, made = v.count, v.message.hex().upper(), v.ad.hex().upper(), output.hex().upper()
    if primitive == "crypto_aead":
        key, npub = v.key.hex().upper(), v.npub.hex().upper()
        return f"Count = {count}\nKey = {key}\nNonce = {npub}\nPT = {message}\nAD = {ad}\nCT = {made}\n\n"
    custom = f"Z = {ad}\n" if primitive == "crypto_cxof" else ""
    return f"Count = {count}\nMsg = {message}\n{custom}MD = {made}\n\n"


def kat_digest(primitive: Primitive, outputs: Iterable[tuple[Vector, bytes]]) -> str:
    """SHA-256 of the KAT file that these outputs make."""
    return hashlib.sha256("".join(format_vector(primitive, v, o) for v, o in outputs).encode()).hexdigest()
