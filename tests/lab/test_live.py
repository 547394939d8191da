"""What ``boards`` says while a campaign goes on, and what ``retry`` and ``release`` change in it."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard.cli.app import app
from steelyard.cli.live import Doing, doing
from steelyard.lab import Lab, aside, attempt
from steelyard.lab.lock import had_by_another, held, port_of
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.pipeline import Job, Pipeline
from tests.conftest import Bench

from .test_pool import Boards, boards, jobs, on, reasons, there, weighed

__all__ = ["boards", "there"]


def told(there: Lab, *words: str) -> str:
    """What a command of ``boards`` says."""
    done = CliRunner().invoke(app, ["boards", *words, "--lab", str(there.folder / "lab.toml")])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_board_says_what_it_does_how_long_the_rest_takes_and_its_last_error(
    bench: Bench, boards: Boards, there: Lab
) -> None:
    seen: list[Doing] = []
    lost = iter([None, Reason.BOARD_LOST])

    def behave(image: Path) -> Reason | None:
        found = doing(there, "a")
        if not found.run.startswith("toy"):
            return None
        seen.append(found)
        return next(lost, None)

    boards.behave["a"] = behave
    todo = [replace(job, on=job.on[:1]) for job in jobs(bench, there, 4)]
    assert reasons(weighed(bench, todo)) == [None] * 4
    first, again, *_, last = seen
    assert {d.run for d in seen} == {f"toy{n}/ref -Os" for n in range(1, 5)}
    assert (first.runs_left, first.seconds_left, first.error) == (4, 0.0, ""), "nobody knows how long one takes"
    assert again.attempt == 1
    assert 2 in {d.attempt for d in seen}, "the one that was lost is attempted again"
    assert [d.runs_left for d in seen] == sorted((d.runs_left for d in seen), reverse=True)
    assert last.runs_left < 4
    assert last.seconds_left > 0
    [error] = {d.error for d in seen if d.attempt == 2}
    assert error == "board-unreachable: a: as it was told; the board is virtual"
    assert last.error == "", "it went well after that"
    assert doing(there, "a").state != last.state
    assert (doing(there, "a").run, doing(there, "a").runs_left) == ("", 0)


def test_the_rest_is_shared_among_boards(bench: Bench, boards: Boards, there: Lab) -> None:
    shares: set[int] = set()

    def behave(image: Path) -> None:
        for name in "ab":
            if (now := attempt.now(there.boards[name])) is not None and now.purpose.left:
                shares.add(now.purpose.boards)

    boards.behave = {"a": behave, "b": behave}
    weighed(bench, jobs(bench, there, 2))
    assert shares == {2}


def test_a_board_that_is_repaired_joins_the_campaign_that_goes_on(bench: Bench, boards: Boards, there: Lab) -> None:
    repaired, joined = Event(), Event()

    def broken(image: Path) -> Reason | None:
        if not repaired.is_set():
            return Reason.BOARD_LOST
        joined.set()
        return None

    def whole(image: Path) -> None:
        if aside.read(there.boards["a"]) is not None:
            text = told(there, "retry", "a")
            assert "out of order: board-unreachable" in text
            repaired.set()
        if repaired.is_set():
            assert joined.wait(60), "the other board never got a run"

    boards.behave = {"a": broken, "b": whole}
    records = weighed(bench, jobs(bench, there, 8))
    assert reasons(records) == [None] * 8
    assert on(records) == {"a", "b"}
    assert aside.read(there.boards["a"]) is None


def test_a_board_that_is_released_in_a_campaign_gets_no_further_run(bench: Bench, boards: Boards, there: Lab) -> None:
    """The run that it has ends as it would."""
    todo = jobs(bench, there, 6)
    before: list[int] = []

    def done(job: Job, record: Record, kept: bool) -> None:
        if not before:
            told(there, "release", "a")
            before.append(boards.opened.count("a"))

    records = Pipeline(bench.store).campaign(todo, done)
    assert reasons(records) == [None] * 6
    assert boards.opened.count("a") <= before[0] + 1
    mark = aside.read(there.boards["a"])
    assert mark is not None
    assert mark.released


def test_marks_of_a_board_that_is_not_plugged_in_are_said_to_be_of_one_name(there: Lab, boards: Boards) -> None:
    board = there.boards["a"]
    assert "released by this name alone" in " ".join(told(there, "release", "a").split())
    assert "by other names of its port stays" in " ".join(told(there, "retry", "a").split())
    board.port.parent.mkdir()
    board.port.touch()
    assert "plugged" not in told(there, "release", "a") + told(there, "retry", "a")


def test_what_is_in_a_board_that_was_released_is_not_believed(there: Lab, boards: Boards) -> None:
    """Its user may have flashed it without us."""
    board = there.boards["a"]
    board.port.parent.mkdir()
    board.port.touch()
    found = []
    for _ in range(2):
        with held(port_of(board), "a") as lock:
            found.append(had_by_another(lock, board))
    told(there, "release", "a")
    with held(port_of(board), "a") as lock:
        found.append(had_by_another(lock, board))
    assert found == [True, False, True]


@pytest.mark.parametrize("count", [1, 3])
def test_the_log_has_the_newest_attempts_and_what_tools_said(there: Lab, boards: Boards, count: int) -> None:
    for n in range(4):
        made = attempt.begin(there.boards["a"], attempt.Purpose(f"run {n}"))
        attempt.heard("avrdude", f"said {n}".encode())
        made.passed("<", bytes([n]))
        made.end(Failure(Reason.FLASH_FAILED, f"detail {n}"))
    text = told(there, "log", "a", "--last", str(count))
    assert [f"run {n}" in text for n in range(4)] == [n >= 4 - count for n in range(4)]
    assert "said 3" in text
    assert "< 03" in text
    assert "said 2" not in text
