"""Operating: who is let in, what operators do, and that it is written down."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from steelyard.model.errors import UserError
from steelyard.store import Store, operators, schema
from steelyard.store.errors import StoreError
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators, RefusedError
from steelyard.store.queue import DONE, FAILED, WAITING, Queue
from steelyard.store.submissions import OFFERED, Desk, Given
from tests.made_up import record

from .conftest import RECORD
from .handed_in import GIVEN, ROOM, states, tasks
from .servers import every_store

__all__ = ["every_store"]

PASSWORD = "correct horse"


def test_a_guess_of_a_link_costs_no_hash(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may guess, and a hash takes what pages need."""
    monkeypatch.setattr(operators, "_hasher", lambda: pytest.fail("hashed"))
    for token in ("", "x" * 32):
        with pytest.raises(RefusedError, match="used or too old"):
            Operators(store).begin(token, "ann", PASSWORD, "h")


def test_a_link_is_good_once_and_a_session_for_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    who = Operators(store)
    assert not who.any()
    old = who.link()
    token = who.link()
    assert not who.is_link(old), "only the newest is good"
    for name, password in (("a b", PASSWORD), ("", PASSWORD), ("ann", "short")):
        with pytest.raises(RefusedError):
            who.begin(token, name, password, "h")
    session = who.begin(token, "ann", PASSWORD, "h")
    assert who.any()
    with pytest.raises(RefusedError, match="used or too old"):
        who.begin(token, "eve", PASSWORD, "h")
    other = who.sign_in("ann", PASSWORD, "h")
    first, second = who.session(session), who.session(other)
    assert first is not None
    assert second is not None
    assert (first.operator, second.operator) == ("ann", "ann")
    assert first.form != second.form, "forms of a session are good in no other"
    for wrong in ("", "x", token, first.form):
        assert who.session(wrong) is None
    who.sign_out(other)
    assert who.session(other) is None
    with store._engine.connect() as connection:
        passwords = connection.execute(select(schema.operator.c.password)).scalars().all()
        tokens = connection.execute(select(schema.admission.c.token)).scalars().all()
    assert all(p.startswith("$argon2id$") and PASSWORD not in p for p in passwords)
    assert tokens
    assert session not in tokens

    now = operators.now
    for set_to in (operators.SESSION + 1, -operators._WRONG - 10_000_000):  # later, and a clock that was set back
        monkeypatch.setattr(operators, "now", lambda by=set_to: now() + by)
        assert who.session(session) is None
    monkeypatch.undo()
    again = who.link()
    who.begin(again, "ann", "another password", "h")
    assert who.session(session) is None, "a new password ends what was begun with the old one"
    with pytest.raises(RefusedError, match="wrong"):
        who.sign_in("ann", PASSWORD, "h")


def test_who_guesses_is_refused_for_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    who = Operators(store)
    who.begin(who.link(), "ann", PASSWORD, "h")
    for k in range(operators.TRIES):
        with pytest.raises(RefusedError, match="name or password"):
            who.sign_in("ann" if k % 2 else "nobody", f"guess number {k}", "bad")
    with pytest.raises(RefusedError, match="wait 15 minutes"):
        who.sign_in("ann", PASSWORD, "bad")
    assert who.session(who.sign_in("ann", PASSWORD, "good")) is not None
    now = operators.now
    monkeypatch.setattr(operators, "now", lambda: now() + operators.WITHIN + 1)
    assert who.session(who.sign_in("ann", PASSWORD, "bad")) is not None
    assert [d.action for d in who.deeds()].count(operators.REFUSED) == operators.TRIES


def test_a_guess_counts_whatever_name_it_is_for(store: Store) -> None:
    """Also one that begins with an operator's, and one that becomes longer when it is written down."""
    who, name = Operators(store), "a" * 64
    who.begin(who.link(), name, PASSWORD, "h")
    for more in ("", "a", "\0" * 191, "\ud800" * 500, "\0"):
        with pytest.raises(RefusedError, match="name or password"):
            who.sign_in(name + more, PASSWORD if more else "guess", "bad")
    assert [d.action for d in who.deeds()].count(operators.REFUSED) == operators.TRIES
    with pytest.raises(RefusedError, match="too many tries"):
        who.sign_in(name, PASSWORD, "bad")


def test_who_guesses_from_many_addresses_keeps_nobody_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    who = Operators(store)
    who.begin(who.link(), "ann", PASSWORD, "h")
    monkeypatch.setattr(operators, "OF_ALL", 4)
    monkeypatch.setattr(operators, "_verified", lambda hashed, password: password == PASSWORD)
    for k in range(8):
        with pytest.raises(RefusedError, match="name or password"):
            who.sign_in("ann", "guess", f"bot {k}")
    with pytest.raises(RefusedError, match="too many tries"):
        who.sign_in("ann", PASSWORD, "bot 7")
    assert who.session(who.sign_in("ann", PASSWORD, "elsewhere")) is not None
    now = operators.now  # by a clock that is set back these tries are of the future
    monkeypatch.setattr(operators, "now", lambda: now() - 2 * operators._WRONG)
    who.sign_in("ann", PASSWORD, "bot 7")


def test_what_failed_is_repeated(store: Store) -> None:
    yard, line, desk = Yard(store, "ann"), Queue(store, "w"), Desk(store)
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    for state in (FAILED, DONE):
        with line.taken("ab") as taken:
            assert taken is not None
            line.close(taken, state, "by accident", RECORD if state == DONE else None, log="L")
    assert states(desk, token) == [FAILED, DONE]
    assert yard.repeat_failed() == 1
    with pytest.raises(UserError, match="only what has ended"):
        yard.repeat(1)
    with pytest.raises(UserError, match="no job 9"):
        yard.repeat(9)
    desk.publish(token)
    assert len(store.runs(newest_only=False)) == 1
    yard.repeat(2)
    assert states(desk, token) == [WAITING, WAITING]
    for _ in range(2):
        with line.taken("ab") as taken:
            assert taken is not None
            assert taken.attempt == 1
            line.close(taken, DONE, record=RECORD)
    assert len(store.runs(newest_only=False)) == 3, "a correction is a new run"
    assert [a.outcome for a in yard.job(1)[1]] == [DONE, FAILED]


def test_a_job_that_two_repeat_at_once_is_repeated_once(store: Store) -> None:
    """Whoever comes second is told that it waits: it may have begun by then."""
    Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
    line, together = Queue(store, "w"), threading.Barrier(2)

    def repeated(name: str) -> str:
        together.wait()
        try:
            Yard(store, name).repeat(1)
        except UserError as e:
            return str(e)
        return ""

    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            with line.taken("a") as taken:
                assert taken is not None
                line.close(taken, FAILED, "by accident")
            done, refused = sorted(pool.map(repeated, ("ann", "bob")))
            assert (done, "only what has ended" in refused) == ("", True)


def test_what_is_offered_is_released_given_back_and_deleted(store: Store) -> None:
    yard, line, desk = Yard(store, "ann"), Queue(store, "w"), Desk(store)
    token = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    kept = desk.hand_in(replace(GIVEN, address="2"), tasks(targets="a"), ROOM)
    with line.taken("a") as taken:
        assert taken is not None
        line.close(taken, DONE, record=RECORD)
    assert desk.offer(token)
    assert not desk.offer(token)
    assert store.runs() == []
    (first, _) = yard.offers()
    assert (first.number, first.state) == (1, OFFERED)
    yard.decline(1)
    with pytest.raises(UserError, match="not offered"):
        yard.decline(1)
    assert desk.offer(token)
    assert yard.release(1) == 1
    assert len(store.runs()) == 1
    with pytest.raises(UserError, match="published already"):
        yard.release(1)
    assert not desk.withdraw(token)
    assert yard.delete(1) == 1
    assert store.runs(newest_only=False) == []
    assert store.orphans() == []
    assert store.implementations() == []
    assert states(desk, kept) == [DONE], "another handed in the same"
    assert yard.delete(2) == 0
    with pytest.raises(UserError, match="not there"):
        yard.delete(2)
    assert yard.counts() == {}
    assert yard.offers() == []
    assert store.orphans() == []


def test_what_is_deleted_takes_earlier_runs_and_logs_with_it(store: Store) -> None:
    """And nothing that is of others: bundled, or the next version with the same sources."""
    yard, line, desk = Yard(store, "ann"), Queue(store, "w"), Desk(store)
    mine = record("toy1/ref", family="toy", digest="d", target="a")

    def weighed(given: Given, log: str) -> str:
        token = desk.hand_in(given, [replace(t, sources="d" * 64) for t in tasks(given, "a")], ROOM)
        done(log)
        desk.publish(token)
        return token

    def done(log: str) -> None:
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, DONE, record=mine, log=log)

    other_figures = {**mine.metrics, "rom": 1}
    bundled = store.add(replace(mine, log=store.put_blob("the same"), metrics=other_figures))
    token = weighed(GIVEN, "the same")
    for log in ("private", "the same"):
        yard.repeat(1)
        done(log)
    weighed(replace(GIVEN, content=b"next", previous=token), "next")
    yard.repeat(1)
    assert len(store.runs(newest_only=False)) == 5
    assert yard.delete(1) == 3
    left = {r.id: r for r in store.runs(newest_only=False)}
    assert len(left) == 2
    assert store.get_blob(left.pop(bundled).log) == b"the same"
    (other,) = left.values()
    assert store.get_blob(other.log) == b"next"
    with pytest.raises(StoreError, match="is missing"):
        store.get_blob(hashlib.sha256(b"private").hexdigest())
    assert yard.delete(2) == 1
    assert store.orphans() == []


def test_a_damaged_job_is_shown_and_repaired(store: Store) -> None:
    """No page fails by it; its record is made again, and what cannot be read at all is deleted."""
    desk, yard = Desk(store), Yard(store)
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    with Queue(store, "w").taken("a") as taken:
        assert taken is not None
        Queue(store, "w").close(taken, DONE, record=RECORD)
    with store._engine.begin() as connection:
        connection.execute(update(schema.job).where(schema.job.c.id == taken.number).values(record="{"))
        connection.execute(update(schema.job).where(schema.job.c.id != taken.number).values(task="junk"))
    submission = desk.find(token)
    assert submission is not None
    broken, junk = desk.jobs(submission)
    assert "repeat the job" in broken.detail
    assert "delete the submission" in junk.detail
    assert [line.detail for line in yard.lines((WAITING, DONE))] == [broken.detail, junk.detail]
    assert desk.publish(token) == 0
    yard.repeat(broken.number)
    line = Queue(store, "w")
    with line.taken("ab") as taken:
        assert taken is not None
        assert taken.number == broken.number
        line.close(taken, DONE, record=RECORD)
    assert len(store.runs()) == 1
    assert yard.delete(submission.number) == 1
    assert yard.counts() == {}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE submission SET found = '{' WHERE id = 1",
        "UPDATE submission SET state = 'odd' WHERE id = 1",
        "UPDATE job SET task = '{' WHERE id = 1",
        "UPDATE job SET task = '{', run_id = NULL WHERE id = 1",
    ],
)
def test_what_is_damaged_is_deleted_with_its_runs(damage: str, store: Store) -> None:
    """And nothing that others have public: the same zip under another name, and the next version."""
    yard, line, desk = Yard(store, "ann"), Queue(store, "w"), Desk(store)
    named = replace(GIVEN, name="other.zip", found=GIVEN.found.replace("toy1", "other"))

    def given_in(given: Given, sources: str, **names: str) -> str:
        wanted = [replace(t, sources=sources * 64, **names) for t in tasks(given, "a")]
        token = desk.hand_in(given, wanted, ROOM)
        desk.publish(token)
        return token

    def weighed(variant: str, digest: str) -> None:
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, DONE, record=record(f"{variant}/ref", family="toy", digest=digest, target="a"))

    first = given_in(GIVEN, "d")
    weighed("toy1", "d")
    yard.repeat(1)
    weighed("toy1", "d")
    given_in(named, "d", variant="other")
    weighed("other", "d")
    given_in(replace(GIVEN, content=b"next", previous=first), "e")
    for _ in range(2):
        weighed("toy1", "e")
        yard.repeat(3)
    with store._engine.begin() as connection:
        connection.exec_driver_sql(damage)
    assert len(store.runs(newest_only=False)) == 5
    assert yard.delete(1) == 2
    left = [(r.setup.variant, r.setup.implementation_digest[0]) for r in store.runs(newest_only=False)]
    assert left == [("toy1", "e"), ("toy1", "e"), ("other", "d")]
    assert (yard.delete(2), yard.delete(3)) == (1, 2)
    assert (store.runs(), store.orphans()) == ([], [])
