"""What is said while a campaign runs where nobody looks at a terminal."""

from __future__ import annotations

import re
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.cli import progress
from steelyard.cli.console import Console


@pytest.mark.parametrize(
    ("run", "stored", "seconds", "line"),
    [
        (25, 12, 12.0, "run: 37 of 120 done, 12 stored before, about 40 s left"),
        (0, 0, 5.0, "run: 0 of 120 done"),
        (0, 12, 5.0, "run: 12 of 120 done, 12 stored before"),
        (20, 0, 60.0, "run: 20 of 120 done, about 5 min left"),
        (120, 0, 60.0, "run: 120 of 120 done"),
    ],
)
def test_a_line_says_how_far_and_how_long(run: int, stored: int, seconds: float, line: str) -> None:
    assert progress.progress_line(120, run, stored, seconds) == line


class Campaign:
    """A pipeline that does one of two jobs, the other once ``go`` says so."""

    def __init__(self, go: Event) -> None:
        self.go = go

    def campaign(self, jobs: list[Any], done: progress.Done) -> list[Any]:
        done(jobs[0], cast(Any, None), True)
        assert self.go.wait(60)
        done(jobs[1], cast(Any, None), False)
        return jobs


JOBS: Any = [SimpleNamespace(target=SimpleNamespace(name="uno"))] * 2


def test_a_line_comes_while_a_job_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, go = list[str](), Event()

    class Piped(Console):
        def print(self, *text: Any, **how: Any) -> None:
            seen.append(str(text[0]))
            go.set()

    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(progress, "stderr", lambda: Piped(force_terminal=False))
    progress.with_progress(cast(Any, Campaign(go)), JOBS)
    assert re.fullmatch(r"run: 1 of 2 done, 1 stored before", seen[0])


def test_none_comes_when_it_ends_at_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "EVERY", 3600.0)
    go = Event()
    go.set()
    assert progress.with_progress(cast(Any, Campaign(go)), JOBS) == JOBS
    assert capsys.readouterr() == ("", "")
