"""The digest table: checks the answers of known variants without storing their vectors.

``known.csv`` gives each variant's inputs and the SHA-256 of its whole KAT text. ``known_checks.bin`` holds, in the same
order, the first 2 bytes of the SHA-256 of each expected output, then the first 8 bytes for each output of the second
set. The short checks find the first wrong vector, and decide where the longest vectors do not fit a target; the whole
digest decides where all of them ran.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..model.call import Vector
from ..model.implementation import Primitive
from .vectors import genkat, independent, kat_digest

_FOLDER = Path(__file__).parent
KAT_CHECK = 2
EXT_CHECK = 8


class KnownVariant(Struct, frozen=True):
    """One reading of a known variant. ``choice`` is ``-``, or names another reading of the specification or its inputs.
    ``key``, ``npub`` and ``out`` (tag or digest) are in bytes; ``starts`` are the first bytes of
    :func:`.vectors.genkat`."""

    primitive: Primitive
    family: str
    variant: str
    choice: str
    key: int
    npub: int
    out: int
    starts: tuple[int, int, int, int]
    max_mlen: int
    max_adlen: int
    sha256: str
    status: str
    file: str
    ext_label: str
    ext_lengths: tuple[tuple[int, int], ...]
    kat_checks: bytes
    ext_checks: bytes

    @property
    def one_block(self) -> bool:
        """Whether the ciphertext is always one block of ``out`` bytes, whatever the length of its short message."""
        return self.primitive == "crypto_aead" and self.max_adlen == 0

    def kat(self) -> list[Vector]:
        """NIST's inputs for this variant."""
        return list(genkat(self.key, self.npub, self.starts, self.max_mlen, self.max_adlen))

    def ext(self) -> list[Vector]:
        """The second set's inputs."""
        return list(independent(self.ext_label, self.ext_lengths, self.key, self.npub, self.primitive))

    def wrong_kat(self, outputs: Iterable[tuple[Vector, bytes]]) -> Vector | None:
        """The first vector whose output is not the expected one; None when all are right."""
        return _wrong(outputs, self.kat_checks, KAT_CHECK)

    def wrong_ext(self, outputs: Iterable[tuple[Vector, bytes]]) -> Vector | None:
        """Like :meth:`wrong_kat`, for the second set."""
        return _wrong(outputs, self.ext_checks, EXT_CHECK)

    def digest_fits(self, outputs: Iterable[tuple[Vector, bytes]]) -> bool:
        """Whether these outputs, which must be complete, give the official KAT text."""
        return kat_digest(self.primitive, outputs) == self.sha256


def _wrong(outputs: Iterable[tuple[Vector, bytes]], checks: bytes, size: int) -> Vector | None:
    for v, output in outputs:
        if hashlib.sha256(output).digest()[:size] != checks[(v.count - 1) * size : v.count * size]:
            return v
    return None


def readings(primitive: Primitive, variant: str) -> tuple[KnownVariant, ...]:
    """All readings of a variant, the preferred one first; empty when it is unknown: ``readings("crypto_aead",
    "ascon128v12")``."""
    return _variants().get((primitive, variant), ())


def alike(primitive: Primitive, key: int, npub: int, out: int) -> list[KnownVariant]:
    """Readings of known variants with a key, nonce and tag (or digest) of these sizes in bytes."""
    every = {id(k): k for found in _variants().values() for k in found}.values()
    return [k for k in every if (k.primitive, k.key, k.npub, k.out) == (primitive, key, npub, out)]


@cache
def _variants() -> dict[tuple[str, str], tuple[KnownVariant, ...]]:
    checks = (_FOLDER / "known_checks.bin").read_bytes()
    variants: dict[tuple[str, str], tuple[KnownVariant, ...]] = {}
    at = 0
    with (_FOLDER / "known.csv").open(newline="", encoding="ascii") as f:
        for r in csv.DictReader(f):
            lengths = tuple((int(m), int(a)) for m, a in (x.split("/") for x in r["ext_lengths"].split()))
            max_mlen, max_adlen = int(r["max_mlen"]), int(r["max_adlen"])
            kat_size = (max_mlen + 1) * (max_adlen + 1) * KAT_CHECK
            ext_size = len(lengths) * EXT_CHECK
            a, b, c, d = (int(x) for x in r["offsets"].split("/"))
            reading = KnownVariant(
                primitive=r["primitive"],  # type: ignore[arg-type]
                family=r["family"],
                variant=r["variant"],
                choice=r["choice"],
                key=int(r["key"]),
                npub=int(r["npub"]),
                out=int(r["out"]),
                starts=(a, b, c, d),
                max_mlen=max_mlen,
                max_adlen=max_adlen,
                sha256=r["sha256"],
                status=r["status"],
                file=r["file"],
                ext_label=r["ext_label"],
                ext_lengths=lengths,
                kat_checks=checks[at : at + kat_size],
                ext_checks=checks[at + kat_size : at + kat_size + ext_size],
            )
            at += kat_size + ext_size
            for name in (reading.variant, *r["also"].split()):
                key = (reading.primitive, name)
                # where they differ, the reading that follows the specification comes before the submission's file
                others = variants.get(key, ())
                variants[key] = (reading, *others) if reading.choice == "fixed" else (*others, reading)
    if at != len(checks):
        raise RuntimeError("known.csv and known_checks.bin do not belong together")
    return variants
