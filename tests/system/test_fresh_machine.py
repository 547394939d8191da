"""The README's commands on bare Debian 12 and 13 and Ubuntu 24.04, as newcomers have them: made with debootstrap,
nothing installed.

Debian's apt knows only the release's own archive. So on Debian 12 neither the security archive's Rust nor the release's
first one will do; Ubuntu has a new enough Rust among its updates. `make run` runs unchanged. `make test` takes the
better part of an hour; only the folders run that depend most on a machine: set-up for tests, compilers, sandbox,
firmware of every target. It takes minutes for each release.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from steelyard.model.target import load_target, target_names
from tests.conftest import ROOT
from tests.lab import made_lab

from .bare import Bare, absent

pytestmark = pytest.mark.long

PART = "tests/sources tests/builds tests/device tests/targets"
#: targets whose compilers the releases have
OFFERED = [t.name for t in map(load_target, target_names()) if t.toolchain.packages and not t.opt_in]


@pytest.fixture(scope="module", params=["bookworm", "trixie", "noble"])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """A bare system with a checkout of HEAD in /root/steelyard."""
    if why := absent():
        pytest.skip(why)
    made = Bare(request.param, tmp_path_factory.mktemp("bare") / "root")
    made.check_out(ROOT)
    yield made
    subprocess.run(["rm", "-rf", "--one-file-system", str(made.root)], check=False)


def test_make_run_ends_with_its_tables(machine: Bare) -> None:
    first = machine.run("make run", "/root/steelyard")
    assert first.returncode == 0, first.stdout[-2000:] + first.stderr[-4000:]
    top = first.stdout[first.stdout.index("crypto_aead: encrypt (cycles) by target") :]
    assert [name for name in OFFERED if f"\n{name} (" in top] == OFFERED
    assert set(top[: top.index(f"\n{OFFERED[0]} (")].split()) >= set(OFFERED)

    again = machine.run("make run", "/root/steelyard")
    assert again.returncode == 0
    assert "setup:" not in again.stderr
    assert top in again.stdout


def test_make_lab_ends_with_a_measured_table(machine: Bare) -> None:
    """Five boards, through tools that it installs itself."""
    done = machine.run("make lab", "/root/steelyard")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-4000:]
    made_lab.check(done.stdout)


def test_make_test_passes(machine: Bare) -> None:
    done = machine.run(f"make test-python PYTEST='{PART}'", "/root/steelyard")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
