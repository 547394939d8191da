"""Inputs that the author of a package cannot know beforehand, and that are the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from .call import Vector

T = TypeVar("T")

#: the seed of records, unless the user gives another
SEED = "steelyard"
MAX_SEED = 64


class Inputs(Struct, frozen=True):
    """Bytes of SHAKE-256 over the ``digest`` of the sources, a ``seed`` and a use.

    A package cannot contain the answers: its sources would have to contain bytes that follow from their own hash.
    """

    digest: str
    seed: str = SEED

    def stream(self, use: str, size: int) -> bytes:
        """``size`` bytes for one use, such as ``"forged/tag"``. Equal arguments give equal bytes."""
        return hashlib.shake_256(f"{self.digest}/{self.seed}/{use}".encode()).digest(size)

    def numbers(self, use: str, count: int, below: int) -> list[int]:
        """``count`` numbers from 0 to ``below`` - 1."""
        stream = self.stream(use, 4 * count)
        return [int.from_bytes(stream[4 * i : 4 * i + 4]) % below for i in range(count)]

    def sample(self, use: str, total: int, count: int) -> list[int]:
        """``count`` different numbers below ``total``, ascending; all of them when ``total`` is not larger."""
        rank = self.numbers(use, total, 1 << 32)
        return sorted(sorted(range(total), key=lambda i: (rank[i], i))[:count])

    def shuffled(self, use: str, items: Sequence[T]) -> list[T]:
        """The items in an order that follows from the use."""
        rank = self.numbers(use, len(items), 1 << 32)
        return [items[i] for i in sorted(range(len(items)), key=lambda i: (rank[i], i))]

    def vector(self, use: str, count: int, key: int, npub: int, mlen: int, adlen: int) -> Vector:
        """The vector numbered ``count``, with a key, nonce, message and associated data of these lengths in bytes."""
        parts, at = [], 0
        stream = self.stream(use, key + npub + mlen + adlen)
        for size in (key, npub, mlen, adlen):
            parts.append(stream[at : at + size])
            at += size
        return Vector(count, *parts)
