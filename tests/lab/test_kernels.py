"""Micro-kernels on boards: a played one takes as many cycles as the simulator, and a file says what ran where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from steelyard.cli.app import app
from steelyard.lab import Lab

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.mark.parametrize("board", ["one", "three", "eleven"])
def test_a_board_takes_what_the_simulator_takes(there: Lab, described: Path, tmp_path: Path, board: str) -> None:
    file = tmp_path / "kernels.json"
    some = ("load*", "branch*", "multiply")
    words = ["validate", "--kernels", *some, "--on", board, "--lab", str(described), "-o", str(file)]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    found = json.loads(file.read_text())
    assert (found["device"], len(found["image"])) == ("virtual-board", 64)
    assert board in found["board"]
    assert "ports/" not in file.read_text()
    for f in found["kernels"]:
        assert abs(f["simulated"] - f["measured"]) <= f["resolution"] < 0.05, f
    assert "agree on all" in " ".join(said.output.split())
