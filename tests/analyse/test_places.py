"""Of labels that mean sources of several places: which is compared with which."""

from __future__ import annotations

import pytest

from steelyard.analyse.compare import compare

from .made_rows import row


@pytest.mark.parametrize("past", ["p at HEAD (0123456789ab)", "p.zip (submission 2 of line 1, replaced by 3)"])
def test_what_is_of_histories_only_is_compared_where_there_is_nothing_else(past: str) -> None:
    """Whichever was weighed last: it says nothing of what lies at a path."""
    at = "p" if "HEAD" in past else "p.zip (submission 3 of line 1)"
    other, nocrypt = row(implementation="opt", digest="o", run=3), row(variant="nocrypt", digest="n", run=4)
    own, before = row(origin=at, digest="a", run=1), row(origin=past, digest="b", run=2)
    both = compare([other], [own, before])
    assert ([p.new["run"] for p in both.pairs], both.sources) == ([1], ())
    alone = compare([other, nocrypt], [nocrypt, before], about=["digest", "implementation"])
    assert {p.new["run"] for p in alone.pairs} == {4, 2}
    alone = compare([other], [before])
    assert "a revision, or a version that another replaced, of v/ref on uno" in alone.sources[0]
    assert alone.past == ()
    [pair] = compare([own, before], [r | {"flags": "-Os", "run": n} for n, r in ((5, own), (6, before))]).pairs
    assert (pair.old["run"], pair.new["run"]) == (1, 5)


def test_older_sources_of_a_place_are_compared_where_both_sides_have_no_others_and_that_is_said() -> None:
    """Whatever workload and flags they share with the other side: a gate is not to judge what is no more."""
    other = row(implementation="opt", digest="o", run=1, workload="default")
    old, new = (row(origin="p", digest=d, run=n) for n, d in ((2, "a"), (4, "b")))
    [pair] = compare([other], [old, new | {"workload": "0/16"}]).pairs
    assert (pair.new["run"], pair.differs) == (4, ("workload",))
    sized = compare([old, new], [old | {"flags": "-Os", "run": 3}])
    assert [(p.old["run"], p.new["run"]) for p in sized.pairs] == [(2, 3)]
    assert "older sources of v/ref on uno (p) compared; weigh what is there now" in sized.past[0]
    assert sized.past[0] in sized.sources
    of_a_revision = new | {"flags": "-Os", "run": 5, "origin": "p at HEAD (0123456789ab)"}
    assert compare([old, new], [of_a_revision]).sources == (), "the same sources"
    for asked in ({"about": ["run"]}, {"sources": True}):  # of each side the newest
        found = compare([old], [new | {"workload": "0/16"}, old | {"run": 3}], **asked)
        assert ([p.new["run"] for p in found.pairs], found.past) == ([4], ()), asked


def test_a_copy_that_went_on_has_no_older_sources_of_the_original() -> None:
    """Which it had once, too."""
    opt = [row(implementation="opt", digest="o", run=1, flags=f) for f in ("-O3", "-Os")]
    first = [row(origin="p", digest="a", run=n, flags=f) for n, f in ((2, "-O3"), (3, "-Os"))]
    copied = [row(origin="q", digest=d, run=n, flags=f) for n, d, f in ((4, "a", "-Oz"), (5, "b", "-O3"))]
    found = compare(opt, [*first, *copied])
    assert [(p.old["flags"], p.new["run"]) for p in found.pairs] == [("-O3", 5)]
    assert "means other sources too (p): q was compared" in found.sources[0]
    on_another = copied[0] | {"flags": "-O3", "target": "due"}
    again = compare(opt, [*first, on_another, copied[1]])
    assert [(p.old["flags"], p.new["run"]) for p in again.pairs] == [("-O3", 5)]


def test_a_run_is_compared_with_its_own_sources_first() -> None:
    mine = [row(origin="p", digest="a", run=n, flags=f) for n, f in ((1, "-O3"), (2, "-Os"))]
    bundled = row(digest="b", run=3, flags="-Os")
    [pair] = compare(mine[:1], [mine[1], bundled], about=["run", "flags"]).pairs
    assert (pair.old["run"], pair.new["run"]) == (1, 2)


def test_runs_of_two_places_are_compared_each_with_its_own() -> None:
    """And a place that the other side has not is said."""
    old = [row(origin=at, digest=at, run=n, rom=rom) for n, at, rom in ((1, "avr", 100), (2, "arm", 200))]
    new = [r | {"run": n, "digest": f"{r['digest']}2", "rom": rom} for n, r, rom in ((3, old[0], 90), (4, old[1], 220))]
    found = compare(old, new, about=["run"])
    assert sorted((p.old["run"], p.new["run"]) for p in found.pairs) == [(1, 3), (2, 4)]
    assert {p.new["label"]: [ch.verdict for ch in p.changes][-2:] for p in found.pairs} == {
        "v/ref (avr)": ["same", "better"], "v/ref (arm)": ["same", "worse"]
    }  # fmt: skip
    gone = compare(old, new[:1], about=["run"])
    assert ([(p.old["run"], p.new["run"]) for p in gone.pairs], [r["run"] for r in gone.missing]) == ([(1, 3)], [2])
    [pair] = compare(old[:1], [r | {"origin": "elsewhere"} for r in new[:1]], about=["run"]).pairs
    assert (pair.old["label"], pair.new["label"]) == ("v/ref", "v/ref")


def test_the_same_sources_by_two_paths_are_not_others() -> None:
    old = [row(run=n, origin=place, digest="a") for n, place in ((1, "x/ref"), (2, "./x/ref"))]
    found = compare(old, [row(run=3, origin="x", digest="a", flags="-Os")])
    assert (found.sources, len(found.pairs)) == ((), 1)
    other = compare([*old, row(run=0, origin="y", digest="b")], [row(run=3, origin="x", digest="a", flags="-Os")])
    assert len(other.sources) == 1
    assert "other sources too (y): x was compared" in other.sources[0]


def test_packages_of_one_name_are_compared_each_with_its_own_past() -> None:
    def side(revision: str, **rom: int) -> list[dict]:
        at = f"at {revision} (0123456789ab)"
        return [row(revision=revision, origin=f"look at {p}/ref {at}", rom=n, run=n) for p, n in rom.items()]

    old = side("HEAD~1", avr=100, arm=200)
    c = compare(old, side("HEAD", arm=200, avr=110), about=["revision"])
    changes = {p.new["label"]: [(ch.old, ch.new) for ch in p.changes if ch.metric == "rom"] for p in c.pairs}
    assert changes == {"v/ref (look at avr/ref)": [(100, 110)], "v/ref (look at arm/ref)": [(200, 200)]}
    gone = compare(old, side("HEAD", avr=100), about=["revision"])
    assert ([r["label"] for r in gone.missing], len(gone.pairs)) == (["v/ref (look at arm/ref)"], 1)
    moved = compare(old[:1], side("HEAD", elsewhere=90), about=["revision"])
    assert ([p.new["label"] for p in moved.pairs], moved.sources) == (["v/ref"], ())
    (text,) = compare(old[:1], side("HEAD", x=90, y=80), about=["revision"]).sources
    assert text == "v/ref means other sources too (look at y/ref): look at x/ref was compared"
    new = side("HEAD", x=100, y=200)
    for rows in (old, new):
        rows[:] = [r | {"digest": f"d{r['rom']}"} for r in rows]
    moves = compare(old, new, about=["revision"])
    assert ([[p.old["rom"], p.new["rom"]] for p in moves.pairs], moves.sources) == ([[100, 100], [200, 200]], ())
    copies = [[r | {"digest": "same"} for r in rows] for rows in (side("HEAD~1", x=1, y=1), side("HEAD", v=1))]
    moves = compare(copies[0], [*copies[1], *side("HEAD", w=2)], about=["revision"])
    assert [[p.old["rom"], p.new["rom"]] for p in moves.pairs] == [[1, 1], [1, 2]], "one of two copies is worse"
    kin = [[r | {"family": str(r["origin"])[8:11]} for r in rows] for rows in (old, side("HEAD", arm=200, avr=110))]
    c = compare(*kin, about=["revision"])
    labels = ["v/ref (look at avr/ref)", "v/ref (look at arm/ref)"]
    assert ([p.new["label"] for p in c.pairs], c.sources) == (labels, ())
    zips = [[r | {"origin": "p.zip at x (0123456789ab)"} for r in rows] for rows in kin]  # two in one place
    c = compare(*zips, about=["revision"])
    assert sorted((p.new["label"], p.old["rom"], p.new["rom"]) for p in c.pairs) == [
        ("v/ref (p.zip, arm)", 200, 200), ("v/ref (p.zip, avr)", 100, 110)
    ]  # fmt: skip
    assert len(compare(zips[0], zips[1][:1], about=["revision"]).missing) == 1
    other = [r | {"family": "c", "digest": "x", "implementation": "opt", "label": "v/opt"} for r in kin[1][:1]]
    assert len(compare(kin[0][:1], other, about=["revision"]).pairs) == 1, "the only one, which was renamed and changed"
    renamed = [r | {"family": "c", "origin": str(r["origin"]).replace("avr", "c")} for r in kin[0]]
    c = compare(kin[0], [renamed[0], kin[0][1]], about=["revision"])
    assert ([p.new["family"] for p in c.pairs], c.missing, c.added) == (["c", "arm"], (), ())


def test_a_name_is_of_one_place_on_both_sides() -> None:
    """Else one package's figures would be judged by another's."""
    weighed = ((1, "a", "-O3", 100), (2, "a", "-Os", 174), (3, "b", "-O3", 250))
    rows = [row(run=n, origin=at, digest=at, family=at, flags=f, rom=rom) for n, at, f, rom in weighed]
    found = compare([rows[0], rows[2]], rows[1:2])
    assert [(p.old["run"], p.new["run"]) for p in found.pairs] == [(1, 2)]
    assert found.sources == ("v/ref means other sources too (b): a was compared",)
    ours = [row(run=4, digest="o", flags="-O3")]
    assert [(p.old["run"], p.new["run"]) for p in compare([*rows[:1], *ours], rows[1:2]).pairs] == [(1, 2)]


def test_places_that_are_asked_for_are_compared_each_with_its_own_unless_there_is_one_alone() -> None:
    weighed = ((1, "old/p1", 100), (2, "old/p2", 200), (3, "new/p1", 90), (4, "new/p2", 220))
    rows = [row(run=n, origin=at, digest=at, rom=rom) for n, at, rom in weighed]
    for asked in ({"about": ["origin"]}, {"about": ["run"]}, {"sources": True}):
        found = compare(rows[:2], rows[2:], **asked)
        assert sorted((p.old["run"], p.new["run"]) for p in found.pairs) == [(1, 3), (2, 4)], asked
    [pair] = compare(rows[:2], rows[2:3], about=["origin"]).pairs
    assert (pair.old["run"], pair.new["run"]) == (1, 3)
    both = row("due", run=5, origin="old/p1", digest="old/p1")
    found = compare([both, rows[0]], [both, rows[1]], about=["run"])
    assert sorted((p.old["run"], p.new["run"]) for p in found.pairs) == [(1, 2), (5, 5)]
