"""Weighing revisions of the user's repository, each in a copy of its own: what ``compare`` and ``history`` share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from ..analyse.rows import rows
from ..model import paths
from ..model.campaign import Campaign
from ..model.errors import UserError, WorkError
from ..model.origin import at_revision
from ..model.reasons import Reason
from ..model.record import Record
from ..model.row import Row
from ..pipeline import Job
from ..sources.discover import read_with
from .console import stderr
from .options import Weighing
from .plan import plan
from .repository import CHANGE, MODULE, borrowing, copied, files_of, git, hold, links_of, reached, refuse_without
from .select import exists_at, is_place, within_archive
from .weigh import weigh


class Commit(NamedTuple):
    """A revision in a history, with the first of its parents there."""

    commit: str
    parent: str | None
    subject: str


class Revisions(Struct, frozen=True):
    """What is weighed in every revision: ``what`` (default: the whole repository ``top``), and how."""

    top: Path
    what: tuple[str, ...]
    campaign: Campaign
    db: str | None
    #: the folders of each revision that were weighed, and those that were refused, with why
    weighable: dict[str, set[str]] = {}
    refused: dict[str, dict[str, str]] = {}
    #: submodules of each revision, with their commits; they are not weighed
    modules: dict[str, dict[str, str]] = {}

    @classmethod
    def of(cls, ask: Weighing, workloads: tuple[str, ...]) -> Revisions:
        """What a verb is asked for, in the repository that the user is in."""
        top = Path(git(Path.cwd(), "rev-parse", "--show-toplevel"))
        return cls(top, ask.what, Campaign(targets=ask.target, flags=ask.flags, workloads=workloads), ask.db)

    def of_revision(self, revision: str) -> list[Row]:
        """The rows of a revision that the user names; :class:`WorkError` where it holds nothing that can be
        weighed."""
        commit = git(self.top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        records = self.weighed(revision, commit)
        if not any(r.ok or (r.failure and r.failure.reason == Reason.NO_EXPECTED) for r in records):
            raise WorkError(f"revision {revision}: nothing could be weighed; steelyard show RUN --log has the details")
        return rows(records)

    def _within(self) -> list[str]:
        """What is weighed, as git names it in the repository: a link, and what it leads to now; of a place in a zip,
        which the work tree may no longer have, the zip."""
        named = [path for w in self.what for path in dict.fromkeys(_of_repository(self.top, w))]
        return [str(next((p for p in reversed(path.parents) if p.suffix.lower() == ".zip"), path)) for path in named]

    def lost(self, old: str, new: str) -> list[str]:
        """Sentences on folders that were weighed in one revision and are refused in another, and on submodules, which
        are not weighed, that changed."""
        was, refused = self.weighable.get(old, set()), self.refused.get(new, {})
        lost = [f"{at} was weighed, and {new} refuses it: {why}" for at, why in refused.items() if at in was]
        before, now = self.modules.get(old, {}), self.modules.get(new, {})
        moved = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
        return lost + [f"submodule {path} is another one in {new}: compare it in its own repository" for path in moved]

    def log(self, revisions: str, most: int) -> list[Commit]:
        """The revisions of a range that changed what is weighed, oldest first; the newest of them where there are more
        than ``most``."""
        places = self._led(revisions) or ["."]
        # git's own choice by paths leaves branches out whose merge is equal to another, or takes other parents for the
        # first ones; of this one what is left out is as its first parent
        options = ("--date-order", "--diff-merges=first-parent", "--root", "--name-only", "--no-renames", "-z")
        listed = git(self.top, "log", *options, "--format=%x00%H %P%x09%s", "--end-of-options", revisions, "--")
        first: dict[str, str | None] = {}
        shown: dict[str, str] = {}
        for entry in filter(None, listed.strip("\0").split("\0\0")):
            header, _, names = entry.partition("\0")
            hashes, _, subject = header.partition("\t")
            commit, *parents = hashes.split()
            first[commit] = parents[0] if parents else None
            if names and any(hold(places, name) for name in names.removeprefix("\n").split("\0")):
                shown[commit] = subject.encode(errors="surrogateescape").decode(errors="backslashreplace")

        def before(commit: str) -> str | None:
            parent = first[commit]
            while parent is not None and parent not in shown:
                parent = first.get(parent)
            return parent

        return [Commit(c, before(c), subject) for c, subject in list(shown.items())[:most][::-1]]

    def _led(self, revisions: str) -> list[str]:
        """What is weighed, and where links lead from there in any revision of a range: those of its newest one, and
        both sides of every change. None for the whole repository."""
        places, asked = self._within(), ("--end-of-options", revisions, "--")
        tip = git(self.top, "log", "--max-count=1", "--format=%H", *asked) if places else ""
        if not tip:
            return places
        options = ("-m", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--format=")
        changes = git(self.top, "log", *options, *asked)
        files = files_of(self.top, tip)
        for old, new, was, now, path in CHANGE.findall(changes):
            files += [(old, was, path), (new, now, path)]
        with borrowing(self.top) as copy:
            links, unread = links_of(self.top, copy, files)
        places = _read_with(self.top, places, files, links)
        # a revision that is shown for nothing does less harm than one that is missing
        return ["."] if any(hold(places, link) for link in unread) else places

    def weighed(self, revision: str, commit: str) -> list[Record]:
        """Records of a commit, called ``revision``; what went wrong is said."""
        with copied(self.top, commit) as tree:
            files = files_of(tree, commit)
            links, unread = links_of(self.top, tree, files)
            within = _read_with(self.top, self._within() or ["."], files, links)
            gone = [f for f in git(tree, "ls-files", "--deleted", "-z").split("\0") if f]
            refuse_without([f for f in gone if (_READ.search(f) or f in unread) and hold(within, f)], commit[:12])
            modules = {f: of for mode, of, f in files if mode == MODULE}
            places = [str(_inside(self.top, tree, w, revision, modules)) for w in self.what] or [str(tree)]
            jobs, rejected = plan(self.campaign.but(implementations=tuple(places)), baselines=False)
            self.modules[revision] = {f: of for f, of in modules.items() if hold(within, f)}
            self.weighable[revision] = {str(_folder(j, tree)) for j in jobs}
            self.refused[revision] = {
                str(r.path.relative_to(tree)): f"{r.failure.reason}: {r.failure.detail}" for r in rejected
            }
            # a line of a source may include a file of any name
            read = _read_with(self.top, [*self.weighable[revision], *self.refused[revision]], files, links)
            refuse_without([f for f in gone if hold(read, f)], commit[:12])
            for folder, why in self.refused[revision].items():
                stderr().print(f"{revision}: {folder}: {why}")
            when = at_revision(revision, commit)
            jobs = [_named(job, tree, when) for job in jobs]
            records = _of_places(weigh(jobs, self.db).records, jobs, tree, when)
        for record in {r.setup.key: r for r in records}.values():
            if record.failure is not None:
                why = f"{record.failure.reason}: {record.failure.detail}"
                stderr().print(f"{revision}: {record.setup.label} on {record.setup.target}: {why}")
        return records


#: files of packages, as far as their names say
_READ = re.compile(r"(?i)\.(?:[chs]|cc|cpp|cxx|hpp|inc|txt|rsp|toml|zip|info)$")


def _read_with(
    top: Path, places: Sequence[str], files: Iterable[tuple[str, str, str]], links: Mapping[str, Iterable[str]]
) -> list[str]:
    """Places, what packages there are read with, which are other folders and files right above, and where links lead
    from there."""
    found, over = [*places], list[str]()
    for place in places:
        for known, folders in zip((found, over), read_with(top / place), strict=True):
            known += [str(f.relative_to(top)) for f in folders if f.is_relative_to(top)]
    above = set(reached(links, over))
    found += [f for _, _, f in files if (f.rpartition("/")[0] or ".") in above and _READ.search(f)]
    return reached(links, found)


def _inside(top: Path, tree: Path, what: str, revision: str, modules: Iterable[str]) -> Path:
    """The same place in the copy; :class:`UserError` when this revision does not have it."""
    exists_at(what)  # refuses what cannot be a name
    link, *resolved = _of_repository(top, what)
    place = tree / link
    if resolved and not place.resolve().is_relative_to(tree.resolve()):  # by an absolute link to the user's own tree
        place = tree / resolved[0]
    if module := next((m for m in modules if place.resolve().is_relative_to(tree.resolve() / m)), None):
        raise UserError(f"{what}: submodules are not weighed; ask in the repository of {module} itself")
    if not is_place(str(place)):
        raise UserError(f"{what}: revision {revision} does not have it")
    return place


def _of_repository(top: Path, what: str) -> list[Path]:
    """A path in the repository: that of a link itself, for each revision says where it leads; and where it leads now,
    as far as that is in the repository. One at least."""
    lexical, now = Path(os.path.normpath(Path.cwd() / what)), Path(what).resolve()
    found = [path.relative_to(top.resolve()) for path in (lexical, now) if path.is_relative_to(top.resolve())]
    if not found:
        raise UserError(f"{what} lies outside of the repository {top}")
    return found


def _named(job: Job, tree: Path, when: str) -> Job:
    """The record says which revision it weighed, not where its copy lay."""
    return replace(job, origin=f"{Path(job.origin).relative_to(tree)}{when}")


def _of_places(records: Sequence[Record], jobs: Sequence[Job], tree: Path, when: str) -> list[Record]:
    """The records, each once for every place of this revision that has its sources: a stored one names the place where
    these were weighed first, be it in another revision or folder."""
    places: dict[tuple[str, ...], dict[str, None]] = {}
    for job in jobs:
        i = job.implementation
        places.setdefault((i.primitive, i.family, i.variant, i.name, job.digest), {})[_place(job, tree, when)] = None
    made = []
    for r in records:
        s = r.setup
        of = places.get((s.primitive, s.family, s.variant, s.implementation, s.implementation_digest), {r.origin: None})
        made += [replace(r, origin=origin) for origin in of]
    return made


def _place(job: Job, tree: Path, when: str) -> str:
    """Where a package lies, whatever else of its name this revision has."""
    i, parts = job.implementation, _folder(job, tree, when).parts
    layout = Path(i.primitive, i.variant, i.name).parts
    return f"{Path(*(parts[: -len(layout)] if parts[-len(layout) :] == layout else parts))}{when}"


def _folder(job: Job, tree: Path, when: str = "") -> Path:
    """A package's place in the tree; of one that was unpacked in its zip."""
    folder = _within(job.implementation.folder, tree)
    if not folder.is_absolute():
        return folder
    archive, _ = paths.in_zip(tree / job.origin.removesuffix(when))
    return archive.relative_to(tree) / within_archive(folder)


def _within(folder: Path, tree: Path) -> Path:
    """A folder's place in the tree, of a link its own; elsewhere itself."""
    for f, top in ((folder, tree), (folder.resolve(), tree.resolve())):
        if f.is_relative_to(top):
            return f.relative_to(top)
    return folder
