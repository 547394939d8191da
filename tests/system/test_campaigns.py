"""The two campaigns of block ciphers on a bare Debian, each by one command, which installs what it needs. It takes the
better part of an hour.

What does not fit a chip has its reason; the artefacts have every bundled block cipher.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.model.paths import CIPHERS
from tests.conftest import ROOT

from .bare import Bare, absent

pytestmark = pytest.mark.long

VARIANTS = sorted(p.parent.name for p in (CIPHERS / "crypto_block").glob("*/*/variant.toml"))
MADE = "root/steelyard/.steelyard"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    if why := absent():
        pytest.skip(why)
    made = Bare("bookworm", tmp_path_factory.mktemp("bare") / "root")
    made.check_out(ROOT)
    yield made
    subprocess.run(["rm", "-rf", "--one-file-system", str(made.root)], check=False)


def page(machine: Bare, name: str) -> str:
    return Path(machine.root, MADE, name).read_text(encoding="utf-8")


def test_the_iot_study_ends_with_its_artefacts(machine: Bare) -> None:
    done = machine.run("make iot-study", "/root/steelyard")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    study = page(machine, "iot-study.html")
    assert study.count("<svg") == 8, "best ten and parts of AES, of block ciphers and AEADs, on two targets"
    assert [v for v in VARIANTS if v not in study] == []
    for part in ("all measures (Table II)", "winners against AES", "score table, as published", "what moved most"):
        assert part in study
    assert "Published ranges and ours" in study


def test_felics_scenarios_end_with_their_figure_of_merit(machine: Bare) -> None:
    done = machine.run("make felics-blocks", "/root/steelyard")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    for scenario in range(3):
        merit = page(machine, f"felics-blocks-{scenario}.html")
        assert [v for v in VARIANTS if v not in merit] == []
        assert f"figure of merit over {3 if scenario < 2 else 2} targets" in merit, "AVR has no scenario 2"
