"""Boards that are set aside while runs want them, or come back as another device."""

from __future__ import annotations

import errno
from pathlib import Path
from threading import Event, Timer

import pytest
from msgspec.structs import replace

from steelyard.jobs import failure_of
from steelyard.lab import Lab, aside, pool
from steelyard.lab.lock import taken
from steelyard.model.call import DeviceError
from steelyard.model.reasons import Failure, Reason
from tests.conftest import Bench

from .test_pool import Boards, boards, jobs, on, reasons, release, there, weighed

__all__ = ["boards", "there"]


def test_a_board_that_is_released_gets_no_run(bench: Bench, boards: Boards, there: Lab) -> None:
    release(there.boards["a"])
    assert on(weighed(bench, jobs(bench, there, 2))) == {"b"}
    [record] = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1, 3)])
    assert record.failure == Failure(Reason.BOARD_LOST, "no board is left: a was released: steelyard boards retry a")
    assert record.failure.next_action == "give the board back by that command, and run again"


def test_a_release_by_another_name_of_the_port_wins(bench: Bench, boards: Boards, there: Lab) -> None:
    """Over what is wrong with the board, and what proves it right."""
    board = there.boards["a"]
    other = board.but(name="other", port=board.port.with_name("link"))
    board.port.parent.mkdir()
    board.port.touch()
    other.port.symlink_to(board.port)
    aside.put(board, aside.Mark(1.0, "board-unreachable", "a: no answer"))
    release(other)
    [record] = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1)])
    assert record.failure == Failure(Reason.BOARD_LOST, "no board is left: a was released: steelyard boards retry a")
    pool.works(board)
    assert [m.kind for m in aside.marks(board)] == ["released"]
    aside.retry(board)
    assert aside.marks(other) == []


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("proof", range(1, pool.PROOFS + 1))
def test_a_board_that_is_released_while_it_is_proved_gets_no_run(
    boards: Boards, there: Lab, works: bool, proof: int
) -> None:
    """Nor another proof, and what the proof shows does not end the release."""
    board, proofs = there.boards["a"], []

    def prove(*_: object) -> None:
        proofs.append(1)
        if len(proofs) == proof:
            release(board)
            if works:
                return
        raise DeviceError(Failure(Reason.BOARD_LOST, "no answer"))

    pool._doubted.add("a")
    with (
        pytest.raises(pool.NoBoard, match="a was released"),
        pool.borrowed([there.board("a")], Event(), prove),
    ):
        pass
    assert len(proofs) == proof


def test_a_board_that_is_released_in_its_last_run_stays_so(boards: Boards, there: Lab) -> None:
    """The lab's fault ends it, which is one too many."""
    pool._faults["a"] = pool.FAULTS - 1

    def run() -> None:
        with pool.borrowed([there.board("a")], Event(), lambda *_: None):
            release(there.boards["a"])
            raise DeviceError(Failure(Reason.BOARD_LOST, "unplugged"))

    for why in ("unplugged", "a was released"):
        with pytest.raises(DeviceError, match=why):
            run()
    mark = aside.read(there.boards["a"])
    assert mark is not None
    assert mark.released


def test_a_board_that_comes_back_as_another_device_is_taken_anew(
    bench: Bench, boards: Boards, there: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waited for it has the lock of what was there before; who has that of the new one may use it already."""
    monkeypatch.setattr(pool, "AWAY", 10.0)
    port, devices = there.boards["a"].port, [tmp_path / f"ttyACM{k}" for k in range(2)]
    port.parent.mkdir()
    for device in devices:
        device.touch()
    port.symlink_to(devices[0])
    other = taken(f"port {devices[1]}", "another process")
    assert other is not None
    opened: list[int] = []

    def leave() -> None:
        opened.append(len(boards.opened))
        other.close()

    def behave(_: Path) -> Reason | None:
        if len(boards.opened) > 1:
            return None
        port.unlink()
        Timer(0.4, port.symlink_to, [devices[1]]).start()
        Timer(1.2, leave).start()
        return Reason.BOARD_LOST

    boards.behave["a"] = behave
    assert reasons(weighed(bench, [replace(j, on=j.on[:1]) for j in jobs(bench, there, 1)])) == [None]
    assert opened == [1]


def test_a_board_whose_mark_cannot_be_written_ends_its_runs(bench: Bench, boards: Boards, there: Lab) -> None:
    """It proves itself as often as any other, and no more."""
    board = there.boards["a"]
    (board.files / "aside-broken").mkdir(parents=True)
    boards.behave["a"] = lambda _: Reason.BOARD_LOST
    [record] = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1)])
    assert reasons([record]) == [Reason.BOARD_LOST]
    assert record.failure is not None
    assert "no board is left: a is out of order: as it was told" in record.failure.detail
    assert boards.opened.count("a") == 1 + pool.PROOFS


def test_a_folder_of_a_lab_that_cannot_be_written_is_named(there: Lab) -> None:
    note = there.boards["a"].files / "image"
    failure = failure_of(OSError(errno.EROFS, "Read-only file system", str(note)))
    assert failure == Failure(Reason.INTERNAL, f"{note}: Read-only file system: cannot be written")
    assert "give a place that can be written" in failure.next_action
