"""Databases are copied whole, to any other kind and back, and what is damaged in one is found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.analyse.answer import choose
from steelyard.analyse.compare import compare
from steelyard.model.record import Record
from steelyard.store import Keeper, Store, checking, copying, moving
from steelyard.store.queue import DONE, Queue
from steelyard.store.submissions import Desk

from .conftest import RECORD, Make
from .handed_in import GIVEN, ROOM, tasks

COUNT = 5


def written(make: Make, path: Path) -> list[Record]:
    """Records of a new database, oldest first, two of them of one setup."""
    assert RECORD.finished is not None
    records = []
    with Store.open(path) as store:
        for k in range(COUNT):
            log = store.put_blob(f"log {k // 2}")
            flags, at = f"-O{k % 4}", RECORD.finished + timedelta(hours=k)
            records.append(make(flags=flags, finished=at, log=log))
            store.add(records[-1])
    return records


def test_a_copy_is_the_same_in_any_database_and_back(make: Make, tmp_path: Path, database: str) -> None:
    records = written(make, tmp_path / "a.db")
    with (
        Store.open(tmp_path / "a.db") as mine,
        Store.open(database) as there,
        Store.open(tmp_path / "back.db") as back,
    ):
        assert copying.copy(mine, there) == copying.Copied(COUNT, 0, 0, 0)
        assert copying.copy(mine, there) == copying.Copied(0, COUNT, 0, 0)
        assert copying.copy(there, back) == copying.Copied(COUNT, 0, 0, 0)
        for store in (there, back):
            assert store.runs(newest_only=False) == records[::-1]
            assert [r.setup.key for r in store.runs()] == [r.setup.key for r in mine.runs()]
            assert store.get_blob(records[-1].log) == b"log 2"
            assert list(checking.check(store)) == []


def test_logs_that_stayed_behind_come_with_the_next_copy(make: Make, tmp_path: Path) -> None:
    """Servers had no room for them once, and folders are forgotten."""
    records = written(make, tmp_path / "a.db")
    logs, away = tmp_path / "a.blobs", tmp_path / "away"
    with Store.open(tmp_path / "a.db") as mine, Store.open(":memory:") as there:
        logs.rename(away)
        assert copying.copy(mine, there) == copying.Copied(COUNT, 0, 0, 3)
        assert [t.run for t in checking.check(there)] == [1, 3, 5]
        away.rename(logs)
        assert copying.copy(mine, there) == copying.Copied(0, COUNT, 0, 0)
        assert list(checking.check(there)) == []
        assert there.get_blob(records[-1].log) == b"log 2"


def test_a_copy_that_takes_no_logs_says_so(make: Make, tmp_path: Path) -> None:
    """Its folder cannot be made: the source has nothing to do with it."""
    written(make, tmp_path / "a.db")
    (tmp_path / "b.blobs").touch()
    with Store.open(tmp_path / "a.db") as mine, Store.open(tmp_path / "b.db") as there:
        done = copying.copy(mine, there)
        assert (done.copied, done.lacks, len(done.refused)) == (COUNT, 0, 3)
        assert all("b.blobs" in why for why in done.refused.values())


def test_a_copy_goes_on_where_it_was_killed(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = written(make, tmp_path / "a.db")
    add, left = Store.add, iter(range(3))

    def killed(self: Store, record: Record, log: bytes | None = None, *, copied: bool) -> int:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return add(self, record, log=log, copied=copied)

    with Store.open(tmp_path / "a.db") as mine, Store.open(tmp_path / "b.db") as there:
        monkeypatch.setattr(Store, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            copying.copy(mine, there)
        monkeypatch.undo()
        assert copying.copy(mine, there) == copying.Copied(COUNT - 3, 3, 0, 0)
        assert there.runs(newest_only=False) == records[::-1]


def test_an_older_run_does_not_take_the_place_of_a_newer_one(make: Make, tmp_path: Path) -> None:
    """-O0 was run again there, after both runs of it here."""
    records = written(make, tmp_path / "a.db")
    assert RECORD.finished is not None
    newer = make(flags="-O0", finished=RECORD.finished + timedelta(days=1))
    with Store.open(tmp_path / "a.db") as mine, Store.open(tmp_path / "b.db") as there:
        there.add(newer)
        assert copying.copy(mine, there) == copying.Copied(COUNT - 2, 0, 2, 0)
        assert there.find([newer.setup.key]) == {newer.setup.key: newer}
        assert copying.copy(there, mine) == copying.Copied(1, COUNT - 2, 0, 1)  # its log is nowhere
        assert mine.find([newer.setup.key]) == {newer.setup.key: newer}
        assert len(mine.runs(newest_only=False)) == len(records) + 1
        assert copying.copy(mine, there).copied == 0


def test_an_older_run_of_another_place_is_copied(make: Make, tmp_path: Path) -> None:
    """It counts once the newer one's place has gone on; the newer one does meanwhile, whichever was copied first."""
    assert RECORD.finished is not None
    older, newer = make(origin="mine"), make(origin="theirs", finished=RECORD.finished + timedelta(days=1))
    with Store.open(tmp_path / "a.db") as mine, Store.open(tmp_path / "b.db") as there:
        mine.add(older)
        there.add(newer)
        assert copying.copy(mine, there).copied == 1
        assert [r["origin"] for r in choose(there.rows()).rows] == ["theirs"]
        assert there.find([newer.setup.key]) == {newer.setup.key: newer}
        base = there.rows()
        [pair] = compare([r | {"flags": "-Os"} for r in base if r["origin"] == "theirs"], base).pairs
        assert pair.new["origin"] == "theirs"


def test_a_run_of_the_future_is_not_the_newest_for_ever(make: Make, tmp_path: Path) -> None:
    """It is copied as it is, into an empty database too, and keeps none out."""
    ahead, real = make(finished=datetime.now(UTC) + timedelta(days=900)), make(seconds=2.0)
    with (
        Store.open(tmp_path / "a.db") as mine,
        Store.open(tmp_path / "b.db") as there,
        Store.open(tmp_path / "c.db") as backup,
    ):
        there.add(ahead)
        mine.add(real)
        assert copying.copy(there, backup) == copying.Copied(1, 0, 0, 1, 1)
        assert copying.copy(there, mine) == copying.Copied(0, 0, 1, 0, 1)
        assert copying.copy(mine, there) == copying.Copied(1, 0, 0, 1, 0)
        assert there.find([real.setup.key]) == {real.setup.key: real}
        assert copying.copy(there, backup) == copying.Copied(1, 1, 0, 1, 1)
        assert backup.runs(newest_only=False) == there.runs(newest_only=False)


def test_who_takes_a_run_of_the_future_dates_it_anew(make: Make, tmp_path: Path) -> None:
    """From a pipeline, and from a worker, whatever its clock says; and the run says so."""
    before, ahead = datetime.now(UTC), make(finished=datetime.now(UTC) + timedelta(days=900))
    with Store.open(tmp_path / "a.db") as store:
        found = [Keeper(store).add(ahead)]
        desk = Desk(store)
        token = desk.hand_in(GIVEN, tasks(targets="b"), ROOM)
        with Queue(store, "w").taken("b") as taken:
            assert taken is not None
            other = replace(ahead, log="", metrics={**ahead.metrics, "rom": 1})
            Queue(store, "w").close(taken, DONE, record=other)
        assert desk.publish(token) == 1
        found += store.runs(newest_only=False)
    assert len(found) == 3
    for r in found:
        assert r.finished is not None
        assert before <= r.finished <= datetime.now(UTC)
        assert "the clock of bench was ahead" in r.notes[-1]


def test_what_is_damaged_is_found(make: Make, tmp_path: Path) -> None:
    records = written(make, tmp_path / "a.db")
    [log] = tmp_path.glob(f"a.blobs/*/{records[0].log}.gz")  # of runs 1 and 2
    log.write_bytes(b"")
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("UPDATE setup SET flags = '-O9' WHERE id = (SELECT setup_id FROM run WHERE id = 3)")
        db.execute("UPDATE point SET cycles = 'many' WHERE run_id = 4")
        db.execute("INSERT INTO helper VALUES (77, 0, 'gone.o', 1)")
    db.close()
    with Store.open(tmp_path / "a.db") as store:
        steps: list[tuple[int, int]] = []
        found = list(checking.check(store, lambda *at: steps.append(at)))
    assert [(t.run, t.what.split(":")[0]) for t in found] == [
        (None, "helper without run"),
        (3, "its setup is not the one that its key was made of"),
        (4, str(tmp_path / "a.db")),
        (1, "its log"),
    ]
    assert steps == [(COUNT, COUNT)]


@pytest.mark.parametrize(
    "damage", ["UPDATE run SET log = x'ff' WHERE id = 2", "UPDATE point SET cycles = 'many' WHERE run_id = 2"]
)
def test_a_run_that_cannot_be_read_keeps_no_other_from_a_copy(damage: str, make: Make, tmp_path: Path) -> None:
    """Nor a sound one from a copy whose own is damaged."""
    records = written(make, tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        db.execute(damage)
    with (
        Store.open(tmp_path / "a.db") as mine,
        Store.open(tmp_path / "b.db") as there,
        Store.open(tmp_path / "c.db") as whole,
    ):
        assert copying.copy(mine, there) == copying.Copied(COUNT - 1, 0, 0, 0, unreadable=(2,))
        assert there.runs(newest_only=False) == [r for r in records[::-1] if r != records[1]]
        assert moving.move(mine, there).submissions == 0
        for record in records:
            whole.add(record)
        assert copying.copy(whole, mine).there == COUNT - ("log" in damage)


def test_a_verified_run_takes_no_time_below_zero(make: Make) -> None:
    with Store.open(":memory:") as store:
        store.add(make(metrics={"cycles_encrypt_mean": -300.0, "rom": -2.0}, log=""))
        store.add(make(metrics={"cycles_encrypt_mean": -20.0, "cycles_encrypt_warm_mean": -300.0}, log="", seconds=3.0))
        (found,) = checking.check(store)
    assert (found.run, found.what) == (1, "cycles_encrypt_mean below zero")


@pytest.mark.parametrize(
    ("damage", "named", "kept"),
    [
        ("UPDATE submission SET state = 'weird' WHERE id = 1", "submission 1: its state is 'weird'", 1),
        ("UPDATE submission SET found = '{nope' WHERE id = 1", "submission 1: what was found", 1),
        ("UPDATE submission SET state = x'ff' WHERE id = 1", "submission 1: its state is", 1),
        ("UPDATE package SET content = 'text' WHERE id = 1", "package 1: its content is of type str", 1),
        ("UPDATE package SET content = x'00' WHERE id = 1", "package 1: its content is not the one", 1),
        ("UPDATE package SET size = 'big' WHERE id = 1", "package 1: its size is of type str", 1),
        ("UPDATE job SET state = 'odd' WHERE id = 1", "job 1: its state is 'odd'", 2),
        ("UPDATE job SET task = '{' WHERE id = 1", "job 1: its task cannot be read", 2),
        ("UPDATE job SET record = '{' WHERE id = 1", "job 1: its record cannot be read", 2),
        ("UPDATE job SET priority = 1.5 WHERE id = 1", "job 1: its priority is of type float", 2),
        ("UPDATE job_attempt SET begun = 1.5", "job_attempt 1: its begun is of type float", 2),
    ],
)
def test_a_damaged_row_of_a_submission_is_named_and_left_out(
    damage: str, named: str, kept: int, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "a.db") as store:
        for given in (GIVEN, replace(GIVEN, content=b"other")):
            Desk(store).hand_in(given, tasks(given), ROOM)
        with Queue(store, "w").taken("a") as taken:
            assert taken is not None
    with closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        db.execute(damage)
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "b.db") as to:
        done = moving.move(store, to)
        assert done.submissions == kept
        assert [t.what for t in checking.check(store)] == list(done.damaged)
        assert len(done.damaged) == 1
        assert done.damaged[0].startswith(named)
        assert list(checking.check(to)) == []
