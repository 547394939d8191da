"""``steelyard run``: weighs implementations, or says what it would weigh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import to_builtins

from ..analyse import order
from ..analyse.answer import told_apart
from ..analyse.rows import check_columns, rows
from ..model.campaign import Campaign
from ..model.errors import UserError, counted, refuse
from ..model.implementation import Rejected
from ..model.inputs import SEED
from ..model.reasons import UNFIT
from ..model.record import Record
from ..model.row import Row
from ..model.workload import grid
from ..pipeline import Job
from ..publish import pivot, results
from ..publish.sheet import Sheet, plain
from . import options, select
from .console import number, stderr
from .options import command
from .plan import Forecast, asked, forecast, plan
from .records import document, packages, refused
from .stations import WHOLE, lab_option, stations
from .weigh import exit_code, max_cycles, weigh

#: runs before which their number is said
MANY = 1000
#: runs of a batch
BATCH = 50
_MEANING = (
    "Cycles: means over the known answers, minus the empty call. ROM, static RAM: minus the nocrypt image, but for "
    "library code that only nocrypt has. Definitions: docs/definitions.md. How far to trust them: docs/claims.md. "
    "Details: steelyard show RUN"
)


class Run(options.Weighing, frozen=True, kw_only=True):
    """What ``run`` is asked."""

    toolchain: str
    workload: tuple[str, ...]
    adlen: str
    mlen: str
    everything: bool
    dry_run: bool
    threads: int | None
    engine: str
    batch: int | None
    force: bool
    seed: str
    on: tuple[str, ...]
    lab: Path | None
    max_cycles: int
    columns: str


@command(
    Run,
    options.packages,
    options.targets,
    options.flags,
    options.toolchain,
    options.workloads,
    options.text("--adlen", metavar="BYTES", help="Bytes of associated data: 0,16 or FROM:TO:STEP."),
    options.text("--mlen", metavar="BYTES", help="Bytes of message, likewise; every pair is measured."),
    options.flag("--all", "everything", help="All bundled implementations, as by default."),
    options.flag("--dry-run", help="Only say what would be run, and why."),
    options.number("--threads", "-j", most=1024, help="Default: one per core."),
    click.option(
        "--engine",
        type=click.Choice(("threads", "hq")),
        default="threads",
        show_default=True,
        help="Who does it: threads of this machine, or a HyperQueue cluster.",
    ),
    options.number(
        "--batch", most=100_000, help=f"With --engine hq: runs that a worker gets at once. Default: {BATCH}"
    ),
    options.force,
    options.text("--seed", default=SEED, metavar="TEXT", help="Seed of the fresh inputs; recorded."),
    click.option("--on", multiple=True, metavar="BOARD", help="Boards instead of targets; lab: all of them."),
    lab_option,
    max_cycles,
    options.columns,
    options.db,
    options.tables,
)
def verb(ask: Run) -> int:
    """Weigh implementations: build, verify, measure, store, and print the tables."""
    if ask.everything and ask.what:
        raise UserError("--all weighs every bundled implementation; leave out the names, or --all")
    if ask.dry_run:
        refuse({"--columns": ask.columns}, "not with --dry-run, which has no figures; leave it out")
    columns = check_columns(ask.columns)
    sizes = (grid(ask.adlen, ask.mlen),) if ask.adlen or ask.mlen else ()
    said = Campaign(targets=ask.target, flags=ask.flags, workloads=(*ask.workload, *sizes), toolchain=ask.toolchain)
    campaign = asked(ask.what, said)
    jobs, rejected = plan(campaign, on=stations(ask.on, ask.lab), whole_lab=ask.on == (WHOLE,))
    if ask.dry_run:
        return _say_forecast(jobs, rejected, ask)
    if len(jobs) > MANY:
        count, places = len({j.implementation.folder for j in jobs}), len({j.target.name for j in jobs})
        text = f"{number(len(jobs))} runs: {counted(count, 'implementation')} on {counted(places, 'target')}"
        stderr().print(f"{text}; --dry-run lists them, Ctrl-C stops and keeps what is done")
    if ask.batch is not None and ask.engine != "hq":
        raise UserError("--batch: is of --engine hq; threads take one run after the other")
    size = (ask.batch or BATCH) if ask.engine == "hq" else 0
    weighed = weigh(
        jobs, ask.db, threads=ask.threads, force=ask.force, max_cycles=ask.max_cycles, seed=ask.seed,
        batch=size,
    )  # fmt: skip
    meaning = [_MEANING] if ask.out.console and any(r.metrics for r in weighed.records) else []
    sheets = [*sheets_of(weighed.records, columns, flat=ask.out.flat), *refused(rejected)]
    ask.out.give(sheets, document(weighed.records, rejected), [*weighed.remarks, *meaning])
    return exit_code(weighed, rejected)


def sheets_of(records: Sequence[Record], columns: Sequence[str] = (), *, flat: bool = False) -> list[Sheet]:
    """What a run prints: the matrix over targets, then the tables that ``publish`` prints."""
    found = rows(records)
    for row, record in zip(found, records, strict=True):
        if record.failure is not None:
            row["detail"] = record.failure.detail
    found = told_apart(order.ordered(found, results.ORDER))
    if flat:
        return [results.flat(found, columns)]
    why = results.without_figures(found) if columns else []  # without columns it is among the tables
    return [*pivot.matrix(found), *results.tables(found, columns), *why]


def _named(job: Job) -> Row:
    """What a job's row is named by."""
    s = job.plan
    return {"primitive": s.primitive, "label": s.label, "digest": s.implementation_digest, "origin": job.origin}


def _say_forecast(jobs: Sequence[Job], rejected: Sequence[Rejected], ask: Run) -> int:
    """Says what a run would do with each job, and does nothing; 1 where a package is none that should be one."""
    if ask.force:
        made = [Forecast(job, None, "--force") for job in jobs]
    else:
        there = select.exists(ask.db)
        with select.store(ask.db if there else ":memory:") as store:
            made = forecast(store if there else None, jobs, ask.seed, ask.max_cycles)
    stored, asking = sum(f.run is not None for f in made), sum(f.asks for f in made)
    counts = f"{len(made) - stored - asking} to run, {stored} stored"
    counts += f", {asking} that ask their machine first" if asking else ""
    several = ask.out.flat or len({f.job.implementation.primitive for f in made}) > 1
    names = told_apart([_named(f.job) for f in made])
    lines = [
        (
            str(name["label"]),
            *([f.job.implementation.primitive] if several else []),
            f.job.target.name,
            " ".join(f.job.flags),
            f.job.plan.workload.split(" ")[0],
            f"run {f.run}" if f.run else "asks" if f.asks else "to run",
            f.why,
        )
        for f, name in zip(made, names, strict=True)
    ]
    columns = ("implementation", *(["primitive"] if several else []), "target", "flags", "workload", "run", "why")
    planned = [{**to_builtins(f.job.plan), "run": f.run, "why": f.why} for f in made]
    ask.out.give([plain("", "plan", columns, lines), *refused(rejected)], [*planned, *packages(rejected)])
    if ask.out.console:
        ask.out.remark([f"{counts}; nothing was done"])
    return 1 if any(r.failure.reason not in UNFIT for r in rejected) else 0
