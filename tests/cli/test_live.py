"""What ``boards`` says of a board, from the files that attempts leave."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.cli.live import doing
from steelyard.lab import attempt
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from tests.cli.conftest import Cli


def test_a_run_that_its_user_ended_is_no_error_of_the_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    there = lab.load(paths.ROOT / "docs/guides/lab.toml")
    lost = Failure(Reason.BOARD_LOST, "uno-1: no such device")
    for failure, other in ((lost, ""), (None, attempt.INTERRUPTED)):
        attempt.begin(there.boards["uno-1"], lab.Purpose("a run")).end(failure, other)
    assert doing(there, "uno-1").error == "board-unreachable: uno-1: no such device"
    attempt.begin(there.boards["uno-1"], lab.Purpose("a run")).end(None, "ZeroDivisionError")
    assert doing(there, "uno-1").error == "ZeroDivisionError"
    attempt.begin(there.boards["uno-1"], lab.Purpose(attempt.PROOF)).end(None)
    assert doing(there, "uno-1").error == "ZeroDivisionError", "its run is still to come"
    attempt.begin(there.boards["uno-1"], lab.Purpose("a run")).end(None)
    assert doing(there, "uno-1").error == ""


def test_an_attempt_whose_process_was_killed_is_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as somebody has the board again; it is not the board's fault."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    there = lab.load(paths.ROOT / "docs/guides/lab.toml")
    board = there.boards["uno-1"]
    attempt.begin(board, lab.Purpose("a run", 2)).called(5)
    attempt.begin(board, lab.Purpose("a run", 1)).end(None)
    first, second = attempt.logs(board)
    assert (first.what, first.number, first.reason) == ("a run", 2, "killed")
    assert (second.number, second.reason) == (1, "")
    attempt.begin(board, lab.Purpose("a run"))
    attempt.begin(board, lab.Purpose("a run"))
    assert doing(there, "uno-1").error == ""


def test_a_long_error_takes_no_room_from_the_state(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    monkeypatch.setattr("steelyard.cli.console.PIPED_WIDTH", 80)
    file = paths.ROOT / "docs/guides/lab.toml"
    there = lab.load(file)
    lost = Failure(Reason.BOARD_LOST, "uno-1: no such device; " * 9)
    attempt.begin(there.boards["uno-1"], lab.Purpose("a run")).end(lost)
    assert cli(["boards", "release", "uno-1", "--lab", str(file)]).code == 0
    said = cli(["boards", "--lab", str(file)]).out
    assert "released" in said, said


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -TERM $$", 143)])
def test_the_exit_code_is_the_commands(cli: Cli, monkeypatch: pytest.MonkeyPatch, command: str, code: int) -> None:
    """As a shell has it where a signal ended the command."""
    monkeypatch.setattr("steelyard.lab.virtual.played", lambda _: nullcontext([]))
    said = cli(["boards", "virtual", "--lab", str(paths.ROOT / "docs/guides/lab.toml"), "--", "sh", "-c", command])
    assert said.code == code
