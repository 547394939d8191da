"""The digest table of block ciphers: checks the answers of known variants without storing their vectors.

``block.csv`` holds SHA-256 of bytes that follow one another, in ``answers_sha256`` of the encrypted blocks of
:data:`COUNT` random keys and blocks (:meth:`KnownBlock.inputs`; the first 16 are the derived vectors of the archive of
known answers, except of QARMA); in ``chain_sha256`` of the last blocks alone of :data:`CHAINS` chains of 10 000
encryptions, each of the block before, which begin with the first of these keys and blocks; in ``vectors_sha256`` of
key, tweak, block and encrypted block of each of the archive's ``vectors``, published ones among them. They were written
down when ``ref``, ``fast`` and all vectors agreed. Runs check the answers; ``tests/ciphers/test_block.py`` also checks
chains and vectors, of every bundled implementation.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

_TABLE = Path(__file__).with_name("block.csv")
#: random keys and blocks
COUNT = 64
#: chains
CHAINS = 2


class KnownBlock(Struct, frozen=True):
    """A known variant; ``name`` is the archive's label. ``key`` and ``block`` are in bytes; the key's
    last ``tweak`` bytes are not secret. ``vectors`` is the number of the archive's."""

    family: str
    variant: str
    name: str
    key: int
    tweak: int
    block: int
    vectors: int
    vectors_sha256: str
    answers_sha256: str
    chain_sha256: str

    def inputs(self, count: int = COUNT) -> Iterator[tuple[bytes, bytes]]:
        """Keys and blocks: SHAKE-256 of the label, number and purpose."""
        return inputs(self.name, self.key, self.block, count)

    def fits(self, answers: Iterable[bytes]) -> bool:
        """Whether these blocks are the encrypted ones of :meth:`inputs`."""
        return digest(answers) == self.answers_sha256


def inputs(name: str, key: int, block: int, count: int = COUNT) -> Iterator[tuple[bytes, bytes]]:
    """Keys and blocks of these sizes in bytes for a variant of this name."""
    for i in range(count):
        yield _stream(f"{name}/{i}/key", key), _stream(f"{name}/{i}/pt", block)


def digest(parts: Iterable[bytes]) -> str:
    """SHA-256 of all of them."""
    return hashlib.sha256(b"".join(parts)).hexdigest()


def known_block(variant: str) -> KnownBlock | None:
    """The variant of this name; None when it is unknown."""
    return known_blocks().get(variant)


@cache
def known_blocks() -> dict[str, KnownBlock]:
    """All known variants by name."""
    with _TABLE.open(newline="", encoding="ascii") as f:
        rows = convert(list(csv.DictReader(f)), list[KnownBlock], strict=False)  # whose numbers are text
    return {k.variant: k for k in rows}


def _stream(purpose: str, size: int) -> bytes:
    return hashlib.shake_256(f"lwckat-block/{purpose}".encode()).digest(size)
