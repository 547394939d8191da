"""Jobs: what a run is asked to do, what its figures depend on, and what its failure means."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from . import building, device, lab, sources, verify
from .model import options
from .model.call import DeviceError
from .model.digest import of_file
from .model.errors import UserError
from .model.implementation import Implementation
from .model.inputs import SEED
from .model.once import Once
from .model.origin import is_revision
from .model.paths import CIPHERS, HARNESS, home, short
from .model.primitive import PRIMITIVES
from .model.reasons import UNWRITABLE, Failure, Reason
from .model.record import Record, Setup, Toolchain
from .model.target import Target
from .model.workload import Workload, of_one_size, workload

if TYPE_CHECKING:
    from concurrent.futures import Future

#: stands for the digest of a file that cannot be read, or is larger than these bytes
_UNREAD, _LARGE = "unread", 64 << 20
#: where the baselines of other interfaces than NIST's are
_BASELINES = {"felics": HARNESS / "nocrypt_vfelics", "phases": HARNESS / "nocrypt_128_128_vphases"}
_FULL = {
    errno.ENOSPC: "no space left",
    errno.EDQUOT: "the quota is used up",
    errno.EFBIG: "larger than files may be here",
}
#: of what is kept of a board, which has to be what the board is
_GUARDED = (errno.EROFS, errno.EACCES, errno.EPERM)


class Job(Struct, frozen=True):
    """One run to do: implementation x target x flags x workload, on the target's device or ``on`` any of some boards
    that are alike (:func:`.lab.pools`), whose target it then has. A primitive whose calls have one size has one
    workload."""

    implementation: Implementation
    target: Target
    flags: tuple[str, ...]
    workload: Workload
    origin: str = ""  # the path that the user named, for the record
    on: tuple[lab.Station, ...] = ()
    answers: tuple[str, ...] = ()  # SHA-256 of each of the implementation's KAT files when the job was made

    def __post_init__(self) -> None:
        if self.on:
            force_setattr(self, "target", self.on[0].target.using(self.target.toolchain.name))
        if not PRIMITIVES[self.implementation.primitive].sized:
            force_setattr(self, "workload", workload(*of_one_size([self.workload.name])))
        if not self.answers:
            force_setattr(self, "answers", _answers(self.implementation))

    @property
    def digest(self) -> str:
        """The identity of the implementation; see :func:`identity`."""
        return _identity(self.implementation, self.answers)

    @property
    def boards(self) -> tuple[str, ...]:
        """The names of the boards that it may have; none where it runs elsewhere."""
        return tuple(s.board.name for s in self.on)

    @property
    def metered(self) -> bool:
        """Whether a meter says what calls cost; nocrypt's are too short for any."""
        return bool(self.on) and self.on[0].meter is not None and self.implementation.variant != "nocrypt"

    @contextmanager
    def held(self) -> Iterator[Job]:
        """The job with copies of its KAT files. Raises :class:`DeviceError` when a file changed since the job was
        made."""
        if not self.answers:
            yield self
            return
        with TemporaryDirectory(prefix="steelyard-") as folder:
            copies = list(self.implementation.kat)
            for k, (file, digest) in enumerate(zip(self.implementation.kat, self.answers, strict=True)):
                if digest == _UNREAD:  # its reader will say why
                    continue
                copies[k] = Path(folder, str(k), file.name)
                copies[k].parent.mkdir()
                shutil.copyfile(file, copies[k])
                if _digest(copies[k]) != digest:
                    text = f"{file.name} changed since it was found"
                    raise DeviceError(Failure(Reason.SOURCES_CHANGED, text))
            yield replace(self, implementation=replace(self.implementation, kat=tuple(copies)))

    @property
    def plan(self) -> Setup:
        """The setup as far as it is known without asking a machine; a machine's clock is left empty."""
        simulated = self.target.device == "simulator"
        known = self.on[0].clock if self.on else device.timing_model(self.target) if simulated else ""
        return self.clocked_by(known)

    def clocked_by(self, clock: str) -> Setup:
        """The setup when ``clock`` (a timing model or a counter) counts the cycles."""
        i, spec = self.implementation, self.target.toolchain
        return Setup(
            primitive=i.primitive,
            family=i.family,
            variant=i.variant,
            implementation=i.name,
            implementation_digest=self.digest,
            target=self.target.name,
            target_digest=_target_digest(self.target),
            device=self.target.device,
            toolchain=building.identify(spec) or Toolchain(spec.name, "missing", ""),
            flags=" ".join(self.flags),
            workload=self.workload.text,
            harness=building.harness_digest(),
            timing_model=clock,
        )

    @property
    def secret(self) -> str:
        """What fresh inputs follow from besides a seed: the sources, the files of known answers, whose messages come to
        the chip, and the flags where these could hold answers."""
        if options.known(self.flags):
            return self.digest
        return hashlib.sha256(" ".join((self.digest, *self.flags)).encode()).hexdigest()

    @property
    def baseline(self) -> Job:
        """The same job with nocrypt, whose cost is subtracted from the image's."""
        base = nocrypt(self.implementation.primitive, self.implementation.interface)
        origin = "" if base.interface == "nist" else short(base.folder)
        return Job(base, self.target, options.of_baseline(self.flags), self.workload, origin, self.on)


class Run(Struct, frozen=True):
    """A job with everything that its figures depend on. ``trouble`` says why it cannot run here: no toolchain, or a
    machine that does not answer. ``setup`` then holds a word (``missing``, ``unknown``) for what is not known."""

    job: Job
    setup: Setup
    trouble: Failure | None


def resolve(job: Job) -> Run:
    """What a job depends on, on this machine now. Only this step asks a machine before an image runs there."""
    clock = job.on[0].clock if job.on else clock_of(job.target)
    trouble = None if isinstance(clock, str) else clock
    if missing := building.why_not(job.target.toolchain):
        trouble = Failure(Reason.NO_TOOLCHAIN, missing)
    return Run(job, job.clocked_by(clock if isinstance(clock, str) else "unknown"), trouble)


def lacks(job: Job, record: Record, seed: str = SEED, max_cycles: int = device.MAX_CYCLES) -> str:
    """Why a stored ``record`` of a job's setup is not what the job asks for, which is then run again; empty where it
    is."""
    name, failure = f"run {record.id}", record.failure
    if is_revision(record.origin) and not is_revision(job.origin):
        return f"{name} is of a revision, which counts in histories only"
    if failure is not None and not record.final:
        return f"{name} ended with {failure.reason}, by the machine's doing"
    if record.seed != seed:
        return f"another seed than {name}"
    if not all(lab.clock_holds(station, record.notes) for station in job.on):
        return f"{name} is by another clock of its board"
    if failure is None:
        owed = job.metered and not lab.weighed(record.metrics, record.notes)
        return f"{name} is from before a meter measured power" if owed else ""
    if failure.reason is Reason.NO_EXPECTED and verify.is_known(job.implementation):
        return f"{name} is from before its variant's answers were known"
    allowed = record.max_cycles or device.MAX_CYCLES
    if failure.reason is Reason.RUNAWAY and allowed < max_cycles:
        return f"a call of {name} was allowed {allowed} cycles only"
    return ""


def identity(implementation: Implementation) -> str:
    """SHA-256 that identifies an implementation in records: over its sources, and the KAT files it is checked
    against."""
    return _identity(implementation, _answers(implementation))


def _identity(implementation: Implementation, answers: tuple[str, ...]) -> str:
    own = implementation.digest
    return hashlib.sha256("\0".join([own, *answers]).encode()).hexdigest() if answers else own


def _answers(implementation: Implementation) -> tuple[str, ...]:
    return tuple(_digest(f) for f in implementation.kat)


def _target_digest(target: Target) -> str:
    """The target's digest, or a word where its folder is gone; the build then says so."""
    try:
        return target.digest
    except OSError:
        return "unknown"


def _digest(file: Path) -> str:
    try:
        stat = file.stat()
        return _digest_of(file, stat.st_size, stat.st_mtime_ns) if stat.st_size <= _LARGE else _UNREAD
    except OSError:
        return _UNREAD


@cache
def _digest_of(file: Path, _size: int, _changed: int) -> str:
    """Kept, because every target and flag set is another job with the same files."""
    return of_file(file)


@cache
def nocrypt(primitive: str, interface: str = "nist") -> Implementation:
    """The baseline implementation of a ``primitive`` with this ``interface`` (``nist``, ``felics`` or ``phases``)."""
    folder = CIPHERS / primitive / "nocrypt" / "nocrypt" / "ref"
    return sources.discover(_BASELINES.get(interface, folder)).implementations[0]


def clock_of(target: Target) -> str | Failure:
    """What counts the cycles of ``target``: a timing model, or a machine's own counter. The machine is asked once, by
    running the baseline's image on it. A failure when it does not answer."""
    try:
        if target.device == "simulator":
            return device.timing_model(target)
        return _clock_of(target, device.host_of(target) if target.device == "ssh" else "")
    except UserError as e:
        return Failure(Reason.UNREACHABLE, str(e))
    except ValueError as e:  # the simulator does not understand the target's description
        return failure_of(e)


@Once
def _clock_of(target: Target, _host: str) -> str | Failure:
    toolchain, base = building.identify(target.toolchain), nocrypt("crypto_aead")
    if toolchain is None:
        return "unknown"
    try:
        built = building.build(base, target, toolchain, target.toolchain.default_flags)
        if built.failure is not None:
            return Failure(built.failure.reason, f"nocrypt does not build: {built.failure.detail}")
        image = built.images["both"]
        with device.opened(target, image, building.confined(image)) as link:
            return link.clock
    except (DeviceError, OSError) as e:
        return failure_of(e)


def failure_of(error: BaseException, job: Job | None = None) -> Failure:
    """The failure, from the fixed vocabulary, for an exception that ended ``job``."""
    if isinstance(error, verify.Mismatch) and isinstance(error.__context__, FileNotFoundError):
        error = error.__context__
    if isinstance(error, (DeviceError, verify.Mismatch)):
        return error.failure
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if isinstance(error, OSError):
        if error.errno in _FULL:
            return Failure(Reason.DISK_FULL, f"{_FULL[error.errno]}: {error.filename or home()}")
        if error.errno in _GUARDED and str(error.filename).startswith(f"{home() / 'lab'}/"):
            return Failure(Reason.INTERNAL, f"{error.filename}: {error.strerror}: {UNWRITABLE}")
        if error.errno in (errno.ENOENT, errno.ESTALE) and str(error.filename).startswith(f"{home() / 'cache'}/"):
            return Failure(Reason.COMPILER_KILLED, f"the cache changed during the run: {text}")
        own = (*(f.path for f in job.implementation.files), *job.implementation.kat) if job else ()
        if str(error.filename) in map(str, own):
            return Failure(Reason.SOURCES_CHANGED, text)
    return Failure(Reason.INTERNAL, text)


class Ahead:
    """How many runs of a campaign are ahead for some boards, and how long those that ended took."""

    def __init__(self, runs: int) -> None:
        self._runs = runs
        self._seconds: list[float] = []  # of those that ended

    def ended(self, run: Future[Record]) -> None:
        """One more has ended; told by the thread that takes the next."""
        if not run.cancelled() and run.exception() is None:
            self._seconds.append(run.result().seconds)

    @property
    def runs(self) -> int:
        """Those that have not ended."""
        return self._runs - len(self._seconds)

    @property
    def usual(self) -> float:
        """Seconds of one; 0 while none has ended."""
        return sum(self._seconds) / len(self._seconds) if self._seconds else 0.0
