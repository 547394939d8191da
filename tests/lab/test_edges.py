"""Edges are found where a plain loop finds them, however the stream is cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from steelyard.lab.edges import BLOCK, Edges

spans = st.lists(
    st.tuples(st.integers(0, 255), st.one_of(st.integers(1, 5), st.integers(BLOCK - 3, BLOCK + 3))), max_size=12
)


@given(spans, st.lists(st.integers(0, 4 * BLOCK), max_size=5), st.permutations(range(8)), st.integers(0, 8))
def test_every_edge_is_found_once(found: list[tuple[int, int]], cuts: list[int], order: list[int], count: int) -> None:
    samples = b"".join(bytes((level,)) * count for level, count in found)
    at = sorted({0, *(min(c, len(samples)) for c in cuts), len(samples)})
    edges = Edges(bits := order[:count])
    said = [edge for a, b in pairwise(at) for edge in edges.feed(samples[a:b])]
    levels = [0, *(sum((value >> bit & 1) << k for k, bit in enumerate(bits)) for value in samples)]
    assert said == [(n, b) for n, (a, b) in enumerate(pairwise(levels)) if a != b]
    assert edges.count == len(samples)
