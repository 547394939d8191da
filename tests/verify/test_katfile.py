"""KAT files: they are written exactly; any input gives vectors or a sentence with a line number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.call import Vector
from steelyard.model.implementation import Primitive
from steelyard.verify.katfile import MalformedKat, parse, read
from steelyard.verify.vectors import format_vector
from tests import toys

primitives = st.sampled_from(["crypto_aead", "crypto_hash", "crypto_cxof"])
fields = st.sampled_from(["Count", "Key", "Nonce", "PT", "AD", "CT", "Msg", "MD", "Z", "Salt", "#", ""])
values = st.sampled_from(["", "1", "00", "0", "AB CD", "xyz", "=", "\u0661", "9" * 5000]) | st.text(max_size=8)
lines = st.tuples(fields, st.sampled_from([" = ", "=", " ", "\t=\t"]), values).map("".join)
texts = st.lists(lines, max_size=12).map("\n".join) | st.text(max_size=60)


@given(texts, primitives)
def test_nothing_but_malformed_kat_is_raised(text: str, primitive: Primitive) -> None:
    try:
        vectors = parse(text, primitive)
    except MalformedKat as e:
        said = str(e)
    else:
        said = f"KAT: {len(vectors)} vectors"
    assert re.match(r"KAT(, line \d+)?: [^0]", said)


@given(primitives, st.lists(st.tuples(*[st.binary(max_size=20)] * 5), min_size=1, max_size=4))
def test_what_is_written_is_read_back(primitive: Primitive, raw: list[tuple[bytes, ...]]) -> None:
    kept = {"crypto_aead": (1, 1, 1, 1), "crypto_hash": (0, 0, 1, 0), "crypto_cxof": (0, 0, 1, 1)}[primitive]
    written = [
        Vector(n, *(part if keep else b"" for part, keep in zip(parts[:4], kept, strict=True)), parts[4])
        for n, parts in enumerate(raw, 1)
    ]
    text = "".join(format_vector(primitive, v, v.output or b"") for v in written)
    assert parse(text, primitive) == written
    assert parse(text.replace("\n", "\r\n") + "# end\n", primitive) == written


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    (tmp_path / "kat.txt").write_text(toys.kat(), encoding="utf-8-sig")
    assert read(tmp_path / "kat.txt", "crypto_aead") == parse(toys.kat(), "crypto_aead")


BLOCKS = "Count = 1\nKey = 00\nPT = 01\nCT = 02\n\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BLOCKS * 2, "line 6: Count = 1 is there twice"),
        (BLOCKS.replace("PT", "Tweak = 00\nPT"), "line 3: no field is called 'Tweak'; Count, Key, PT, CT are"),
        (BLOCKS.replace("CT", "PT"), "line 4: PT of vector 1 is there twice"),
    ],
)
def test_the_file_of_a_block_cipher_has_nothing_else(text: str, why: str) -> None:
    assert len(parse(BLOCKS + BLOCKS.replace("1", "2"), "crypto_block")) == 2
    with pytest.raises(MalformedKat, match=re.escape(why)):
        parse(text, "crypto_block")


def test_the_text_is_genkats() -> None:
    v = Vector(7, b"\x00\x01", b"\xfe", b"", b"\xab")
    assert (
        format_vector("crypto_aead", v, b"\x0f\xf0")
        == "Count = 7\nKey = 0001\nNonce = FE\nPT = \nAD = AB\nCT = 0FF0\n\n"
    )
    assert format_vector("crypto_hash", v, b"\x01") == "Count = 7\nMsg = \nMD = 01\n\n"
    assert format_vector("crypto_cxof", v, b"\x01") == "Count = 7\nMsg = \nZ = AB\nMD = 01\n\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Key = 00", "Key = 0g"), "line 2: Key is not hexadecimal"),
        (("Nonce = 03", "Nonce = 3"), "line 3: Nonce is not hexadecimal"),
        (("Count = 1\n", "Count = one\n"), "line 1: Count is not a number of at most 9 digits: 'one'"),
        (("Count = 1\n", "Count = -1\n"), "line 1: Count is not a number of at most 9 digits: '-1'"),
        (("Count = 1\n", "Count = 1_0\n"), "line 1: Count is not a number of at most 9 digits: '1_0'"),
        (
            ("Count = 1\n", f"Count = {'1' * 4000}\n"),
            f"line 1: Count is not a number of at most 9 digits: '{'1' * 40}'",
        ),
        (("Count = 1\n", ""), "line 1: Key before the first Count"),
        (("AD = \n", "\n"), "line 8: vector 1 has no AD"),
        (("Count = 2\n", "Count 2\n"), "line 8: no '=' in 'Count 2'"),
    ],
)
def test_the_line_is_named(change: tuple[str, str], message: str) -> None:
    assert len(parse(toys.kat(), "crypto_aead")) == 25
    with pytest.raises(MalformedKat, match=re.escape(message)):
        parse(toys.kat().replace(*change, 1), "crypto_aead")
    with pytest.raises(MalformedKat, match="no vectors"):
        parse("", "crypto_aead")
