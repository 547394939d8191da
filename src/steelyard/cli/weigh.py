"""Jobs to stored records: what ``run``, ``check``, ``compare --revisions`` and ``history`` do once they know what."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ..analyse.answer import BUNDLED, PLACE, SETUP, newest, place_of, run_number, told_apart
from ..analyse.rows import rows
from ..building import UNCONFINED
from ..model import paths
from ..model.errors import UserError, counted
from ..model.implementation import Rejected
from ..model.inputs import MAX_SEED, SEED
from ..model.origin import of_path
from ..model.reasons import UNFIT
from ..model.record import Record
from ..model.row import Value
from ..pipeline import MAX_CYCLES, Job, Pipeline
from ..publish.results import some
from ..store import Store, StoreError
from . import select
from .console import stderr
from .options import number
from .progress import with_progress

if TYPE_CHECKING:
    from ..farm.hq import Cluster

#: most implementations whose answers are looked for among all runs
_CONFIRMED = 50
#: most variants of which is looked for newer sources than those whose runs were stored already
_REPLACED = 50
max_cycles = number(
    "--max-cycles",
    most=1 << 62,
    default=MAX_CYCLES,
    help="Cycles of one call before it is a runaway; of all together 500 times.",
)


class Weighed(NamedTuple):
    """The records of jobs in their order, what is to be said of them, and whether some could not be stored."""

    records: list[Record]
    remarks: list[str]
    lost: bool


def weigh(
    jobs: Sequence[Job],
    db: str | None,
    *,
    threads: int | None = None,
    force: bool = False,
    max_cycles: int = MAX_CYCLES,
    seed: str = SEED,
    batch: int = 0,
) -> Weighed:
    """Runs what is not stored. ``threads`` is one per core by default; ``force`` runs what is stored too. With
    ``batch`` a cluster does it, so many jobs at once, each on one thread by default. Raises
    :class:`UserError` for a seed that no record has room for."""
    if not 0 < len(seed) <= MAX_SEED:
        raise UserError(f"--seed: give 1 to {MAX_SEED} characters")
    with select.store(db) as store:
        last = store.last()
        pipeline: Pipeline | Cluster
        if batch:
            from ..farm.hq import Cluster

            folder = (
                paths.home() / "hq" / hashlib.sha256(select.place(db).encode(errors="surrogateescape")).hexdigest()[:16]
            )
            pipeline = Cluster(
                store, folder, size=batch, threads=threads or 1, force=force, max_cycles=max_cycles, seed=seed
            )
        else:
            pipeline = Pipeline(
                store, threads=threads or os.cpu_count() or 1, force=force, max_cycles=max_cycles, seed=seed
            )
        records = with_progress(pipeline, jobs)
        if lost := len(pipeline.keeper.waiting):
            runs = "1 run is" if lost == 1 else f"{lost} runs are"
            stderr().print(f"{runs} shown and not stored: {pipeline.keeper.why}", style="bold red", soft_wrap=True)
        records = list({r.setup.key: r for r in records}.values())  # two places may have the same sources
        stored = [r for r in records if r.id and r.id <= last]
        if stored and max_cycles != MAX_CYCLES:
            many = counted(len(stored), "stored run")
            stderr().print(f"--max-cycles changed nothing for {many}; --force makes them again", soft_wrap=True)
        bare = any(UNCONFINED in r.notes and not (r.id and r.id <= last) for r in records)
        remarks = [f"{UNCONFINED}; steelyard doctor says more"] if bare else []
        try:
            remarks += _confirmations(store, records)
            remarks += _replaced(store, jobs, stored)
        except StoreError:
            if not lost:  # else of a database that took no records, which are shown
                raise
        return Weighed(records, remarks, bool(lost))


def _confirmations(store: Store, records: Sequence[Record]) -> list[str]:
    """For variants that nobody knows, which runs of other sources gave the same answers."""
    answered = {
        (row["primitive"], row["label"]): r
        for row, r in zip(told_apart(rows(records)), records, strict=True)
        if r.verification is not None and r.verification.answers
    }
    found = [(label, store.same_answers(r)) for (_, label), r in islice(answered.items(), _CONFIRMED)]
    return [f"{label} answers as run {', '.join(map(str, runs))}, of other sources" for label, runs in found if runs]


def _replaced(store: Store, jobs: Sequence[Job], stored: Sequence[Record]) -> list[str]:
    """Of records that were ``stored`` already those whose sources others replaced since, or at the path that was named:
    answers take these."""
    setup, place = itemgetter(*SETUP), itemgetter("primitive", "label", "target", "device")
    older: set[int] = set()
    named: dict[tuple[Value, ...], Value] = {}
    for variant in islice(dict.fromkeys(r.setup.variant for r in stored), _REPLACED):
        found = store.rows(metrics=(), variant=variant)
        taken = newest(found, PLACE, ("digest",))[0]
        setups = set(map(setup, taken))  # whichever origin has it
        older |= {run_number(r) for r in found if setup(r) not in setups}
        named |= {(*place(r), place_of(r)): r["digest"] for r in taken}
    labels = dict.fromkeys(r.setup.label for r in stored if r.id in older)
    for s, origin in ((j.plan, of_path(j.origin)) for j in jobs if named):
        digest = named.get((s.primitive, s.label, s.target, s.device, origin or BUNDLED), s.implementation_digest)
        if digest != s.implementation_digest:
            labels[s.label] = None
    text = "stored already, and answers take other sources that were run since; --force makes these the newest"
    return [f"{text}: {some([*labels])}"] if labels else []


def exit_code(weighed: Weighed, rejected: Sequence[Rejected]) -> int:
    """3 when the database did not take all; 1 when something is wrong or nothing is verified; what merely does not fit
    a target is a result like any other."""
    if weighed.lost:
        return 3
    failures = [r.failure for r in weighed.records if r.failure is not None] + [r.failure for r in rejected]
    wrong = any(f.reason not in UNFIT for f in failures)
    # the baseline is beside what was asked for, but where nothing else was
    asked = [r for r in weighed.records if r.setup.variant != "nocrypt"] or weighed.records
    return 1 if wrong or not any(r.ok for r in asked) else 0
