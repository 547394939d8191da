"""From words and campaign files to jobs, and why each of them is or is not to be run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import asdict, replace

from .. import lab
from ..model import campaign as campaigns
from ..model.campaign import Campaign
from ..model.errors import UserError, cut, meant
from ..model.implementation import Rejected
from ..model.inputs import SEED
from ..model.primitive import PRIMITIVES
from ..model.record import Record, Setup
from ..model.row import Value
from ..model.workload import of_one_size
from ..model.workload import workload as parse_workload
from ..pipeline import MAX_CYCLES, Job, lacks, nocrypt
from ..store import Store
from . import select
from .console import stderr


class Plan(NamedTuple):
    """Jobs in the order of targets, flags, workloads and implementations, and what is not one."""

    jobs: list[Job]
    rejected: list[Rejected]


def asked(what: Sequence[str], said: Campaign) -> Campaign:
    """What the command line names and has ``said`` besides, over what the campaign file among the names says. Raises
    :class:`UserError` for an empty option and for a second file."""
    for option, words in (("--flags", said.flags), ("--workload", said.workloads)):
        if words and not any(w.strip(" ;") for w in words):
            raise UserError(f"{option}: is empty; leave it out for the usual")
    files = [w for w in what if w.endswith(".toml")]
    if len(files) > 1:
        raise UserError(f"one campaign at a time: {cut(', '.join(files))}; run the others after it")
    base = campaigns.load(Path(files[0])) if files else Campaign()
    named = said.but(implementations=tuple(w for w in what if not w.endswith(".toml")))
    return base.but(**{name: value for name, value in asdict(named).items() if value})


def plan(
    campaign: Campaign, *, baselines: bool = True, on: Sequence[lab.Station] = (), whole_lab: bool = False
) -> Plan:
    """The jobs of a campaign, ``on`` boards instead of its targets where some are given; out of the ``whole_lab`` those
    of its targets. With ``baselines`` what is subtracted from each is weighed for itself too: its row stands beside.
    Raises :class:`UserError` for a name that nothing has."""
    select.usable_home()
    loads = [parse_workload(w) for w in campaign.workloads or ("default",)]
    found, rejected = select.implementations(campaign.implementations)
    left = [c for c in found if not any(c.implementation.is_called(pattern) for pattern in campaign.exclude)]
    patterns = (p for p in campaign.exclude if p not in PRIMITIVES)
    for idle in (p for p in patterns if not any(c.implementation.is_called(p) for c in found)):
        hint = meant(idle, {n for c in found for n in (c.implementation.variant, c.implementation.label)})
        if nocrypt("crypto_aead").is_called(idle):
            hint = "it is run because its image is subtracted from the others"
        stderr().print(f"exclude: nothing of this campaign is called {cut(idle)!r}{'; ' * bool(hint)}{hint}")
    found = left
    named = [c.implementation for c in found if c.implementation.variant != "nocrypt"]
    unsized = sorted({i.primitive for i in named if not PRIMITIVES[i.primitive].sized})
    if unsized and any(of_one_size([load.name]) != (load.name,) for load in loads) and campaign.workloads:
        stderr().print(f"workloads are ignored for {', '.join(unsized)}, whose calls have one size")
    if on and campaign.targets and not whole_lab:
        raise UserError(
            "--on: a board says itself which target it is; leave out --target, or the campaign's targets, or write "
            "--on lab for all boards of these"
        )
    targets = select.targets(campaign.targets, campaign.toolchain) if campaign.targets or not on else []
    boards = lab.pools([s for s in on if not targets or s.board.target in {t.name for t in targets}])
    if on:
        if not boards:
            raise UserError(f"--on lab: no board of it is {' or '.join(t.name for t in targets)}; leave out --target")
        targets = select.targets(list(boards), campaign.toolchain)
    sets = {t.name: select.flag_sets(campaign.flags, t) for t in targets}
    loads_of = {True: loads, False: [parse_workload(w) for w in of_one_size(load.name for load in loads)]}
    jobs: list[Job] = []
    below: dict[tuple[object, ...], Job] = {}
    each = ((t, f, k) for t in targets for f in sets[t.name] for k in range(len(loads)))
    for target, options, k in each:
        group = [
            Job(c.implementation, target, options, load, c.origin, boards.get(target.name, ()))
            for c in found
            for load in loads_of[PRIMITIVES[c.implementation.primitive].sized][k : k + 1]
        ]
        bases = {same(job): job for job in (j.baseline for j in group if baselines)}
        jobs += [base for same, base in bases.items() if same not in below]
        below |= bases
        jobs += [job for job in group if same(job) not in below]
    return Plan(jobs, rejected)


def same(job: Job) -> tuple[object, ...]:
    """What two jobs of a plan have in common where they are one."""
    return job.digest, job.target.name, job.flags, job.workload.text, job.boards


class Forecast(NamedTuple):
    """What a run would do with a job: the stored run's number, or why there is none. ``asks`` when only the target's
    machine can tell whether its record is stored."""

    job: Job
    run: int | None
    why: str
    asks: bool = False


#: what setups are called by, in setups and in rows
_CALLED = ("primitive", "family", "label", "target", "flags", "workload")
#: fields of a setup that change with time, and how to say so
CHANGES = {
    "implementation_digest": "sources changed",
    "toolchain": "another compiler",
    "harness": "harness changed",
    "target_digest": "target changed",
    "timing_model": "timing model changed",
    "device": "another device",
}


def forecast(
    store: Store | None, jobs: Sequence[Job], seed: str = SEED, max_cycles: int = MAX_CYCLES
) -> list[Forecast]:
    """For each job whether its record is stored, and what is different about the nearest one if not. Nothing is built
    and no machine is asked: where only it knows what it counts, all else is compared."""
    setups = [job.plan for job in jobs]
    kept = store.find(s.key for s in setups if s.timing_model) if store else {}
    old = _nearest(store, setups) if store else {}
    made = []
    for job, setup in zip(jobs, setups, strict=True):
        if found := kept.get(setup.key):
            why = lacks(job, found, seed, max_cycles)
            made.append(Forecast(job, None if why else found.id, why or "stored"))
        else:
            made.append(_unstored(job, setup, old.get(_called(setup))))
    return made


def _nearest(store: Store, setups: Sequence[Setup]) -> dict[tuple[Value, ...], Record]:
    """The newest record that is called as one of these setups is, by what both are called."""
    wanted = set(map(_called, setups))
    newest: dict[tuple[Value, ...], int] = {}
    for row in reversed(store.rows(metrics=())):  # newest last
        called = tuple(row[name] for name in _CALLED)
        if called in wanted and isinstance(row["run"], int):
            newest[called] = row["run"]
    return {_called(record.setup): record for record in store.records(newest.values())}


def _unstored(job: Job, setup: Setup, near: Record | None) -> Forecast:
    """Of a job without a record: what is different about the nearest one."""
    if near is None:
        return Forecast(job, None, "never run")
    mine = setup if setup.timing_model else replace(setup, timing_model=near.setup.timing_model)
    texts = CHANGES | ({"timing_model": "another analyzer or sample rate"} if job.on else {})
    changes = [text for name, text in texts.items() if getattr(mine, name) != getattr(near.setup, name)]
    if changes:
        return Forecast(job, None, f"{', '.join(changes)} since run {near.id}")
    return Forecast(job, None, f"asks the machine when it runs; all else as in run {near.id}", asks=True)


def _called(s: Setup) -> tuple[Value, ...]:
    return tuple(getattr(s, name) for name in _CALLED)
