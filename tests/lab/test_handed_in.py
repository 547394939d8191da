"""What was handed in goes to the boards of a worker's lab, when an operator says so."""

from __future__ import annotations

import hashlib
from pathlib import Path
from threading import Event

import msgspec
import pytest
from msgspec.structs import replace

from steelyard import lab
from steelyard.farm import worker
from steelyard.lab import Lab
from steelyard.sources.pack import pack
from steelyard.store import Store
from steelyard.store.floor import Worker
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk, Given
from steelyard.web import lint
from tests import toys
from tests.conftest import Bench, the_target, write
from tests.conftest import near as figure

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


def test_a_submission_is_weighed_on_a_board_too(there: Lab, bench: Bench, tmp_path: Path) -> None:
    the_target("uno")
    variant = bench.package().folder.parent
    write(variant, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    _, content = pack(variant.parent.parent)
    found = lint.lint(content, "toy.zip")
    digest = hashlib.sha256(content).hexdigest()
    tasks = [replace(t, workload="0/16,16/0") for t in lint.tasks(found, digest, "toy.zip", ["uno"])]
    given = Given("toy.zip", content, msgspec.json.encode(found).decode(), "MIT", "10.0.0.1")
    said: list[object] = []
    with Store.open(tmp_path / "results.db") as store:
        desk, yard = Desk(store), Yard(store, "ann")
        submission = desk.find(desk.hand_in(given, tasks, Quota()))
        assert submission is not None
        yard.present(Worker("m 1 x", "m", ("uno board",), (), "1", 0))
        assert yard.to_boards(submission.number) == 1
        boards = lab.pools([there.board("one")])
        worker.work(store, ["uno"], said.append, Event(), until_empty=True, lab=boards)
        assert [d.state for d in said if isinstance(d, worker.Done)] == [DONE, DONE], said
        simulated, board = (j.record for j in desk.jobs(submission))
    assert simulated is not None
    assert board is not None
    assert (simulated.failure, board.failure) == (None, None)
    assert (simulated.setup.device, board.setup.device) == ("simulator", "virtual-board")
    assert board.verification == simulated.verification
    name = "cycles_encrypt_mean"
    figure(board.metrics[name], simulated.metrics[name], 2 * there.board("one").cycles_per_sample, name)
