"""The words of the LWC hardware API."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl.streams import Call, read, stream, written
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
    made = stream(Call("decrypt", bytes(5), bytes(range(5)), KEY, NPUB, b"", TAG, forged="data"), 32)
    assert made.out == ("43000005", "x" * 8, "x" * 8, "f0000000")
    assert "04010203" not in made.pdi
    assert "05000000" in made.pdi  # the last byte is another
    kept = stream(Call("decrypt", bytes(5), bytes(range(5)), KEY, NPUB, b"", TAG, forged="tag"), 32)
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
