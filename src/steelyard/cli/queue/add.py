"""``steelyard queue add``: a campaign for the workers of a server, after what others hand in."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...jobs import identity
from ...model.campaign import Campaign
from ...model.errors import UserError
from ...model.implementation import Implementation
from ...model.paths import in_zip
from ...model.reasons import UNFIT
from ...model.row import grouped
from ...model.target import load_target
from ...pipeline import Job
from ...publish.sheet import plain
from ...sources.escape import escaped
from ...sources.kind import fits
from ...sources.pack import pack
from ...store.submissions import OF_ITS_SOURCES, Desk, Given
from ...store.task import Task
from ...web import lint
from ...web.wire import Offer
from .. import options, select
from ..console import stderr
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
    if odd := [j.target for j in jobs if j.target.toolchain.name != load_target(j.target.name).toolchain.name]:
        text = f"{odd[0].toolchain.name} for {odd[0].name}: workers compile with the usual compiler of a target"
        raise UserError(f"{text}; leave toolchain out, or weigh it here with steelyard run")
    lines, failed = [], False
    with select.store(ask.db) as store:
        for some in _by_implementation(jobs):
            i = some[0].implementation
            try:
                given, tasks = _given(some)
            except UserError as e:  # others are added
                stderr().print(f"{i.label}: {e}")
                failed = True
            else:
                lines.append((i.variant, i.name, Desk(store).add(given, tasks, _renamed(some[0]))))
    columns = {"variant": None, "implementation": None, "new jobs": 0}
    ask.out.give([plain("", "added", columns, lines), *refused(rejected)])
    return 1 if failed or any(r.failure.reason not in UNFIT for r in rejected) else 0


def _by_implementation(jobs: Sequence[Job]) -> list[list[Job]]:
    return list(grouped(jobs, lambda j: (j.implementation.folder, j.implementation.primitive)).values())


def _given(jobs: Sequence[Job]) -> tuple[Given, list[Task]]:
    """The package of some jobs of one implementation, and what is to be done. :class:`UserError` where it is not whole
    without what is around it."""
    i: Implementation = jobs[0].implementation
    file = lint.safe(f"{i.variant}-{i.name}.zip")
    kinds = i.primitive.removeprefix("crypto_").upper()  # a link to answers may be called otherwise than these
    kat = {k.name if fits(i.primitive, k.name) else f"LWC_{kinds}_KAT_{n}.txt": k for n, k in enumerate(i.kat)}
    why = UserError("cannot be packed by itself; hand in what is around it with steelyard submit")
    for called in (), (i.primitive, i.variant, *i.name.split("/")):  # as it lies there, else as it is called
        try:
            _, content = pack(i.folder, called=called, beside=kat)
        except UserError as e:
            why = e
            continue
        found = lint.lint(content, file)
        offer = next((o for o in found.implementations if _is_it(o, i)), None)
        if offer is not None:
            break
    else:
        raise why
    of = {n: getattr(offer, n) for n in ("primitive", "family", "variant", "name", "digest", "sources")}
    tasks = [
        Task(package=hashlib.sha256(content).hexdigest(), file=file, **of, target=j.target.name, flags=j.flags,
             workload=j.workload.word)
        for j in jobs
    ]  # fmt: skip
    mine = replace(found, implementations=(offer,))  # what else lies in the package is another's
    return Given(file, content, msgspec.json.encode(mine).decode(), f"{OF_ITS_SOURCES}{_at(jobs[0])}", me()), tasks


def _is_it(offer: Offer, i: Implementation) -> bool:
    """Whether what a worker would find is an implementation, by its names, sources and known answers."""
    names = ("primitive", "variant", "name", "digest")
    return all(getattr(offer, n) == getattr(i, n) for n in names) and offer.sources == identity(i)


def _at(job: Job) -> str:
    """Where an implementation is that is not bundled, by the links that the user named, however much of the path that
    was: what is added from there again replaces it."""
    if not job.origin:
        return ""
    mine, (path, top) = job.implementation.folder.resolve(), _named(job)
    return _place(path / mine.relative_to(top) if mine.is_relative_to(top) else mine)


def _named(job: Job) -> tuple[Path, Path]:
    """The path that was named, or the zip that it leads into, and the folder that has its content."""
    path = Path(job.origin)
    zipped, mine = _zipped(job), job.implementation.folder
    return (zipped, select.unpacked(mine)) if zipped else (path, path.resolve() if job.origin else mine)


def _place(path: Path) -> str:
    return f", {escaped(os.path.normpath(path.absolute()))}"


def _zipped(job: Job) -> Path | None:
    """The zip that an implementation is in."""
    path, _ = in_zip(Path(job.origin))
    return path if job.origin and path.is_file() else None


def _renamed(job: Job) -> Callable[[str], bool]:
    """Tells of a licence of :func:`_given` whether its place is that of this job under another folder at the top of the
    same zip, as of a release, whose folder has a version. A zip with several at its top has none of them."""
    zipped = _zipped(job)
    tops = select.unpacked(job.implementation.folder).iterdir() if zipped else ()
    if zipped is None or sum(f.is_dir() and not f.name.startswith((".", "__MACOSX")) for f in tops) != 1:
        return lambda licence: False
    before = f"{OF_ITS_SOURCES}{_place(zipped)}/"

    def below_top(licence: str) -> str:
        return licence.removeprefix(before).partition("/")[2]

    mine = below_top(f"{OF_ITS_SOURCES}{_at(job)}")
    return lambda licence: licence.startswith(before) and below_top(licence) == mine
