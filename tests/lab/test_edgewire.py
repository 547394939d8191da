"""What the process that samples an analyzer says is understood, however it is cut, and garbage is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from steelyard.lab import edgewire


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=50),
    st.lists(st.integers(0, 600)),
    st.one_of(st.none(), st.text(max_size=50)),
)
def test_what_is_said_is_heard_however_it_is_cut(
    said: list[tuple[int, int, bool]], cuts: list[int], over: str | None
) -> None:
    stream, at, expected = b"", 7, []
    for step, levels, mark in said:
        at += step
        stream += edgewire.WORD.pack(at, edgewire.MARK if mark else levels)
        if not mark:
            expected.append((at, levels))
            at += 1
    if over is not None:
        stream += edgewire.last(over)
    told = edgewire.Told(7, 3)
    places = sorted({0, *(min(c, len(stream)) for c in cuts), len(stream)})
    pieces = [stream[a:b] for a, b in pairwise(places)]
    assert [edge for piece in pieces for edge in told.feed(piece)] == expected
    assert told.count == at
    assert told.over == (None if over is None else " ".join(over.split()))


@given(st.lists(st.binary(max_size=100)), st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_grows(pieces: list[bytes], said: bytes) -> None:
    told, before = edgewire.Told(0, 3), -1
    with suppress(ValueError):
        for piece in pieces:
            for at, levels in told.feed(piece):
                assert at > before
                assert levels <= 3
                before = at
            assert len(told._rest) <= edgewire.TEXT + edgewire.WORD.size
    for kind in (edgewire.Asked, edgewire.Answer):
        with suppress(ValueError):
            edgewire.understood(said, kind)
