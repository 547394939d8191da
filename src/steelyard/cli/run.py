"""``steelyard run`` and ``steelyard check``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import to_builtins
from rich.console import Console

from ..analyse.files import SCHEMA
from ..analyse.rows import rows
from ..model import paths
from ..model.campaign import Campaign
from ..model.errors import UserError, counted
from ..model.implementation import Rejected
from ..model.inputs import MAX_SEED, SEED
from ..model.reasons import UNFIT
from ..model.record import Record
from ..pipeline import MAX_CYCLES, Job, Pipeline, resolve
from ..publish.formats import FLAT
from ..publish.results import flat, tables
from ..publish.sheet import Cell
from . import select
from .console import number, stderr, stdout, table
from .output import CONSOLE, Output, sheet, show
from .plan import Forecast, forecast, plan
from .progress import with_progress
from .results import as_json, confirmations, legend, print_results

#: runs of what the user named before which their number is said
MANY = 1000


def run_command(
    campaign: Campaign,
    threads: int | None = None,
    force: bool = False,
    max_cycles: int = MAX_CYCLES,
    db: str | None = None,
    out: Output = CONSOLE,
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
        return _print_forecast(jobs, force, db, out, seed)
    if len(jobs) > MANY and campaign.implementations:
        count, places = len({j.implementation.folder for j in jobs}), len({j.target.name for j in jobs})
        text = f"{number(len(jobs))} runs: {counted(count, 'implementation')} on {counted(places, 'target')}"
        stderr().print(f"{text}; --dry-run lists them, Ctrl-C stops and keeps what is done")
    with select.store(db) as store:
        pipeline = Pipeline(
            store, threads=threads or os.cpu_count() or 1, force=force, max_cycles=max_cycles, seed=seed
        )
        if max_cycles != MAX_CYCLES and not force and (kept := len(store.find(resolve(job).setup.key for job in jobs))):
            stderr().print(f"--max-cycles changes nothing for {counted(kept, 'stored run')}; --force makes them again")
        records = with_progress(pipeline, jobs)
        lost = unstored(pipeline)
        alike = confirmations(store, records)
    if out.format == "json":
        document = {
            "schema": SCHEMA,
            "runs": [as_json(r) for r in records],
            "rejected": [_rejected(r) for r in rejected],
        }
        out.tables([], document)
    elif check:
        _check(records, rejected, out)
    elif out.console:
        print_results(stdout(), records)
        for line in alike:
            stdout().print(line)
        _print_rejected(stdout(), rejected)
        if any(r.metrics for r in records):
            legend(stdout(), records)
    else:
        found = rows(records)
        out.tables([flat(found, ())] if out.format in FLAT else tables(found, ()))
        _print_rejected(stderr(), rejected)
    failures = [r.failure for r in records if r.failure is not None] + [r.failure for r in rejected]
    wrong = any(f.reason not in UNFIT for f in failures)
    return 1 if lost or wrong or not any(r.ok for r in records) else 0


def unstored(pipeline: Pipeline) -> bool:
    """Whether the store did not take some of the records, which is said."""
    if number := len(pipeline.keeper.waiting):
        runs = "1 run is" if number == 1 else f"{number} runs are"
        stderr().print(f"{runs} shown and not stored: {pipeline.keeper.why}", style="bold red", soft_wrap=True)
    return bool(number)


def _print_forecast(jobs: Sequence[Job], force: bool, db: str | None, out: Output, seed: str) -> int:
    """Says what a run would do with each job, and does nothing."""
    if force:
        made = [Forecast(job, None, "--force") for job in jobs]
    else:
        there = select.exists(db)
        with select.store(db if there else ":memory:") as store:
            made = forecast(store if there else None, jobs, seed)
    stored, asked = sum(f.run is not None for f in made), sum(f.asks for f in made)
    counts = f"{len(made) - stored - asked} to run, {stored} stored"
    counts += f", {asked} that ask their machine first" if asked else ""
    lines = [
        (
            f.job.plan.label,
            f.job.target.name,
            " ".join(f.job.flags),
            f.job.plan.workload.split(" ")[0],
            f"run {f.run}" if f.run else "asks" if f.asks else "to run",
            f.why,
        )
        for f in made
    ]
    columns = ("implementation", "target", "flags", "workload", "run", "why")
    answer = sheet("", "plan", dict.fromkeys(columns), lines)
    if out.console:
        show(answer, wrap=("why",))
        stdout().print(f"{counts}; nothing was done")
    else:
        out.tables([answer], [{**to_builtins(f.job.plan), "run": f.run, "why": f.why} for f in made])
    return 0


def _print_rejected(console: Console, rejected: Sequence[Rejected]) -> None:
    if rejected:
        lines = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
        heads = ("package", "reason", "detail")
        console.print(table("Not weighed", heads, lines, left=3, wrap=("package", "detail")))


def _check(records: Sequence[Record], rejected: Sequence[Rejected], out: Output) -> None:
    lines: list[tuple[Cell, ...]] = []
    for r in records:
        v = r.verification
        counts = (v.vectors, v.ext_vectors, v.skipped, v.source) if v else (None,) * 4
        verdict = "verified" if r.ok else f"{r.failure.reason}: {r.failure.detail}" if r.failure else ""
        lines.append((r.setup.label, r.setup.target, r.setup.flags, verdict, *counts))
    for x in rejected:
        lines.append((paths.short(x.path), None, None, f"{x.failure.reason}: {x.failure.detail}", *(None,) * 4))
    counted = {"vectors": 0, "second set": 0, "skipped": 0, "expected from": None}
    heads = ("implementation", "target", "flags", "verdict")
    answer = sheet("", "check", {**dict.fromkeys(heads), **counted}, lines)
    if out.console:
        show(answer, wrap=("verdict",), drop=("expected from", "skipped", "second set", "vectors", "flags"))
    else:
        out.tables([answer])


def _rejected(r: Rejected) -> dict[str, str]:
    return {
        "path": paths.short(r.path),
        "reason": str(r.failure.reason),
        "detail": r.failure.detail,
        "next_action": r.failure.next_action,
    }
