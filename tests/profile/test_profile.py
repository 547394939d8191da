"""Profiles add up to what is measured, and the flame graph is a whole SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analyse.profile import by_function, inclusive
from steelyard.cli.select import implementations
from steelyard.model.call import Op
from steelyard.model.profile import Node, Profile
from steelyard.model.target import Target
from steelyard.model.workload import workload
from steelyard.pipeline import Job, profile
from steelyard.publish.flame import flame_svg
from tests.conftest import Bench


@st.composite
def trees(draw: st.DrawFn) -> Profile:
    """Any call tree: a node's caller is itself or an earlier one."""
    nodes: list[Node] = []
    for k in range(draw(st.integers(1, 30))):
        name = draw(st.sampled_from(["main", "a", "b", "permute<&>", '"']))
        nodes.append(Node(name, draw(st.integers(0, k)), draw(st.integers(1, 9)), draw(st.integers(0, 10**6))))
    return Profile("x", tuple(nodes), {}, 0, 0)


@given(trees())
def test_sums_hold_for_any_tree(p: Profile) -> None:
    sums = inclusive(p)
    assert sum(s for k, s in enumerate(sums) if p.nodes[k].parent == k) == p.cycles
    assert sum(r.exclusive for r in by_function(p)) == p.cycles
    assert all(r.exclusive <= r.inclusive <= p.cycles for r in by_function(p))
    ElementTree.fromstring(flame_svg(p, "a < b & c"))


@pytest.mark.parametrize("label", ["ascon128v12/fast", "tinyjambu128v2/small"])
def test_a_profile_adds_up_to_the_measured_call(label: str, target: Target, bench: Bench) -> None:
    implementation = implementations([label])[0][0].implementation
    record = bench.weigh(implementation, target, load="16/64")
    (measured,) = (p.cycles for p in record.points if p.operation == "encrypt")
    seen = profile(Job(implementation, target, ("-Os",), workload("kat")), Op.ENCRYPT, 16, 64)
    rows = {r.function: r for r in by_function(seen)}
    entry = rows["crypto_aead_encrypt"]
    assert entry.calls == 1
    # the empty call's return is subtracted from the record, the call's first steps are not in the function
    assert abs(entry.inclusive - measured) < 40
    assert sum(seen.instructions.values()) <= seen.cycles * 1.05
    assert 0 < seen.taken < sum(seen.instructions.values())
