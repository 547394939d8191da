"""A virtual board that the field's own tools flash and sample gives the same record over ssh as it does here."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from steelyard import lab
from steelyard.cli.app import app
from steelyard.lab import Lab
from steelyard.pipeline import Pipeline
from tests import toys
from tests.conftest import Bench, the_target, write

from . import elsewhere

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.fixture
def here(described: Path, there: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a machine that has the lab of all these tests."""
    elsewhere.connected(tmp_path, monkeypatch).steelyard(elsewhere.REAL)
    return tmp_path


@pytest.mark.parametrize("name", ["one", "three"])
def test_a_record_is_what_it_is_at_this_machine(
    there: Lab, described: Path, here: Path, bench: Bench, name: str
) -> None:
    """Which is the simulator's (test_boards.py); RAM too, where a debug probe looks."""
    near = there.board(name)
    [far], _ = lab.stations(elsewhere.described(here, near.board.target, name, at=described.parent), ["far"])
    assert lab.pools([near, far]) == {near.board.target: (near, far)}
    write(bench.package().folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    job = bench.job(bench.package(), the_target(near.board.target), "0/16,16/0")
    simulated, board = (Pipeline(bench.store, threads=1).weigh(j) for j in (job, replace(job, on=(far,))))
    assert (simulated.failure, board.failure) == (None, None)
    assert board.setup == replace(job, on=(near,)).plan
    assert board.verification == simulated.verification
    assert len(board.points) == 6
    for a, b in zip(board.points, simulated.points, strict=True):
        assert (a.operation, a.adlen, a.mlen) == (b.operation, b.adlen, b.mlen)
        assert abs(a.cycles - b.cycles) <= 2 * max(near.cycles_per_sample, 1)
    for metric in ("rom", "ram_static", "heap", *(["image_ram_touched", "ram_renner"] if near.probe else [])):
        assert board.metrics[metric] == simulated.metrics[metric]
    place = f"{near.board.port}, {near.flasher.program}, channel {near.board.channel} of la (41.6667 ns), clock +0 ppm"
    assert [n for n in board.notes if n.startswith(f"virtual-board far: {name} at bench, {place}")]


def test_a_board_is_checked_where_it_is(there: Lab, described: Path, here: Path) -> None:
    elsewhere.described(here, "uno", "one", at=described.parent)
    done = CliRunner().invoke(app, ["boards", "check", "--lab", str(here / "lab.toml")])
    assert done.exit_code == 0, done.output
    for part in ("flash", "handshake", "echo", "edges", "clock_ppm = 0"):
        assert part in done.stdout
    assert "far at bench" in done.stdout
