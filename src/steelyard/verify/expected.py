"""Finds the expected values for an implementation: its package's vectors, the digest table, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from ..model.call import Failed, Hello, Vector
from ..model.implementation import Implementation, Primitive
from ..model.reasons import Failure, Reason
from . import felicsfile, katfile
from .known import KnownVariant, readings
from .knownblock import known_block
from .vectors import NIST, genkat

#: what the handshake calls a size
_COMPILED = {
    "key": "key_bytes", "nonce": "npub_bytes", "context": "npub_bytes",
    **dict.fromkeys(("tag", "digest", "block"), "a_bytes"),
}  # fmt: skip


class Mismatch(Failed):
    """Verification failed."""


class Expected(Struct):
    """Expected values: the package's ``own`` vectors, ``readings`` of the digest table, or neither."""

    own: list[Vector] | None
    readings: tuple[KnownVariant, ...]
    notes: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The source in the record: ``package``, ``known``, ``package+known``, or ``self`` when there is none."""
        parts = (["package"] if self.own else []) + (["known"] if self.readings else [])
        return "+".join(parts) or "self"

    def kat(self, key: int, npub: int, primitive: Primitive) -> list[Vector]:
        """The known-answer vectors to run. An unknown variant gets NIST's inputs with ``key`` and ``npub`` bytes."""
        if self.own is not None:
            return self.own
        if self.readings:
            return self.readings[0].kat()
        custom = 16 if primitive == "crypto_cxof" else 0  # the first byte of NIST's customization strings
        return list(genkat(key, npub, (0, 0, 0, custom), *NIST[primitive]))


def is_known(implementation: Implementation) -> bool:
    """Whether the tables here have answers of its variant."""
    if implementation.primitive == "crypto_block":
        return known_block(implementation.variant) is not None
    return bool(readings(implementation.primitive, implementation.variant))


def same_sizes(hello: Hello, header: Mapping[str, int | None]) -> None:
    """Raises :class:`Mismatch` where the code is compiled with other sizes than those that its ``header`` shows."""
    for what, size in header.items():
        compiled = getattr(hello, _COMPILED[what])
        if size not in (None, compiled):
            text = f"{what} of {size} bytes in the header, of {compiled} for the compiler"
            raise Mismatch(Failure(Reason.SIZES_DIFFER, text))


def expected(implementation: Implementation, hello: Hello) -> Expected:
    """The expected values for an implementation whose ``api.h`` has the sizes in ``hello``.

    Of several KAT files, the first with these sizes is taken. Raises :class:`Mismatch` when there is none and one is
    malformed.
    """
    found = readings(implementation.primitive, implementation.variant)
    read: list[list[Vector]] = []
    wrong: Mismatch | None = None
    for file in implementation.kat:
        try:
            vectors = _read(file, implementation)
        except (katfile.MalformedKat, OSError) as e:
            wrong = wrong or Mismatch(Failure(Reason.BAD_KAT, str(e)))
            continue
        if _fits(vectors[0], hello, implementation.primitive):
            return Expected(vectors, found)
        read.append(vectors)
    if wrong:
        raise wrong
    return Expected(read[0] if read else None, found)


def _read(file: Path, implementation: Implementation) -> list[Vector]:
    return felicsfile.read(file) if file.suffix == ".c" else katfile.read(file, implementation.primitive)


def _fits(v: Vector, hello: Hello, primitive: str) -> bool:
    """Whether a known answer has the key, nonce and tag (or digest) of ``hello``."""
    output, tag = len(v.output or b""), hello.a_bytes
    if primitive != "crypto_aead":
        return output == tag
    return (len(v.key), len(v.npub)) == (hello.key_bytes, hello.npub_bytes) and output <= len(v.message) + tag
