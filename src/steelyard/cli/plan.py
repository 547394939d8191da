"""From words and campaign files to jobs, and why each of them is or is not to be run."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from ..model import campaign as campaigns
from ..model.campaign import Campaign
from ..model.errors import UserError
from ..model.implementation import Rejected
from ..model.inputs import SEED
from ..model.record import Record, Setup
from ..model.workload import workload as parse_workload
from ..pipeline import Job, nocrypt
from ..store import Store
from . import select


class Plan(NamedTuple):
    """Jobs in the order of targets, flags, workloads and implementations, and what is none."""

    jobs: list[Job]
    rejected: list[Rejected]


def asked(
    what: Sequence[str],
    targets: Sequence[str],
    flags: Sequence[str],
    workloads: Sequence[str],
    everything: bool,
    toolchain: str = "",
) -> Campaign:
    """What the command line says, over what the campaign file that it names says."""
    files = [w for w in what if w.endswith(".toml")]
    names = [w for w in what if not w.endswith(".toml")]
    if len(files) > 1:
        raise UserError(f"one campaign at a time: {', '.join(files)}")
    if everything and what:
        raise UserError("--all weighs every bundled implementation; leave out the names, or --all")
    said = {"implementations": names, "targets": targets, "flags": flags, "workloads": workloads}
    given = {key: tuple(value) for key, value in said.items() if value}
    base = campaigns.load(Path(files[0])) if files else Campaign()
    return base.but(**given, toolchain=toolchain or base.toolchain)


def plan(campaign: Campaign, *, baselines: bool = True) -> Plan:
    """The jobs of a campaign. With ``baselines`` nocrypt is weighed for itself too: its row stands beside what
    it is subtracted from."""
    loads = [parse_workload(w) for w in campaign.workloads or ("default",)]
    found, rejected = select.implementations(campaign.implementations)
    found = [c for c in found if not any(_excluded(c, pattern) for pattern in campaign.exclude)]
    targets = select.targets(campaign.targets, campaign.toolchain)
    sets = {t.name: select.flag_sets(campaign.flags, t) for t in targets}
    if baselines:
        bases = {c.implementation.primitive: nocrypt(c.implementation.primitive) for c in found}
        digests = {b.digest for b in bases.values()}
        others = [c for c in found if c.implementation.digest not in digests]
        found = [*(select.Chosen(b, "") for b in bases.values()), *others]
    jobs = [
        Job(c.implementation, t, f, load, c.origin)
        for t in targets
        for f in sets[t.name]
        for load in loads
        for c in found
    ]
    return Plan(jobs, rejected)


def _excluded(chosen: select.Chosen, pattern: str) -> bool:
    i = chosen.implementation
    return any(fnmatchcase(n, pattern) for n in (i.family, i.variant, i.label, i.primitive))


class Forecast(NamedTuple):
    """What a run would do with a job: the stored run's number, or why there is none."""

    job: Job
    run: int | None
    why: str


#: fields of a setup that change with time, and how to say so
_CHANGES = {
    "implementation_digest": "sources changed",
    "toolchain": "another compiler",
    "harness": "harness changed",
    "target_digest": "target changed",
    "timing_model": "timing model changed",
    "device": "another device",
}


def forecast(store: Store | None, jobs: Sequence[Job], seed: str = SEED) -> list[Forecast]:
    """For each job whether its record is stored, and what is different about the nearest one if not."""
    kept = store.find(job.setup.key for job in jobs) if store else {}
    old: dict[tuple[str, ...], Record] = {}
    for record in store.runs(points=False, metrics=()) if store else []:
        old.setdefault(_place(record.setup), record)  # newest first
    made = []
    for job in jobs:
        setup = job.setup
        found = kept.get(setup.key)
        if found and found.final and found.seed == seed:
            made.append(Forecast(job, found.id, "stored"))
        elif found and found.final:
            made.append(Forecast(job, None, f"another seed than run {found.id}"))
        elif found and found.failure:
            made.append(
                Forecast(job, None, f"run {found.id} ended with {found.failure.reason}, by the machine's doing")
            )
        elif near := old.get(_place(setup)):
            changes = [text for name, text in _CHANGES.items() if getattr(setup, name) != getattr(near.setup, name)]
            made.append(Forecast(job, None, f"{', '.join(changes)} since run {near.id}"))
        else:
            made.append(Forecast(job, None, "never run"))
    return made


def _place(s: Setup) -> tuple[str, ...]:
    return s.primitive, s.family, s.label, s.target, s.flags, s.workload
