"""The cycles of every known answer in few bytes: a thousand numbers for each operation, most of which repeat."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import msgspec
from msgspec import Struct

from .record import Operation, Point

#: calls that are kept, several times those of 1089 known answers; bytes of what is unpacked
MOST, _BYTES = 20_000, 1 << 20


class _Calls(Struct, frozen=True, array_like=True):
    """The calls of an operation in order: bytes of associated data and of message, and cycles. Each number is the
    difference to the one before."""

    operation: Operation
    adlen: tuple[int, ...]
    mlen: tuple[int, ...]
    cycles: tuple[int, ...]


def pack(points: Iterable[Point]) -> bytes:
    """Packs points without the chip's counter; the order of those of an operation stays. No points are no bytes,
    nor are more than are kept."""
    of: dict[Operation, list[Point]] = {}
    for p in points:
        of.setdefault(p.operation, []).append(p)
    calls = [
        _Calls(op, *(_differences([getattr(p, field) for p in some]) for field in ("adlen", "mlen", "cycles")))
        for op, some in of.items()
    ]
    packed = msgspec.msgpack.encode(calls)
    return zlib.compress(packed, 9) if 0 < sum(map(len, of.values())) <= MOST and len(packed) <= _BYTES else b""


def unpack(packed: bytes) -> tuple[Point, ...]:
    """The points again, operation by operation. :class:`ValueError` for other bytes."""
    if not packed:
        return ()
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(packed, _BYTES)
        calls = msgspec.msgpack.decode(content, type=tuple[_Calls, ...])
    except (zlib.error, msgspec.MsgspecError) as e:
        raise ValueError(f"these are not the packed cycles of known answers: {e}") from None
    odd = len({c.operation for c in calls}) < len(calls) or sum(len(c.cycles) for c in calls) > MOST
    if not stream.eof or stream.unused_data or odd:
        raise ValueError("these are not the packed cycles of known answers")
    return tuple(
        Point(c.operation, adlen, mlen, cycles)
        for c in calls
        for adlen, mlen, cycles in zip(*map(accumulate, (c.adlen, c.mlen, c.cycles)), strict=True)
    )


def _differences(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(b - a for a, b in pairwise((0, *numbers)))
