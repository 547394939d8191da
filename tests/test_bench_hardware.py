"""bench/hardware.py counts what tools take in the sandbox."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.building import sandbox
from steelyard.model.paths import ROOT

BURN = "import time\\nwhile time.process_time() < 0.5: pass"
PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import hardware
from steelyard.building import sandbox
work = Path(sys.argv[2])
(work / "run.sh").write_text(f"{sys.executable} -c '{sys.argv[3]}'")
before = hardware._children()
assert sandbox.run(work / "run.sh", work, (Path(sys.prefix), Path(sys.base_prefix)), 60, lambda: False) == 0
print(hardware._children() - before)
"""


@pytest.mark.skipif(not sandbox.available(), reason=sandbox.WITHOUT)
def test_processor_time_in_the_sandbox_counts(tmp_path: Path) -> None:
    """In a process of its own: it waits for all children that there are."""
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "bench"), str(tmp_path), BURN.replace("\\n", "\n")]
    told = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout
    assert float(told) > 0.5
