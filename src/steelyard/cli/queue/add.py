"""``steelyard queue add``: a campaign for the workers of a server, after what others hand in."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ...model.campaign import Campaign
from ...model.errors import UserError
from ...model.implementation import Implementation
from ...model.paths import in_zip
from ...model.reasons import UNFIT
from ...model.target import load_target
from ...pipeline import Job
from ...publish.sheet import plain
from ...sources.escape import escaped
from ...sources.pack import pack
from ...store.submissions import OF_ITS_SOURCES, Desk, Given
from ...store.task import Task
from ...web import lint
from .. import options, select
from ..options import Stored, command
from ..plan import asked, plan
from ..records import refused
from . import me


class Add(Stored, frozen=True, kw_only=True):
    """What ``queue add`` is asked."""

    what: tuple[str, ...]
    target: tuple[str, ...]
    flags: tuple[str, ...]
    workload: tuple[str, ...]


@command(Add, options.packages, options.targets, options.flags, options.workloads, options.db, options.tables)
def verb(ask: Add) -> int:
    """Let workers weigh implementations or a campaign, after what others hand in.

    Results are published as they come. What was added before and is the same is not done again; queue repeat does it.
    Other sources of the same place replace those that were added from it.
    """
    campaign = asked(ask.what, Campaign(targets=ask.target, flags=ask.flags, workloads=ask.workload))
    jobs, rejected = plan(campaign, baselines=False)
    if other := [j.target.name for j in jobs if j.target.device != "simulator"]:
        raise UserError(f"{other[0]}: workers run what is simulated; name other targets with --target")
    lines = []
    with select.store(ask.db) as store:
        for some in _by_implementation(jobs):
            (given, tasks), i = _given(some), some[0].implementation
            lines.append((i.variant, i.name, Desk(store).add(given, tasks, _gone(some[0]))))
    columns = {"variant": None, "implementation": None, "new jobs": 0}
    ask.out.give([plain("", "added", columns, lines), *refused(rejected)])
    return 1 if any(r.failure.reason not in UNFIT for r in rejected) else 0


def _by_implementation(jobs: Sequence[Job]) -> list[list[Job]]:
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(str(job.implementation.folder), []).append(job)
    return list(found.values())


def _given(jobs: Sequence[Job]) -> tuple[Given, list[Task]]:
    """The package of some jobs of one implementation, and what is to be done. :class:`UserError` where it is not whole
    without what is around it."""
    i: Implementation = jobs[0].implementation
    if other := next(
        (j.target for j in jobs if j.target.toolchain.name != load_target(j.target.name).toolchain.name), None
    ):
        text = f"{other.toolchain.name} for {other.name}: workers compile with the usual compiler of a target"
        raise UserError(f"{text}; leave toolchain out, or weigh it here with steelyard run")
    _, content = pack(i.folder)
    file = lint.safe(f"{i.variant}-{i.name}.zip")
    found = lint.lint(content, file)
    offer = next((o for o in found.implementations if o.digest == i.digest), None)
    if offer is None:
        raise UserError(f"{i.folder}: cannot be packed by itself; hand in the folder above it with steelyard submit")
    of = {n: getattr(offer, n) for n in ("primitive", "family", "variant", "name", "digest", "sources")}
    tasks = [
        Task(package=hashlib.sha256(content).hexdigest(), file=file, **of, target=j.target.name, flags=j.flags,
             workload=j.workload.word)
        for j in jobs
    ]  # fmt: skip
    licence = f"{OF_ITS_SOURCES}, {_shown(*_at(jobs[0]))}" if jobs[0].origin else OF_ITS_SOURCES
    return Given(file, content, msgspec.json.encode(found).decode(), licence, me()), tasks


def _at(job: Job) -> tuple[Path, Path]:
    """Where an implementation is that is not bundled: the folder or zip that it was looked for in, by the links that
    the user named, and the place in it. What is added from there again replaces it, however much of the path is
    named."""
    mine, path = job.implementation.folder.resolve(), Path(job.origin)
    top = _top(job)
    return (_zipped(path) or path, mine.relative_to(top)) if mine.is_relative_to(top) else (mine, Path())


def _top(job: Job) -> Path:
    """The folder that has the content of the path that was named, or of the zip that it leads into."""
    path = Path(job.origin)
    return select.unpacked(job.implementation.folder) if _zipped(path) else path.resolve()


def _zipped(path: Path) -> Path | None:
    zipped, _ = in_zip(path)
    return zipped if zipped.is_file() else None


def _shown(path: Path, part: Path) -> str:
    return escaped(os.path.normpath((path / part).absolute()))


def _gone(job: Job) -> Callable[[str], bool]:
    """Tells of a licence of :func:`_given` whether its place was below the path of this job, and holds no files any
    more, as in a newer zip whose folders are called by another version."""
    if not job.origin:
        return lambda licence: False
    path, top = _at(job)[0], _top(job)
    before = f"{OF_ITS_SOURCES}, {_shown(path, Path())}"

    def gone(licence: str) -> bool:
        part = Path(licence.removeprefix(before).lstrip("/"))
        below = licence == before or licence.startswith(f"{before}/")
        return below and not any(f.is_file() for f in (top / part).glob("*"))

    return gone
