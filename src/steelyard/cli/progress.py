"""How far a campaign is: bars on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from ..model.record import Record
from ..pipeline import Job, Pipeline
from .console import stderr

if TYPE_CHECKING:
    from ..farm.hq import Cluster

#: seconds between two lines where there is no terminal
EVERY = 5.0
Done = Callable[[Job, Record, bool], None]


def with_progress(pipeline: Pipeline | Cluster, jobs: Sequence[Job]) -> list[Record]:
    """Runs the jobs, and says meanwhile how many are done, were stored before, and how long the rest takes."""
    shown = _bars if stderr().is_terminal else _lines
    with shown(jobs) as done:
        return pipeline.campaign(jobs, done)


@contextmanager
def _bars(jobs: Sequence[Job]) -> Iterator[Done]:
    """One bar for each target."""
    from rich.progress import (  # takes a while, and elsewhere nobody would see it
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[stored]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    stored: Counter[str] = Counter()
    with Progress(*columns, console=stderr(), transient=True) as progress:
        counts = Counter(job.target.name for job in jobs)
        bars = {t: progress.add_task(t, total=n, stored="") for t, n in counts.items()}

        def done(job: Job, record: Record, kept: bool) -> None:
            name = job.target.name
            stored[name] += kept
            text = f"{stored[name]} stored before" if stored[name] else ""
            progress.update(bars[name], advance=1, stored=text)

        yield done


@contextmanager
def _lines(jobs: Sequence[Job]) -> Iterator[Done]:
    """A line every :data:`EVERY` seconds; none when all is done before."""
    counts, start, ended = Counter[bool](), time.monotonic(), Event()

    def say() -> None:
        while not ended.wait(EVERY):
            text = progress_line(len(jobs), counts[False], counts[True], time.monotonic() - start)
            stderr().print(text, soft_wrap=True)

    def done(job: Job, record: Record, kept: bool) -> None:
        counts[kept] += 1

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


def progress_line(jobs: int, run: int, stored: int, seconds: float) -> str:
    """What is to be said after ``seconds`` in which ``run`` of the ``jobs`` ran; ``stored`` ones need not."""
    text = f"run: {run + stored} of {jobs} done"
    if stored:
        text += f", {stored} stored before"
    left = jobs - run - stored
    if run and left:
        rest = left * seconds / run
        text += f", about {rest:.0f} s left" if rest < 100 else f", about {rest / 60:.0f} min left"
    return text
