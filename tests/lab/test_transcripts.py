"""What users of a lab see, word for word: ``tests/cli/golden/lab.txt``, written anew with STEELYARD_GOLDEN=write.

Tools and boards are the real and the virtual ones. Of figures only the place counts, because pulses differ by a sample
from one run to the next, and sizes from one compiler to the next.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab.virtual import played
from tests import toys
from tests.cli.conftest import Cli, Result, cli, golden
from tests.conftest import the_target, write

from .conftest import free
from .test_probe_faults import PILL
from .wired import BOARD, TEXT

pytest.importorskip("serial", reason="pyserial is not installed: scripts/setup test")
__all__ = ["cli"]
#: what differs from run to run, or from compiler to compiler
_VARIES = (
    (r"(?<![\w.])-?\d+(?:\.\d+)?(?= (?:µs|%))", "N"),
    (r"(?<=within )\d+", "N"),
    (r"\d+(?= bytes of free RAM)", "N"),
    (r"\d+(?= in a row unused)", "N"),
    (r"\b\d{4}-\d\d-\d\d\b(?! \d)", "<day>"),
    (r"(toy1/ref +-Os +)(?:encrypt|decrypt|reject)", r"\1<call>"),  # the furthest apart first
    (r"(?m)^ (\d)(?=    )", "N"),  # runs of two boards at once
)


def steady(said: Result) -> Result:
    """Without what varies."""
    out, err = said.out, said.err
    for pattern, word in _VARIES:
        out, err = re.sub(pattern, word, out), re.sub(pattern, word, err)
    return replace(said, out=out, err=err)


def test_a_lab_from_first_to_last(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))  # whose log has no other test's board
    for target in ("uno", "bluepill"):
        the_target(target)
    port, swd = free(2)
    text = TEXT.format(port=port).replace("4_000_000", "24_000_000") + BOARD.format(name="one", channel="P8_46")
    write(tmp_path, {"lab.toml": text + PILL.format(swd=swd)})
    write(tmp_path / "toy/crypto_aead/toy1/ref", toys.files() | {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
    commands = (
        "boards list",
        "boards check",
        "boards log one",
        "run toy --on lab -w 0/16,16/0 --flags=-Os",
        "run toy --on pill -w 0/16,16/0 --flags=-Os",
        "validate toy --on lab --target uno -w 0/16,16/0 --flags=-Os",
        "validate toy --on lab -w 0/16,16/0 --flags=-Os",
        "boards",
    )
    with played(lab.load(tmp_path / "lab.toml")):
        golden("lab", *(steady(cli(command)) for command in commands), figures=True)
