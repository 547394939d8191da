"""The floor: workers and boards that are there, those that are paused, and what jobs wait for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import event, update

from steelyard import lab
from steelyard.farm import worker as farm_worker
from steelyard.lab import aside
from steelyard.model.errors import UserError
from steelyard.model.target import load_target
from steelyard.store import Store, floor, operating, queue, schema
from steelyard.store.floor import Board, Worker
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import RUNNING, WAITING, Queue
from steelyard.store.submissions import Desk

from .handed_in import GIVEN, ROOM, tasks
from .servers import every_store

__all__ = ["every_store"]


def worker(name: str = "m 1 x", targets: Sequence[str] = "ab", boards: tuple[Board, ...] = ()) -> Worker:
    return Worker(name, name.split()[0], tuple(targets), boards, "1", 0)


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
    there = {b.name: lab.Board(name=b.name, target=b.target, port=home / b.name) for b in boards}
    stations: Any = {"uno": [SimpleNamespace(board=there[b.name]) for b in boards]}
    for k, b in enumerate(boards):
        assert farm_worker._free("uno board", stations)
        yard.pause(f"board m/{b.name}", "rewiring")
        aside.put(there[b.name], aside.Mark(1.0, detail=farm_worker.PAUSED, kind=aside.Kind.PAUSED))
        assert why().startswith("next; ") is (k == 0)
    assert why() == "all boards for uno board are paused: rewiring"
    assert not farm_worker._free("uno board", stations)
    assert farm_worker._free("uno", stations)
    for b in boards:
        aside.retry(there[b.name])


def test_workers_lift_no_mark_but_their_own(home: Path) -> None:
    """Two have names for one port, of which one is paused, and its user released it by a third name."""
    port = home / "port"
    port.parent.mkdir(exist_ok=True)
    port.touch()
    one, two, three = (lab.Board(name=n, target="uno", port=port) for n in ("one", "two", "three"))

    def says(board: lab.Board, *paused: str) -> None:
        queue: Any = SimpleNamespace(present=lambda *_: paused, absent=lambda: None)
        with farm_worker._present(queue, (), lambda: (board,)):
            pass

    def kinds() -> list[str]:
        return [m.kind for m in aside.marks(one)]

    aside.put(two, aside.Mark(1.0))
    says(one, "one")
    assert kinds() == ["paused", "broken"]
    aside.put(three, aside.Mark(1.0, kind=aside.Kind.RELEASED))
    says(two)
    assert kinds() == ["released", "paused", "broken"]
    says(one)
    assert kinds() == ["released", "broken"]


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
