"""A run is stored once, though several machines with the same database work on it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from steelyard.store import Keeper, Store, tenure
from steelyard.store.errors import LeaseLost, StoreError
from steelyard.store.leasing import Lease

from .conftest import RECORD

KEY = RECORD.setup.key


def test_a_lease_has_one_holder_and_a_number_that_never_comes_again(database: str) -> None:
    with Store.open(database) as store:
        first = store.claim(KEY, "a")
        assert first.mine
        seen = store.claim(KEY, "b")
        assert (seen.mine, seen.number, seen.holder) == (False, first.number, "a")
        store.beat([first.number])
        assert not store.claim(KEY, "b", seen).mine, "it has beaten since"
        later = store.claim(KEY, "b")
        second = store.claim(KEY, "b", later)
        assert second.mine
        assert second.number > first.number
        with pytest.raises(LeaseLost, match="taken over"):
            store.add(RECORD, first.number)
        assert store.runs() == []
        run = store.add(RECORD, second.number)
        third = store.claim(KEY, "a")
        assert (third.mine, [r.id for r in store.runs()]) == (True, [run])
        assert third.number > second.number
        again = store.claim(KEY, "a")  # a process of the same home, which was killed
        assert (again.mine, again.number > third.number) == (True, True)
        store.end(again.number)
        assert store.claim(KEY, "b").mine


def test_of_many_that_want_the_same_one_works(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenure, "_holder", lambda: threading.current_thread().name)
    monkeypatch.setattr(tenure, "LOOK", 0.01)
    records = [replace(RECORD, setup=replace(RECORD.setup, flags=f"-O{n}")) for n in range(4)]

    def work(_: int) -> None:
        with Store.open(database) as store:
            keeper = Keeper(store)
            for record in records:
                with keeper.leased(record.setup.key, Event()) as lease:
                    assert lease is not None
                    if keeper.find_one(record.setup.key) is None:
                        assert keeper.add(record, lease).id is not None

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    with Store.open(database) as store:
        assert len(store.runs(newest_only=False)) == len(records)


def test_who_was_suspended_for_too_long_stores_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenure, "LOOK", 0.01)
    monkeypatch.setattr(tenure, "STALE", 0.05)
    names = iter("ab")
    monkeypatch.setattr(tenure, "_holder", lambda: name)
    asleep, other = Keeper(store), Keeper(store)
    name = next(names)
    with asleep.leased(KEY, Event()) as old:
        name = next(names)
        with other.leased(KEY, Event()) as new:  # BEAT is longer than STALE here
            shown = asleep.add(RECORD, old)
            assert (shown.id, shown.notes[-1]) == (None, "not stored: another Steelyard has taken over this run")
            kept = other.add(replace(RECORD, seconds=9.0), new)
        assert asleep.add(RECORD, old).id == kept.id
    assert not asleep.waiting
    assert [r.id for r in store.runs(newest_only=False)] == [kept.id]


def test_a_database_that_does_not_answer_keeps_nobody_from_working(store: Store) -> None:
    keeper = Keeper(store)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE lease")
    with keeper.leased(KEY, Event()) as lease:
        assert lease is None
        assert keeper.add(RECORD, lease).id == 1


def test_a_record_that_could_not_be_stored_outlives_its_lease(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run took an hour on a board: stored twice is better than not at all."""
    keeper = Keeper(store)
    with keeper.leased(KEY, Event()) as lease, monkeypatch.context() as patch:
        patch.setattr(store, "add", Mock(side_effect=StoreError("the server has gone away")))
        assert keeper.add(RECORD, lease).id is None
    assert keeper.again()[KEY].id == 1
    assert not keeper.waiting


def test_whoever_waits_can_be_stopped(store: Store) -> None:
    store.claim(KEY, "another")
    over = Event()
    threading.Timer(0.05, over.set).start()
    with pytest.raises(KeyboardInterrupt), Keeper(store).leased(KEY, over):
        pass


def test_leases_that_ended_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    others, now = tenure.Others(), 0.0
    monkeypatch.setattr(tenure.time, "monotonic", lambda: now)
    for number in range(100):
        others.meet(f"queue {number}", Lease(number, "dead", 0))
        others.meet("queue 0", Lease(0, "dead", 0))
        now += 100.0
    assert others.stale("queue 0") == Lease(0, "dead", 0)
    assert others.stale("queue 99") == Lease(99, "dead", 0)
    assert len(others._met) == 38


def test_who_beats_late_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several beats may be lost; then the lease is free within minutes."""
    others, now = tenure.Others(), 0.0
    monkeypatch.setattr(tenure.time, "monotonic", lambda: now)
    others.meet("run", Lease(1, "slow", 0))
    now = 5 * tenure.BEAT
    assert others.stale("run") is None
    others.meet("run", Lease(1, "slow", 1))
    now += 5 * tenure.BEAT
    assert others.stale("run") is None
    now += 60.0
    assert others.stale("run") == Lease(1, "slow", 1)
