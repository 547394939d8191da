"""Commands run in this process, and transcripts compared with the ones kept in ``golden/``."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from steelyard.cli import main, progress
from tests.made_up import record, store

GOLDEN = Path(__file__).parent / "golden"
#: what differs between machines, compilers and days
_VARIES = (
    (r"python -m pytest\.steelyard", "steelyard"),
    (r"\b(?:avr|arm-none-eabi)-gcc \([^()]*\)\s+\d[\d.]*(?:\s+\d{8})?", "<compiler>"),
    (r",\s+<compiler>", ", <compiler>"),
    (r"\b[0-9a-f]{12,64}\b", "<digest>"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b", "<time>"),
    (r"UTC on \S+, \d+\.\d+ s", "UTC on <host>, <seconds> s"),
    (r"timing model \S+", "timing model <model>"),
    (r"(?<=  )-?\d{1,3}(?: \d{3})*(?:\.\d+)?(?=  |\n)", "N"),
)


@dataclass(frozen=True)
class Result:
    """What a command left."""

    command: str
    out: str
    err: str
    code: int

    @property
    def transcript(self) -> str:
        """As a reader would see it in a terminal."""
        text = "".join(line.rstrip() + "\n" for line in (self.out + self.err).splitlines())
        return f"$ steelyard {self.command}\n{text}[exit {self.code}]\n"


class Terminal(io.StringIO):
    """Standard output of someone who looks at it."""

    def isatty(self) -> bool:
        return True


Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs ``steelyard ARGUMENTS`` in an empty folder, with that folder's database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DB", "results.db")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(progress, "EVERY", 3600.0)  # no lines when this machine is slow
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)

    def run(command: str | Sequence[str], *, terminal: bool = False) -> Result:
        words = command.split() if isinstance(command, str) else [*command]
        out, err = (Terminal() if terminal else io.StringIO()), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["steelyard", *words])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                main()
                code = 0
            except SystemExit as e:
                code = int(e.code or 0)
        here = f"{tmp_path}/"
        return Result(" ".join(words), out.getvalue().replace(here, ""), err.getvalue().replace(here, ""), code)

    return run


def golden(name: str, *results: Result, figures: bool = False) -> None:
    """Compares a transcript with ``golden/NAME.txt``; STEELYARD_GOLDEN=write writes it.

    Of tables with ``figures`` only the text counts, as columns are as wide as compilers make them.
    """
    text = "\n".join(r.transcript for r in results)
    text = re.sub(r"left out, their compilers are not here:[^\n]*\n", "", text)  # depends on what is installed
    for pattern, word in _VARIES[: None if figures else -1]:
        text = re.sub(pattern, word, text)
    if figures:
        text = re.sub(r"─+", "─", re.sub(r"(?<=\S) {2,}", "  ", text))
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("STEELYARD_GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text()


#: two sources, compilers, workloads and flag sets of each of two labels
BOTH = [
    record(f"{name}/ref", digest=d, compiler=c, load=w, flags=f, rom=rom + 100 * (d == "b"), family=name)
    for name, rom in (("toy1", 1000), ("toy2", 2000))
    for d, c, w, f in product("ab", ("gcc 1", "gcc 2"), ("default", "gmu"), ("-O3", "-Os"))
]


@pytest.fixture
def answers(cli: Cli, tmp_path: Path) -> Cli:
    store(tmp_path / "results.db", *BOTH)
    return cli


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]
