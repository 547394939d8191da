"""Filters: what they mean, and that anything else is refused with its position."""

from __future__ import annotations

import re
from contextlib import suppress
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analyse.expression import parse
from steelyard.model.errors import UserError
from steelyard.model.row import Row

ROWS: list[Row] = [
    {"target": "uno", "flags": "-O3", "rom": 100, "variant": "ascon128v12"},
    {"target": "uno", "flags": "-Os", "rom": 50.5, "variant": "giftcofb128v1"},
    {"target": "bluepill", "flags": "-O3", "rom": None, "variant": "ascon128av12"},
    {"target": "due", "flags": "-O3 -flto", "variant": "nocrypt"},
]

words = st.sampled_from(["uno", "due", "-O3", "ascon*", "100", "50.5", "*", "?"])
numbers = st.sampled_from(["100", "50.5", "0", "1e2"])
texts = st.tuples(st.sampled_from(["target", "flags", "variant"]), st.sampled_from(["==", "!=", "~", "!~"]), words)
sizes = st.tuples(st.just("rom"), st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numbers)
trees = st.recursive(
    st.one_of(texts, sizes),
    lambda inner: st.one_of(st.tuples(st.just("not"), inner), st.tuples(inner, st.sampled_from(["and", "or"]), inner)),
    max_leaves=8,
)


def written(tree: tuple) -> str:
    if tree[0] == "not":
        return f"not ({written(tree[1])})"
    if tree[1] in ("and", "or"):
        return f"({written(tree[0])}) {tree[1]} ({written(tree[2])})"
    column, sign, value = tree
    return f'{column} {sign} "{value}"'


def meant(tree: tuple, row: dict) -> bool:
    if tree[0] == "not":
        return not meant(tree[1], row)
    if tree[1] == "and":
        return meant(tree[0], row) and meant(tree[2], row)
    if tree[1] == "or":
        return meant(tree[0], row) or meant(tree[2], row)
    column, sign, value = tree
    have = row.get(column)
    if have is None:
        return False
    if column == "rom":
        number = float(value)
        return {
            "==": have == number, "!=": have != number, "<": have < number,
            "<=": have <= number, ">": have > number, ">=": have >= number,
        }[sign]  # fmt: skip
    like = fnmatchcase(have, value)
    return {"==": have == value, "!=": have != value, "~": like, "!~": not like}[sign]


@given(trees)
def test_a_filter_means_what_it_says(tree: tuple) -> None:
    test = parse(written(tree)).test
    assert [test(r) for r in ROWS] == [meant(tree, r) for r in ROWS]


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_refused(text: str) -> None:
    with suppress(UserError):
        parse(text).test(ROWS[0])


@given(trees)
def test_what_is_required_is(tree: tuple) -> None:
    found = parse(written(tree).replace("(", " ").replace(")", " "))  # flat: and binds tighter than or
    for row in ROWS:
        if found.test(row):
            assert all(row.get(n) == v for n, v in found.required.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rom <", "character 6"),
        ("rom < many", "'many' is not a number"),
        ("romm < 1", "did you mean rom"),
        ("target = uno", "character 8"),
        ("rom < 1 rom > 2", "comes after the end"),
        ("(rom < 1", "where ) should"),
        ("not " * 60 + "rom < 1", "nests at most 50"),
        ("__import__('os')", "unknown column"),
        ("rom < 1" + " " * 5000, "4000 characters"),
    ],
)
def test_a_wrong_filter_names_its_place(text: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        parse(text)
