"""Submissions: equal ones share their jobs, published ones are runs, and what is private stays so."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select, update

from steelyard.model.errors import UserError
from steelyard.model.record import Point, Record
from steelyard.store import Store, moving, schema
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, FAILED, RUNNING, WAITING, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import WITHDRAWN, Desk, QuotaError, new_token

from .conftest import RECORD
from .handed_in import GIVEN, ROOM, states, tasks
from .servers import every_store

__all__ = ["every_store"]


def test_the_same_sources_in_two_folders_are_one_job(store: Store) -> None:
    token = Desk(store).hand_in(GIVEN, tasks(targets="aabb"), ROOM)
    submission = Desk(store).find(token)
    assert submission is not None
    assert [j.task.target for j in Desk(store).jobs(submission)] == ["a", "b"]


def test_jobs_come_back_as_runs_when_published(store: Store) -> None:
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    with line.taken(["b"]) as taken:
        assert taken is not None
        assert (taken.task, taken.content, taken.attempt) == (tasks()[1], GIVEN.content, 1)
        assert states(desk, token) == [WAITING, RUNNING]
        line.close(taken, DONE, record=RECORD, log="said\n")
    assert states(desk, token) == [WAITING, DONE]
    assert store.runs() == []
    found = desk.find(token)
    assert found is not None
    assert desk.jobs(found)[1].record == RECORD

    assert desk.publish(token) == 1
    assert desk.publish(token) == 0
    assert not desk.withdraw(token)
    (run,) = store.runs()
    assert run == replace(RECORD, origin=run.origin, log=run.log)
    assert run.origin == f"toy.zip (submission {found.number})"
    assert store.get_blob(run.log) == b"said\n"
    with line.taken(["a", "b"]) as taken:  # what ends after that is public at once
        assert taken is not None
        line.close(taken, DONE, record=replace(RECORD, setup=replace(RECORD.setup, target="a")))
    assert sorted(r.setup.target for r in store.runs()) == ["a", "uno"]
    with line.taken(["a", "b"]) as taken:
        assert taken is None
    assert store.orphans() == []


def test_equal_logs_that_are_stored_at_once_lose_nothing(database: str) -> None:
    """Two packages with the same warnings, public already, whose workers end at the same time."""
    names, rounds = "AB", 4
    with Store.open(database) as store, ThreadPoolExecutor(2) as pool:
        for name in names:
            given = replace(GIVEN, name=f"{name}.zip", content=name.encode() * 9000)
            wanted = tasks(given, [f"{name}{k}" for k in range(rounds)])
            Desk(store).publish(Desk(store).hand_in(given, wanted, ROOM))
        both = threading.Barrier(2)

        def work(name: str) -> None:
            with Store.open(database) as mine:
                jobs = Queue(mine, f"worker {name}")
                for k in range(rounds):
                    made = replace(RECORD, setup=replace(RECORD.setup, family=name, target=f"{name}{k}"), log="")
                    with jobs.taken([f"{name}{k}"]) as taken:
                        assert taken is not None
                        both.wait(20)
                        jobs.close(taken, DONE, record=made, log=f"warning {k}")

        for done in [pool.submit(work, name) for name in names]:
            done.result()
        runs = [r for r in store.runs() if r.setup.family in names]
        assert len(runs) == 2 * rounds
        assert all(r.log and not any("could not be stored" in note for note in r.notes) for r in runs)


def test_a_log_that_cannot_be_stored_keeps_no_figure_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    with line.taken("b") as taken:
        assert taken is not None
        line.close(taken, DONE, record=RECORD, log="x" * 9)
    monkeypatch.setattr("steelyard.store.blobs.MOST", 8)
    assert desk.publish(token) == 1
    (run,) = store.runs()
    assert (run.log, run.notes[-1]) == ("", "its log could not be stored")


def test_a_record_that_cannot_be_stored_ends_its_job_alone(store: Store) -> None:
    """Nothing of it is a run, and the others of its package are published."""
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(targets="abcd"), ROOM)
    point = Point("encrypt", 0, 0, 1 << 70)
    bad: dict[str, dict[str, Any]] = {
        "a": {"metrics": {"rom": 1 << 70}},
        "b": {"metrics": {"x" * 999: 1.0}},
        "c": {"points": (point,)},
        "d": {},
    }
    for target, changes in bad.items():
        with line.taken([target]) as taken:
            assert taken is not None
            line.close(taken, DONE, record=replace(RECORD, setup=replace(RECORD.setup, target=target), **changes))
    assert desk.publish(token) == 1
    assert [r.setup.target for r in store.runs()] == ["d"]
    assert states(desk, token) == [FAILED, FAILED, FAILED, DONE]
    with store._engine.connect() as connection:  # and no page has names without runs
        assert connection.execute(select(schema.target.c.name)).scalars().all() == ["d"]
        assert connection.execute(select(func.count()).select_from(schema.setup)).scalar_one() == 1


def test_a_zip_that_is_there_is_kept_and_run_once(store: Store) -> None:
    desk = Desk(store)
    assert not desk.known(GIVEN.digest)
    first = desk.hand_in(GIVEN, tasks(), ROOM)
    second = desk.hand_in(replace(GIVEN, address="10.0.0.2"), tasks(), ROOM)
    other = desk.hand_in(replace(GIVEN, name="other.zip"), tasks(replace(GIVEN, name="other.zip")), ROOM)
    assert desk.known(GIVEN.digest)
    assert len({first, second, other}) == 3
    assert states(desk, first) == states(desk, second) == [WAITING, WAITING]
    assert states(desk, other) == [WAITING, WAITING]
    with store._engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(schema.job)).scalar() == 2
    assert desk.withdraw(first)
    assert states(desk, second) == [WAITING, WAITING]
    assert desk.withdraw(second)
    assert states(desk, other) == [WAITING, WAITING]
    assert desk.withdraw(other)
    assert not desk.known(GIVEN.digest)
    with store._engine.connect() as connection:
        assert connection.execute(select(schema.package.c.content)).scalars().all() == [b""]
        assert connection.execute(select(func.count()).select_from(schema.job)).scalar() == 0
        assert GIVEN.name not in connection.execute(select(schema.submission.c.name)).scalars().all()
        assert first not in connection.execute(select(schema.submission.c.token)).scalars().all()
    again = desk.hand_in(GIVEN, tasks(), ROOM)
    assert states(desk, again) == [WAITING, WAITING]
    with Queue(store, "w").taken(["a"]) as taken:
        assert taken is not None
        assert taken.content == GIVEN.content


def test_who_hands_in_the_same_sources_changes_nobody_elses_runs(store: Store) -> None:
    """They are named by who was first, for as long as these are there; other figures are news."""
    desk, line, yard = Desk(store), Queue(store, "w"), Yard(store)

    def weighed(content: bytes, name: str, record: Record) -> str:
        given = replace(GIVEN, content=content, name=name)
        token = desk.hand_in(given, tasks(given, "a"), ROOM)
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, DONE, record=record, log="said")
        return token

    first = weighed(b"first", "first.zip", RECORD)
    second = weighed(b"second", "second.zip", replace(RECORD, host="elsewhere", seconds=9.0))
    assert [desk.publish(t) for t in (first, second)] == [1, 0]
    assert [r.origin for r in store.runs(newest_only=False)] == ["first.zip (submission 1)"]
    third = weighed(b"third", "third.zip", replace(RECORD, metrics={**RECORD.metrics, "rom": 1}))
    assert desk.publish(third) == 1
    assert yard.delete(3) == 1
    assert [r.origin for r in store.runs(newest_only=False)] == ["first.zip (submission 1)"]
    assert yard.delete(1) == 1
    (left,) = store.runs(newest_only=False)
    assert left.origin == "second.zip (submission 2)"
    assert store.get_blob(left.log) == b"said"
    assert yard.delete(2) == 1
    assert store.orphans() == []


def test_names_of_a_zip_share_its_runs_and_no_others(store: Store) -> None:
    """Each is published and deleted by itself; where the zip's name is part of an implementation's, it has its own."""
    desk, line, yard = Desk(store), Queue(store, "w"), Yard(store)
    renamed = replace(GIVEN, name="other.zip")
    named = replace(GIVEN, name="third.zip", found=GIVEN.found.replace("toy1", "third"))
    of_named = [replace(t, variant="third") for t in tasks(named, "a")]
    first = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    other = desk.hand_in(renamed, tasks(renamed, "a"), ROOM)
    third = desk.hand_in(named, of_named, ROOM)
    for _ in range(2):
        with line.taken("a") as taken:
            assert taken is not None
            variant = taken.task.variant
            line.close(taken, DONE, record=replace(RECORD, setup=replace(RECORD.setup, variant=variant)))
    assert [states(desk, t) for t in (first, other, third)] == [[DONE], [DONE], [DONE]]
    assert (desk.publish(other), desk.publish(first)) == (1, 0)
    assert [(r.setup.variant, r.origin) for r in store.runs()] == [("toy1", "other.zip (submission 2)")]
    assert yard.delete(2) == 0, "the first is public too"
    assert desk.publish(third) == 1
    assert yard.delete(1) == 1
    assert [r.setup.variant for r in store.runs()] == ["third"]
    assert yard.delete(3) == 1
    assert (store.runs(newest_only=False), yard.counts()) == ([], {})


def test_a_deleted_submission_s_file_name_is_not_public_any_more(database: str, tmp_path: Path) -> None:
    """What another has too stays, also earlier runs, and is named by him; in a copy as well."""
    with Store.open(tmp_path / "a.db") as store, Store.open(database) as other:
        desk, yard = Desk(store), Yard(store)
        for name in ("secret.zip", "theirs.zip"):
            given = replace(GIVEN, name=name)
            desk.publish(desk.hand_in(given, [replace(t, sources="d" * 64) for t in tasks(given, "a")], ROOM))
        setup = replace(RECORD.setup, primitive="crypto_aead", family="toy", variant="toy1", implementation="ref")
        for rom in (1, 2):
            with Queue(store, "w").taken("a") as taken:
                assert taken is not None
                at = datetime(2026, 1, rom, tzinfo=UTC)
                record = replace(RECORD, setup=replace(setup, implementation_digest="d" * 64), finished=at)
                Queue(store, "w").close(taken, DONE, record=record)
            if rom == 1:
                yard.repeat(1)
        moving.move(store, other)
        assert {r.origin for r in other.runs(newest_only=False)} == {"secret.zip (submission 1)"}
        assert yard.delete(1) == 0
        moving.move(store, other)
        for of in (store, other):
            origins = [r.origin for r in of.runs(newest_only=False)]
            assert origins == ["theirs.zip (submission 2)"] * 2
        assert yard.delete(2) == 2
        assert store.orphans() == []


def test_what_compilers_said_is_stored_once(store: Store) -> None:
    """Whoever asks has that of the last time that the job was done; of an older version the job has it."""
    desk, yard = Desk(store), Yard(store)
    token = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    for said in ("first", "second"):
        with Queue(store, "w").taken("a") as taken:
            assert taken is not None
            Queue(store, "w").close(taken, DONE, record=RECORD, log=said)
        assert desk.log(1) == said
        if said == "first":
            yard.repeat(1)
    assert [a.log for a in yard.job(1)[1]] == ["second", "first"]
    desk.publish(token)
    assert store.get_blob(store.runs()[0].log) == b"second"
    yard.repeat(1)
    for back in (True, False):
        with Queue(store, "w").taken("a") as taken:
            assert taken is not None
            if back:
                Queue(store, "w").give_back(taken)
            else:
                Queue(store, "w").close(taken, FAILED, "it is broken", log="of a failure")
        assert desk.log(1) == "second", "these are of no record"
    with store._engine.begin() as connection:
        assert connection.execute(select(schema.job.c.log)).scalars().all() == [None]
        connection.execute(update(schema.job).values(log="older"))
    assert desk.log(1) == "older"


def test_what_is_withdrawn_while_it_runs_leaves_nothing(store: Store) -> None:
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    with line.taken(["a"]) as taken:
        assert taken is not None
        assert desk.withdraw(token)
        line.close(taken, DONE, record=RECORD)
    assert store.runs() == []


def test_a_record_that_cannot_be_a_run_is_kept(store: Store) -> None:
    """Its figures are its owner's, whatever else the record has; others become runs, then and later."""
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(targets="abc"), ROOM)
    for target, host in (("a", "h" * 256), ("b", "here")):
        with line.taken([target]) as taken:
            assert taken is not None
            line.close(taken, DONE, record=replace(RECORD, host=host))
    assert desk.publish(token) == 1
    found = desk.find(token)
    assert found is not None
    first, second, _ = desk.jobs(found)
    assert (first.state, first.record) == (FAILED, replace(RECORD, host="h" * 256))
    assert "its record cannot be stored: " in first.detail
    assert (second.state, second.run) == (DONE, store.runs()[0].id)
    with line.taken(["c"]) as taken:
        assert taken is not None
        line.close(taken, DONE, record=replace(RECORD, seconds=9.0, metrics={"rom": 1}))
    assert states(desk, token) == [FAILED, DONE, DONE]


def test_a_form_that_is_sent_twice_is_one_submission(store: Store) -> None:
    """At once and later; withdrawn, it is not back. Another file in the same form is another submission."""
    desk, form = Desk(store), replace(GIVEN, once=new_token())
    with ThreadPoolExecutor(4) as pool:
        links = set(pool.map(lambda _: desk.hand_in(form, tasks(), ROOM), range(8)))
    [link] = links
    assert link != form.once, "the form's token opens nothing"
    assert desk.sent_before(form.once, form.digest) == link
    changed = replace(form, content=b"PK other", name="other.zip")
    assert not desk.sent_before(form.once, changed.digest)
    [other] = {desk.hand_in(changed, tasks(changed, "c"), ROOM) for _ in range(3)}
    assert other != link
    with store._engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(schema.submission)).scalar() == 2
    assert desk.withdraw(link)
    assert not desk.known(form.digest)
    assert desk.hand_in(form, tasks(), ROOM) == link
    assert not desk.known(form.digest)
    found = desk.find(link)
    assert found is not None
    assert found.state == WITHDRAWN


def test_quotas(store: Store) -> None:
    desk = Desk(store)
    desk.hand_in(GIVEN, tasks(), Quota(of_address=1))
    with pytest.raises(QuotaError, match="1 submissions were taken from this address"):
        desk.hand_in(GIVEN, tasks(), Quota(of_address=1))
    elsewhere = replace(GIVEN, address="10.0.0.2", content=b"x" * 1000)
    with pytest.raises(QuotaError, match="too many runs wait"):
        desk.hand_in(elsewhere, tasks(elsewhere), Quota(jobs=3))
    more = replace(GIVEN, content=b"more")
    with pytest.raises(QuotaError, match="at most 3 runs of one address"):
        desk.hand_in(more, tasks(more), Quota(share=3))
    desk.hand_in(elsewhere, tasks(elsewhere), Quota(share=3))
    assert desk.withdraw(desk.hand_in(more, tasks(more), Quota(share=4)))
    desk.add(more, tasks(more, "abcdefgh"))  # a campaign keeps nobody out
    elsewhere = replace(GIVEN, address="10.0.0.3", content=b"x" * 1000)
    assert desk.hand_in(elsewhere, tasks(elsewhere), Quota(jobs=6))
    elsewhere = replace(GIVEN, address="10.0.0.4", content=b"y" * 1000)
    with pytest.raises(QuotaError, match="no room"):
        desk.hand_in(elsewhere, tasks(elsewhere), Quota(size=len(GIVEN.content) + 999))
    with pytest.raises(UserError, match="older version"):
        desk.hand_in(replace(elsewhere, previous="nobody's"), tasks(elsewhere), ROOM)
    assert not desk.known(elsewhere.digest)


def test_a_new_version_knows_the_last_and_the_first(store: Store) -> None:
    desk = Desk(store)
    tokens = [""]
    numbers: list[object] = []
    for k in range(3):
        given = replace(GIVEN, content=GIVEN.content + bytes([k]), previous=tokens[-1])
        tokens.append(desk.hand_in(given, tasks(given), ROOM))
        found = desk.find(tokens[-1])
        assert found is not None
        assert found.previous == (numbers[-1] if numbers else None)
        numbers.append(found.number)
    desk.publish(tokens[3])
    line = Queue(store, "w")
    for _ in range(3):  # the oldest go first, and are private
        assert store.runs() == []
        with line.taken(["a"]) as taken:
            assert taken is not None
            line.close(taken, DONE, record=RECORD)
    assert [r.origin for r in store.runs()] == [f"toy.zip (submission {numbers[-1]} of line {numbers[0]})"]


def test_a_version_that_goes_back_to_older_sources_is_the_newest(store: Store) -> None:
    """The same figures are public already, but as its own line's, whatever the file's name was."""
    desk, line, token = Desk(store), Queue(store, "w"), ""
    for k, digest in enumerate("aba"):
        given = replace(GIVEN, name=f"toy-{k}.zip", content=GIVEN.content + bytes([k]), previous=token)
        token = desk.hand_in(given, tasks(given, "a"), ROOM)
        desk.publish(token)
        with line.taken(["a"]) as taken:
            assert taken is not None
            setup = replace(RECORD.setup, implementation_digest=digest * 64)
            at = datetime(2026, 1, 1 + k, tzinfo=UTC)
            line.close(taken, DONE, record=replace(RECORD, setup=setup, finished=at))
    assert [r.origin for r in store.runs()] == [
        "toy-2.zip (submission 3 of line 1)",
        "toy-1.zip (submission 2 of line 1, replaced by 3)",
    ]
    Yard(store).repeat(1)
    with line.taken(["a"]) as taken:
        assert taken is not None
        setup = replace(RECORD.setup, implementation_digest="a" * 64)
        line.close(taken, DONE, record=replace(RECORD, setup=setup, finished=datetime(2026, 2, 1, tzinfo=UTC)))
    assert "toy-2.zip (submission 3 of line 1)" in [r.origin for r in store.runs()], "the first is of the same sources"
    Yard(store).delete(3)
    assert [r.origin for r in store.runs()] == [
        "toy-0.zip (submission 1, replaced by 2)",
        "toy-1.zip (submission 2 of line 1)",
    ]


def test_a_zip_that_is_handed_in_again_is_the_newest_version_of_its_line(store: Store) -> None:
    """Its runs are there, and named by it for as long as it is; another line's stay that one's."""
    desk, line, tokens = Desk(store), Queue(store, "w"), [""]

    def handed_in(content: bytes, name: str, previous: str) -> list[str]:
        given = replace(GIVEN, name=name, content=content, previous=previous)
        tokens.append(desk.hand_in(given, [replace(t, sources="d" * 64) for t in tasks(given, "a")], ROOM))
        desk.publish(tokens[-1])
        return sorted(r.origin for r in store.runs(newest_only=False))

    handed_in(b"a", "toy-1.zip", "")
    with line.taken(["a"]) as taken:
        assert taken is not None
        line.close(taken, DONE, record=RECORD)
    handed_in(b"b", "toy-2.zip", tokens[1])
    assert handed_in(b"a", "theirs.zip", "") == ["toy-1.zip (submission 1)"]
    assert handed_in(b"a", "toy-4.zip", tokens[2]) == ["toy-4.zip (submission 4 of line 1)"]
    assert Yard(store).delete(4) == 0
    assert [r.origin for r in store.runs()] == ["toy-1.zip (submission 1)"]


def test_what_is_published_while_it_ends_is_a_run(database: str) -> None:
    """Whichever of the two transactions is first."""
    rounds = 12
    with Store.open(database) as store, ThreadPoolExecutor(2) as pool:
        desk, line = Desk(store), Queue(store, "w")
        for k in range(rounds):
            given = replace(GIVEN, content=b"%d" % k)
            token = desk.hand_in(given, tasks(given, "a"), ROOM)
            with line.taken(["a"]) as taken:
                assert taken is not None
                both = threading.Barrier(2)

                def publish(token: str = token, both: threading.Barrier = both) -> None:
                    both.wait()
                    desk.publish(token)

                published = pool.submit(publish)
                both.wait()
                line.close(taken, DONE, record=replace(RECORD, metrics={**RECORD.metrics, "rom": k}))
                published.result()
        assert len(store.runs(newest_only=False)) == rounds


def test_what_is_handed_in_while_it_is_withdrawn_is_whole(database: str) -> None:
    with Store.open(database) as store, ThreadPoolExecutor(2) as pool:
        desk = Desk(store)
        token = desk.hand_in(GIVEN, tasks(), Quota(of_address=100))
        for _ in range(12):
            withdrawn = pool.submit(desk.withdraw, token)
            token = desk.hand_in(GIVEN, tasks(), Quota(of_address=100))
            assert withdrawn.result()
            assert states(desk, token) == [WAITING, WAITING]
            assert desk.known(GIVEN.digest)


def test_a_run_whose_folder_has_a_submission_s_number_is_none_of_it(store: Store) -> None:
    for path in ("mine (submission 1)", "/my/toy.zip (submission 1)"):
        store.add(replace(RECORD, origin=path, log=""))
    Desk(store).publish(Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM))
    with Queue(store, "w").taken("a") as taken:
        assert taken is not None
        Queue(store, "w").close(taken, DONE, record=replace(RECORD, metrics={"rom": 1}))
    before = len(store.runs(newest_only=False))
    assert Yard(store).delete(1) == 1
    assert len(store.runs(newest_only=False)) == before - 1 == 2
