"""``steelyard run`` and ``steelyard check``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..model import paths
from ..model.implementation import Rejected
from ..model.reasons import UNFIT
from ..model.record import Record
from ..model.workload import workload as parse_workload
from ..pipeline import Job, Pipeline, nocrypt
from . import select
from .console import print_json, stderr, stdout, table
from .results import as_json, legend, print_results


def run_command(
    what: Sequence[str],
    target: Sequence[str],
    flags: Sequence[str],
    workload: str,
    threads: int | None,
    force: bool,
    max_cycles: int,
    db: str | None,
    json: bool,
    check: bool = False,
) -> int:
    """Runs the campaign. Exit code 1 when something is wrong or nothing is verified; what merely does not
    fit a target is a result like any other."""
    load = parse_workload(workload)
    found, rejected = select.implementations(what)
    targets = select.targets(target)
    sets = {t.name: select.flag_sets(flags, t) for t in targets}
    if not check:  # the baseline's row stands beside what it is subtracted from
        bases = {c.implementation.primitive: nocrypt(c.implementation.primitive) for c in found}
        digests = {b.digest for b in bases.values()}
        others = [c for c in found if c.implementation.digest not in digests]
        found = [*(select.Chosen(b, "") for b in bases.values()), *others]
    jobs = [Job(c.implementation, t, f, load, c.origin) for t in targets for f in sets[t.name] for c in found]
    with select.store(db) as store:
        records = _with_progress(
            Pipeline(store, threads=threads or os.cpu_count() or 1, force=force, max_cycles=max_cycles), jobs
        )
    if json:
        print_json({"runs": [as_json(r) for r in records], "rejected": [_rejected(r) for r in rejected]})
    elif check:
        _print_check(records, rejected)
    else:
        console = stdout()
        print_results(console, records)
        if rejected:
            rows = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
            console.print(
                table("Not weighed", ("package", "reason", "detail"), rows, left=3, wrap=("package", "detail"))
            )
        legend(console)
    failures = [r.failure for r in records if r.failure is not None] + [r.failure for r in rejected]
    wrong = any(f.reason not in UNFIT for f in failures)
    return 1 if wrong or not any(r.ok for r in records) else 0


def _with_progress(pipeline: Pipeline, jobs: Sequence[Job]) -> list[Record]:
    console = stderr()
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
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
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
