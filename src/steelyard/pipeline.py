"""The whole program on one page: sources -> build -> device -> verify -> measure -> store."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from . import build, device, measure, sources, verify
from .model.call import DeviceError, Observed, Op
from .model.errors import UserError
from .model.implementation import Implementation
from .model.once import Once
from .model.paths import CIPHERS, HARNESS, short
from .model.profile import Node, Profile
from .model.reasons import Failure, Reason
from .model.record import Helper, Record, Setup, Toolchain
from .model.target import Target
from .model.workload import Workload
from .store import Store

MAX_CYCLES = device.MAX_CYCLES


class Job(Struct, frozen=True):
    """One run to do: implementation x target x flags x workload, on the target's device."""

    implementation: Implementation
    target: Target
    flags: tuple[str, ...]
    workload: Workload
    origin: str = ""  # the path that the user named, for the record

    @property
    def setup(self) -> Setup:
        """What the figures depend on."""
        i, spec = self.implementation, self.target.toolchain
        return Setup(
            primitive=i.primitive,
            family=i.family,
            variant=i.variant,
            implementation=i.name,
            implementation_digest=i.digest,
            target=self.target.name,
            target_digest=self.target.digest,
            device=self.target.device,
            toolchain=build.identify(spec) or Toolchain(spec.name, "missing", ""),
            flags=" ".join(self.flags),
            workload=self.workload.text,
            harness=build.harness_digest(),
            timing_model=clock_of(self.target),
        )

    @property
    def baseline(self) -> Job:
        """The same with nocrypt, whose cost is subtracted from the image's."""
        base = nocrypt(self.implementation.primitive, self.implementation.interface)
        origin = "" if base.interface == "nist" else short(base.folder)
        return replace(self, implementation=base, origin=origin)


@cache
def nocrypt(primitive: str, interface: str = "nist") -> Implementation:
    """The baseline implementation of a primitive."""
    place = CIPHERS / primitive / "nocrypt" / "nocrypt" / "ref"
    return sources.discover(place if interface == "nist" else HARNESS / "nocrypt_vfelics").implementations[0]


def clock_of(target: Target) -> str:
    """What counts the cycles of ``target``: a timing model, or a machine's own counter, of which the machine is
    asked with the baseline's image. :class:`UserError` when it does not answer."""
    if target.device == "simulator":
        return device.timing_model(target)
    host = device.host_of(target) if target.device == "ssh" else ""
    return _clock_of(target, host)


@Once
def _clock_of(target: Target, host: str) -> str:
    toolchain, base = build.identify(target.toolchain), nocrypt("crypto_aead")
    if toolchain is None:
        return "unknown"
    built = build.build(base, target, toolchain, target.toolchain.default_flags)
    if built.failure is not None:
        raise UserError(f"{target.name}: nocrypt does not build: {built.failure.detail}")
    image = built.images["both"]
    try:
        with device.opened(target, image, build.confined(image)) as link:
            return link.clock
    except DeviceError as e:
        raise UserError(f"{target.name}: {e.failure.detail}") from e


def _not_found(target: Target) -> str:
    return f"{target.toolchain.compiler} not found: {target.toolchain.fix}"


def profile(job: Job, op: Op, adlen: int, mlen: int) -> Profile:
    """Where the cycles of one call go. :class:`DeviceError` says why it cannot be seen."""
    toolchain = build.identify(job.target.toolchain)
    if toolchain is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, _not_found(job.target)))
    built = build.build(job.implementation, job.target, toolchain, job.flags)
    if built.failure is not None:
        raise DeviceError(built.failure)
    if job.target.device != "simulator":
        raise DeviceError(Failure(Reason.PROTOCOL, "only simulated targets can be profiled"))
    client = device.Client(device.SimulatorLink(job.target, built.images["both"]))
    request, unaligned = measure.one_call(client, op, adlen, mlen)
    tree, instructions, taken = client.profile(request)
    nodes = tuple(Node(*node) for node in tree)
    return Profile(job.implementation.label, nodes, instructions, taken, unaligned)


def sizes(job: Job) -> dict[str, dict[tuple[str, str], int]]:
    """Bytes by (symbol, kind) that each image holds and nocrypt's does not. :class:`DeviceError` if none was built."""
    toolchain = build.identify(job.target.toolchain)
    if toolchain is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, _not_found(job.target)))
    mine, base = (build.build(j.implementation, j.target, toolchain, j.flags) for j in (job, job.baseline))
    for built in (mine, base):
        if built.failure is not None:
            raise DeviceError(built.failure)
    return {part: measure.added(image, base.images[part], job.target) for part, image in mine.images.items()}


class Pipeline:
    """Weighs jobs on a number of threads; finished records go to the store at once."""

    def __init__(
        self,
        store: Store,
        *,
        threads: int = os.cpu_count() or 1,
        force: bool = False,
        max_cycles: int = MAX_CYCLES,
    ) -> None:
        self.store = store
        self.threads = threads
        self.force = force
        self.max_cycles = max_cycles
        self.weigh = Once(self._weigh, key=lambda job: job.setup.key)

    def campaign(self, jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]) -> list[Record]:
        """Runs what the store does not hold yet and returns all records in the order of ``jobs``.

        ``done`` is called for each as it becomes known; its last argument says whether it was stored
        before. A kill at any moment loses only runs under way: the next call goes on.
        """
        keys = [job.setup.key for job in jobs]
        kept = {} if self.force else self.store.find(keys)
        for job, key in zip(jobs, keys, strict=True):
            if key in kept:
                done(job, kept[key], True)
        todo = [(job, key) for job, key in zip(jobs, keys, strict=True) if key not in kept]
        if not todo:
            return [kept[key] for key in keys]
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(self.threads) as pool:
            futures = {pool.submit(self.weigh, job): (job, key) for job, key in todo}
            try:
                for future in as_completed(futures):
                    (job, key), record = futures[future], future.result()
                    kept[key] = record
                    done(job, record, False)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [kept[key] for key in keys]

    def _weigh(self, job: Job) -> Record:
        """The record of one job: from the store, from another thread that is at it, or from a new run."""
        if not self.force and (found := self.store.find([job.setup.key])):
            return found[job.setup.key]
        start = time.monotonic()
        try:
            record = self._run(job)
        except build.HarnessError as e:  # other targets go on; not stored, so that the next time it is tried again
            return Record(
                job.setup, Failure(Reason.NO_TOOLCHAIN, " ".join(str(e).split())[:300]), {}, origin=job.origin
            )
        seconds = time.monotonic() - start
        record = replace(record, seconds=seconds, finished=datetime.now(UTC), host=platform.node())
        return replace(record, id=self.store.add(record))

    def _run(self, job: Job) -> Record:
        toolchain = build.identify(job.target.toolchain)
        record = Record(job.setup, None, {}, notes=job.implementation.notes, origin=job.origin)
        if toolchain is None:
            return replace(record, failure=Failure(Reason.NO_TOOLCHAIN, _not_found(job.target)))

        built = build.build(job.implementation, job.target, toolchain, job.flags)
        stand_in = (job.target.stand_in,) if job.target.stand_in else ()
        record = replace(record, notes=(*record.notes, *stand_in, *built.notes), log=self.store.put_blob(built.log))
        if built.failure is not None:
            return replace(record, failure=built.failure)

        try:
            aead = job.implementation.primitive == "crypto_aead"
            image = built.images["both"]
            with device.opened(job.target, image, build.confined(image), self.max_cycles) as link:
                client = device.Client(link)
                empty = measure.empty_calls(client, aead)
                expected = verify.expected(job.implementation)
                answers: list[Observed] = []
                verification = verify.verify(client, job.implementation, expected, answers)
                untouched = link.longest_untouched()
                swept, left_out = measure.sweep(client, job.workload, aead)
                felics = measure.Felics()
                if aead and job.workload.name == "felics-ae":
                    objects = build.objects(built, job.implementation)
                    felics = measure.felics(client, job.implementation, job.target, objects, answers, empty)
                odd = verify.unaligned(client, answers, aead)
                counted = measure.instructions(client, answers, aead)
                quantity, told = link.quantity, link.notes
                if link.clock != record.setup.timing_model:
                    text = f"{link.clock} instead of {record.setup.timing_model}"
                    raise DeviceError(Failure(Reason.PROTOCOL, text))
        except (verify.Mismatch, DeviceError) as e:
            return replace(record, failure=e.failure)

        # what is not counted in cycles stands in no column of cycles
        points = measure.points(swept, empty) if quantity == "cycles" else ()
        figures = measure.means(answers, empty, quantity) | measure.lines(points) | measure.peaks([*answers, *swept])
        figures |= counted
        figures |= measure.spread(answers)
        figures |= measure.image_figures(built.images, job.target, untouched)
        figures |= measure.energy(figures, job.target) | felics.figures
        base, helpers = figures, tuple[Helper, ...]()
        if job.baseline.setup.key != job.setup.key:
            base = self.weigh(job.baseline).metrics
            base_build = build.build(job.baseline.implementation, job.target, toolchain, job.flags)
            helpers = measure.helpers(built.folder / "both.map", base_build.folder / "both.map")
        figures |= measure.attributable(figures, base)
        figures["rom_helpers"] = sum(h.size for h in helpers)

        notes = [*record.notes, *told, *expected.notes, *client.remarks, *felics.notes, *([odd] if odd else [])]
        if left_out:
            notes.append(f"{left_out} sizes of the workload are too large for the target's RAM or for the algorithm")
        known = verification.source != "self"
        failure = None if known else Failure(Reason.NO_EXPECTED, f"no known answers for {job.implementation.variant}")
        return replace(
            record,
            failure=failure,
            metrics=figures,
            points=points,
            helpers=helpers,
            verification=verification,
            notes=tuple(notes),
        )
