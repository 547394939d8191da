"""``make lab`` ends with a table for each seed board, measured through the real tools.

Here the Makefile's recipe runs with what is installed already; tests/system/test_fresh_machine.py runs all of it on
systems that have nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, the_target, write

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
#: the seed boards' targets, and what is weighed on each
SEED = ("bluepill", "esp32", "maixduino", "nucleo-f746zg", "uno")
CIPHERS = ("aes128gcm/ref", "asconaead128/small", "tinyjambu128v2/small")
#: more cycles than any of these ciphers can do without for its known answers, and fewer than any of them has
LEAST = 1000


def measured(printed: str) -> dict[str, dict[str, list[float]]]:
    """The mean cycles of encryption, decryption and rejection of the rows that ``make lab`` printed, by target."""
    found: dict[str, dict[str, list[float]]] = {}
    parts = re.split(r"(?m)^(\S+) \([^\n]*, measured on a virtual board\): crypto_aead$", printed)
    for target, table in zip(parts[1::2], parts[2::2], strict=True):
        rows = [re.split(r" {2,}", line.strip()) for line in re.findall(r"(?m)^ \d+ .*$", table)]
        found[target] = {name: [float(f.replace(" ", "")) for f in cells[:3] if f != "-"] for _, name, *cells in rows}
    return found


def check(printed: str) -> None:
    """Every cipher was measured on every seed board, and what is slower in all the literature is slower here."""
    found = measured(printed)
    assert tuple(sorted(found)) == SEED, printed
    for target, rows in found.items():
        assert set(CIPHERS) <= rows.keys(), (target, printed)
        for name in CIPHERS:
            assert len(rows[name]) == 3, (target, name, printed)
            assert min(rows[name]) > LEAST, (target, name, printed)
        assert rows["aes128gcm/ref"][0] > rows["asconaead128/small"][0], (target, printed)
    assert "No verified figures" not in printed


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
