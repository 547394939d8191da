"""Cycles of known answers in few bytes."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.packed import MOST, pack, unpack
from steelyard.model.record import OPERATIONS, Point

NUMBER = st.integers(-(1 << 60), 1 << 60)


@given(st.lists(st.builds(Point, st.sampled_from(OPERATIONS), NUMBER, NUMBER, NUMBER)))
def test_points_come_back_by_operation(points: list[Point]) -> None:
    first = list(dict.fromkeys(p.operation for p in points))
    assert unpack(pack(points)) == tuple(sorted(points, key=lambda p: first.index(p.operation)))


@given(st.binary())
def test_other_bytes_are_refused(content: bytes) -> None:
    for some in (content, zlib.compress(content)):
        try:
            found = unpack(some)
        except ValueError:
            continue
        assert unpack(pack(found)) == found


@pytest.mark.parametrize(
    "packed",
    [
        zlib.compress(bytes(1 << 21)),
        zlib.compress(msgspec.msgpack.encode([("hash", *([(0,) * (MOST + 1)] * 3))])),
        pack([Point("hash", 0, 0, 1)]) + b"x",
        zlib.compress(msgspec.msgpack.encode([("hash", (0,), (0,), (1, 2))])),
        zlib.compress(msgspec.msgpack.encode([("hash", (0,), (0,), (1,))] * 2)),
        zlib.compress(msgspec.msgpack.encode([("run", (0,), (0,), (1,))])),
    ],
)
def test_what_pack_never_makes_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(packed)


def test_what_is_too_much_is_not_kept() -> None:
    assert pack([Point("hash", 0, 0, 1)] * (MOST + 1)) == b""
    assert len(unpack(pack([Point("hash", 0, 0, 1)] * MOST))) == MOST
