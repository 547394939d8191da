"""The whole program on one page: sources -> build -> device -> verify -> measure -> store."""

from __future__ import annotations

import math
import os
import platform
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from . import building, device, lab, measure, sources, verify
from .inside import assembly, uncounted
from .jobs import Ahead, Job, Run, clock_of, failure_of, identity, lacks, nocrypt, resolve
from .model.call import DeviceError, Failed, Observed
from .model.inputs import SEED, Inputs
from .model.once import Once, alone
from .model.origin import of_path
from .model.primitive import PRIMITIVES
from .model.reasons import ANSWERED_WRONGLY, MACHINE, Failure, Reason
from .model.record import Record, Toolchain, Verification
from .model.workload import LEFT_OUT, SCENARIOS
from .reference import reference
from .store import Keeper, Store

__all__ = ["MAX_CYCLES", "Job", "Pipeline", "clock_of", "identity", "lacks", "nocrypt", "resolve"]

MAX_CYCLES = device.MAX_CYCLES
#: attempts on boards that speak against a package before it is the package's doing
TWICE = 2


def _toolchain(job: Job) -> Toolchain:
    found = building.identify(job.target.toolchain)
    if found is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, building.why_not(job.target.toolchain)))
    return found


def _implausible(job: Job, seen: measure.Observations) -> Failure | None:
    return measure.implausible(seen.all, seen.empty.cycles, seen.quantity, job.target, job.implementation)


class _Said(NamedTuple):
    """Notes that stand before those on single calls, after them, and at the end."""

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    last: Sequence[str] = ()


class Pipeline:
    """Measures jobs on several threads; finished records go to the store at once."""

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
        self._ahead: dict[tuple[str, ...], Ahead] = {}
        self._weighed = Once(self._weigh, key=lambda run: run.setup.key)

    def campaign(self, jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]) -> list[Record]:
        """Runs the jobs that the store has no record of, and returns all records in the order of ``jobs``.

        ``done`` is called for each record as it becomes known; its last argument says whether it was stored before. A
        kill at any moment loses only the runs in progress: the next call continues. An error in a job becomes its
        record's failure; records that the store does not take stay in ``keeper.waiting``.
        """
        runs = [resolve(job) for job in jobs]
        keys = [run.setup.key for run in runs]
        kept = self.stored(runs)
        for job, key in zip(jobs, keys, strict=True):
            if key in kept:
                done(job, kept[key], True)
        todo = [run for run in runs if run.setup.key not in kept]
        if not todo:
            return [kept[key] for key in keys]
        self.over.clear()
        from concurrent.futures import Future, ThreadPoolExecutor, as_completed

        self._ahead = {at: Ahead(runs) for at, runs in Counter(run.job.boards for run in todo).items()}
        # each pool of boards has a thread for each of them, and one that builds meanwhile
        pools = {at: ThreadPoolExecutor(len(at) + 1 if at else self.threads) for at in self._ahead}
        futures: dict[Future[Record], Run] = {}
        try:
            for run in todo:
                at = run.job.boards
                future = pools[at].submit(self._weighed, run)
                future.add_done_callback(self._ahead[at].ended)
                futures[future] = run
            for future in as_completed(futures):
                run, record = futures[future], future.result()
                kept[run.setup.key] = record
                done(run.job, record, False)
        except BaseException:
            self.over.set()
            raise
        finally:
            for pool in pools.values():
                pool.shutdown(wait=False, cancel_futures=True)
            for pool in pools.values():
                pool.shutdown()
            kept |= self.keeper.again()
        return [kept[key] for key in keys]

    def weigh(self, job: Job) -> Record:
        """The record of one job. Threads that ask for the same job get the same record."""
        return self._weighed(resolve(job))

    def stored(self, runs: Sequence[Run]) -> dict[str, Record]:
        """The newest records of jobs that need not run again (:func:`.jobs.lacks`)."""
        found = {} if self.force else self.keeper.find([r.setup.key for r in runs], [r.job.origin for r in runs])
        kept = [(r, found[r.setup.key]) for r in runs if r.setup.key in found]
        return {r.setup.key: record for r, record in kept if self._serves(r.job, record)}

    def _serves(self, job: Job, record: Record) -> bool:
        return not lacks(job, record, self.seed, self.max_cycles)

    def _weigh(self, run: Run) -> Record:
        """The record of one run: from the store, from another process that worked on it, or new."""
        job, setup = run.job, run.setup
        leased = self.keeper.leased(setup.key, self.over) if job.on else nullcontext()
        # on boards a run may wait for hours; who went on meanwhile would take its lease away, which is the home's
        patience = math.inf if job.on else None
        with alone(f"job {setup.key}", self.over, patience), leased as lease:
            if self.over.is_set():
                raise KeyboardInterrupt
            start = time.monotonic()
            record = Record(
                setup, None, {}, notes=job.implementation.notes, origin=of_path(job.origin), seed=self.seed,
                max_cycles=None if self.max_cycles == MAX_CYCLES else self.max_cycles,
            )  # fmt: skip
            found = None
            try:
                found = None if self.force else self.keeper.find_one(setup.key, job.origin)
                if found and self._serves(job, found):
                    return found
                with job.held() as held:
                    record = replace(record, failure=run.trouble) if run.trouble else self._run(held, record)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as e:  # a panic in the native module is not an Exception
                record = self.keeper.with_log(
                    replace(record, failure=failure_of(e, job)), "".join(traceback.format_exception(e))
                )
            crashed = record.failure is not None and record.failure.reason is Reason.INTERNAL
            if found and found.ok and found.seed == self.seed and not record.final and not crashed:
                return found  # only its power was missing, and the lab cannot do better now
            if job.on and record.ok:
                record = replace(record, notes=(*record.notes, *lab.earlier(self.keeper.find_one(setup.key))))
            seconds = time.monotonic() - start
            record = replace(record, seconds=seconds, finished=datetime.now(UTC), host=platform.node())
            return self.keeper.add(record, lease)

    @contextmanager
    def _device(self, job: Job, image: Path, attempt: int) -> Iterator[device.Link]:
        """What runs ``image``: one of the boards that the job names, else the target's device."""
        if not job.on:
            with device.opened(job.target, image, building.confined(image), self.max_cycles, self.over) as link:
                yield link
            return
        ahead = self._ahead.get(job.boards, Ahead(0))
        purpose = lab.Purpose(f"{job.plan.label} {' '.join(job.flags)}", attempt, ahead.runs, len(job.on), ahead.usual)
        with (
            lab.borrowed(job.on, self.over, partial(self._prove, job)) as (station, lock),
            lab.opened(station, image, self.max_cycles, self.over, purpose, lock) as link,
        ):
            yield link

    def _prove(self, job: Job, station: lab.Station, lock: lab.Hold) -> None:
        """Whether a board does what it has to with nocrypt; :class:`DeviceError` where it does not."""
        built = building.built(nocrypt("crypto_aead"), job.target)
        purpose = lab.Purpose(lab.PROOF)
        with lab.opened(station, built.images["both"], self.max_cycles, self.over, purpose, lock) as link:
            for _ in lab.proved(station, link, device.Client(link)):
                pass

    def _observed(
        self, job: Job, built: building.Build, record: Record, tries: list[str]
    ) -> tuple[Record, measure.Observations]:
        """Verifies the image on the target's device and makes the measured calls; every output is checked, and where
        one asks for heap that is not there, all begins anew with larger calls left out. On a board once more where it
        ends for a reason that may be the lab's, which is said in ``tries``. What speaks against the package is asked
        for twice, of another board if one is free; how often it did is said too, and an answer that is right the
        second time verifies nothing."""
        need = self._need(job, built, tries)
        against: list[Failed] = []
        for attempt in count(1):
            try:
                found = device.with_room(need.anew(), partial(self._made, job, built, record, attempt))
            except Failed as e:
                if not job.on:
                    raise
                if e.failure.reason in lab.BOARDLESS:
                    raise
                if e.failure.reason not in MACHINE:
                    against.append(e)
                    if len(against) == TWICE:
                        break
                elif isinstance(e, lab.NoBoard) or not lab.again(e.failure, attempt):
                    said = [w for w in against if lab.accuses(w.failure)]
                    if not said:
                        raise
                    tries.append(f"attempt {attempt} ended with {e.failure.reason}: {e.failure.detail}")
                    tries.append(lab.how_often(said, len(against)))
                    raise said[0] from None
                tries.append(f"attempt {attempt} ended with {e.failure.reason}: {e.failure.detail}")
            else:
                break
        wrong = [e for e in against if lab.accuses(e.failure)]
        if not against or (len(against) < TWICE and not wrong):
            return found
        if not wrong:
            raise against[-1]
        tries.append(lab.how_often(wrong, TWICE))
        raise wrong[0]

    def _run(self, job: Job, record: Record) -> Record:
        """Builds, verifies and measures: returns ``record`` with the figures, or with the failure."""
        built = building.build(job.implementation, job.target, _toolchain(job), job.flags, self.force)
        stand_in = (job.target.stand_in,) if job.target.stand_in else ()
        record = self.keeper.with_log(replace(record, notes=(*record.notes, *stand_in, *built.notes)), built.log)
        if built.failure is not None:
            return replace(record, failure=built.failure)
        tries: list[str] = []
        try:
            record, seen = self._observed(job, built, record, tries)
            code = assembly(job, built, seen, self._part_of(job, built), Inputs(job.secret, self.seed))
        except (verify.Mismatch, DeviceError) as e:
            linked = built.maps["both"] if job.target.is_chip else None
            failure = building.ran(failure_of(e, job), built.folder / "src", built.log, linked)
            return replace(record, failure=failure, notes=(*record.notes, *tries))
        record = replace(record, notes=(*record.notes, *tries))
        if wrong := _implausible(job, seen):
            return replace(record, failure=wrong)

        figures = measure.figures(seen, built.images, job.target)
        base = resolve(job.baseline)
        if base.setup.key == record.setup.key:
            figures = figures.above(figures.metrics, (), {})
        else:
            baseline = self._weighed(base)
            empty = building.build(base.job.implementation, job.target, _toolchain(job), base.job.flags)
            if failed := baseline.failure or empty.failure:
                text = f"{job.target.name}: nocrypt, which is subtracted, fails with {failed.reason}: {failed.detail}"
                return replace(record, failure=Failure(Reason.NO_BASELINE, text))
            maps = built.maps["both"], empty.maps["both"]
            helpers = measure.helpers(*maps, job.implementation.primitive)
            figures = figures.above(baseline.metrics, helpers, uncounted(job, built, empty))
        clock = lab.uncertainty(job.target.device, record.notes, seen.clock)
        return replace(
            record,
            metrics=figures.metrics | code | (clock if job.on else {}),
            points=figures.points,
            vector_cycles=figures.vector_cycles,
            helpers=figures.helpers,
            notes=(*record.notes, *figures.notes),
        )

    def _need(self, job: Job, built: building.Build, tries: list[str]) -> device.Need:
        """What larger calls need of RAM, as a few on a simulated chip say that makes no others. For a board all are
        tried there, for what no board notices ends its run; what else they end with is said in ``tries``."""
        need = device.Need()
        if not job.target.is_chip:
            return need
        if PRIMITIVES[job.implementation.primitive].sized:
            with suppress(Failed):  # of which its own run, or a board's trial, says more
                client = device.simulated(job.target, built.images["both"], self.max_cycles, self.over)
                verify.look_at_growth(client, job.implementation, Inputs(job.secret, self.seed))
                need = client.need.anew()
        try:
            return device.with_room(need, partial(self._tried, job, built)) if job.on else need
        except Failed as e:
            if e.failure.reason in lab.UNSEEN:
                raise
            tries.append(lab.unvouched(e.failure))
            return need

    def _tried(self, job: Job, built: building.Build, need: device.Need) -> device.Need:
        """What the calls of a board's run need of RAM: ``need``, and what has no room on a simulated chip."""
        there = replace(job, on=(), target=job.target.but(device="simulator"))
        client = device.simulated(there.target, built.images["both"], self.max_cycles, self.over, need)
        self._observer(there)(there, built, client.link, client)
        return client.need.anew()

    def _observer(self, job: Job) -> Callable[..., tuple[measure.Observations, Verification, _Said]]:
        """What verifies and makes the calls of the job's primitive."""
        return self._blocks if job.implementation.primitive == "crypto_block" else self._messages

    def _made(
        self, job: Job, built: building.Build, record: Record, attempt: int, need: device.Need
    ) -> tuple[Record, measure.Observations]:
        """As :meth:`_observed`, once."""
        implementation, image = job.implementation, built.images["both"]
        with self._device(job, image, attempt) as link:
            client = device.Client(link, need=need)
            verify.same_sizes(client.hello, sources.sizes(implementation))
            try:
                seen, verification, said = self._observer(job)(job, built, link, client)
            except (verify.Mismatch, DeviceError) as e:
                e.failure = client.explained(e.failure)
                raise
            if job.on and (wrong := _implausible(job, seen)):  # which a board has to say twice, as all else
                raise verify.Mismatch(wrong)
            if link.clock != record.setup.timing_model:
                text = f"{link.clock} instead of {record.setup.timing_model}"
                raise DeviceError(Failure(Reason.COUNTER_LOST, text))
        power = seen.power.notes if seen.power else ()
        notes = (*record.notes, *link.notes, *said.before, *client.remarks, *said.after, *power, *said.last)
        failure = None
        if verification.source == "self":
            failure = Failure(Reason.NO_EXPECTED, f"no known answers for {implementation.variant}")
        return replace(record, failure=failure, verification=verification, notes=notes), seen

    def _messages(
        self, job: Job, built: building.Build, link: device.Link, client: device.Client
    ) -> tuple[measure.Observations, Verification, _Said]:
        """The calls of an AEAD or a hash, which take messages of the workload's sizes."""
        implementation = job.implementation
        aead = implementation.primitive == "crypto_aead"
        empty = measure.empty_calls(client, PRIMITIVES[implementation.primitive].operations, link.resolution)
        verifier = verify.Verifier(
            client,
            implementation,
            verify.expected(implementation, client.hello),
            Inputs(job.secret, self.seed),
            reference(implementation, job.target),
        )
        known = verify.known_answers(verifier)
        verification = verify.second_set(verifier, known)
        fresh = verify.again(verifier, known)
        if depends := measure.depends(known.calls, fresh, empty.cycles):
            fresh = verify.again(verifier, known, every=True)
        verify.forge(verifier, fresh)
        swept, left_out = verify.sweep(verifier, known, job.workload)
        calls, repeats = known.calls, list[str]()
        if link.resolution > 0:
            again = partial(verify.once_more, verifier, swept)
            swept, repeats = measure.repeated(swept, again, link.resolution)
            sample = verifier.inputs.sample("repeats", len(known.outputs), verify.SAMPLE)
            of_known = partial(verify.known_once_more, verifier, known)
            some, more = measure.sampled(calls, of_known, sample, link.resolution, "the known answers")
            calls, repeats = tuple(some), [*repeats, *more]
        refused = verifier.not_taken((*known.calls, *fresh, *swept))
        felics = measure.Felics()
        if aead and job.workload.name == "felics-ae" and (measure.LENGTH, measure.LENGTH) not in verifier.refused:
            objects, case = building.objects(built, implementation), measure.case(client, known.own or known.calls)
            felics = measure.felics(client, implementation, job.target, objects, case, empty.cycles)
            other = verifier.vector("felics-ae", 0, measure.LENGTH, measure.LENGTH)
            felics = measure.beside(felics, case, verifier.calls([case, other], "FELICS-AE's case, "))
        power = lab.power(link, client, known.calls or known.own) if job.metered else None
        odd = verify.unaligned(verifier, known)
        harm = verify.cut_short(verifier, known)  # last, because it may leave the device in any state
        if job.target.device == "simulator":
            verify.parts(verifier, known.calls or known.own, (fresh, swept), self._part_of(job, built))
        seen = measure.Observations(
            empty=empty,
            known=calls,
            fresh=tuple(fresh),
            swept=tuple(swept),
            quantity=link.quantity,
            clock=client.clock,
            untouched=known.untouched,
            depends=depends,
            felics=felics,
            power=power,
            beside=verifier.beside,
            refused=refused,
        )
        said = [*repeats, *empty.notes, *odd, *harm]
        return seen, verification, _Said(verifier.notes, said, [f"{LEFT_OUT}{left_out}"] if left_out else [])

    def _blocks(
        self, job: Job, built: building.Build, link: device.Link, client: device.Client
    ) -> tuple[measure.Observations, Verification, _Said]:
        """The calls of a block cipher: key schedules, and encryption and decryption of one block."""
        implementation = job.implementation
        verify.room_for_blocks(client, verify.known_block(implementation.variant))
        operations = PRIMITIVES[implementation.primitive].operations
        empty = measure.empty_calls(client, operations, link.resolution)
        inputs = Inputs(job.secret, self.seed)
        verifier = verify.BlockVerifier(client, implementation, inputs, reference(implementation, job.target))
        known, verification = verify.known_blocks_answers(verifier)
        fresh = verify.fresh_blocks(verifier, known)
        if depends := measure.depends(known.calls, fresh, empty.cycles, sized=False):
            fresh = verify.fresh_blocks(verifier, known, every=True)
        felics = measure.Felics()
        if job.workload.name in SCENARIOS:
            felics = self._scenario(job, built, client, verifier)
        verify.reused(verifier, known)
        verify.many_keys(verifier, few=link.resolution > 0)
        warm, notes = verify.warm_blocks(verifier, known, sampled=link.resolution > 0)
        warm_empty = measure.empty_calls(client, operations, warm=True) if warm else empty
        power = lab.power(link, client, known.calls) if job.metered else None
        if implementation.interface == "nist":  # FELICS promises neither
            verify.promised(verifier)
        if job.target.device == "simulator":
            verify.block_parts(verifier, (known.calls, fresh), self._part_of(job, built))
        own, repeats = known.calls, list[str]()
        if link.resolution > 0:
            again = partial(verify.blocks_once_more, verifier, known)
            some, repeats = measure.repeated(own, again, link.resolution, "the known answers")
            own = tuple(some)
        calls: list[Sequence[Observed]] = [own, fresh, warm]
        beside = verifier.beside
        if implementation.interface == "phases":
            calls = [measure.joined(m, e) for m, e in zip(calls, (empty, empty, warm_empty), strict=True)]
            beside = replace(beside, first=list(measure.joined(beside.first, empty)))
        if not implementation.scheduled:
            calls = [measure.unscheduled(of) for of in calls]
            first, elsewhere = measure.unscheduled(beside.first), measure.unscheduled(beside.elsewhere)
            beside = replace(beside, first=first, elsewhere=elsewhere)
        seen = measure.Observations(
            empty=empty,
            known=tuple(calls[0]),
            fresh=tuple(calls[1]),
            swept=(),
            quantity=link.quantity,
            clock=client.clock,
            untouched=known.untouched,
            depends=depends,
            felics=felics,
            block=client.hello.a_bytes,
            context=client.hello.npub_bytes,
            key=client.hello.key_bytes,
            power=power,
            warm=tuple(calls[2]),
            warm_empty=warm_empty,
            settles=client.hello.warms,
            beside=beside,
        )
        return seen, verification, _Said(verifier.notes, [*notes, *repeats, *empty.notes])

    def _scenario(
        self, job: Job, built: building.Build, client: device.Client, verifier: verify.BlockVerifier
    ) -> measure.Felics:
        """The figures of the first FELICS in the workload's scenario. A mode of operation has an image of its own,
        which only the simulator runs; where there are no figures, a note says why."""
        implementation, scenario = job.implementation, SCENARIOS.index(job.workload.name)
        about = f"no figures of FELICS's scenario {scenario}: "
        if (data := measure.DATA.get(scenario, 0)) % (block := client.hello.a_bytes):
            return measure.Felics(notes=(f"{about}{data} bytes are not a whole number of blocks of {block}",))
        said, context = measure.message(client, scenario, verifier.own)
        fresh, other = measure.another(client, scenario, verifier.inputs)
        if scenario == 0:
            objects, again = building.objects(built, implementation), (client, fresh)
            linked = built.maps["both"]
            weigh = partial(measure.phases, client, implementation, job.target, objects, said, verifier.inputs)
            return weigh(linked=linked, again=again)
        if job.target.device != "simulator":
            return measure.Felics(notes=(f"{about}its mode of operation is simulated only",))
        in_flash = scenario == 2
        if in_flash and implementation.interface == "nist" and job.target.toolchain.family == "avr":
            return measure.Felics(
                notes=(f"{about}its contexts are in program memory, which crypto_block does not read on AVR",)
            )
        asked = building.Scenario(scenario, block, *((context, other) if in_flash else ()))
        made = building.build(implementation, job.target, _toolchain(job), job.flags, self.force, asked)
        failure = made.failure
        if failure is None:
            try:
                moded, others = (
                    device.simulated(job.target, made.images[part], self.max_cycles, self.over)
                    for part in ("both", "other" if in_flash else "both")
                )
                objects, mode = building.objects(made, implementation), building.mode(made)
                linked = made.folder / f"{building.ALONE}.map" if in_flash else made.maps["both"]
                again = (others, fresh)
                weigh = partial(measure.phases, moded, implementation, job.target, objects, said, verifier.inputs)
                return weigh(scenario, mode, linked, again)
            except DeviceError as e:
                if e.failure.reason in ANSWERED_WRONGLY and not in_flash:  # of several blocks with one context
                    raise
                failure = e.failure
        return measure.Felics(notes=(f"{about}{failure.reason}: {failure.detail}",))

    def _part_of(self, job: Job, built: building.Build) -> Callable[[str], device.Client]:
        """Opens the image of one direction."""
        return lambda part: device.simulated(job.target, built.images[part], self.max_cycles, self.over)
