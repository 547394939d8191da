"""The queue: a job is done once, whoever dies over it, and those behind it wait for nobody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import column, func, select, table, update

from steelyard.store import Store, leasing, queue, schema, tenure
from steelyard.store.errors import LeaseLost, StoreError
from steelyard.store.floor import Worker
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, FAILED, RUNNING, WAITING, Mine, Queue, Taken
from steelyard.store.submissions import Desk
from steelyard.store.task import Task

from .conftest import RECORD
from .handed_in import GIVEN, ROOM, states, tasks
from .servers import SERVERS, every_store

__all__ = ["every_store"]


@pytest.mark.parametrize("database", SERVERS, indirect=True)
def test_nobody_waits_for_who_is_just_taking_a_job(store: Store) -> None:
    Desk(store).hand_in(GIVEN, tasks(), ROOM)
    asked = {**queue._asked(["a", "b"]), "other": []}
    with queue._apart(store._engine).begin() as connection:
        first = connection.execute(queue._NEXT, asked).one()
        mine = Queue(store, "w").begin(["a", "b"])
        assert mine is not None
        assert {mine.task.target, first.target} == {"a", "b"}


def test_a_lease_of_a_job_that_waits_was_left_behind(store: Store) -> None:
    """Who has it and is still there finds that it is gone."""
    Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
    with store._engine.connect() as connection:
        number = connection.execute(select(schema.job.c.id)).scalar_one()
    left = store.claim(f"queue {number}", "dead")
    mine = Queue(store, "w").begin(["a"])
    assert mine is not None
    assert mine.number == number
    with pytest.raises(LeaseLost):
        Queue(store, "dead").close(Mine(number, left.number, 1), FAILED)


def test_a_worker_of_another_schema_takes_nothing(store: Store) -> None:
    """It was there before the database was migrated. What it has it may still give back."""
    desk, old = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    mine = old.begin(["a"])
    assert mine is not None
    newer = update(table(schema.REVISION_TABLE, column("version_num"))).values(version_num="9999")
    with store._engine.begin() as connection:
        connection.execute(newer)
    for targets in (["b"], ["a"]):
        with pytest.raises(StoreError, match=r"has schema 9999 now, .* install the server's version"):
            old.begin(targets)
    old.give_back(mine)
    assert states(desk, token) == [WAITING, WAITING]


def test_a_job_of_who_died_is_taken_up_after_its_lease(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who was only suspended stores nothing; one that everybody dies of is given up."""
    desk = Desk(store)
    token = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    died = []
    for attempt in range(queue.ATTEMPTS):
        line = Queue(store, f"w{attempt}")
        if attempt:
            with line.taken(["a"]) as taken:
                assert taken is None, "its lease is not over"
            monkeypatch.setattr(tenure, "STALE", -1.0)
        inside = line.taken(["a"])
        taken = inside.__enter__()
        monkeypatch.undo()
        assert taken is not None
        assert taken.attempt == attempt + 1
        died.append((line, taken, inside))
    for line, taken, _ in died[:-1]:
        with pytest.raises(LeaseLost, match="another worker"):
            line.close(taken, DONE, record=RECORD)
    assert states(desk, token) == [RUNNING]
    last = Queue(store, "last")
    with last.taken(["a"]) as taken:
        assert taken is None
    assert (last.left(["a"]), last.left(["b"])) == (True, False), "it is another's, who may have died"
    Yard(store).pause("target a")
    assert not last.left(["a"]), "nobody gets it"
    Yard(store).resume("target a")
    monkeypatch.setattr(tenure, "STALE", -1.0)
    with last.taken(["a"]) as taken:
        assert taken is None
    assert states(desk, token) == [FAILED]
    assert not last.left(["a"])


def test_a_job_of_who_died_is_taken_up_before_those_behind_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as its lease is over, though others wait."""
    monkeypatch.setattr(queue, "_LOOK", -1.0)
    monkeypatch.setattr(tenure, "STALE", -1.0)
    given = [replace(t, flags=(f"-O{n}",)) for n in range(3) for t in tasks(targets="a")]
    Desk(store).hand_in(GIVEN, given, ROOM)
    dead = Queue(store, "dead").taken(["a"])
    line, got = Queue(store, "w"), []
    assert dead.__enter__() is not None
    for _ in range(3):
        with line.taken(["a"]) as taken:
            assert taken is not None
            got.append(taken.task.flags)
            line.close(taken, FAILED, "so it is")
    assert got == [("-O1",), ("-O0",), ("-O2",)]


def test_a_worker_of_other_words_hides_no_other(store: Store) -> None:
    for name in ("one", "two"):
        Yard(store).present(Worker(name, "box", ("uno",), (), "1", 0))
    with store._engine.begin() as connection:
        worker = schema.metadata.tables["worker"]
        connection.execute(update(worker).where(worker.c.name == "one").values(targets="{", boards='[{"name":"b"}]'))
    assert {w.name: w.targets for w in Yard(store).workers()} == {"one": (), "two": ("uno",)}


def test_another_try_waits_and_what_is_given_back_does_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, line = Desk(store), Queue(store, "w")
    token = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    with line.taken(["a"]) as taken:
        assert taken is not None
        line.give_back(taken)
    with line.taken(["a"]) as taken:
        assert taken is not None
        assert taken.attempt == 1
        line.close(taken, WAITING, "disk-full")
    with line.taken(["a"]) as taken:
        assert taken is None
    assert line.left(["a"]), "later"
    monkeypatch.setattr(queue, "now", lambda now=queue.now: now() + 2 * queue.PAUSE)
    with line.taken(["a"]) as taken:
        assert taken is not None
        assert taken.attempt == 2
        line.close(taken, FAILED, "disk-full")
    assert states(desk, token) == [FAILED]


def test_of_many_workers_one_does_each_job(database: str) -> None:
    count = 24
    with Store.open(database) as store:
        desk = Desk(store)
        token = desk.hand_in(GIVEN, tasks(targets="abcdefghijklmnopqrstuvwx"), ROOM)
        assert count == 24
    done: list[int] = []
    lock = threading.Lock()

    def worker(n: int) -> None:
        with Store.open(database) as store:
            line, empty = Queue(store, f"w{n}"), 0
            while empty < 3:
                with line.taken("abcdefghijklmnopqrstuvwx") as taken:
                    if taken is None:
                        empty += 1
                        continue
                    line.close(taken, DONE, record=RECORD)
                    with lock:
                        done.append(taken.number)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(worker, range(6)))
    with Store.open(database) as store:
        assert states(Desk(store), token) == [DONE] * count
        with store._engine.connect() as connection:
            assert connection.execute(select(func.sum(schema.job.c.attempts))).scalar() == count
            assert connection.execute(select(func.count()).select_from(schema.lease)).scalar() == 0
    assert sorted(done) == sorted(set(done))
    assert len(done) == count


def test_who_returns_a_job_waits_for_others_of_its_package(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not refused: a package of many runs has many workers."""
    count = 8
    with Store.open(database) as store, ThreadPoolExecutor(count) as pool:
        token = Desk(store).hand_in(GIVEN, tasks(targets="abcdefgh"), ROOM)
        lines = [Queue(store, f"w{k}") for k in range(count)]
        mine = [line.begin("abcdefgh") for line in lines]
        both = threading.Barrier(count)

        def back(line: Queue, taken: Taken | None) -> None:
            assert taken is not None
            both.wait(60)
            line.close(taken, DONE, record=RECORD)

        monkeypatch.setattr(leasing, "_ATTEMPTS", 1)
        list(pool.map(back, lines, mine))
        assert states(Desk(store), token) == [DONE] * count


def test_a_lease_is_good_for_its_job_and_its_worker(store: Store) -> None:
    """Numbers that somebody makes up, another job's, another worker's, and one that was used already."""
    desk, mine, other = Desk(store), Queue(store, "w1"), Queue(store, "w2")
    token = desk.hand_in(GIVEN, tasks(), ROOM)
    with mine.taken("a") as taken, other.taken("b") as theirs:
        assert taken is not None
        assert theirs is not None
        forged = (
            (mine, replace(taken, lease=taken.lease + 1000)),
            (mine, replace(taken, lease=theirs.lease)),
            (mine, replace(theirs, lease=taken.lease)),
            (other, taken),
        )
        for line, made_up in forged:
            with pytest.raises(LeaseLost):
                line.close(made_up, DONE, record=RECORD)
        assert states(desk, token) == [RUNNING, RUNNING]
        mine.close(taken, DONE, record=RECORD)
        with pytest.raises(LeaseLost):
            mine.close(taken, FAILED, "said twice")
        other.close(theirs, DONE, record=RECORD)
    assert states(desk, token) == [DONE, DONE]


def test_what_is_handed_in_goes_before_the_same_of_a_campaign(store: Store) -> None:
    desk, line = Desk(store), Queue(store, "w")
    first = replace(GIVEN, content=b"first")
    desk.add(first, tasks(first, "a"))
    desk.add(GIVEN, tasks(targets="a"))
    desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
    with line.taken("a") as taken:
        assert taken is not None
        assert taken.content == GIVEN.content


def test_nobody_waits_for_a_job_that_he_cannot_read(store: Store) -> None:
    Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
    line = Queue(store, "w")
    assert line.left("a")
    with store._engine.begin() as connection:
        connection.execute(schema.job.update().values(task='{"later": 1}'))
    assert not line.left("a")


def test_a_job_of_a_newer_server_is_left_to_newer_workers(store: Store) -> None:
    Desk(store).hand_in(GIVEN, tasks(), ROOM)
    with store._engine.begin() as connection:
        of = schema.job.c.id == 1
        task = connection.execute(select(schema.job.c.task).where(of)).scalar_one()
        connection.execute(schema.job.update().where(of).values(task=task.replace("{", '{"later":1,', 1)))
    with Queue(store, "old").taken("ab") as taken:
        assert taken is not None
        assert taken.number == 2


@pytest.mark.parametrize(
    "file", ["/tmp/x.zip", "../x.zip", ".zip", "x.zip\n", "x\0.zip", "unpacked", f"{'x' * 200}.zip"]
)
def test_a_file_is_called_by_a_plain_name(file: str) -> None:
    """A server may be a stranger's, and its worker writes a file of that name."""
    (task,) = tasks(targets="a")
    said = {**msgspec.to_builtins(task), "file": file}
    with pytest.raises(msgspec.ValidationError, match="is not a plain name"):
        msgspec.json.decode(msgspec.json.encode(said), type=Task)


def test_a_job_whose_file_is_no_plain_name_is_never_taken(store: Store) -> None:
    """As in a database that came from a stranger."""
    token = Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
    with store._engine.begin() as connection:
        task = connection.execute(select(schema.job.c.task)).scalar_one()
        connection.execute(update(schema.job).values(task=task.replace(GIVEN.name, "/tmp/x.zip")))
    with Queue(store, "w").taken("a") as taken:
        assert taken is None
    submission = Desk(store).find(token)
    assert submission is not None
    assert "its task cannot be read" in Desk(store).jobs(submission)[0].detail
