"""The wire format: any split, any garbage, any damage."""

from __future__ import annotations

from binascii import crc_hqx

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.device import frame
from steelyard.device.frame import Decoder

# no sync byte inside, so that damage to the frame around it cannot uncover another one
quiet = st.binary(max_size=40).map(lambda b: b.replace(b"\xa5", b"\x5a"))
Frame = tuple[int, bytes]
# nor in its length and CRC: a frame that lost its end would take the start of the next one for it
frames = st.tuples(st.integers(0, 0xFF), quiet).filter(lambda f: frame.SYNC not in frame.encode(*f)[1:])
#: runs out whatever a broken header announced
FLUSH = bytes(frame.MAX_FRAME)


def encoded(f: Frame) -> bytes:
    return frame.encode(*f)


@given(st.lists(st.tuples(quiet, frames), max_size=6), st.data())
def test_any_split_of_the_stream_gives_the_same_frames(parts: list[tuple[bytes, Frame]], data: st.DataObject) -> None:
    stream = b"".join(garbage + encoded(f) for garbage, f in parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder, got = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += decoder.feed(stream[start:end])
    assert got == [f for _, f in parts]
    assert decoder.skipped == sum(len(garbage) for garbage, _ in parts)


@given(st.lists(frames, min_size=1, max_size=6), st.data())
def test_a_damaged_frame_is_skipped_and_no_other(sent: list[Frame], data: st.DataObject) -> None:
    pieces = [encoded(f) for f in sent]
    hit = data.draw(st.integers(0, len(sent) - 1))
    piece = bytearray(pieces[hit])
    at, bit = data.draw(st.integers(0, len(piece) - 1)), data.draw(st.integers(0, 7))
    piece[at] ^= 1 << bit
    pieces[hit] = bytes(piece) if data.draw(st.booleans()) else bytes(piece[:at])
    got = Decoder().feed(b"".join(pieces) + FLUSH)
    assert got == sent[:hit] + sent[hit + 1 :]


@given(st.lists(st.binary(max_size=60) | frames.map(encoded), max_size=12))
def test_garbage_never_raises_and_the_buffer_is_bounded(chunks: list[bytes]) -> None:
    decoder = Decoder()
    for chunk in chunks:
        decoder.feed(chunk)
        assert decoder.held < frame.MAX_FRAME
    decoder.feed(FLUSH)
    assert decoder.feed(encoded((7, b"alive"))) == [(7, b"alive")]


def test_the_longest_frame() -> None:
    longest = (frame.RUN, bytes(0xFFFF))
    assert len(encoded(longest)) == frame.MAX_FRAME
    assert Decoder().feed(encoded(longest)) == [longest]
    with pytest.raises(ValueError, match="65535"):
        frame.encode(frame.RUN, bytes(0xFFFF), b"x")


@given(st.integers(0, 0xFF), st.lists(st.binary(max_size=60), max_size=4))
def test_its_crc_is_the_standard_one(command: int, parts: list[bytes]) -> None:
    made, payload = frame.encode(command, *parts), b"".join(parts)
    assert made[5:-2] == payload
    assert made[-2:] == crc_hqx(made[1:4] + payload, 0xFFFF).to_bytes(2, "little")


@given(frames)
def test_what_is_still_to_come_never_reaches_past_the_frame(sent: Frame) -> None:
    whole = encoded(sent)
    came = b""
    while came != whole:
        came = whole[: len(came) + frame.rest(came)]
        assert len(came) in (frame.HEAD, len(whole))
    assert frame.rest(whole) == frame.rest(b"\0" + whole) == 1
