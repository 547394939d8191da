"""The orders in which an implementation may take the bytes of keys and blocks, and of the words that papers have.

Papers print a key as one number; software reads it from its first byte, its last, or word by word.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

#: bytes of a word
_WORDS = (2, 4, 8)


class Order(Struct, frozen=True):
    """How a string of bytes differs from the known answers': in words of ``word`` bytes, the words of which are in
    ``turned`` order, or the bytes in each of them ``swapped``; and in ``halved`` bytes, whose first four bits are the
    last. Undone by being done again."""

    word: int = 1
    turned: bool = False
    swapped: bool = False
    halved: bool = False

    def of(self, data: bytes) -> bytes:
        """The bytes in this order."""
        words = [data[i : i + self.word] for i in range(0, len(data), self.word)]
        words = words[::-1] if self.turned else words
        made = b"".join(w[::-1] if self.swapped else w for w in words)
        return bytes(b << 4 & 0xF0 | b >> 4 for b in made) if self.halved else made

    @property
    def text(self) -> str:
        """The order as a phrase: ``the last byte first``."""
        if self.halved:
            return f"the last {'digit first' if self.turned else 'digit of each byte first'}"
        if not (self.turned or self.swapped):
            return "as printed"
        if self.word == 1:
            return "the last byte first"
        if self.swapped:
            return f"the bytes of each word of {8 * self.word} bits turned round"
        return f"the last word of {8 * self.word} bits first"


class Orders(Struct, frozen=True):
    """How an implementation takes keys and blocks."""

    key: Order = Order()
    block: Order = Order()

    @property
    def text(self) -> str:
        """Both as a sentence's end."""
        if self.key == self.block:
            return f"keys and blocks {self.key.text}"
        return f"keys {self.key.text}, blocks {self.block.text}"


def orders(key: int, block: int) -> Iterator[Orders]:
    """All orders of keys and blocks of these sizes in bytes, the printed one first."""
    return (Orders(k, b) for k in _orders(key) for b in _orders(block))


def _orders(size: int) -> list[Order]:
    found = [Order(), Order(turned=True), Order(halved=True), Order(turned=True, halved=True)]
    for word in (w for w in _WORDS if size % w == 0 and size > w):
        found += [Order(word, swapped=True), Order(word, turned=True)]
    return found
