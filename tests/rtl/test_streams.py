"""The words of the LWC hardware API."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl.package import forms, unchecked
from steelyard.rtl.streams import Call, read, stream, unpadded, written
from tests.rtl import toys

NPUB, KEY, TAG = bytes(range(12)), bytes(range(16)), bytes(range(0x20, 0x30))


def test_the_api_s_own_example() -> None:
    """An encryption of nothing, word by word (API 1.2, test vectors)."""
    made = stream(Call("encrypt", b"", b"", KEY, NPUB, b"", TAG), 32)
    assert made.sdi == ("40000000", "c7000010", "00010203", "04050607", "08090a0b", "0c0d0e0f")
    assert made.pdi[:2] == ("70000000", "20000000")
    assert made.pdi[2] == "d600000c"  # end of input: what follows is empty
    assert made.pdi[6:] == ("12000000", "43000000")
    assert made.out == ("52000000", "83000010", "20212223", "24252627", "28292a2b", "2c2d2e2f", "e0000000")


def test_words_of_a_byte() -> None:
    made = stream(Call("hash", b"abc", b"\x01\x02"), 8)
    assert made.pdi == ("80", "77", "00", "00", "03", "61", "62", "63")
    assert made.out == ("93", "00", "00", "02", "01", "02", "e0")


def test_segments_have_their_flags_at_the_end() -> None:
    made = stream(Call("encrypt", bytes(10), bytes(10), KEY, NPUB, bytes(9), TAG, segment=8), 32)
    heads = [w for w in made.pdi if w[0] in "14" and w[4:] in ("0008", "0002", "0001")]
    assert heads == ["10000008", "12000001", "40000008", "47000002"]


def test_a_forgery_is_refused_and_its_text_is_nobody_s() -> None:
    other = bytes((0, 1, 2, 3, 5))
    made = stream(Call("decrypt", bytes(5), bytes(range(5)), KEY, NPUB, b"", TAG, forged="data", instead=other), 32)
    assert made.out == ("43000005", "x" * 8, "x" * 8, "f0000000")
    assert "04010203" not in made.pdi
    assert "05000000" in made.pdi
    kept = stream(Call("decrypt", bytes(5), bytes(range(5)), KEY, NPUB, b"", TAG, forged="tag", instead=bytes(16)), 32)
    assert kept.out == ("43000005", "00000000", "00000000", "f0000000")


def test_a_package_s_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy") / "kat"
    found = read(folder / "pdi.txt", folder / "sdi.txt", folder / "do.txt", 32)
    assert [(s.pdi, s.out) for s in found] == [(s.pdi, s.out) for s in toys.STREAMS]
    assert written(found).count("\nop ") == len(found) - 1


def test_files_of_different_sets_are_refused(tmp_path: Path) -> None:
    folder = toys.design(tmp_path / "toy") / "kat"
    (folder / "do.txt").write_text("HDR = 93000004\nDAT = 00000000\nSTT = E0000000\n")
    with pytest.raises(UserError, match=r"43 operations, 0 with a new key, but 1 answers"):
        read(folder / "pdi.txt", folder / "sdi.txt", folder / "do.txt", 32)


def test_an_operation_of_many_words_is_read_at_once(tmp_path: Path) -> None:
    """200 000 lines took half a minute, as each copied those before it."""
    lines = 200_000
    (tmp_path / "pdi.txt").write_text("INS = 80000000\n" + "DAT = 00000000\n" * lines)
    (tmp_path / "sdi.txt").write_text("")
    (tmp_path / "do.txt").write_text("DAT = 00000000\n" * lines + "STT = E0000000\n")
    start = time.process_time()
    (made,) = read(tmp_path / "pdi.txt", tmp_path / "sdi.txt", tmp_path / "do.txt", 32)
    assert (len(made.pdi), len(made.out)) == (lines + 1, lines + 1)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("width", [8, 16, 32])
def test_what_fills_up_the_last_word_may_be_anything(width: int) -> None:
    """Of each segment that comes out, at any width; a tag of whole words stays as it is."""
    given = stream(Call("encrypt", bytes(5), bytes(range(0x51, 0x56)), KEY, NPUB, b"", TAG), width)
    made = unpadded(given, width)
    text, before = "".join(made.out), "".join(given.out)
    assert text.replace("x", "0") == before
    filled = -5 % (width // 8) * 2
    assert text.count("x") == filled
    assert ("55" + "x" * filled) in text
    assert (made.pdi, made.sdi) == (given.pdi, given.sdi)


@pytest.mark.parametrize("width", [8, 16, 32])
def test_of_unknown_words_headers_and_status_are_kept(width: int) -> None:
    given = stream(Call("encrypt", bytes(5), bytes(5), KEY, NPUB, b"", TAG), width)
    out = "".join(unchecked(given, width).out)
    data = -(-5 // (width // 8)) * width // 4
    assert out == f"52000005{'x' * data}83000010{'x' * 32}{'e'.ljust(width // 4, '0')}"


@pytest.mark.parametrize("width", [8, 16, 32])
def test_a_package_s_operations_have_the_sizes_of_their_parts(width: int) -> None:
    calls = [
        Call("hash", b"abc", bytes(20)),
        Call("encrypt", b"", b"", KEY, NPUB, b"", TAG[:8]),
        Call("encrypt", b"", b"", KEY, NPUB, b"", TAG[:8], reuse=True),
    ]
    aead, hashed = forms([stream(c, width) for c in calls], width)
    assert aead is not None
    assert hashed is not None
    assert (aead.key, aead.npub, aead.tag, aead.binds) == (16, 12, 8, False)
    assert [len(x) for x in hashed.hash([b"", b"abc"])] == [20, 20]
    assert [len(x) for x in aead.encrypt([(KEY, NPUB, b"", bytes(5))])] == [5 + 8]
    alone, none = forms([stream(c, width) for c in calls[1:]], width)
    assert alone is not None
    assert none is None
