"""``make lab`` ends with a table for each seed board, measured through the real tools.

Here the Makefile's recipe runs with what is installed already; tests/system/test_fresh_machine.py runs all of it on
systems that have nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, the_target, write

from .made_lab import SEED, check

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")


@pytest.mark.long
def test_make_lab_ends_with_a_measured_table(tmp_path: Path, home: Path) -> None:
    for target in SEED:
        the_target(target)
    for name in ("Makefile", "ciphers", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    write(tmp_path, {"scripts/setup": '#!/bin/sh\n[ "$1" = lab ]\n'})
    (tmp_path / "scripts" / "setup").chmod(0o755)
    env = os.environ | {"STEELYARD_HOME": str(home), "STEELYARD_DB": str(tmp_path / "results.db")}
    words = ["make", "lab", f"STEELYARD={sys.executable} -m steelyard"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    check(done.stdout)
