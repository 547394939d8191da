"""Labels of marks: where they are placed, for any marks."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from steelyard.publish import names

MARKS = st.tuples(st.text("abc/", min_size=1, max_size=24), st.floats(1, 1e6), st.floats(1, 1e6))


@given(st.lists(MARKS, min_size=1, max_size=5), st.integers(0, 5))
def test_names_do_not_meet(marks: list[tuple[str, float, float]], more: int) -> None:
    spots = [(x, y) for _, x, y in marks] + [(10.0**k, 10.0**k) for k in range(more)]
    offsets = names.offsets(marks, spots, (620, 360), 24)
    across, down = (names._pixels([s[k] for s in spots], (620, 360)[k], 24) for k in (0, 1))
    boxes = [
        names._box(text, across(x) + o.dx, 360 - down(y) + o.dy, o.dx)
        for (text, x, y), o in zip(marks, offsets, strict=True)
    ]
    assert not any(a.meets(b) for a, b in combinations(boxes, 2))


def test_a_name_stands_beside_its_mark_where_nothing_is() -> None:
    assert names.offsets([("ascon", 10, 10)], [(10, 10), (1, 1), (100, 100)], (620, 360), 24) == [("left", 9, 0)]


def test_a_name_leaves_the_rim_of_a_mark_alone() -> None:
    """Marks have an extent: the centre of this one is a few pixels above where the name would be."""
    marks = [(10, 10), (10 * 100 ** (60 / 572), 10 * 100 ** (7 / 312)), (1, 1), (100, 100)]
    [offset] = names.offsets([("tinyjambu128v2/fast", 10, 10)], marks, (620, 360), 24)
    assert offset != ("left", 9, 0)
