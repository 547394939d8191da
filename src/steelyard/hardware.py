"""The hardware pipeline on one page: design -> lint -> simulate -> synthesise -> simulate the netlist -> place and
route -> figures -> the same store."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .asked import Asked, against, software_of, swept, verified_with
from .jobs import failure_of
from .model import paths, whole
from .model.call import DeviceError
from .model.digest import of_file
from .model.inputs import SEED
from .model.once import Once, alone
from .model.origin import of_path
from .model.reasons import MACHINE, Failure, Reason
from .model.record import Record, Setup, Verification
from .rtl import bench, figures, ghdl, synthesis, tools, trace, vectors, vhdl
from .rtl.bench import Netlist, Outcome
from .rtl.design import Design
from .rtl.job import RECIPE, Job, digest_of, harness
from .rtl.synthesis import Cells, Routed
from .rtl.tools import ToolError
from .rtl.vectors import CallSize
from .rtl.vendor import Report
from .store import Keeper, Store

T = TypeVar("T")
#: levels of modules that a trace shows, and those of a flat netlist: the top's own signals, not those inside of cells
EVERY_LEVEL, FLAT = 99, 1
#: cycles of the measured sizes below which a netlist is simulated sooner than an optimiser would end
SOON = 300_000
#: what some designs lack, by the design's field, with what names of operations that need it have in them
_LACKED = (
    ("key_reuse", "-reuse", "a key cannot be used again: every operation brings its own"),
    ("segments", "-by-", "not the whole API: data in several segments are not understood"),
    ("padded", "", "not the whole API: what fills up the last word of do is not zero"),
)


class Verified(Struct, frozen=True):
    """What simulation came to: ``sizes`` with their cycles, or the reason why the design is not right. ``reuse`` says
    whether a key serves for more than one operation, ``segments`` whether data may come in several, ``padded``
    whether what fills up the last word of do is zero."""

    failure: Failure | None
    sizes: tuple[CallSize, ...] = ()
    cycles: tuple[int, ...] = ()
    operations: int = 0
    notes: tuple[str, ...] = ()
    reuse: bool = True
    segments: bool = True
    padded: bool = True
    log: str = ""
    toggles: tuple[int, ...] = ()


def _identity(design: Design, every: bool, modes: tuple[str, ...]) -> tuple[str, str, bool, tuple[str, ...]]:
    return design.label, design.digest, every, modes


def _unchanged(design: Design, digest: str) -> None:
    """Raises :class:`ToolError` where the sources are not those of the ``digest``."""
    if digest_of(design) != digest or not digest:
        text = f"a file of {design.folder} changed since it was found, or is gone"
        raise ToolError(Failure(Reason.SOURCES_CHANGED, text))


#: a job with what its tasks are about to give: cells, what the netlist does, and its routes
Begun = tuple[Job, Setup, Future[tuple[Cells, Path]], Future[Verified], list[Future[Routed]]]


class Hardware:
    """Weighs designs on several threads; finished records go to the store at once. ``begins`` is told what begins and
    takes its time."""

    def __init__(
        self,
        store: Store,
        *,
        threads: int = 0,
        force: bool = False,
        seed: str = SEED,
        begins: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.keeper = Keeper(store)
        self.threads = threads or os.cpu_count() or 1
        self.force = force
        self.seed = seed
        self._begins = begins
        self._verify = Once(self._verified, key=_identity)

    def campaign(self, jobs: Sequence[Job], done: Callable[[Job, Record, bool], None]) -> list[Record]:
        """The records of jobs in their order; stored ones are not made again. Raises nothing for a bad design."""
        setups = [t.setup for t in jobs]
        kept = {} if self.force else self.keeper.find([s.key for s in setups])
        kept = {k: r for k, r in kept.items() if r.seed == self.seed}
        for job, setup in zip(jobs, setups, strict=True):
            if setup.key in kept:
                done(job, kept[setup.key], True)
        designs: dict[str, list[tuple[Job, Setup]]] = {}
        for job, setup in zip(jobs, setups, strict=True):
            if setup.key not in kept:
                designs.setdefault(setup.implementation_digest, []).append((job, setup))
        with ThreadPoolExecutor(self.threads) as pool:
            for job, setup, cells, gate, routes in self._begun(pool, list(designs.values())):
                record = self.keeper.add(self._record(job, setup, cells, gate, routes))
                kept[setup.key] = record
                done(job, record, False)
        kept |= self.keeper.again()
        return [kept[s.key] for s in setups]

    def _begun(self, pool: ThreadPoolExecutor, designs: Sequence[Sequence[tuple[Job, Setup]]]) -> list[Begun]:
        """The tasks of all jobs, design after design, so that each ends as soon as it can. Simulation and synthesis
        need nothing of each other; a netlist is due after the next design's synthesis, so that few threads wait."""
        begun: list[Begun] = []
        before: list[tuple[Job, Setup, Future[tuple[Cells, Path]]]] = []
        for todo in (*designs, ()):
            for job in {(t.every, t.modes): t for t, _ in todo}.values():
                pool.submit(self._quiet, job)
            synthesised = [(t, s, pool.submit(self._synthesised, t, s)) for t, s in todo]
            gated = [pool.submit(self._gate, t, f) for t, _, f in before]
            for (job, setup, cells), gate in zip(before, gated, strict=True):
                seeds = job.seeds if job.device.place and not job.reports else 0
                routes = [pool.submit(self._placed, job, cells, n) for n in range(1, seeds + 1)]
                begun.append((job, setup, cells, gate, routes))
            before = synthesised
        return begun

    def _quiet(self, job: Job) -> None:
        """Verifies ahead of those who need it; they get the errors."""
        try:
            self._verify(job.design, job.every, job.modes)
        except Exception:
            return

    def _record(
        self,
        job: Job,
        setup: Setup,
        cells: Future[tuple[Cells, Path]],
        gate: Future[Verified],
        routes: Sequence[Future[Routed]],
    ) -> Record:
        start = time.monotonic()
        record = Record(setup, None, {}, notes=job.design.notes, origin=of_path(job.origin), seed=self.seed)
        try:
            if gone := tools.missing(job.needed):
                raise ToolError(gone)
            _unchanged(job.design, setup.implementation_digest)
            verified = self._verify(job.design, job.every, job.modes)
            notes = (*record.notes, *against(job.design), *verified.notes)
            answers = Verification(verified_with(job.design), verified.operations, 0, 0)
            record = replace(record, notes=notes, verification=answers if verified.operations else None)
            if verified.failure is not None:
                raise ToolError(verified.failure, verified.log)
            record = (
                _with_report(job.reported, record, job.design, verified)
                if job.reported
                else self._with_figures(job, record, verified, cells.result()[0], gate.result(), routes)
            )
            _unchanged(job.design, setup.implementation_digest)
        except (KeyboardInterrupt, SystemExit):
            raise
        except ToolError as e:
            record = self.keeper.with_log(replace(record, failure=e.failure), e.log)
        except BaseException as e:
            failure = e.failure if isinstance(e, DeviceError) else failure_of(e)
            record = self.keeper.with_log(replace(record, failure=failure), "".join(traceback.format_exception(e)))
        seconds = time.monotonic() - start
        return replace(record, seconds=seconds, finished=datetime.now(UTC), host=platform.node())

    def _with_figures(
        self,
        job: Job,
        record: Record,
        verified: Verified,
        cells: Cells,
        gate: Verified,
        routes: Sequence[Future[Routed]],
    ) -> Record:
        metrics = figures.area(cells, job.device)
        metrics |= figures.of_toggles(gate.sizes, gate.toggles)
        cycles, notes = figures.of_cycles(verified.sizes, verified.cycles, dict(job.design.block))
        metrics |= cycles
        points = figures.points(verified.sizes, verified.cycles)
        if job.device.place:
            routed = [r.result() for r in routes]
            metrics |= figures.frequency(routed)
            metrics |= figures.throughput(metrics, points, float(metrics["fmax_mean"]))
            said = ", ".join(f"{r.mhz:.1f}" for r in routed)
            notes.append(f"MHz of seeds 1-{len(routed)}: {said}")
            if any(r.crowded for r in routed):
                notes.append("more bits of ports than the device has pins: placed and routed without pins")
            worst = {name: max(r.ports.get(name, 0.0) for r in routed) for r in routed for name in r.ports}
            notes += [f"{name}: up to {ns:.1f} ns, in no frequency" for name, ns in sorted(worst.items())]
        elif job.device.no_frequency:
            notes.append(f"frequency {job.device.no_frequency}")
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(cells.types.items()) if not kind.startswith("$"))
        own = f"{job.design.top} itself"
        parts = sorted(((n, name or own) for name, n in cells.within.items()), reverse=True)[:6]
        notes.append(f"cells: {kinds}")
        if cells.slang:
            notes.append("read by slang: yosys' own reader refuses this design, or might take it for another")
        if job.device.place and len(parts) > 1:
            whole_ = sum(cells.within.values())
            notes.append(
                "parts, by the names of cells: " + ", ".join(f"{p} {100 * n / whole_:.0f} %" for n, p in parts)
            )
        return replace(record, metrics=metrics, points=points, notes=(*record.notes, *notes))

    def verified(self, design: Design, modes: tuple[str, ...] = bench.MODES) -> Verified:
        """What simulation of a design came to. Raises :class:`ToolError` where a tool is missing or too slow."""
        return self._verify(design, False, modes)

    # ---- steps, each kept by everything that it depends on

    def _verified(self, design: Design, every: bool, modes: tuple[str, ...]) -> Verified:
        """Lints and simulates the design in ``modes``, and counts cycles, of ``every`` size where that is asked."""
        digest = design.digest
        identity = [*self._check(design, every, modes), _version(ghdl.tool())]

        def make(work: Path) -> Verified:
            made = self._simulate(design, work, every, modes)
            _unchanged(design, digest)
            return made

        return self._kept("verify", f"{design.label}: simulation", identity, Verified, make)

    def _check(self, design: Design, every: bool, modes: tuple[str, ...]) -> list[str]:
        """What the answers of a design, or of its netlist, and what they are compared with depend on."""
        asked = [design.digest, *software_of(design), harness(), self.seed, _version("verilator")]
        return [*asked, *["every"] * every, *modes]

    def _simulate(self, design: Design, work: Path, every: bool, modes: tuple[str, ...]) -> Verified:
        left = [m for m in bench.MODES if m not in modes]
        notes = [f"not verified in mode {', '.join(left)}, which nobody asked for"] if left else []
        notes += [f"{note} (so its description says)" for field, _, note in _LACKED if not getattr(design, field)]
        try:
            if tools.identify("ghdl-5") is None and ghdl.serves(design):
                return _in_ghdl(design, Asked(design, self.seed), work / "ghdl", modes, notes)
            netlist = _readable(design, work / "vhdl", notes)
            if warned := bench.lint(netlist, _made(work / "lint")).count("%Warning"):
                notes.append(f"Verilator's lint has {warned} warning{'s' * (warned > 1)}")
            doubt = bench.build(design, netlist, _made(work / "bench"))
            if more := bench.beside(design, bench.told(netlist, work / "bench")):
                notes.append(f"inputs that the API does not have are 0: {', '.join(more)}")
                notes += vhdl.untied(design, more) if ghdl.serves(design) else []
            design, outcomes = _outcomes(design, self.seed, work / "bench", modes, notes)
            asked = Asked(design, self.seed)
            streams, sizes = asked.streams(), asked.sizes()
            made = asked.timed(sizes)
            failures = [o.failure for o in outcomes if o.failure]
            if failures:
                failed = ", ".join(o.mode for o in outcomes if o.failure)
                text = f"{failures[0].detail}; modes that fail: {failed}"
                if said := ghdl.second_opinion(design, _made(work / "ghdl"), work / "bench", [*made, *streams]):
                    text += f"; {said}"
                why = Failure(failures[0].reason, f"{text}. {doubt}" if doubt else text)
                return Verified(why, operations=len(streams), notes=tuple(notes))
            unstable = sum(o.unstable for o in outcomes)
            if unstable:
                notes.append(f"{unstable} words of do changed or went away while do_ready was low")
            single = bench.run(work / "bench", made, ("single",))[0]
            if single.failure:
                return Verified(single.failure, operations=len(streams), notes=tuple(notes))
            if said := ghdl.second_opinion(design, _made(work / "ghdl"), work / "bench", [*made, *streams]):
                notes.append(said)
            cycles = tuple(vectors.kept(sizes, single.each))
            if every:
                sizes, cycles = swept(asked, work / "bench", sizes, cycles)
            able = (design.key_reuse, design.segments, design.padded)
            return Verified(None, tuple(sizes), cycles, len(streams), tuple(notes), *able)
        except ToolError as e:
            if e.failure.reason in MACHINE:
                raise
            return Verified(e.failure, notes=tuple(notes), log=e.log[-100_000:])

    def _synthesised(self, job: Job, setup: Setup) -> tuple[Cells, Path]:
        """The cells of a design on a device, and the folder with its netlist; none where reports say them."""
        if job.reports:
            return Cells({}, {}, 0), Path()
        if gone := tools.missing(job.needed):
            raise ToolError(gone)
        identity = [setup.implementation_digest, setup.target_digest, _version("yosys"), _version("ghdl-5"), harness()]

        def make(work: Path) -> Cells:
            netlist = _readable(job.design, work / "vhdl", [])
            made = synthesis.synthesise(netlist, job.device, work)
            _unchanged(job.design, setup.implementation_digest)
            return made

        what = f"{job.design.label}: synthesis for {job.device.name}"
        cells = self._kept("synthesis", what, identity, Cells, make, (synthesis.NETLIST, synthesis.VERILOG))
        return cells, _folder("synthesis", identity)

    def _gate(self, job: Job, synthesised: Future[tuple[Cells, Path]]) -> Verified:
        """Gives the mapped netlist the vectors that the source is verified with, and counts what toggles in it. Raises
        :class:`ToolError`."""
        _, folder = synthesised.result()
        verified = self._verify(job.design, job.every, job.modes)
        if verified.failure is not None or job.reports:
            return verified
        netlist = folder / synthesis.VERILOG
        identity = [*self._check(job.design, job.every, job.modes), of_file(netlist), job.device.digest]
        identity += [_version("yosys"), hashlib.sha256(msgspec.json.encode(verified)).hexdigest()]
        what = f"{job.design.label}: simulation of the netlist for {job.device.name}"

        def make(work: Path) -> Verified:
            made = self._netlist(job, verified, netlist, work)
            _unchanged(job.design, identity[0])
            return made

        outcome = self._kept("gate", what, identity, Verified, make)
        if outcome.failure is not None:
            raise ToolError(outcome.failure, outcome.log)
        return outcome

    def _netlist(self, job: Job, verified: Verified, netlist: Path, work: Path) -> Verified:
        design = replace(job.design, key_reuse=verified.reuse, segments=verified.segments, padded=verified.padded)
        shutil.copyfile(netlist, work / synthesis.VERILOG)
        mapped = synthesis.mapped(Netlist(design.top, ()), job.device, work)
        asked = Asked(design, self.seed)
        streams, sizes = asked.streams(), asked.sizes()
        count = len(sizes)
        others, theirs = verified.sizes[count:], verified.cycles[count:]
        places = asked.sampled(others, theirs)
        due = sum(verified.cycles[:count]) + sum(theirs[k] for k in places)
        bench.build(design, mapped, work, trace=FLAT, optimised="-O0" if due < SOON else "-O1")
        single = bench.run(work, asked.timed(sizes), ("single",))
        outcomes = [*bench.run(work, streams, job.modes), *single]
        for o in outcomes:
            if o.failure is not None:
                return Verified(Failure(Reason.NETLIST_DIFFERS, f"on {job.device.name}, {o.failure.detail}"))
        each = vectors.kept(sizes, single[0].each)
        differ = _differ(sizes, each, verified.cycles[:count])
        if places and differ is None:
            more = asked.measured(others)
            (made,) = bench.run(work, [more[k] for k in places], ("single",))
            differ = made.failure or _differ([others[k] for k in places], made.each, [theirs[k] for k in places])
        if differ is not None:
            return Verified(Failure(Reason.NETLIST_DIFFERS, f"on {job.device.name}, {differ.detail}"))
        sizes = vectors.toggled(sizes)
        (moved,) = bench.run(work, asked.measured(sizes), ("toggles",))
        if moved.failure is not None:
            raise ToolError(moved.failure)
        return Verified(None, tuple(sizes), operations=len(streams), toggles=moved.toggles)

    def _placed(self, job: Job, synthesised: Future[tuple[Cells, Path]], seed: int) -> Routed:
        """The routed design for one seed."""
        _, folder = synthesised.result()
        if self._verify(job.design, job.every, job.modes).failure is not None:
            raise ToolError(Failure(Reason.WRONG_WORD, "not verified, so not placed"))
        assert job.device.place is not None
        netlist = folder / synthesis.NETLIST
        identity = [of_file(netlist), job.device.digest, _version(job.device.place.tool), str(seed), RECIPE]
        what = f"{job.design.label}: placement for {job.device.name}, seed {seed}"
        return self._kept(
            "place", what, identity, Routed, lambda work: synthesis.place(job.device, work, netlist, seed)
        )

    def _kept(
        self,
        kind: str,
        what: str,
        identity: Sequence[str],
        model: type[T],
        make: Callable[[Path], T],
        files: Sequence[str] = (),
    ) -> T:
        """What ``make`` gave for this identity before, or now; ``files`` of its folder are kept beside it. ``what`` is
        said where it is made."""
        folder = _folder(kind, identity)
        with alone(f"rtl {folder.name}"):
            answer = folder / "answer.json"
            if answer.exists() and not self.force and all((folder / f).exists() for f in files):
                return msgspec.json.decode(answer.read_bytes(), type=model)
            self._begins(what)
            with TemporaryDirectory(prefix="steelyard-") as name:
                made = make(Path(name))
                folder.mkdir(parents=True, exist_ok=True)
                for f in files:
                    shutil.copyfile(Path(name, f), folder / f)
            whole.put(answer, msgspec.json.encode(made))
            return made


def _differ(sizes: Sequence[CallSize], ours: Sequence[int], theirs: Sequence[int]) -> Failure | None:
    """The first size whose cycles of a netlist are not those of the source: sources can tell simulators from
    synthesis, and a simulator does what they say."""
    for size, netlist, source in zip(sizes, ours, theirs, strict=True):
        if netlist != source:
            what = f"{size.op} of {size.of}, {size.ad} and {size.message} bytes"
            return Failure(Reason.NETLIST_DIFFERS, f"{what}: {netlist} cycles, {source} of the source")
    return None


def _in_ghdl(design: Design, asked: Asked, work: Path, modes: tuple[str, ...], notes: Sequence[str]) -> Verified:
    """What GHDL's simulation alone comes to, where no netlist can be made of the VHDL. Raises :class:`ToolError`."""
    told = f"simulated by {_version_text(ghdl.tool())}, whose netlists are wrong: only GHDL 5 synthesises"
    said = (*notes, told)
    if found := ghdl.beyond(design):
        raise ToolError(Failure(Reason.SIMULATOR_ONLY, f"{found}, which no circuit has"))
    ghdl.build(design, _made(work))
    streams, sizes = asked.streams(), asked.sizes()
    failures = [o.failure for o in ghdl.run(design, work, streams, modes) if o.failure]
    (single,) = ghdl.run(design, work, asked.timed(sizes), ("single",))
    if single.failure or failures:
        return Verified([*failures, single.failure][0], operations=len(streams), notes=said)
    return Verified(None, tuple(sizes), tuple(vectors.kept(sizes, single.each)), len(streams), said)


def _outcomes(
    design: Design, seed: str, work: Path, modes: tuple[str, ...], notes: list[str]
) -> tuple[Design, list[Outcome]]:
    """The outcomes of ``modes``. What the API lets a design lack is left out where that alone is wrong; the design
    that is returned says so."""
    outcomes = bench.run(work, Asked(design, seed).streams(), modes)
    failed = [o for o in outcomes if o.failure]
    for lacked, mark, note in _LACKED:
        needed = [o for o in failed if not o.accepted and (mark in o.op if mark else o.filled)]
        if getattr(design, lacked) and needed:
            notes.append(f"{note} ({needed[0].op}: {needed[0].outcome})")
            return _outcomes(replace(design, **{lacked: False}), seed, work, modes, notes)
    return design, outcomes


def traced(
    design: Design, file: Path, seed: str = SEED, modes: tuple[str, ...] = bench.MODES, every: bool = False
) -> Outcome | None:
    """Writes what every signal of a design did up to the first word that verification in ``modes`` finds wrong, or the
    cycles of ``every`` size; see :func:`.rtl.trace.written`. Raises :class:`ToolError`."""
    with TemporaryDirectory(prefix="steelyard-") as name:
        work = Path(name)
        netlist = _readable(design, work / "vhdl", [])
        bench.build(design, netlist, _made(work / "bench"), trace=EVERY_LEVEL)
        design, outcomes = _outcomes(design, seed, work / "bench", modes, [])
        asked, failed = Asked(design, seed), [o.mode for o in outcomes if o.failure]
        if failed:
            return trace.written(asked.streams(), work / "bench", file, failed)
        sizes, single = asked.sizes(), ("single",)
        found = trace.written(asked.timed(sizes), work / "bench", file, single)  # longer than those of verification
        if found is None and every:
            return trace.written(asked.measured(asked.others(sizes)), work / "bench", file, single)
        return found


def _with_report(report: Report, record: Record, design: Design, verified: Verified) -> Record:
    """Figures of a vendor's tool, with the cycles of ours. Nothing here has seen its netlist."""
    cycles, notes = figures.of_cycles(verified.sizes, verified.cycles, dict(design.block))
    points = figures.points(verified.sizes, verified.cycles)
    metrics = report.metrics | cycles
    if "fmax_reported" in metrics:
        metrics |= figures.throughput(metrics, points, float(metrics["fmax_reported"]))
    told = f"cells and frequency are those that reports of {report.tool} {report.version} say; no netlist was verified"
    return replace(record, metrics=metrics, points=points, notes=(*record.notes, *notes, told, *report.notes))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _readable(design: Design, work: Path, notes: list[str]) -> Netlist:
    """The design in Verilog: its own, or what GHDL makes of VHDL."""
    if "vhdl" not in design.languages:
        return bench.own(design)
    notes.append(f"VHDL, simulated and synthesised as the Verilog that {_version_text('ghdl-5')} makes of it")
    return vhdl.converted(design, _made(work), notes)


def _version(tool: str) -> str:
    found = tools.identify(tool)
    return found.sha256 if found else ""


def _version_text(tool: str) -> str:
    found = tools.identify(tool)
    return found.version if found else tool


def _folder(kind: str, identity: Sequence[str]) -> Path:
    digest = hashlib.sha256(json.dumps([RECIPE, kind, *identity]).encode()).hexdigest()
    return paths.home() / "cache" / "rtl" / kind / digest
