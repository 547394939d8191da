"""What designs are verified with: no size, byte of a tag or order of operations is left out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from steelyard.model.inputs import Inputs
from steelyard.model.paths import ROOT
from steelyard.rtl import vectors
from steelyard.rtl.design import Design
from steelyard.rtl.reading import designs_of
from steelyard.rtl.streams import Call
from steelyard.rtl.vectors import CallSize, Nocrypt, verification

BASELINE = next(d for d in designs_of(ROOT / "rtl/nocrypt/nocrypt") if d.width == 32)


class Binding(Nocrypt):
    """The baseline with a tag in which all bytes differ, of everything."""

    binds = True

    def encrypt(self, inputs: object) -> list[bytes]:
        return [message[:-16] + bytes(range(1, 17)) for message in super().encrypt(inputs)]  # type: ignore[arg-type]


def made(design: Design = BASELINE, digest: str = "0") -> list[Call]:
    return verification(design, Binding(), Nocrypt(), Inputs(digest))


def test_every_small_size_of_everything_occurs() -> None:
    block = 44
    calls = made(replace(BASELINE, block=(("ad", 8), ("data", block), ("hash", 16))))
    for op in ("encrypt", "decrypt"):
        right = [c for c in calls if c.op == op and not c.forged]
        assert {len(c.message) for c in right} > {*range(2 * block + 4)}
        assert {len(c.ad) for c in right} > {*range(2 * block + 4)}
        assert {len(c.message) for c in right if not c.ad} > {0}
        assert max(len(c.message) for c in right) == vectors.LONGEST
    assert {len(c.message) for c in calls if c.op == "hash"} > {*range(36)}


def test_each_byte_of_a_tag_is_forged_alone_and_no_bit_is_the_usual_one() -> None:
    changed = [int.from_bytes(c.instead) ^ int.from_bytes(c.tag) for c in made() if c.forged == "tag"]
    assert 0 not in changed
    alone = [n for n in changed if n.bit_count() == 1]
    assert {(n.bit_length() - 1) // 8 for n in alone} == set(range(16))
    assert len({(n.bit_length() - 1) % 8 for n in alone}) > 4
    assert any(n.bit_count() == 2 for n in changed), "the same bit of two bytes"
    assert any(c.forged == "tag" and c.instead != c.tag and sorted(c.instead) == sorted(c.tag) for c in made())


@pytest.mark.parametrize("part", ["data", "ad", "npub"])
def test_forgeries_of_other_parts_are_anywhere(part: str) -> None:
    whole = {"data": lambda c: c.output, "ad": lambda c: c.ad, "npub": lambda c: c.npub}[part]
    forged = [(whole(c), c.instead) for k in range(8) for c in made(digest=str(k)) if c.forged == part]
    assert all(len(a) == len(b) and a != b for a, b in forged)
    places = {k for a, b in forged for k in range(len(a)) if a[k] != b[k]}
    assert len(places) > 8


def test_each_kind_of_operation_follows_each() -> None:
    calls = made()
    kinds = [(c.op, bool(c.forged), c.reuse) for c in calls]
    every = {(o, f, r) for o, f in (("encrypt", False), ("decrypt", False), ("decrypt", True)) for r in (False, True)}
    every.add(("hash", False, False))
    assert {*pairwise(kinds)} == {(a, b) for a in every for b in every}
    key = b""
    for c in calls:
        if c.op != "hash":
            assert (c.key == key) is c.reuse
            key = c.key
    assert [c.name for c in made(digest="1")] != [c.name for c in calls]


def test_what_a_design_lacks_is_not_asked() -> None:
    calls = made(replace(BASELINE, key_reuse=False, segments=False))
    assert not any(c.reuse or "-by-" in c.name for c in calls)
    assert not any(c.reuse and "-by-" in c.name for c in made()), "so that what a design lacks is plain"


def test_a_key_that_is_there_is_timed_with_another_message() -> None:
    sizes = [CallSize("encrypt", "PT", 0, 16, True)]
    first, again = vectors.calls(sizes, (Nocrypt(), None), Inputs("0"))
    assert (first.key, first.reuse, again.reuse) == (again.key, False, True)
    assert first.npub != again.npub
    assert first.message != again.message


def test_hashes_are_timed_between_the_others() -> None:
    sizes = vectors.measured(BASELINE, ["encrypt", "decrypt", "hash"])
    calls = vectors.calls(sizes, (Nocrypt(), Nocrypt()), Inputs("0"))
    order = vectors.turns(sizes)
    assert sorted(order) == list(range(len(calls)))
    timed = [calls[k] for k in order]
    hashes = [k for k, c in enumerate(timed) if c.op == "hash"]
    assert all(b - a > 1 for a, b in pairwise(hashes))
    assert all(timed[k - 1].key == c.key for k, c in enumerate(timed) if c.reuse)
    own = [order[k] for k in range(len(order))]
    assert [calls[n].reuse for n in vectors.kept(sizes, own)] == [s.reuse for s in sizes]
    assert [calls[n].op for n in vectors.kept(sizes, own)] == [s.op for s in sizes]


def test_a_netlist_is_asked_every_small_size_and_others_by_chance() -> None:
    sizes = vectors.every(["encrypt", "hash"])
    cycles = [10 * (s.ad + s.message) for s in sizes]
    found, other = (vectors.sampled(sizes, cycles, Inputs("digest", seed)) for seed in ("a", "b"))
    assert {k for k, s in enumerate(sizes) if s.ad + s.message < 72} < {*found}
    assert found != other
    assert 900_000 < sum(cycles[k] for k in found) <= 1_000_000
    assert {(sizes[k].op, sizes[k].of) for k in found if sizes[k].ad + sizes[k].message > 1000} == {
        ("encrypt", "PT"),
        ("encrypt", "AD"),
        ("hash", "HM"),
    }
