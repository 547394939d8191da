"""``steelyard run`` and ``steelyard check``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from msgspec import to_builtins

from ..analyse.files import SCHEMA
from ..model import paths
from ..model.campaign import Campaign
from ..model.errors import UserError
from ..model.implementation import Rejected
from ..model.inputs import MAX_SEED, SEED
from ..model.reasons import UNFIT
from ..model.record import Record
from ..pipeline import MAX_CYCLES, Job, Pipeline
from . import select
from .console import print_json, stderr, stdout, table
from .plan import Forecast, forecast, plan
from .results import as_json, confirmations, legend, print_results


def run_command(
    campaign: Campaign,
    threads: int | None = None,
    force: bool = False,
    max_cycles: int = MAX_CYCLES,
    db: str | None = None,
    json: bool = False,
    check: bool = False,
    dry_run: bool = False,
    seed: str = SEED,
) -> int:
    """Runs the campaign. Exit code 1 when something is wrong or nothing is verified; what merely does not
    fit a target is a result like any other."""
    if not 0 < len(seed) <= MAX_SEED:
        raise UserError(f"--seed: give 1 to {MAX_SEED} characters")
    jobs, rejected = plan(campaign, baselines=not check)
    if dry_run:
        return _print_forecast(jobs, force, db, json, seed)
    with select.store(db) as store:
        pipeline = Pipeline(
            store, threads=threads or os.cpu_count() or 1, force=force, max_cycles=max_cycles, seed=seed
        )
        records = with_progress(pipeline, jobs)
        alike = confirmations(store, records)
    if json:
        print_json(
            {"schema": SCHEMA, "runs": [as_json(r) for r in records], "rejected": [_rejected(r) for r in rejected]}
        )
    elif check:
        _print_check(records, rejected)
    else:
        console = stdout()
        print_results(console, records)
        for line in alike:
            console.print(line)
        if rejected:
            rows = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
            console.print(
                table("Not weighed", ("package", "reason", "detail"), rows, left=3, wrap=("package", "detail"))
            )
        legend(console)
    failures = [r.failure for r in records if r.failure is not None] + [r.failure for r in rejected]
    wrong = any(f.reason not in UNFIT for f in failures)
    return 1 if wrong or not any(r.ok for r in records) else 0


def _print_forecast(jobs: Sequence[Job], force: bool, db: str | None, json: bool, seed: str) -> int:
    """Says what a run would do with each job, and does nothing."""
    if force:
        made = [Forecast(job, None, "--force") for job in jobs]
    else:
        there = select.exists(db)
        with select.store(db if there else ":memory:") as store:
            made = forecast(store if there else None, jobs, seed)
    new = sum(f.run is None for f in made)
    if json:
        print_json([{**to_builtins(f.job.setup), "run": f.run, "why": f.why} for f in made])
        return 0
    rows = [
        (
            f.job.setup.label,
            f.job.target.name,
            " ".join(f.job.flags),
            f.job.setup.workload.split(" ")[0],
            f"run {f.run}" if f.run else "to run",
            f.why,
        )
        for f in made
    ]
    columns = ("implementation", "target", "flags", "workload", "", "why")
    stdout().print(table("", columns, rows, left=6, wrap=("why",)))
    stdout().print(f"{new} to run, {len(made) - new} stored; nothing was done")
    return 0


def with_progress(pipeline: Pipeline, jobs: Sequence[Job]) -> list[Record]:
    """Runs the jobs with a bar for each target: how many are done, stored before, and how long the rest takes."""
    console = stderr()
    if not console.is_terminal:
        return pipeline.campaign(jobs, lambda *_: None)
    from rich.progress import (  # takes a while, and nobody would see it
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
    counts = Counter(job.target.name for job in jobs)
    stored: Counter[str] = Counter()
    with Progress(*columns, console=console, transient=True) as progress:
        bars = {t: progress.add_task(t, total=n, stored="") for t, n in counts.items()}

        def done(job: Job, record: Record, kept: bool) -> None:
            name = job.target.name
            stored[name] += kept
            text = f"{stored[name]} stored before" if stored[name] else ""
            progress.update(bars[name], advance=1, stored=text)

        return pipeline.campaign(jobs, done)


def _print_check(records: Sequence[Record], rejected: Sequence[Rejected]) -> None:
    rows = []
    for r in records:
        v = r.verification
        counts = (f"{v.vectors}", f"{v.ext_vectors}", f"{v.skipped}", v.source) if v else ("-", "-", "-", "-")
        verdict = "verified" if r.ok else f"{r.failure.reason}: {r.failure.detail}" if r.failure else ""
        rows.append((r.setup.label, r.setup.target, r.setup.flags, verdict, *counts))
    rows += [
        (paths.short(x.path), "-", "-", f"{x.failure.reason}: {x.failure.detail}", "-", "-", "-", "-") for x in rejected
    ]
    columns = (
        "implementation",
        "target",
        "flags",
        "verdict",
        "vectors",
        "second set",
        "skipped",
        "expected from",
    )
    drop = ("expected from", "skipped", "second set", "vectors", "flags")
    stdout().print(table("", columns, rows, left=4, wrap=("verdict",), drop=drop))


def _rejected(r: Rejected) -> dict[str, str]:
    return {
        "path": paths.short(r.path),
        "reason": str(r.failure.reason),
        "detail": r.failure.detail,
        "next_action": r.failure.next_action,
    }
