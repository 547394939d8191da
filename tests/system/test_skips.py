"""A skipped test says why, and fails where no skip is wanted, but for what no machine could run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TESTS = """
import pytest
def test_a():
    pytest.skip("simavr is not installed")

@pytest.mark.skip("mspdebug is not installed")
def test_b():
    pass

def test_c():
    pytest.skip("assembly; checked on its target")

def test_d():
    pytest.skip("does not build: compile-error")

@pytest.mark.xfail
def test_e():
    assert False
"""


@pytest.mark.parametrize(
    ("switch", "counts"), [("", "4 skipped, 1 xfailed"), ("1", "2 failed, 1 skipped, 1 xfailed, 1 error")]
)
def test_the_switch_makes_failures(tmp_path: Path, switch: str, counts: str) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_runtest_makereport\n")
    command = [sys.executable, "-m", "pytest", "-rs", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = os.environ | {"STEELYARD_NO_SKIPS": switch, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert counts in done.stdout.splitlines()[-1], done.stdout + done.stderr
    assert "assembly; checked on its target" in done.stdout
    if switch:
        assert "skipped where STEELYARD_NO_SKIPS is set: mspdebug is not installed" in done.stdout
