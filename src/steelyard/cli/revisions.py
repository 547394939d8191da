"""``steelyard compare --revisions``: each revision of the user's repository in a copy of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ..analyse.compare import compare
from ..analyse.rows import Row, rows
from ..model.campaign import Campaign
from ..model.errors import UserError
from ..pipeline import Job, Pipeline
from . import select
from .compare import fraction, metrics_of, show
from .console import stderr
from .plan import plan
from .run import with_progress


def revisions_command(
    old: str,
    new: str,
    what: Sequence[str],
    targets: Sequence[str],
    flags: Sequence[str],
    workloads: Sequence[str],
    columns: str,
    threshold: str,
    fail_on: Sequence[str],
    everything: bool,
    out: Path | None,
    db: str | None,
) -> int:
    """Weighs ``what`` (default: the whole repository) as both revisions hold it, and compares."""
    top = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel"))
    metrics = metrics_of(columns)
    sides: list[list[Row]] = []
    for revision in (old, new):
        commit = _git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        with _copy(top, commit) as tree:
            places = [str(_inside(top, tree, w, revision)) for w in what] or [str(tree)]
            campaign = Campaign(
                implementations=tuple(places), targets=tuple(targets), flags=tuple(flags), workloads=tuple(workloads)
            )
            jobs, rejected = plan(campaign, baselines=False)
            for r in rejected:
                stderr().print(f"{revision}: {r.path.relative_to(tree)}: {r.failure.reason}: {r.failure.detail}")
            jobs = [_named(job, tree, revision, commit) for job in jobs]
            with select.store(db) as store:
                records = with_progress(Pipeline(store), jobs)
        for record in (r for r in records if r.failure is not None):
            why = f"{record.failure.reason}: {record.failure.detail}" if record.failure else ""
            stderr().print(f"{revision}: {record.setup.label} on {record.setup.target}: {why}")
        if not any(r.ok for r in records):
            raise UserError(f"revision {revision}: nothing could be weighed; steelyard show RUN --log has the details")
        sides.append(rows(r for r in records if r.metrics))
    return show(compare(*sides, metrics=metrics, threshold=fraction(threshold)), fail_on, everything, out)


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise UserError("--revisions needs git: apt install git") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["git failed"])[-1]
        raise UserError(f"git {arguments[0]}: {last}; give two revisions of the repository that you are in")
    return done.stdout.strip()


@contextmanager
def _copy(top: Path, commit: str) -> Iterator[Path]:
    """The tree of a commit in a folder of its own: the user's repository is only read."""
    with TemporaryDirectory(prefix="steelyard-") as folder:
        tree = Path(folder) / "tree"
        _git(top, "clone", "--quiet", "--shared", "--no-checkout", "--", str(top), str(tree))
        _git(tree, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit)
        yield tree


def _inside(top: Path, tree: Path, what: str, revision: str) -> Path:
    """The same place in the copy; :class:`UserError` when this revision does not have it."""
    try:
        place = tree / Path(what).resolve().relative_to(top.resolve())
    except ValueError:
        raise UserError(f"{what} lies outside of the repository {top}") from None
    if not place.exists():
        raise UserError(f"{what}: revision {revision} does not have it")
    return place


def _named(job: Job, tree: Path, revision: str, commit: str) -> Job:
    """The record says which revision it weighed, not where its copy lay."""
    place = Path(job.origin).relative_to(tree)
    return replace(job, origin=f"{place} at {revision} ({commit[:12]})")
