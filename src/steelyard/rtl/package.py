"""What a package's own pdi, sdi and do files tell of a design whose algorithm no software here has: which operations
there are, and how long their parts are, so that cycles of other sizes can be counted."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from .streams import ACTIVATE_KEY, CT, DIGEST, KEY, NPUB, TAG, Stream, parts
from .vectors import Oracle


class Form(Struct):
    """An :class:`.vectors.Oracle` that knows how long answers are, and zeros for what they are."""

    key: int
    npub: int
    tag: int
    digest: int
    binds: bool = False

    def encrypt(self, inputs: Sequence[tuple[bytes, bytes, bytes, bytes]]) -> list[bytes]:
        """See :meth:`.vectors.Oracle.encrypt`."""
        return [message + bytes(self.tag) for *_, message in inputs]

    def hash(self, inputs: Sequence[bytes]) -> list[bytes]:
        """See :meth:`.vectors.Oracle.hash`."""
        return [bytes(self.digest)] * len(inputs)


def forms(streams: Sequence[Stream], width: int) -> tuple[Oracle | None, Oracle | None]:
    """The forms of AEAD and hash, as far as a package's operations have them."""
    found: dict[int, int] = {}
    for s in streams:
        instructions = 2 if int(s.pdi[0][0], 16) == ACTIVATE_KEY else 1
        for words, skipped in ((s.sdi, 1), (s.pdi, instructions), (s.out, 0)):
            found |= _sizes(words[skipped:], width)
    form = Form(found.get(KEY, 0), found.get(NPUB, 0), found.get(TAG, 0), found.get(DIGEST, 0))
    return form if CT in found else None, form if DIGEST in found else None


def _sizes(words: Sequence[str], width: int) -> dict[int, int]:
    """Bytes of segments by type, up to the first that is not one; where there are several of a type, of the last."""
    made, at, head = {}, 0, 32 // width
    while at + head <= len(words):
        digits = "".join(words[at : at + head])
        if "x" in digits:
            break
        value = int(digits, 16)
        size = value & 0xFFFF
        made[value >> 28] = size
        at += head + -(-size * 8 // width)
    return made


def compared(streams: Sequence[Stream], width: int) -> int:
    """The words of data that come out of which at least a digit has to be right."""
    made = 0
    for s in streams:
        for at, size in parts(s.out, width):
            first = at + 32 // width
            made += sum(w.strip("x") != "" for w in s.out[first : first - (-8 * size // width)])
    return made


def unchecked(made: Stream, width: int) -> Stream:
    """The stream with anything for data that come out; headers and the status are what they are."""
    kept = {len(made.out) - 1}
    for at, _ in parts(made.out, width):
        kept |= set(range(at, at + 32 // width))
    return replace(made, out=tuple(w if k in kept else "x" * (width // 4) for k, w in enumerate(made.out)))
