"""What was handed in moves with its queue, and a copy that is made again becomes what its source is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.analyse.answer import choose
from steelyard.model.errors import UserError
from steelyard.store import Store, moving
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, FAILED, WAITING, Queue
from steelyard.store.submissions import Desk, Submission

from .conftest import RECORD
from .handed_in import GIVEN, ROOM, states, tasks


def test_what_was_handed_in_moves_with_its_queue(database: str, tmp_path: Path) -> None:
    """To another database and back: links lead to the same, jobs are where they were, and nothing is there twice."""
    with Store.open(database) as one, Store.open(tmp_path / "other.db") as other:
        desk, line, moved = Desk(one), Queue(one, "w"), Desk(other)
        first = desk.hand_in(GIVEN, tasks(), ROOM)
        later = replace(GIVEN, content=b"later", previous=first)
        second = desk.hand_in(later, tasks(later), ROOM)
        withdrawn = desk.hand_in(replace(GIVEN, content=b"gone"), tasks(replace(GIVEN, content=b"gone")), ROOM)
        desk.withdraw(withdrawn)
        with line.taken("b") as taken:
            assert taken is not None
            line.close(taken, DONE, record=RECORD, log="said")
        desk.publish(first)
        with line.taken("a") as running:
            assert running is not None
            assert moving.move(one, other).submissions == 3
        assert moving.move(one, other).submissions == 0
        assert states(moved, first) == [WAITING, DONE]
        assert states(moved, second) == [WAITING, WAITING]
        found, old = moved.find(second), moved.find(first)
        assert found is not None
        assert old is not None
        assert (old.number, found.previous) == (1, 1), "numbers are in the names of runs"
        gone = moved.find(withdrawn)
        assert gone is not None
        assert gone.state == "withdrawn"
        (run,) = other.runs()
        assert moved.jobs(old)[1].run == run.id
        assert [a.log for a in Yard(other).job(2)[1]] == ["said"]
        assert other.orphans() == []
        with Queue(other, "w").taken("a") as taken:
            assert taken is not None, "what ran there is done here"
            assert taken.content == GIVEN.content
        newer = moved.hand_in(replace(GIVEN, content=b"newer"), tasks(replace(GIVEN, content=b"newer")), ROOM)
        assert moving.move(other, one).submissions == 1
        assert states(desk, newer) == [WAITING, WAITING]
        fresh = desk.hand_in(replace(GIVEN, content=b"fresh"), tasks(replace(GIVEN, content=b"fresh")), ROOM)
        assert len({s.number for t in (first, second, newer, fresh) if (s := desk.find(t)) is not None}) == 4


def test_a_copy_that_is_made_again_gets_what_became_of_it(database: str, tmp_path: Path) -> None:
    with Store.open(database) as one, Store.open(tmp_path / "other.db") as other:
        desk, line, moved = Desk(one), Queue(one, "w"), Desk(other)
        given = {name: replace(GIVEN, content=name.encode()) for name in ("kept", "gone", "failed")}
        kept, gone, failed = (desk.hand_in(g, tasks(g), ROOM) for g in given.values())
        with line.taken("a") as running:
            assert running is not None
            moving.move(one, other)
            assert states(moved, kept) == [WAITING, WAITING]
            line.close(running, DONE, record=RECORD, log="said")
            with pytest.raises(UserError, match="attempts of its own"):  # what was under way there has ended here
                moving.move(other, one)
        with line.taken("b") as taken:
            assert taken is not None
            line.close(taken, FAILED, "its machine has no disk")
        assert desk.withdraw(gone)
        newer = replace(given["kept"], content=b"newer", previous=kept)
        # what is handed in again, as the version after the next: its package has a lower number than the one before
        second = desk.hand_in(newer, tasks(newer), ROOM)
        third = desk.hand_in(replace(given["failed"], previous=second), tasks(given["failed"]), ROOM)
        desk.publish(kept)
        for added in (2, 0):
            assert moving.move(one, other).submissions == added
            assert states(moved, kept) == states(desk, kept)
            assert sorted(states(moved, kept)) == [DONE, FAILED]
            found = [(s.state, s.previous) for t in (kept, gone, failed, second, third) if (s := moved.find(t))]
            ours = [(s.state, s.previous) for t in (kept, gone, failed, second, third) if (s := desk.find(t))]
            assert found == ours
            assert found[4][1] is not None
            assert all(j.run is not None for j in moved.jobs(must(moved.find(kept))) if j.state == DONE)
            assert states(moved, gone) == []
            assert [a.outcome for a in Yard(other).job(1)[1]] == [a.outcome for a in Yard(one).job(1)[1]]
        assert other.orphans() == []


def test_what_was_deleted_is_not_public_in_a_copy_that_is_made_again(database: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        desk, line = Desk(one), Queue(one, "w")
        token = desk.hand_in(GIVEN, tasks(), ROOM)
        for outcome in (DONE, FAILED):
            with line.taken("ab") as taken:
                assert taken is not None
                line.close(taken, outcome, record=RECORD if outcome == DONE else None, log="said")
        desk.publish(token)
        moving.move(one, other)
        (run,) = other.runs()
        assert other.get_blob(run.log) == b"said"
        assert Yard(one).delete(1) == 1
        done = moving.move(one, other)
        assert (done.submissions, done.deleted) == (0, 1)
        assert other.runs() == []
        assert not other.has_blobs([run.log])
        assert other.changes() == 1, "servers forget its pages"
        assert other.orphans() == []
        found = Desk(other).find(token)
        assert found is not None
        assert found.state == "withdrawn"


def test_what_is_public_of_others_stays_in_a_copy_that_is_made_again(database: str, tmp_path: Path) -> None:
    """The same zip is handed in by three, of whom two were deleted, and once more when it was nobody's."""
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        desk, line, moved = Desk(one), Queue(one, "w"), Desk(other)

        def handed_in() -> str:
            return desk.hand_in(GIVEN, tasks(targets="a"), ROOM)

        def weighed() -> None:
            with line.taken("a") as taken:
                assert taken is not None
                line.close(taken, DONE, record=RECORD)

        def copied() -> list[str]:
            moving.move(one, other)
            runs = other.runs(newest_only=False)
            assert [j.run for j in Yard(other).lines((DONE,))] == [r.id for r in runs]
            assert moved.known(GIVEN.digest), "its content is there"
            assert other.orphans() == []
            return [r.origin for r in runs]

        first, second, third = handed_in(), handed_in(), handed_in()
        weighed()
        desk.publish(second)
        assert copied() == ["toy.zip (submission 2)"]
        desk.publish(third)
        Yard(one).delete(2)
        assert copied() == ["toy.zip (submission 3)"]
        Yard(one).delete(3)
        desk.publish(first)
        assert copied() == ["toy.zip (submission 1)"]
        Yard(one).delete(1)
        fourth = handed_in()
        weighed()
        desk.publish(fourth)
        assert copied() == ["toy.zip (submission 4)"]


def test_what_was_public_as_a_deleted_one_s_is_so_as_another_s(database: str, tmp_path: Path) -> None:
    """Equal figures of equal sources are public once; in a copy as in the database itself."""
    zips = [replace(GIVEN, name=f"{k}.zip", content=b"zip %d" % k) for k in range(2)]
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        tokens = []
        for given, at in zip(zips, (1, 0), strict=True):  # the second ran first
            tokens.append(Desk(one).hand_in(given, tasks(given, "a"), ROOM))
            weighed(one, "a", finished=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=at))
        for token in tokens:
            Desk(one).publish(token)
        for origin in ("0.zip (submission 1)", "1.zip (submission 2)"):
            moving.move(one, other)
            assert [r.origin for r in one.runs(newest_only=False)] == [origin]
            assert other.runs(newest_only=False) == one.runs(newest_only=False)
            Yard(one).delete(int(origin[-2]))


def test_a_run_that_a_deletion_renamed_is_renamed_in_a_copy(database: str, tmp_path: Path) -> None:
    """Not copied again: an own run of its setup there is newer."""
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        for token in [Desk(one).hand_in(GIVEN, tasks(targets="a"), ROOM) for _ in range(2)]:
            if token and not one.runs():
                weighed(one, "a", finished=datetime(2026, 1, 1, tzinfo=UTC))
            Desk(one).publish(token)
        moving.move(one, other)
        (run,) = one.runs()
        other.add(replace(RECORD, finished=datetime(2026, 1, 2, tzinfo=UTC), origin="elsewhere"))
        Yard(one).delete(1)
        done = moving.move(one, other)
        assert (done.deleted, done.runs.copied, done.runs.older) == (0, 0, 0)
        assert [r.origin for r in other.runs(newest_only=False)] == ["elsewhere", "toy.zip (submission 2)"]
        assert [j.run for j in Desk(other).jobs(must(Desk(other).find(token)))] == [run.id]
        assert other.orphans() == []


@pytest.mark.parametrize("private", [False, True])
def test_what_is_deleted_after_a_copy_was_killed_is_not_public_in_it(
    private: bool, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was done by then, and in which state the copy has it."""
    with Store.open(tmp_path / "one.db") as one, Store.open(database) as other:
        token = Desk(one).hand_in(GIVEN, tasks(targets="a"), ROOM)
        weighed(one, "a")
        if private:
            moving.move(one, other)
        Desk(one).publish(token)
        with monkeypatch.context() as patch:
            patch.setattr(moving, "_named_again", killed)
            with pytest.raises(KeyboardInterrupt):
                moving.move(one, other)
        assert len(other.runs()) == 1
        Yard(one).delete(1)
        assert moving.move(one, other).deleted == 1
        assert other.runs(newest_only=False) == []
        assert other.orphans() == []


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_database_with_more_than_its_source_is_no_copy(database: str, tmp_path: Path) -> None:
    """A number of a submission is in the names of its runs, and what was done last would be lost."""
    mine = replace(GIVEN, content=b"another zip")
    handed_in: list[tuple[str, Callable[[Store], object]]] = [
        ("submission 1 is another", lambda there: Desk(there).hand_in(mine, tasks(mine), ROOM)),
        ("of its own", lambda there: weighed(there, "b")),
        ("submission 1 is withdrawn already", lambda there: Yard(there).delete(1)),
        ("runs of another's", lambda there: there.add(replace(RECORD, origin="x.zip (submission 1)", log=""))),
    ]
    with Store.open(database) as one:
        Desk(one).hand_in(GIVEN, tasks(), ROOM)
        weighed(one, "a")
        for k, (why, done) in enumerate(handed_in):
            with Store.open(tmp_path / f"{k}.db") as there:
                if k in (1, 2):
                    moving.move(one, there)
                done(there)
                before = there.known(), Yard(there).counts()
                with pytest.raises(UserError, match=why):
                    moving.move(one, there)
                assert (there.known(), Yard(there).counts()) == before


def test_a_run_whose_folder_has_a_submission_s_number_stays_in_a_copy(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as one, Store.open(tmp_path / "b.db") as other:
        other.add(replace(RECORD, origin="mine (submission 2)", log=""))
        for content in (b"this", b"that"):
            given = replace(GIVEN, content=content)
            Desk(one).hand_in(given, tasks(given), ROOM)
            assert moving.move(one, other).deleted == 0
            assert len(other.runs()) == 1


def test_an_older_run_of_another_place_is_not_made_the_newest(tmp_path: Path) -> None:
    """The copy has a later one of its own; something else is deleted there, and another job of its package ends."""
    given = [replace(GIVEN, content=name) for name in (b"this", b"that")]
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "b.db") as to:
        for g in given:
            Desk(store).publish(Desk(store).hand_in(g, tasks(g, "ab"), ROOM))
        weighed(store, "a")
        to.add(later := replace(RECORD, finished=datetime(2026, 9, 1, tzinfo=UTC), metrics={"rom": 7}, log=""))
        moving.move(store, to)
        Yard(to).delete(2)
        assert to.find([RECORD.setup.key]) == {RECORD.setup.key: later}
        weighed(to, "b", setup=replace(RECORD.setup, flags="-O1"))
        assert to.find([RECORD.setup.key]) == {RECORD.setup.key: later}
        assert sorted(str(r["flags"]) for r in choose(to.rows()).rows) == ["-O1", RECORD.setup.flags]


def test_a_damaged_row_deletes_nothing_in_a_copy(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        token = Desk(store).hand_in(GIVEN, tasks(), ROOM)
        weighed(store, "a")
        Desk(store).publish(token)
    with Store.open(tmp_path / "b.db") as to:
        with Store.open(tmp_path / "a.db") as store:
            moving.move(store, to)
        with closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
            db.execute("UPDATE job SET state = 'odd'")
            db.execute("UPDATE run SET log = x'ff'")
        with Store.open(tmp_path / "a.db") as store:
            done = moving.move(store, to)
        assert (len(done.damaged), done.runs.unreadable, done.deleted) == (2, (1,), 0)
        assert states(Desk(to), token) == [DONE, WAITING]
        assert len(to.runs()) == 1


def weighed(store: Store, targets: str, **different: Any) -> None:
    """Does a job on one of these targets."""
    with Queue(store, "w").taken(targets) as taken:
        assert taken is not None
        Queue(store, "w").close(taken, DONE, record=replace(RECORD, **different), log="said")


def must(found: Submission | None) -> Submission:
    assert found is not None
    return found
