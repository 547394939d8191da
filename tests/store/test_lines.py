"""Lines of submissions: runs are named by what is published, and what a newer version replaced counts no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from steelyard.analyse.answer import choose
from steelyard.analyse.selection import Selection
from steelyard.model.origin import of_path
from steelyard.model.reasons import Failure, Reason
from steelyard.model.row import Row
from steelyard.store import Store, moving, schema
from steelyard.store.operating import Yard, forget
from steelyard.store.operators import Operators
from steelyard.store.submissions import ADDED, Desk

from .handed_in import GIVEN, ROOM, added, handed_in, result, tasks, weighed
from .servers import every_store

__all__ = ["every_store"]


def names(store: Store) -> list[str]:
    """What runs are named by, the oldest first."""
    return [r.origin for r in store.runs(newest_only=False)[::-1]]


def shown(store: Store) -> list[tuple[object, str]]:
    """Of an answer's rows the sources, and where they are from."""
    return [(str(r["digest"])[0], str(r["origin"])) for r in choose(rows(store)).rows]


def rows(store: Store) -> list[Row]:
    """What an answer's rows are chosen from."""
    return Selection((), "", None).stored(store, [{}])


def test_a_version_whose_sources_are_public_already_replaces_the_last(store: Store) -> None:
    """They are shown once, as whose they are; what was before is there for those who ask for all runs."""
    store.add(result("b"))
    first = handed_in(store, "a")
    assert [d for d, _ in shown(store)] == ["a", "b"]
    before = store.changes()
    handed_in(store, "b", first)
    assert names(store) == ["", "a.zip (submission 1, replaced by 2)"]
    assert shown(store) == [("b", "")]
    assert store.changes() > before, "servers make pages anew"
    assert store.sources([2]) == {(2, "crypto_aead", "toy1", "ref"): "b" * 64}
    Yard(store).delete(2)
    assert names(store) == ["", "a.zip (submission 1)"]


@pytest.mark.parametrize("way", ["weighed", "copied", "deleted", "before"])
def test_a_version_has_a_run_when_what_was_public_counts_no_more(store: Store, tmp_path: Path, way: str) -> None:
    """A path's own, which has other sources by now, or is gone. Nothing else keeps a published figure out."""
    number = store.add(result("b"))
    first = handed_in(store, "a")
    if way == "before":
        store.add(result("c"))
    handed_in(store, "b", first)
    store.add(result("z", target="b"))
    assert (len(names(store)) == 3) == (way != "before"), "of another target"
    if way == "weighed":
        store.add(replace(result("c"), origin="elsewhere"))
        assert not [o for o in names(store) if "submission 2" in o]
        store.add(result("c"))
    if way == "deleted":
        forget(store, number)
    if way == "copied":
        with Store.open(tmp_path / "lab.db") as lab:
            lab.add(result("c"))
            moving.move(lab, store)
    assert ("b", "b.zip (submission 2 of line 1)") in shown(store)
    assert len([o for o in names(store) if o == "b.zip (submission 2 of line 1)"]) == 1


@pytest.mark.parametrize("way", ["weighed", "copied"])
@pytest.mark.parametrize("own", [True, False])
def test_who_was_hidden_by_a_path_is_shown_again(store: Store, tmp_path: Path, way: str, own: bool) -> None:
    """The lab weighed the same sources as a submission, or as another path has, and has others there now."""
    mine = "a.zip (submission 1)" if own else "mine"
    if own:
        handed_in(store, "a")
    else:
        store.add(replace(result("a"), origin=mine))
    for digest in "cab":
        newer = replace(result(digest), origin="lab")
        if way == "copied" and digest == "b":
            with Store.open(tmp_path / "lab.db") as lab:
                lab.add(newer)
                moving.move(lab, store)
        else:
            store.add(newer)
        if digest == "a":
            assert shown(store) == [("a", "lab")], "the last run of a setup counts"
            assert not [note for note in choose(rows(store)).notes if "copies" in note]
    assert sorted(shown(store)) == [("a", mine), ("b", "lab")]
    assert names(store).count(mine) == 1
    store.add(replace(result("a"), origin="lab"))
    assert shown(store) == [("a", "lab")]


@pytest.mark.parametrize("theirs", ["elsewhere", ""])
def test_what_somebody_else_has_too_is_a_path_s_newest(store: Store, theirs: str) -> None:
    """Its older sources are not shown for it; a filter finds either."""
    store.add(replace(result("a"), origin="lab"))
    if not theirs:
        handed_in(store, "b")
    store.add(replace(result("b"), origin="lab"))
    if theirs:
        store.add(replace(result("b"), origin=theirs))
    assert shown(store) == [("b", theirs or "lab")]
    for origin in ("lab", theirs or "b.zip (submission 1)"):
        asked = Selection((), f'origin == "{origin}"', None)
        found = asked.left(asked.stored(store, [{}]))
        assert [str(r["digest"])[0] for r in choose(found.rows).rows] == ["b"], origin
    other = replace(result("b"), metrics={"rom": 1.0})
    store.add(replace(other, origin="third"))
    asked = Selection((), f"rom > {ord('a')}", None)
    assert asked.left(asked.stored(store, [{}])).rows == [], "hidden by one that the filter leaves out"


def test_a_revision_keeps_nobody_s_figures_out(store: Store) -> None:
    """It counts in histories only, whatever it says of the same sources."""
    for origin in ("lab at HEAD (0123456789ab)", "lab at HEAD~1 (ba9876543210)"):
        store.add(replace(result("a"), origin=origin))
    assert shown(store) == []
    handed_in(store, "a")
    assert shown(store) == [("a", "a.zip (submission 1)")]


def test_a_copy_shows_what_a_path_hid(store: Store, tmp_path: Path) -> None:
    handed_in(store, "a")
    with Store.open(tmp_path / "copy.db") as copy:
        for digest in "ab":
            store.add(replace(result(digest), origin="lab"))
            moving.move(store, copy)
        assert sorted(shown(copy)) == sorted(shown(store)) == [("a", "a.zip (submission 1)"), ("b", "lab")]
        assert names(copy) == names(store)
        Yard(store).delete(1)
        moving.move(store, copy)
        assert names(copy) == ["lab", "lab"]


def test_a_run_comes_back_as_its_first_owner_s(store: Store) -> None:
    """Also where others, with another zip or the same, handed it in before or have published it since."""
    zip_too, first = handed_in(store, "d", public=False, zip="other"), handed_in(store, "d", public=False)
    handed_in(store, "d")
    for token in (first, zip_too):
        Desk(store).publish(token)
    assert shown(store) == [("d", "d.zip (submission 3)")]
    for digest in "de":
        store.add(replace(result(digest), origin="lab"))
    assert sorted(shown(store)) == [("d", "d.zip (submission 3)"), ("e", "lab")]


@pytest.mark.parametrize("damage", [{"reason": "of-tomorrow", "detail": "x"}, {"notes": "{"}])
def test_a_run_that_cannot_be_read_keeps_no_other_from_the_store(store: Store, damage: dict[str, str]) -> None:
    """It hides what it hid."""
    handed_in(store, "a")
    handed_in(store, "x", name="fast")
    number = store.add(replace(result("a"), origin="lab"))
    with store._engine.begin() as connection:
        connection.execute(update(schema.run).where(schema.run.c.id == number).values(damage))
    last = store.add(replace(result("b"), origin="lab"))
    Yard(store).delete(2)
    assert [r and r.origin for r in map(store.get, (1, 2, last))] == ["a.zip (submission 1)", None, "lab"]


def test_a_run_stays_its_line_s_until_that_goes_on(store: Store) -> None:
    """Then it is that of another line that has the same zip as its newest version, and stays there."""
    own = handed_in(store, "d", public=False)
    theirs = handed_in(store, "d")
    assert Desk(store).publish(own) == 0
    assert names(store) == ["d.zip (submission 2)"], "who published first"
    Yard(store).repeat(1)
    weighed(store)
    assert names(store) == ["d.zip (submission 2)"] * 2
    newer = handed_in(store, "e", theirs)
    assert sorted(shown(store)) == [("d", "d.zip (submission 1)"), ("e", "e.zip (submission 3 of line 2)")]
    handed_in(store, "d", newer)
    assert shown(store) == [("d", "d.zip (submission 1)")], "line 2 has these, too, and no others"
    assert names(store)[-1] == "e.zip (submission 3 of line 2, replaced by 4)"
    Yard(store).delete(1)
    assert shown(store) == [("d", "d.zip (submission 4 of line 2)")]


def test_who_has_gone_on_hides_no_one_else_s_sources(store: Store) -> None:
    """Of another zip with the same sources; whichever line goes back or on after that, its newest version counts."""
    first = handed_in(store, "a")
    second = handed_in(store, "a", zip="other")
    assert shown(store) == [("a", "a.zip (submission 1)")]
    third = handed_in(store, "b", first)
    assert sorted(shown(store)) == [("a", "other.zip (submission 2)"), ("b", "b.zip (submission 3 of line 1)")]
    assert names(store)[0] == "a.zip (submission 1, replaced by 3)", "its history is its own"
    handed_in(store, "a", third)
    assert shown(store) == [("a", "other.zip (submission 2)")]
    handed_in(store, "c", second)
    assert sorted(shown(store)) == [("a", "a.zip (submission 4 of line 1)"), ("c", "c.zip (submission 5 of line 2)")]


def test_a_run_goes_with_its_zip_alone(store: Store) -> None:
    """Else a deletion would leave it under the name of what was deleted: another zip's runs are its own."""
    first, second = handed_in(store, "a"), handed_in(store, "a", zip="other")
    for previous in (first, second):
        handed_in(store, "s", previous, name="fast")
    handed_in(store, "b", first)
    assert names(store)[0] == "a.zip (submission 1, replaced by 5)"
    Yard(store).delete(2)
    assert not [o for o in names(store) if "other" in o]


def test_a_version_replaces_what_was_weighed_where_it_is(store: Store) -> None:
    """Nothing on other targets, and no implementation that it has not."""
    first = handed_in(store, "a", targets="ab")
    second = handed_in(store, "b", first, targets="")
    handed_in(store, "c", second, name="fast")
    assert [o for _, o in shown(store) if "replaced" in o] == []
    given = replace(GIVEN, content=b"d", previous=second)
    wanted = [replace(t, sources="d" * 64) for t in tasks(given, "ab")]
    token = Desk(store).hand_in(given, wanted, ROOM)
    Desk(store).publish(token)
    assert "a.zip (submission 1)" in names(store), "it waits"
    weighed(store, "a")
    assert sorted(names(store)) == [
        "a.zip (submission 1)", "a.zip (submission 1, replaced by 4)", "c.zip (submission 3 of line 1)",
        "toy.zip (submission 4 of line 1)",
    ]  # fmt: skip
    Yard(store).repeat(4)
    handed_in(store, "e", token, targets="")
    assert "a.zip (submission 1, replaced by 4)" in names(store), "it was weighed there"


def test_what_is_added_again_with_other_sources_is_a_newer_version(store: Store) -> None:
    """As is who goes back to older ones: their figures count again, and are not made again."""
    assert [added(store, digest) for digest in "ab"] == [1, 1]
    assert shown(store) == [("b", "toy.zip (submission 2 of line 1)")]
    assert added(store, "a") == 0
    assert shown(store) == [("a", "toy.zip (submission 3 of line 1)")]
    assert added(store, "a") == 0
    assert sorted(names(store)) == [
        "toy.zip (submission 2 of line 1, replaced by 3)",
        "toy.zip (submission 3 of line 1)",
    ]
    assert [(s.previous, s.first) for n in (1, 2, 3) if (s := Desk(store).of_number(n))] == [
        (None, None), (1, 1), (2, 1)
    ]  # fmt: skip
    assert Desk(store).of_number(4) is None, "it is the newest already"
    Yard(store).delete(3)
    assert shown(store) == [("b", "toy.zip (submission 2 of line 1)")]
    added(store, "c")
    assert shown(store) == [("c", "toy.zip (submission 4 of line 1)")]


def test_what_is_added_replaces_nothing_that_is_of_elsewhere(store: Store) -> None:
    """Of another folder, somebody else's, or handed in by a form; nor another implementation."""
    handed_in(store, "a", zip="toy")
    for digest, licence in ("b", "of its sources, /b"), ("c", "of its sources, /c"):
        added(store, digest, licence)
    given = replace(GIVEN, content=b"d", licence="of its sources, /b")
    for other in (replace(given, address="me"), replace(given, found=given.found.replace('"ref"', '"fast"'))):
        Desk(store).add(other, [replace(t, sources="d" * 64) for t in tasks(other, "a")])
    weighed(store)
    assert sorted(d for d, _ in shown(store)) == ["a", "b", "c", "d"]
    assert not [o for o in names(store) if "line" in o]


def test_bundled_sources_are_everybody_s_and_a_package_may_have_more_in_it(store: Store) -> None:
    bundled = replace(GIVEN, licence="of its sources")
    (one,) = json.loads(bundled.found)["implementations"]
    both = json.dumps(json.loads(bundled.found) | {"implementations": [one, one | {"name": "fast"}]})
    handed_in(store, "s", zip="toy", licence=bundled.licence)  # whatever a stranger calls his licence
    for content, who, found in ((b"a", "me", bundled.found), (b"b", "you", both)):
        given = replace(bundled, content=content, address=f"{who} ({ADDED})", found=found)
        Desk(store).add(given, [replace(t, sources=content.decode() * 64) for t in tasks(given, "a")])
        weighed(store)
    assert sorted(d for d, _ in shown(store)) == ["b", "s"]


def test_names_without_versions_are_those_of_submissions(store: Store) -> None:
    """Of older databases: a deletion renames them, as everything else that changes what is public."""
    first = handed_in(store, "a")
    handed_in(store, "b", first)
    handed_in(store, "b")
    with store._engine.begin() as connection:
        for number, name in enumerate("ab", 1):
            old = update(schema.run).where(schema.run.c.id == number)
            connection.execute(old.values(origin=f"{name}.zip (submission 1)"))
    Yard(store).delete(2)
    assert names(store) == ["a.zip (submission 1)", "b.zip (submission 3)"]


def test_a_failure_of_the_machine_keeps_no_older_version_s_figures_out(store: Store) -> None:
    """They are of the same sources; a newer version's own figures do."""
    failure = Failure(Reason.NO_TOOLCHAIN, "gcc")
    first = handed_in(store, "a", public=False)
    second = handed_in(store, "a", first, zip="again", failure=failure)
    assert Desk(store).publish(first) == 1
    assert set(names(store)) == {"again.zip (submission 2 of line 1)"}
    third = handed_in(store, "a", second, zip="other")
    Yard(store).repeat(1)
    weighed(store)
    assert len(names(store)) == 3
    assert names(store)[-1] == "other.zip (submission 3 of line 1)", third


def test_a_path_is_no_version_that_was_replaced(store: Store) -> None:
    """Whatever its folders are called: the last run of a setup counts."""
    for path in ("x/a.zip (submission 1, replaced by 2)", "my A.ZIP (submission 1, replaced by 2)"):
        store.add(replace(result("b"), origin="mine"))
        store.add(replace(result("b"), origin=of_path(path)))
        assert [origin for _, origin in shown(store)] == [of_path(path)]


def test_a_copy_has_the_same_names(database: str, tmp_path: Path) -> None:
    """And the servers that show it learn of them."""
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        first = handed_in(one, "a")
        moving.move(one, other)
        before = other.changes()
        handed_in(one, "b", first)
        done = moving.move(one, other)
        assert (names(other), done.deleted, done.runs.copied) == (names(one), 0, 1)
        assert names(other)[0] == "a.zip (submission 1, replaced by 2)"
        assert other.changes() > before
        for of, why in ((one, "1 run"), (other, "1 run where it was copied from")):
            deeds = Operators(of).deeds(refused=False)
            assert [(d.subject, d.detail) for d in deeds if d.action == "renamed"] == [("line 1", why)]
