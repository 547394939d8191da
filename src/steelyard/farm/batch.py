"""A batch of jobs on a node of a cluster: ``python -m steelyard.farm.batch FOLDER NUMBER``. Nodes need no database:
each record is a line of a file, which whoever submitted the batch reads."""

from __future__ import annotations

import os
import pickle
import platform
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .. import lab
from ..jobs import Job
from ..model.implementation import Implementation
from ..model.record import Record
from ..model.target import load_target
from ..model.workload import Workload
from ..pipeline import Pipeline
from ..store import Store, StoreError

#: characters of a log
_LOG = 1 << 20


class Given(Struct, frozen=True):
    """A job with names for what a node has itself: target, compiler, boards."""

    implementation: Implementation
    target: str
    toolchain: str
    flags: tuple[str, ...]
    workload: Workload
    origin: str
    boards: tuple[str, ...]
    answers: tuple[str, ...]

    @classmethod
    def of(cls, job: Job) -> Given:
        """A job as it is given away."""
        boards = tuple(s.board.name for s in job.on)
        return cls(job.implementation, job.target.name, job.target.toolchain.name, job.flags, job.workload, job.origin,
                   boards, job.answers)  # fmt: skip

    def job(self) -> Job:
        """The job here. Raises :class:`UserError` where a name is not known here."""
        on = tuple(lab.stations(lab.find(None), list(self.boards))[0]) if self.boards else ()
        target = load_target(self.target).using(self.toolchain)
        return Job(self.implementation, target, self.flags, self.workload, self.origin, on, self.answers)


class Batch(Struct, frozen=True):
    """Jobs, each with the key that whoever submitted them knows it by, and how they are done."""

    jobs: list[tuple[str, Given]]
    threads: int
    max_cycles: int
    seed: str


class Result(Struct, frozen=True):
    """What came of the job with this key."""

    key: str
    record: Record
    log: str


def write(file: Path, batch: Batch) -> None:
    """Leaves a batch in a file of the user's own, which only this version reads."""
    file.write_bytes(pickle.dumps(batch))


def lines(folder: Path, number: int | None = None) -> Iterator[Path]:
    """The files of results in a folder, or those of one batch."""
    return folder.glob("*.results" if number is None else f"{number}-*.results")


def whole(data: bytes) -> tuple[list[Result], int]:
    """The results in lines that are whole, and how many bytes these are: who was killed leaves half of one. What is no
    result, as a disk leaves it that lost its power, is none: that run is done again."""
    end, found = data.rfind(b"\n") + 1, list[Result]()
    for one in data[:end].split(b"\n"):
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            found.append(msgspec.json.decode(one, type=Result))
    return found, end


def ended(folder: Path) -> bool:
    """Whether nothing is left of a folder's batches."""
    return all(jobs.with_suffix(".end").exists() for jobs in folder.glob("*.jobs"))


def begun_by(folder: Path) -> set[int]:
    """The jobs of HyperQueue that have batches of a folder."""
    return {int(str(claim.readlink())) for claim in folder.glob("*.job")}


def _begins(folder: Path, number: int) -> bool:
    """Whether the job of HyperQueue that this is of has a batch. Others may have been submitted of it, where nobody
    knew whether one was taken: the first one has it, also after its node died. A link is there whole or not at all."""
    if job := os.environ.get("HQ_JOB_ID"):
        claim = folder / f"{number}.job"
        try:
            claim.symlink_to(job)
        except FileExistsError:
            return str(claim.readlink()) == job
    return True


def run(folder: Path, number: int) -> None:
    """Does what of a batch is not done, job by job, and says at the end that nothing is left."""
    if not _begins(folder, number):
        return
    batch: Batch = pickle.loads((folder / f"{number}.jobs").read_bytes())
    done = {line.key for file in lines(folder, number) for line in whole(file.read_bytes())[0]}
    todo = [(key, given.job()) for key, given in batch.jobs if key not in done]
    name = f"{number}-{platform.node()[:80]}-{os.getpid()}-{secrets.token_hex(4)}.results"
    keys = {id(job): key for key, job in todo}
    with (
        TemporaryDirectory(prefix="steelyard-batch-") as own,
        Store.open(Path(own, "results.db")) as store,
        Path(folder, name).open("ab") as out,
    ):
        pipeline = Pipeline(store, threads=batch.threads, max_cycles=batch.max_cycles, seed=batch.seed)

        def add(job: Job, record: Record, kept: bool) -> None:
            try:
                log = store.get_blob(record.log)[:_LOG].decode(errors="replace") if record.log else ""
            except StoreError:
                log = ""
            line = Result(keys[id(job)], replace(record, id=None, log=""), log)
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
            os.fsync(out.fileno())

        pipeline.campaign([job for _, job in todo], add)
    (folder / f"{number}.end").touch()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
