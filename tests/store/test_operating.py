"""Operating: who is let in, what operators see and do, and that it is written down."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import event, select, update

from steelyard.farm import worker as farm_worker
from steelyard.lab import aside
from steelyard.model.errors import UserError
from steelyard.model.target import load_target
from steelyard.store import Store, floor, operating, operators, queue, schema
from steelyard.store.errors import StoreError
from steelyard.store.floor import Board, Worker
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators, RefusedError
from steelyard.store.queue import DONE, FAILED, RUNNING, WAITING, Queue
from steelyard.store.submissions import OFFERED, Desk, Given
from steelyard.store.task import Task
from tests.made_up import record

from .conftest import RECORD
from .test_queue import GIVEN, ROOM, states, tasks

PASSWORD = "correct horse"


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database) as opened:
        yield opened


def worker(name: str = "m 1 x", targets: Sequence[str] = "ab", boards: tuple[Board, ...] = ()) -> Worker:
    return Worker(name, name.split()[0], tuple(targets), boards, "1", 0)


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


def test_why_jobs_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    yard, line = Yard(store, "ann"), Queue(store, "m 1 x", "m")
    Desk(store).hand_in(GIVEN, tasks(targets="abc"), ROOM)

    def why() -> dict[str, str]:
        return {j.task.target: j.why for j in yard.lines((WAITING, RUNNING))}

    assert why()["a"] == "no worker that has the compiler of a is there"
    yard.present(worker())
    assert why() == {"a": "next; 1 worker for a", "b": "1 run before it, 1 worker for b",
                     "c": "no worker that has the compiler of c is there"}  # fmt: skip
    yard.pause("target b", "new compiler")
    yard.pause("machine m")
    assert (why()["a"], why()["b"]) == ("all workers for a are paused", "b is paused: new compiler")
    with line.taken("ab") as taken:
        assert taken is None
    yard.resume("machine m")
    with line.taken("ab") as taken:
        assert taken is not None
        assert taken.task.target == "a"
        (w,) = yard.workers()
        assert (w.job, w.alive) == (taken.number, True)
        assert why()["a"] == ""
        line.close(taken, WAITING, "disk-full", log="said")
    assert why()["a"].startswith("tried again in ")
    with line.taken("ab") as taken:
        assert taken is None, "b is paused"
    yard.resume("target b")
    with pytest.raises(UserError, match="not paused"):
        yard.resume("target b")
    with pytest.raises(UserError, match="kind"):
        yard.pause("boat b")
    for subject, said in (("target unoo", "unknown target 'unoo'; did you mean uno"), ("machine M", "did you mean m"),
                         ("board m/x", "unknown board 'm/x'; known: none")):  # fmt: skip
        with pytest.raises(UserError, match=said):
            yard.pause(subject)
    yard.absent("m 1 x")
    assert yard.workers() == []
    assert yard.holds() == []
    assert [d.action for d in Operators(store).deeds()] == ["resumed", "resumed", "paused", "paused"]
    (job, *_), number = yard.lines((WAITING,)), 1
    assert job.number == number
    ((tried),) = yard.job(number)[1]
    assert (tried.worker, tried.outcome, tried.detail, tried.log) == ("m 1 x", WAITING, "disk-full", "said")


def test_what_goes_before_a_job_is_what_its_workers_may_be_given(store: Store) -> None:
    yard, line = Yard(store, "ann"), Queue(store, "m 1 x", "m")
    Desk(store).hand_in(GIVEN, tasks(targets="cdba"), ROOM)
    yard.present(worker(targets="abc"))
    yard.present(worker("n 1 x", "d"))
    of_a = "1 worker for a"

    def why() -> str:
        return yard.lines((WAITING,))[-1].why

    assert why() == f"2 runs before it, {of_a}", "d is another worker's"
    with line.taken("b") as taken:
        assert taken is not None
        line.close(taken, WAITING, "disk-full")
    assert why() == f"1 run before it, {of_a}", "b is tried again later"
    yard.pause("target c")
    assert why() == f"next; {of_a}"
    with line.taken("abc") as taken:
        assert taken is not None
        assert taken.task.target == "a"


def test_a_worker_is_there_whatever_its_clock_says(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks of machines are minutes apart; that of the database is one."""
    yard, now = Yard(store), queue.now
    for module in (operating, floor) if store._engine.dialect.name != "sqlite" else ():  # whose file is on one machine
        monkeypatch.setattr(module, "now", lambda: now() - 240_000_000)
    yard.present(worker())
    monkeypatch.undo()
    (found,) = yard.workers()
    assert found.alive
    with store._engine.begin() as connection:
        connection.execute(update(schema.worker).values(seen=schema.worker.c.seen - floor.GONE))
    assert not yard.workers()[0].alive


def test_why_many_jobs_wait_is_asked_once(store: Store) -> None:
    Desk(store).hand_in(GIVEN, [replace(t, name=f"i{k}") for k in range(50) for t in tasks(targets="a")], ROOM)
    yard, asked = Yard(store), list[str]()
    yard.present(worker())
    event.listen(store._engine, "before_cursor_execute", lambda *a: asked.append(a[2]))
    assert [j.why.split(" ")[0] for j in yard.lines((WAITING,))] == ["next;", *map(str, range(1, 50))]
    assert len(asked) < 10


def test_a_clock_that_was_set_back_keeps_no_job_waiting(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was to be tried again in half a minute is not tried again tomorrow."""
    line = Queue(store, "w")
    Desk(store).hand_in(GIVEN, tasks(targets="a"), ROOM)
    with line.taken("a") as taken:
        assert taken is not None
        line.close(taken, WAITING, "disk-full")
    now = queue.now
    monkeypatch.setattr(queue, "now", lambda: now() - 86_400_000_000)
    with line.taken("a") as taken:
        assert taken is not None


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


def test_boards_of_a_worker_are_paused_by_their_machine(store: Store) -> None:
    yard, boards = Yard(store, "ann"), (Board("pill-1", "bluepill", ""), Board("uno-1", "uno", "released"))
    assert yard.present(worker(boards=boards)) == []
    assert yard.workers()[0].boards == boards
    yard.pause("board m/pill-1")
    assert yard.present(worker(boards=boards)) == ["pill-1"]
    assert len(yard.workers()) == 1
    yard.present(worker("other 1 x", boards=boards))
    yard.pause("board other/uno-1")
    assert yard.present(worker(boards=boards)) == ["pill-1"], "not the other machine's"
    assert time.time() * 1e6 - yard.workers()[0].seen < 60e6


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


def test_a_submission_goes_to_the_boards_that_workers_have(store: Store) -> None:
    """When an operator says so, after all that is simulated, once, and to who has such a board only."""
    desk, yard = Desk(store), Yard(store, "ann")
    desk.hand_in(GIVEN, tasks(targets="ab"), ROOM)
    with pytest.raises(UserError, match="steelyard work --boards"):
        yard.to_boards(1)
    yard.present(replace(worker(), targets=("a", "uno board")))
    assert (yard.boards(), yard.to_boards(1), yard.to_boards(1)) == (["uno"], 1, 0)
    desk.hand_in(replace(GIVEN, content=b"other"), tasks(replace(GIVEN, content=b"other"), "a"), ROOM)
    waiting = yard.lines((WAITING,))
    assert [j.task.place for j in waiting] == ["a", "a", "b", "uno board"]
    assert waiting[-1].task.flags == load_target("uno").toolchain.default_flags
    with Queue(store, "m 1 x", "m").taken(["uno", "b board"]) as taken:
        assert taken is None
    with Queue(store, "m 1 x", "m").taken(["uno board"]) as taken:
        assert taken is not None
        assert (taken.task.on, taken.task.target) == ("board", "uno")
    yard.absent(worker().name)
    assert yard.boards() == []
    assert yard.lines((WAITING,))[0].why == "no worker that has the compiler of a is there"
    assert [(d.subject, d.detail) for d in Operators(store).deeds() if d.action == "to boards"] == [
        ("submission 1", "uno")
    ] * 2


def test_boards_weigh_every_set_of_flags_that_was_simulated(store: Store) -> None:
    desk, yard = Desk(store), Yard(store, "ann")
    [one] = tasks(targets="a")
    sets = [("-O2",), ("-Os",)]
    desk.hand_in(GIVEN, [replace(one, target="uno", flags=f) for f in sets], ROOM)
    yard.present(replace(worker(), targets=("uno board",)))
    yard.to_boards(1)
    assert [j.task.flags for j in yard.lines((WAITING,)) if j.task.on] == sets


def test_a_job_for_a_board_waits_while_all_its_boards_are_paused(store: Store, home: Path) -> None:
    """Its worker asks for none of them, and who waits is told what the operator said."""
    yard, desk = Yard(store, "ann"), Desk(store)
    boards = (Board("uno-1", "uno", ""), Board("uno-2", "uno", ""))
    yard.present(worker(targets=("uno", "uno board"), boards=boards))
    token = desk.hand_in(GIVEN, [replace(t, on=queue.BOARD) for t in tasks(targets=["uno"])], ROOM)
    submission = desk.find(token)
    assert submission is not None

    def why() -> str:
        return desk.jobs(submission)[0].why

    assert why().startswith("next; ")
    lab: Any = {"uno": [SimpleNamespace(board=SimpleNamespace(name=b.name)) for b in boards]}
    for k, b in enumerate(boards):
        assert farm_worker._free("uno board", lab)
        yard.pause(f"board m/{b.name}", "rewiring")
        aside.put(b.name, aside.Mark(1.0, detail=farm_worker.PAUSED, released=True))
        assert why().startswith("next; ") is (k == 0)
    assert why() == "all boards for uno board are paused: rewiring"
    assert not farm_worker._free("uno board", lab)
    assert farm_worker._free("uno", lab)
    for b in boards:
        aside.lift(b.name)


def test_a_target_is_paused_with_its_boards_and_its_boards_without_it(store: Store) -> None:
    yard, desk = Yard(store, "ann"), Desk(store)
    yard.present(worker(targets=("uno", "uno board"), boards=(Board("uno-1", "uno", ""),)))
    [task] = tasks(targets=["uno"])
    token = desk.hand_in(GIVEN, [task, replace(task, on=queue.BOARD)], ROOM)
    submission = desk.find(token)
    assert submission is not None
    line = Queue(store, "w", "m")
    for subject, left in (("target uno", []), ("target uno board", ["uno"])):
        yard.pause(subject, "moving")
        said = {j.task.place: j.why for j in desk.jobs(submission)}
        name = subject.removeprefix("target ")
        assert {p for p, why in said.items() if why == f"{name} is paused: moving"} == {"uno", "uno board"} - set(left)
        with store._engine.connect() as connection:
            assert line._allowed(["uno", "uno board"], connection) == left
        yard.resume(subject)
