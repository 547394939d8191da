"""What public runs are named by: the newest version of their line that has their sources, with the one that replaced
it. The submissions are the truth: names follow them (:func:`settle`) wherever what is published changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, exists, or_, select, text, update

from steelyard.model.origin import ANY, like, of_submission, submission

from . import schema
from .audit import renamed
from .queries import batches
from .task import Task, offered, record_of, task_of

#: the state of a submission whose finished jobs are runs, and those of jobs that are, or came to nothing
PUBLISHED = "published"
DONE, FAILED = "done", "failed"
#: what of an implementation :func:`sources` has
IMPLEMENTATION = ("primitive", "family", "variant", "name", "digest")
#: where runs may be without a board
_SIMULATOR = "simulator"
#: lines that a query names, few enough for every database
_MANY = 50
_job, _attempt, _submission = schema.job, schema.job_attempt, schema.submission
_run, _setup, _implementation, _target = schema.run, schema.setup, schema.implementation, schema.target
#: the same without the family, which a version may change
_OF = tuple(_implementation.c[name].label(f"of_{name}") for name in IMPLEMENTATION if name != "family")
#: the jobs of packages, with the runs that they became, and whether they were done ever
_JOBS = (
    select(_job.c.id, _job.c.package_id, _job.c.task, _job.c.run_id, *_OF, _target.c.name.label("at"), _setup.c.device)
    .add_columns(
        (_job.c.state != FAILED)
        & (
            _job.c.record.is_not(None)
            | exists().where(_attempt.c.job_id == _job.c.id, _attempt.c.outcome == DONE).correlate(_job)
        )
    )
    .select_from(
        _job.outerjoin(_run, _job.c.run_id == _run.c.id).outerjoin(_setup).outerjoin(_implementation).outerjoin(_target)
    )
)
_JOBS_OF = _JOBS.where(_job.c.package_id.in_(bindparam("packages", expanding=True)))
_THESE_JOBS = _JOBS.where(_job.c.id.in_(bindparam("jobs", expanding=True)))
#: what they are of, without what became of them, which takes longer
_TASKS = text("SELECT id, package_id, task FROM job WHERE package_id IN :packages").bindparams(
    bindparam("packages", expanding=True)
)
_SUBMISSIONS = select(
    _submission.c.id, _submission.c.first_id, _submission.c.package_id, _submission.c.name, _submission.c.found
).order_by(_submission.c.id)
_OF_PACKAGE = _SUBMISSIONS.where(_submission.c.package_id.in_(bindparam("packages", expanding=True)))
_LINES: BindParameter[Any] = bindparam("lines", expanding=True)
_OF_LINES = _SUBMISSIONS.where(
    _submission.c.state == PUBLISHED, or_(_submission.c.id.in_(_LINES), _submission.c.first_id.in_(_LINES))
)
#: of sources the setups, by an index of the variants, and of setups the runs: more setups have none of a line
_SETUPS = (
    select(_setup.c.id, *_OF, _target.c.name.label("at"), _setup.c.device)
    .select_from(_setup.join(_implementation).join(_target))
    .where(
        _implementation.c.variant.in_(bindparam("variants", expanding=True)),
        _implementation.c.digest.in_(bindparam("digests", expanding=True)),
    )
)
_OF_SETUPS = select(_run.c.id, _run.c.setup_id, _run.c.origin).where(
    _run.c.setup_id.in_(bindparam("setups", expanding=True))
)
#: names of an implementation; where it was weighed: with its target, and whether on a board
Names = tuple[str, ...]
Place = tuple[Names, str, bool]


class Version(NamedTuple):
    """A published submission, and the implementations that it offers, as :func:`.task.offered` has them."""

    number: int
    line: int
    package: int
    name: str
    offers: frozenset[tuple[str, ...]]

    def origin(self, replaced: int | None = None) -> str:
        """What it names runs by."""
        return of_submission(self.name, self.number, self.line, replaced)


class _Job(NamedTuple):
    """What is known of a job: what its package calls it, its ``sources`` as runs have them, as far as they are known,
    where it was weighed, if it was, and its run."""

    implementation: tuple[str, ...]
    sources: frozenset[tuple[str, ...]]
    places: frozenset[Place]
    run: int | None


def origins(connection: Connection, package: int) -> dict[str, frozenset[tuple[str, ...]]]:
    """What the published submissions of a package name runs by, and what each offers: lines in the order in which they
    had it, the newest version first."""
    every = [v for versions in _lines(connection, _numbers(connection, [package])).values() for v in versions]
    return {v.origin(): v.offers for v in every if v.package == package}


def settle(connection: Connection, package: int, ended: Collection[str] = ()) -> set[tuple[str, ...]]:
    """Names the runs of a package's lines by what is published; of what that replaced primitive, variant, name, target.

    A run keeps its line while that has a published version with these sources: the newest of them names it. Where the
    line has none, or a newer version was weighed there with others, the first other line that has the same package as
    its newest gets the run; if there is none, its name says which version replaced it. Where only a job
    ``ended`` on these targets, as its task and its record say, runs on others keep their names, and all do where there
    is one version."""
    lines = _numbers(connection, [package])
    packages = {v.package for versions in _lines(connection, lines).values() for v in versions} | {package}
    by_line = _lines(connection, lines | _numbers(connection, packages))
    if ended and sum(map(len, by_line.values())) < 2:
        return set()
    jobs = _jobs(connection, {v.package for versions in by_line.values() for v in versions}, ended)
    names = _Names(by_line, jobs, package)
    changed, replaced = 0, set[tuple[str, ...]]()
    for number, origin, *of, at, device in _handed_in(connection, names.known, by_line, ended):
        new = names.of(number, origin, tuple(of), (tuple(of[:-1]), at, device != _SIMULATOR))
        if new != origin:
            connection.execute(update(_run).where(_run.c.id == number).values(origin=new))
            before, after = submission(origin), submission(new)
            if after and after.replaced and not (before and before.replaced):
                replaced.add((*of[:-1], at))
            changed += 1
    if changed:
        renamed(connection, lines, changed)
    return replaced


class _Names:
    """What runs are named by, of the published versions of some ``lines`` and their ``jobs`` by package. Runs that no
    job knows any more may be of the ``package`` that is looked at."""

    def __init__(self, lines: dict[int, list[Version]], jobs: dict[int, list[_Job]], package: int) -> None:
        self._lines, self._package = lines, package
        self._packages: defaultdict[int, set[int]] = defaultdict(set)
        self._has: dict[int, set[tuple[str, ...] | int]] = {}
        self._weighed: dict[int, set[Place]] = {}
        self.known: set[tuple[str, ...]] = set()
        for v in (v for versions in lines.values() for v in versions):
            mine = [j for j in jobs.get(v.package, ()) if j.implementation in v.offers]
            self._has[v.number] = {*(s for j in mine for s in j.sources), *(j.run for j in mine if j.run is not None)}
            self._weighed[v.number] = {place for j in mine for place in j.places}
        for of, some in jobs.items():
            for j in some:
                self.known |= j.sources
                if j.run is not None:
                    self._packages[j.run].add(of)

    def of(self, run: int, origin: str, sources: tuple[str, ...], place: Place) -> str:
        """What a run of these sources, weighed there, is named by; its ``origin`` where no version has them."""
        named = submission(origin)
        assert named is not None
        has = {line: v for line in self._lines if (v := self._with(line, run, sources)) is not None}
        own = has.pop(named.first, None)
        packages = self._packages[run] or {self._package, *([own.package] if own else [])}
        others = [v for v in has.values() if v.package in packages]
        by = [(v, self._instead(v, place)) for v in (own, *others) if v is not None]
        if not by:
            return origin
        v, replaced = next((b for b in by if b[1] is None), by[0])
        return v.origin(replaced)

    def _with(self, line: int, run: int, sources: tuple[str, ...]) -> Version | None:
        """The newest version of a line that has a run, or its sources."""
        return next((v for v in self._lines[line] if {run, sources} & self._has[v.number]), None)

    def _instead(self, of: Version, place: Place) -> int | None:
        """The newest version after this one that was weighed there: with other sources, for this is the newest that
        has these."""
        later = (v.number for v in self._lines[of.line] if v.number > of.number and place in self._weighed[v.number])
        return next(later, None)


def _numbers(connection: Connection, packages: Collection[int]) -> set[int]:
    """The lines that have packages, or had them."""
    found = connection.execute(_OF_PACKAGE, {"packages": sorted(packages)})
    return {s.first_id or s.id for s in found}


def _lines(connection: Connection, lines: Collection[int]) -> dict[int, list[Version]]:
    """The published versions of lines, the newest first."""
    found: dict[int, list[Version]] = {line: [] for line in sorted(lines)}
    for s in connection.execute(_OF_LINES, {"lines": sorted(lines)}):
        line = s.first_id or s.id
        found[line].insert(0, Version(s.id, line, s.package_id, s.name, offered(s.found)))
    return found


def _jobs(connection: Connection, packages: Collection[int], targets: Collection[str]) -> dict[int, list[_Job]]:
    """The jobs of packages that can be read; where ``targets`` are given, those on others without what became of them,
    if they say their sources."""
    asked: dict[str, Any] = {"packages": sorted(packages)}
    found, query = defaultdict[int, list[_Job]](list), _JOBS_OF
    if targets:
        query, asked["jobs"] = _THESE_JOBS, []
        for number, package, written in connection.execute(_TASKS, asked):
            task = task_of(written)
            if task.sources and task.target not in targets:
                sources = frozenset([(task.primitive, task.variant, task.name, task.sources)])
                found[package].append(_Job(task.implementation, sources, frozenset(), None))
            else:
                asked["jobs"].append(number)
    for number, package, written, run, *of, at, device, done in connection.execute(query, asked).all():
        task = task_of(written)
        known = [(tuple(of), at, device != _SIMULATOR)] if run is not None else []
        if task.sources:
            names = (task.primitive, task.variant, task.name, task.sources)
            known.append((names, task.target, bool(task.on)))
        elif not known and done:  # of a version that did not know them
            record = record_of(connection.execute(select(_job.c.record).where(_job.c.id == number)).scalar())
            if record is not None:
                s = record.setup
                names = (s.primitive, s.variant, s.implementation, s.implementation_digest)
                known.append((names, s.target, s.device != _SIMULATOR))
        places = frozenset((s[:-1], where, board) for s, where, board in known if done)
        found[package].append(_Job(task.implementation, frozenset(s for s, *_ in known), places, run))
    return found


def _handed_in(
    connection: Connection, known: Collection[tuple[str, ...]], lines: Collection[int], targets: Collection[str]
) -> list[Sequence[Any]]:
    """Of the runs of these lines that are of ``known`` sources, on all targets or on these: number, origin, names and
    digest, target, device."""
    of = {"variants": sorted({k[1] for k in known}), "digests": sorted({k[-1] for k in known})}
    setups = {
        r.id: tuple(r)[1:]
        for some in batches(of["digests"])
        for r in connection.execute(_SETUPS, {**of, "digests": some})
        if not targets or r.at in targets
    }
    return [
        (r.id, r.origin, *setups[r.setup_id])
        for some in batches(sorted(setups))
        for r in connection.execute(_OF_SETUPS.where(named_by(lines)), {"setups": some})
        if first_of(r.origin) in lines
    ]


def named_by(lines: Collection[int]) -> ColumnElement[bool]:
    """Whether a run is named by these lines, or seems so: of many lines, by any."""
    patterns = [p for line in lines for p in like(line)] if len(lines) <= _MANY else [ANY]
    return or_(*(_run.c.origin.like(p) for p in patterns))


def first_of(origin: str) -> int | None:
    """The line whose submission a run is named by; None of paths, whatever they look like."""
    found = submission(origin)
    return None if found is None else found.first


def sources(task: Task) -> tuple[str, ...]:
    """What of an implementation a task says, as records do; the last one is empty in old tasks."""
    return task.primitive, task.family, task.variant, task.name, task.sources
