"""``compare --revisions`` and ``history``: each revision of the user's repository in a copy of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from ..analyse.answer import choose
from ..analyse.compare import compare
from ..analyse.rows import check_columns, rows
from ..model.campaign import Campaign
from ..model.errors import UserError, WorkError
from ..model.record import Record
from ..model.row import Row
from ..pipeline import Job, Pipeline
from ..publish import figure, history
from ..store import StoreError
from . import select
from .compare import fraction, metrics_of, show
from .console import stderr
from .output import Output
from .plan import plan
from .plot import FORMATS, draw
from .progress import with_progress
from .publish import print_sheets
from .run import unstored


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
    out: Output,
    db: str | None,
) -> int:
    """Weighs ``what`` (default: the whole repository) as both revisions hold it, and compares."""
    top = _top()
    metrics = metrics_of(columns)
    campaign = Campaign(targets=tuple(targets), flags=tuple(flags), workloads=tuple(workloads))
    sides: list[list[Row]] = []
    for revision in (old, new):
        commit = _git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        records = _weighed(top, revision, commit, what, campaign, db)
        if not any(r.ok for r in records):
            raise WorkError(f"revision {revision}: nothing could be weighed; steelyard show RUN --log has the details")
        sides.append(rows(r for r in records if r.metrics))
    return show(
        compare(*sides, metrics=metrics, threshold=fraction(threshold), about=["revision"]), fail_on, everything, out
    )


def history_command(
    revisions: str,
    what: Sequence[str],
    targets: Sequence[str],
    flags: Sequence[str],
    workloads: Sequence[str],
    columns: str,
    limit: int,
    out: Output,
    db: str | None,
) -> int:
    """Weighs ``what`` in every revision of a range that changed it, oldest first: a table, or a figure with one."""
    top = _top()
    chosen = check_columns(columns)
    places = [str(Path(w).resolve()) for w in what]
    listed = _git(top, "log", f"--max-count={limit}", "--format=%H %s", "--end-of-options", revisions, "--", *places)
    campaign = Campaign(targets=tuple(targets), flags=tuple(flags), workloads=tuple(workloads))
    plan(campaign.but(implementations=("nocrypt",)), baselines=False)  # what is wrong in any revision is said once
    found: list[Row] = []
    for order, line in enumerate(reversed(listed.splitlines())):
        commit, subject = line.split(" ", 1)
        try:
            records = _weighed(top, commit[:7], commit, what, campaign, db)
        except StoreError:  # nor is it any revision's fault
            raise
        except UserError as e:  # what has a history may have begun, moved or been broken in it
            stderr().print(f"{commit[:7]}: {e}")
            continue
        about: Row = {"revision": commit[:7], "subject": subject, "order": order}
        weighed = rows(r for r in records if r.metrics)
        found += [row | about for row in (choose(weighed, every=True).rows if out.format in FORMATS else weighed)]
    if not found:
        raise WorkError(f"{revisions}: no revision holds anything that could be weighed; check the range and the paths")
    if out.console:
        print_sheets(history.tables(found, chosen))
    elif out.format in FORMATS:
        draw("history", figure.drawn(figure.load("history"), figure.of_records(found, over_time=True)), "", out)
    else:
        out.tables(history.tables(found, chosen))
    return 0


def _weighed(
    top: Path, revision: str, commit: str, what: Sequence[str], campaign: Campaign, db: str | None
) -> list[Record]:
    """Records of ``what`` (default: the whole repository) as a commit holds it; what went wrong is said."""
    with _copy(top, commit) as tree:
        places = [str(_inside(top, tree, w, revision)) for w in what] or [str(tree)]
        jobs, rejected = plan(campaign.but(implementations=tuple(places)), baselines=False)
        for r in rejected:
            stderr().print(f"{revision}: {r.path.relative_to(tree)}: {r.failure.reason}: {r.failure.detail}")
        with select.store(db) as store:
            pipeline = Pipeline(store)
            records = with_progress(pipeline, [_named(job, tree, revision, commit) for job in jobs])
            unstored(pipeline)
    for record in records:
        if record.failure is not None:
            why = f"{record.failure.reason}: {record.failure.detail}"
            stderr().print(f"{revision}: {record.setup.label} on {record.setup.target}: {why}")
    return records


def _top() -> Path:
    """The repository that the user is in."""
    return Path(_git(Path.cwd(), "rev-parse", "--show-toplevel"))


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
