"""The whole program on one page: sources -> build -> device -> verify -> measure -> store."""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from threading import Event

from msgspec.structs import replace

from . import build, device, measure, verify
from .jobs import Job, clock_of, failure_of, identity, nocrypt
from .model.call import DeviceError, Observed, Op
from .model.inputs import SEED, Inputs
from .model.once import Once, alone
from .model.profile import Node, Profile
from .model.reasons import Failure, Reason
from .model.record import Helper, Record, Toolchain
from .reference import reference
from .store import Keeper, Store

__all__ = ["MAX_CYCLES", "Job", "Pipeline", "clock_of", "identity", "nocrypt", "profile", "sizes"]

MAX_CYCLES = device.MAX_CYCLES


def _toolchain(job: Job) -> Toolchain:
    found = build.identify(job.target.toolchain)
    if found is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, build.why_not(job.target.toolchain)))
    return found


def profile(job: Job, op: Op, adlen: int, mlen: int) -> Profile:
    """Where the cycles of one call go. :class:`DeviceError` says why it cannot be seen."""
    if job.target.device != "simulator":
        raise DeviceError(
            Failure(Reason.NOT_SIMULATED, f"{job.target.name} is a machine, of which only the whole can be measured")
        )
    built = build.build(job.implementation, job.target, _toolchain(job), job.flags)
    if built.failure is not None:
        raise DeviceError(built.failure)
    client = device.Client(device.SimulatorLink(job.target, built.images["both"]))
    request, unaligned = measure.one_call(client, op, adlen, mlen)
    tree, instructions, taken = client.profile(request)
    nodes = tuple(Node(*node) for node in tree)
    return Profile(job.implementation.label, nodes, instructions, taken, unaligned)


def sizes(job: Job) -> dict[str, dict[tuple[str, str], int]]:
    """Bytes by (symbol, kind) that each image holds and nocrypt's does not. :class:`DeviceError` if none was built."""
    mine, base = (build.build(j.implementation, j.target, _toolchain(job), j.flags) for j in (job, job.baseline))
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
        seed: str = SEED,
    ) -> None:
        self.keeper = Keeper(store)
        self.threads = threads
        self.force = force
        self.max_cycles = max_cycles
        self.seed = seed
        self.over = Event()
        self.weigh = Once(self._weigh, key=lambda job: job.setup.key)

    def campaign(self, jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]) -> list[Record]:
        """Runs what the store does not hold yet and returns all records in the order of ``jobs``.

        ``done`` is called for each as it becomes known; its last argument says whether it was stored before. A kill
        at any moment loses only runs under way: the next call goes on. What goes wrong in a job is its record's
        failure; what the store does not take stays in ``keeper.waiting``.
        """
        keys = [job.setup.key for job in jobs]
        kept = self._stored(keys)
        for job, key in zip(jobs, keys, strict=True):
            if key in kept:
                done(job, kept[key], True)
        todo = [(job, key) for job, key in zip(jobs, keys, strict=True) if key not in kept]
        if not todo:
            return [kept[key] for key in keys]
        self.over.clear()
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(self.threads) as pool:
            futures = {pool.submit(self.weigh, job): (job, key) for job, key in todo}
            try:
                for future in as_completed(futures):
                    (job, key), record = futures[future], future.result()
                    kept[key] = record
                    done(job, record, False)
            except BaseException:
                self.over.set()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
                kept |= self.keeper.again()
        return [kept[key] for key in keys]

    def _stored(self, keys: Sequence[str]) -> dict[str, Record]:
        """What need not be run again: the newest records, when their inputs were made from the same seed."""
        found = {} if self.force else self.keeper.find(keys)
        return {key: record for key, record in found.items() if record.seed == self.seed}

    def _weigh(self, job: Job) -> Record:
        """The record of one job: from the store, from another thread or process that is at it, or from a new run."""
        with alone(f"job {job.setup.key}", self.over):
            if self.over.is_set():
                raise KeyboardInterrupt
            start = time.monotonic()
            record = Record(job.setup, None, {}, notes=job.implementation.notes, origin=job.origin, seed=self.seed)
            try:
                found = None if self.force else self.keeper.known(job.setup.key)
                if found and found.seed == self.seed:
                    return found
                with job.held() as held:
                    record = replace(record, failure=job.trouble) if job.trouble else self._run(held, record)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as e:  # a panic of the native module is no Exception
                record = self.keeper.with_log(
                    replace(record, failure=failure_of(e, job)), "".join(traceback.format_exception(e))
                )
            seconds = time.monotonic() - start
            return self.keeper.add(replace(record, seconds=seconds, finished=datetime.now(UTC), host=platform.node()))

    def _run(self, job: Job, record: Record) -> Record:
        toolchain = _toolchain(job)
        built = build.build(job.implementation, job.target, toolchain, job.flags, self.force)
        stand_in = (job.target.stand_in,) if job.target.stand_in else ()
        record = self.keeper.with_log(replace(record, notes=(*record.notes, *stand_in, *built.notes)), built.log)
        if built.failure is not None:
            return replace(record, failure=built.failure)

        try:
            aead = job.implementation.primitive == "crypto_aead"
            image = built.images["both"]
            with device.opened(job.target, image, build.confined(image), self.max_cycles) as link:
                client = device.Client(link)
                empty = measure.empty_calls(client, aead)
                answers: list[Observed] = []
                verifier = verify.Verifier(
                    client,
                    job.implementation,
                    verify.expected(job.implementation, client.hello),
                    Inputs(job.implementation.digest, self.seed),
                    reference(job.implementation, job.target),
                )
                touched: list[int | None] = []
                verification = verify.verify(verifier, answers, lambda: touched.append(link.longest_untouched()))
                untouched, quantity = touched[0], link.quantity
                again, dependent, dependence = measure.fresh(answers, verify.again(verifier, answers), empty, quantity)
                verify.forge(verifier, again)
                asked, left_out = measure.inputs_of(client, job.workload, verifier.inputs, aead)
                swept = verifier.calls(asked, "workload, ")
                left_out += len(asked) - sum(op == verifier.name for op, _, _ in swept)
                verify.forgeries(verifier, swept, 1)
                felics = measure.Felics()
                if aead and job.workload.name == "felics-ae":
                    objects = build.objects(built, job.implementation)
                    felics = measure.felics(client, job.implementation, job.target, objects, answers, empty)
                odd = verify.unaligned(verifier, answers)
                counted = measure.instructions(client, answers, aead)
                harm = verify.cut_short(verifier, answers)  # last: the device may be left in any state
                told = link.notes
                if link.clock != record.setup.timing_model:
                    text = f"{link.clock} instead of {record.setup.timing_model}"
                    raise DeviceError(Failure(Reason.COUNTER_LOST, text))
        except (verify.Mismatch, DeviceError) as e:
            return replace(record, failure=failure_of(e, job))

        calls = [*answers, *again, *swept]
        if wrong := measure.implausible(calls, empty, quantity, job.target, job.implementation):
            return replace(record, failure=wrong)
        # what is not counted in cycles stands in no column of cycles
        points = measure.points(swept, empty) if quantity == "cycles" else ()
        figures = measure.means(answers, empty, quantity) | measure.lines(points) | measure.peaks(calls)
        figures |= counted
        figures |= measure.spread(answers)
        figures |= measure.image_figures(built.images, job.target, untouched)
        figures |= measure.energy(figures, job.target) | felics.figures | dependent
        base, helpers = figures, tuple[Helper, ...]()
        if job.baseline.setup.key != job.setup.key:
            baseline = self.weigh(job.baseline)
            base_build = build.build(job.baseline.implementation, job.target, toolchain, job.flags)
            if failed := baseline.failure or base_build.failure:
                text = f"{job.target.name}: nocrypt, which is subtracted, ends with {failed.reason}: {failed.detail}"
                return replace(record, failure=Failure(Reason.NO_BASELINE, text))
            base = baseline.metrics
            helpers = measure.helpers(built.folder / "both.map", base_build.folder / "both.map")
        figures |= measure.attributable(figures, base)
        figures["rom_helpers"] = sum(h.size for h in helpers)

        notes = [
            *record.notes,
            *told,
            *verifier.notes,
            *client.remarks,
            *dependence,
            *felics.notes,
            *([odd] if odd else []),
            *harm,
        ]
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
