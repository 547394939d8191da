"""Campaigns on a cluster: HyperQueue gives batches of jobs to its workers, wherever these run, and lines of results
come back through a folder that all machines see. What is in that folder survives every kill: of a node, of HyperQueue's
server, of the process here."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..jobs import Job, Run, resolve
from ..model import paths, whole
from ..model.errors import UserError, WorkError, counted
from ..model.once import alone
from ..model.origin import is_revision
from ..model.record import Record
from ..pipeline import MAX_CYCLES, Pipeline
from ..store import Store
from ..store.dates import dated
from ..store.queries import batches
from . import batch
from .batch import Batch, Result

#: how often what is left is submitted; seconds between two looks at results, which grow with the
#: number of files, to this many
WAVES, LOOK, SLOWEST = 3, 0.2, 10.0
#: how often a batch is begun whose worker dies
_CRASHES = 5
#: the resource of a worker that has boards of a target, as ``steelyard-uno``
RESOURCE = "steelyard-{}"
#: what batches get of our environment
_PASSED = ("PATH", "PYTHONPATH", "STEELYARD_LAB")


class _Submitted(Struct, frozen=True):
    """What HyperQueue knows a wave by: the server's own name, and the number of the job; None before the server said
    it, when nobody can know whether it has the job: it is not asked for names. What each batch wants of workers."""

    server: str
    job: int | None
    resources: Sequence[str] = ()


class Cluster:
    """Measures jobs as :class:`Pipeline` does, elsewhere."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        *,
        size: int,
        threads: int = 1,
        force: bool = False,
        max_cycles: int = MAX_CYCLES,
        seed: str,
    ) -> None:
        self._here = Pipeline(store, threads=1, force=force, max_cycles=max_cycles, seed=seed)
        self.keeper = self._here.keeper
        self._folder, self._size, self._threads, self._force = folder.absolute(), size, threads, force
        self._client = _connected()

    def campaign(self, jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]) -> list[Record]:
        """See :meth:`Pipeline.campaign`: stored runs are not repeated, and a kill loses runs in progress only. Raises
        :class:`WorkError` for what was not done; called again, it goes on."""
        resolved = [resolve(job) for job in jobs]
        runs, keys = {run.setup.key: run for run in resolved}, [run.setup.key for run in resolved]
        with alone(f"hq {self._folder}"):
            return self._campaign(runs, keys, jobs, done)

    def _campaign(
        self, runs: dict[str, Run], keys: Sequence[str], jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]
    ) -> list[Record]:
        said = "\0".join([*sorted(runs), self._here.seed, str(self._here.max_cycles), str(self._force)])
        mine = self._folder / hashlib.sha256(said.encode()).hexdigest()[:16]
        made: dict[str, Record] = {}
        for campaign in sorted(self._folder.glob("*/")):  # what came after an earlier call was killed
            found: dict[str, Record] = {}
            for folder in sorted(campaign.glob("*/")):
                for key, record in self._taken(folder, {}, found):
                    found[key] = record
            if campaign == mine:
                made = found
        kept = {**self._here.stored(list(runs.values())), **{k: r for k, r in made.items() if k in runs}}
        for job, key in zip(jobs, keys, strict=True):
            if key in kept:
                done(job, kept[key], True)
        for wave in sorted(mine.glob("*/")):  # one that HyperQueue still has goes on
            self._waited(wave, runs, kept, done)
        for _ in range(WAVES):
            if not (todo := [run for key, run in runs.items() if key not in kept]):
                break
            wave = mine / f"{len(list(mine.glob('*/'))):04}"
            self._submitted(wave, todo)
            self._waited(wave, runs, kept, done)
        if missing := [run for key, run in runs.items() if key not in kept]:
            text = f"{counted(len(missing), 'run')} did not come back, first {missing[0].setup.label}"
            raise WorkError(f"{text}: see the .err files in {paths.short(mine)}; the same command tries them again")
        self.keeper.again()
        if not self.keeper.waiting:
            shutil.rmtree(mine, ignore_errors=True)
        return [kept[key] for key in keys]

    def _submitted(self, wave: Path, todo: Sequence[Run]) -> None:
        """Gives what is left to HyperQueue, in batches of one target's, or one pool's boards. First it is written down
        that it is to be: who is killed then submits this wave again, of which each batch is begun once."""
        wave.mkdir(parents=True)
        resources = []
        for number, (resource, some) in enumerate(_batches(todo, self._size)):
            jobs = [(run.setup.key, batch.Given.of(run.job)) for run in some]
            batch.write(wave / f"{number}.jobs", Batch(jobs, self._threads, self._here.max_cycles, self._here.seed))
            resources.append(resource)
        given = _Submitted(_server(), None, resources)
        _write(wave, given)
        self._submit(wave, given)

    def _submit(self, wave: Path, given: _Submitted) -> None:
        import hyperqueue
        from hyperqueue.ffi.protocol import ResourceRequest

        job = hyperqueue.Job(name="steelyard", max_fails=None)
        passed = {n: os.environ[n] for n in _PASSED if n in os.environ}
        passed["STEELYARD_HOME"] = str(paths.home().absolute())
        for number, resource in enumerate(given.resources):
            job.program(
                [sys.executable, "-m", "steelyard.farm.batch", str(wave), str(number)],
                env=passed, cwd=str(Path.cwd()), stdout=None, stderr=str(wave / f"{number}.err"),
                resources=ResourceRequest(cpus=self._threads, resources={resource: 1} if resource else {}),
                crash_limit=_CRASHES,
            )  # fmt: skip
        _write(wave, replace(given, job=int(self._client.submit(job).id)))

    def _waited(
        self, wave: Path, runs: dict[str, Run], kept: dict[str, Record], done: Callable[[Job, Record, bool], None]
    ) -> None:
        """Takes what comes of a wave until all of it is done, or HyperQueue does not know it. What nobody needs is not
        waited for: there may be no worker any more, and what was submitted twice is not begun again."""
        if runs.keys() <= kept.keys():
            return
        read: dict[Path, int] = {}
        given = _read(wave)
        if given is not None and given.job is None:
            self._submit(wave, given)
        waiting = _Waiting(wave)
        while True:
            over, begun = waiting.over or batch.ended(wave), time.monotonic()
            for key, record in self._taken(wave, read, kept):
                if key in runs and key not in kept:
                    kept[key] = record
                    done(runs[key].job, record, False)
            if over:
                break
            waiting.join(min(SLOWEST, max(LOOK, 20 * (time.monotonic() - begun))))
        if waiting.error:
            raise WorkError(
                f"HyperQueue's server is gone: {waiting.error}; start it and its workers, and give the same command: "
                "finished runs are not repeated"
            )

    def _taken(self, wave: Path, read: dict[Path, int], kept: Mapping[str, Record]) -> Iterator[tuple[str, Record]]:
        """Stores what a wave has that is not stored, from where it was ``read`` to, and gives it by key. What its
        campaign has ``kept`` of a key is not stored again, unless that was a machine's failure."""
        found: list[Result] = []
        for file in batch.lines(wave):
            at = read.get(file, 0)
            with suppress(OSError):
                if file.stat().st_size > at:
                    with file.open("rb") as f:
                        f.seek(at)
                        some, length = batch.whole(f.read())
                    found += some
                    read[file] = at + length
        for some_of in batches(found, 500):
            revisions = any(is_revision(line.record.origin) for line in some_of)
            there = self.keeper.store.find((line.record.setup.key for line in some_of), revisions=revisions)
            for line in some_of:
                before = kept.get(line.key)
                if before is not None and (before.final or not line.record.final):
                    continue
                old = there.get(line.record.setup.key)
                if old is not None and _there(old, line.record):
                    yield line.key, old
                    continue
                record = self.keeper.with_log(line.record, line.log) if line.log else line.record
                there[line.record.setup.key] = stored = self.keeper.add(record)
                yield line.key, stored


def _there(old: Record, new: Record) -> bool:
    """Whether what is stored is this run, whatever date it was given there, or one that ended later and counts before
    it: a machine's failure does not, nor a revision before what lies at a path."""
    if is_revision(old.origin) and not is_revision(new.origin):
        return False
    if (old.host, old.seconds) == (new.host, new.seconds):
        return True
    if old.finished is None or new.finished is None or (new.final and not old.final):
        return False
    return dated(old) is old and old.finished > new.finished


class _Waiting(Thread):
    """Waits for a job of HyperQueue's, whose library does not let itself be interrupted."""

    def __init__(self, wave: Path) -> None:
        super().__init__(name="hyperqueue", daemon=True)
        self.error, self._wave, self._given = "", wave, _read(wave)
        self._over = self._given is None
        if not self._over:
            self.start()

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        return self._over

    def run(self) -> None:
        """Waits; for a job that the server does not know no time at all. Who was killed may have submitted other jobs
        of the same wave: when one has ended, each batch has been begun by one of them."""
        from hyperqueue.ffi.client import ClientConnection

        assert self._given is not None
        known, jobs = set[int | None](), {self._given.job}
        try:
            client = ClientConnection(_at())
            while more := jobs - known:
                for job in more:
                    client.wait_for_jobs([job], lambda _: None)
                known |= more
                jobs |= batch.begun_by(self._wave)
        except BaseException as e:  # the library's errors have no common type
            self.error = " ".join(str(e).split())[:200] or type(e).__name__
        self._over = True

    def join(self, timeout: float | None = None) -> None:
        """Waits no longer where nothing more comes."""
        if self.is_alive():
            super().join(timeout)


def _write(wave: Path, given: _Submitted) -> None:
    whole.put(wave / "submitted.json", msgspec.json.encode(given))


def _read(wave: Path) -> _Submitted | None:
    """What this server was given of a wave, or was to be given; None where it was another, or nobody came so far."""
    with suppress(OSError, msgspec.MsgspecError):
        given = msgspec.json.decode((wave / "submitted.json").read_bytes(), type=_Submitted)
        if given.server == _server():
            return given
    return None


def _batches(todo: Iterable[Run], size: int) -> Iterator[tuple[str, Sequence[Run]]]:
    """Runs of one target or one pool of boards together, with the resource that they need."""
    by: dict[tuple[str, ...], list[Run]] = {}
    for run in todo:
        at = tuple(s.board.name for s in run.job.on)
        by.setdefault((run.job.target.name, *at), []).append(run)
    for (target, *boards), some in by.items():
        for part in batches(some, size):
            yield (RESOURCE.format(target) if boards else ""), part


def _at() -> str | None:
    """The folder of HyperQueue's server, as HyperQueue itself is told of it."""
    return os.environ.get("HQ_SERVER_DIR") or None


def _server() -> str:
    """What tells this server from all others."""
    folder = Path(_at() or Path.home() / ".hq-server")
    try:
        return str(msgspec.json.decode((folder / "hq-current" / "access.json").read_bytes())["server_uid"])
    except (OSError, msgspec.MsgspecError, KeyError, TypeError):
        return ""


def _connected() -> Any:
    """A client of HyperQueue's server. Raises :class:`UserError`."""
    try:
        import hyperqueue
    except ImportError:
        raise UserError("--engine hq: needs HyperQueue; run: pip install 'steelyard[cluster]'") from None
    try:
        return hyperqueue.Client(_at())
    except Exception as e:
        text = " ".join(str(e).split())[:200]
        raise UserError(
            f"--engine hq: no server of HyperQueue answers ({text}); start one (hq server start --journal FILE) and "
            "its workers, or set HQ_SERVER_DIR to its folder"
        ) from e
