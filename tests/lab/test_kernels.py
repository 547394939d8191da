"""Micro-kernels on boards: a played one takes as many cycles as the simulator, and a file says what ran where."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from steelyard.cli.app import app
from steelyard.lab import Lab
from steelyard.sources.kernels import kernels_of
from tests.lab.conftest import OTHERS

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
ALL = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "sixteen"]
ALL += ["seventeen", "eighteen", *OTHERS]


def compared(lab: Path, name: str, file: Path, *some: str) -> list[str]:
    """The kernels that were asked of a board: each takes what it takes on the simulator, and the file names both."""
    said = CliRunner().invoke(app, ["validate", "--kernels", *some, "--on", name, "--lab", str(lab), "-o", str(file)])
    assert said.exit_code == 0, (said.output, said.exception)
    found = json.loads(file.read_text())
    assert (found["device"], len(found["image"])) == ("virtual-board", 64)
    assert name in found["board"]
    assert "ports/" not in file.read_text()
    for f in found["kernels"]:
        assert abs(f["simulated"] - f["measured"]) <= f["resolution"] < 0.05, f
    assert "agree on all" in " ".join(said.output.split())
    return [f["kernel"] for f in found["kernels"]]


@pytest.mark.parametrize("board", ["one", "three", "eleven"])
def test_a_board_takes_what_the_simulator_takes(there: Lab, described: Path, tmp_path: Path, board: str) -> None:
    assert there.board(board)
    assert "load" in compared(described, board, tmp_path / "kernels.json", "load*", "branch*", "multiply")


@pytest.mark.long
@pytest.mark.parametrize("board", ALL)
def test_every_kernel_of_every_board(request: pytest.FixtureRequest, tmp_path: Path, board: str) -> None:
    lab, described = ("others", "others_described") if board in OTHERS else ("there", "described")
    core = request.getfixturevalue(lab).board(board).target.chip.core
    asked = compared(request.getfixturevalue(described), board, tmp_path / "kernels.json")
    of = kernels_of(core)
    assert of is not None
    assert asked == [k.name for k in of.every]


def test_every_board_is_asked_for_its_kernels(described: Path) -> None:
    assert sorted(ALL) == sorted([*tomllib.loads(described.read_text())["boards"], *OTHERS])
