"""``steelyard rtl``: weighs designs with the LWC hardware API on devices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click
from msgspec import Struct

from ..analyse import order
from ..analyse.answer import told_apart
from ..analyse.rows import check_columns, rows
from ..asked import settled
from ..hardware import Hardware, traced
from ..model.call import DeviceError
from ..model.errors import UserError, WorkError, counted, unknown
from ..model.inputs import MAX_SEED, SEED
from ..model.paths import ROOT
from ..model.record import Record
from ..publish import results
from ..publish.sheet import Sheet, plain
from ..rtl import tools
from ..rtl.bench import MODES
from ..rtl.design import ONLY, Design
from ..rtl.device import device_names, load_device, usual_devices
from ..rtl.job import SEEDS, Job
from ..rtl.reading import designs_of
from ..rtl.tools import ToolError
from . import options, select
from .console import one_line, stderr
from .options import command
from .output import Output, writable
from .records import document

_MEANING = (
    "Cells of yosys; fmax routed by nextpnr, the mean over seeds, from register to register. Throughput at that "
    "frequency. Definitions: docs/definitions.md. What they are worth: docs/claims.md. Details: steelyard show RUN"
)

_REPORTED = (
    "Cells, and fmax where there is one, as the reports say; cycles are simulated, and no netlist was verified. "
    "Definitions: docs/definitions.md. What they are worth: docs/claims.md. Details: steelyard show RUN"
)


class Rtl(Struct, frozen=True, kw_only=True):
    """What ``rtl`` is asked."""

    what: tuple[str, ...]
    device: tuple[str, ...]
    top: str
    aead: str
    hash: str
    seeds: int
    verify: bool
    modes: str
    trace: Path | None
    every: bool
    liberty: Path | None
    report: tuple[Path, ...]
    threads: int | None
    force: bool
    seed: str
    columns: str
    db: str | None
    out: Output


@command(
    Rtl,
    click.argument(
        "what",
        nargs=-1,
        metavar="[PATH|NAME]...",
        help="A folder with designs, or a bundled family or design; FOLDER/VARIANT or DESIGN/VARIANT is one of them (* "
        "and ? match). Default: all.",
    ),
    click.option(
        "--device",
        "-d",
        multiple=True,
        metavar="DEVICE",
        help=f"Repeatable or comma-separated. Default: {','.join(usual_devices())}.",
    ),
    options.text("--top", metavar="MODULE", help="The top module, where a folder does not say."),
    options.text("--aead", metavar="VARIANT", help="The AEAD that a folder's designs are, where it does not say."),
    options.text("--hash", metavar="VARIANT", help="The hash that a folder's designs are, where it does not say."),
    options.number(
        "--seeds", most=100, default=SEEDS, help="Placements of each design, of which frequency is the mean."
    ),
    options.flag("--verify", help="Simulate only: all modes, and cycles."),
    options.text(
        "--modes",
        metavar="MODES",
        listed=True,
        help=f"The modes of the test bench that a design has to be right in. Default: {','.join(MODES)}.",
    ),
    click.option(
        "--trace", type=options.FILE, metavar="FILE", help="Write every signal up to the first wrong word (VCD)."
    ),
    options.flag("--every", help="Cycles of all sizes up to 2 KiB besides, of all operations: they become points."),
    click.option(
        "--liberty", type=options.FILE, metavar="FILE", help="The library that the gates of asic are of, not ours."
    ),
    click.option(
        "--report",
        type=options.FILE,
        multiple=True,
        metavar="FILE",
        help="Repeatable: what Vivado or Quartus say of one design on one device, instead of our synthesis.",
    ),
    options.number("--threads", "-j", help="Tools at once. Default: one per core."),
    options.force,
    options.text("--seed", metavar="TEXT", default=SEED, help="What random inputs are made from."),
    options.columns,
    options.db,
    options.tables,
)
def verb(ask: Rtl) -> int:
    """Weigh hardware: simulate, synthesise, place and route designs with the LWC hardware API."""
    if not 0 < len(ask.seed) <= MAX_SEED:
        raise UserError(f"--seed: give 1 to {MAX_SEED} characters")
    columns = check_columns(ask.columns)
    modes = _modes(ask.modes)
    named = [n for text in ask.device for n in text.split(",") if n] or list(usual_devices())
    devices = [load_device(n, ask.liberty) for n in dict.fromkeys(device_names() if named == ["all"] else named)]
    found, failed = designs(ask)
    if ask.verify and ask.every:
        raise UserError("--every is of runs, and --verify makes none; leave one of them out")
    if failed and (ask.trace or ask.report):  # whatever is left of what was named is not the one that is meant
        raise UserError(failed[0][1])
    if ask.trace is not None:
        return _trace(found, ask, modes)
    if ask.liberty and not any(d.liberty for d in devices):
        raise UserError("--liberty is of a device whose gates are of a library; give --device with one")
    if ask.report and (len(found) != 1 or len(devices) != 1):
        what = f"{counted(len(found), 'design')} on {counted(len(devices), 'device')} are named"
        raise UserError(f"--report is of one design on one device; {what}")
    with select.store(":memory:" if ask.verify else ask.db) as store:
        threads = ask.threads or os.cpu_count() or 1
        work = Hardware(store, threads=threads, force=ask.force, seed=ask.seed, begins=_begins)
        if ask.verify:
            return _verify(work, [d for d, _ in found], failed, ask, modes)
        jobs = [
            Job(d, device, ask.seeds, origin, ask.every, ask.report, modes) for d, origin in found for device in devices
        ]
        if len(jobs) > 1:
            gone = [tools.missing(j.needed) for j in jobs]
            if all(gone) and gone[0]:  # one row for each would be the newest results, and say the same
                raise WorkError(f"{gone[0].detail}; nothing was weighed or stored")
            stderr().print(f"{counted(len(found), 'design')} on {counted(len(devices), 'device')}")
        records = work.campaign(jobs, _say)
        if lost := len(work.keeper.waiting):
            stderr().print(f"{counted(lost, 'run')} shown and not stored: {work.keeper.why}", style="bold red")
    meaning = [_REPORTED if ask.report else _MEANING] if ask.out.console and any(r.metrics for r in records) else []
    told = {**document(records, []), "rejected": [{"path": at, "detail": why} for at, why in failed]}
    ask.out.give([*sheets_of(records, columns, flat=ask.out.flat), *refused(failed)], told, meaning)
    return 0 if records and all(r.ok for r in records) and not failed and not lost else 1


def _modes(text: str) -> tuple[str, ...]:
    """The modes that are named, in the order in which they are tried; all where none is. Raises :class:`UserError`."""
    named = {m for m in text.split(",") if m} or {*MODES}
    if other := sorted(named - {*MODES}):
        raise unknown("mode", other[0], MODES)
    return tuple(m for m in MODES if m in named)


def _begins(what: str) -> None:
    stderr().print(one_line(what), soft_wrap=True)


def _say(job: Job, record: Record, stored: bool) -> None:
    if not stored:
        what = "done" if record.failure is None else str(record.failure.reason)
        stderr().print(one_line(f"{job.design.label} on {job.device.name}: {what}"), soft_wrap=True)


def sheets_of(records: Sequence[Record], columns: Sequence[str] = (), *, flat: bool = False) -> list[Sheet]:
    """The tables of records, as ``publish`` has them."""
    found = rows(records)
    for row, record in zip(found, records, strict=True):
        if record.failure is not None:
            row["detail"] = record.failure.detail
    found = told_apart(order.ordered(found, (("target", False), ("lut", False))))
    if flat:
        return [results.flat(found, columns)]
    return [*results.tables(found, columns), *(results.without_figures(found) if columns else [])]


def refused(failed: Sequence[tuple[str, str]]) -> list[Sheet]:
    """Folders that are not a design, with the reason."""
    return [plain("No design", "refused", ("folder", "why"), failed)] if failed else []


def designs(ask: Rtl) -> tuple[list[tuple[Design, str]], list[tuple[str, str]]]:
    """Designs with the path that the user named them by, and what is none, with the reason."""
    chosen: dict[Design, str] = {}
    failed: list[tuple[str, str]] = []
    bundled = [f.parent for f in sorted((ROOT / "rtl").glob("*/*/design.toml"))]
    for text in ask.what or ("*",):
        at = Path(text)
        there = select.exists_at(text)
        if there:
            several = _several([at], ask, failed)
        elif named := _named(bundled, text):
            folders = [*dict.fromkeys(folder for folder, _ in named)]
            several = [d for d in _several(folders, ask, failed) if (d.folder, d.variant) in named]
        elif at.parent.is_dir() and at.parent != Path():
            none: list[tuple[str, str]] = []
            own = _several([at.parent], ask, none)
            several = [d for d in own if any(fnmatchcase(n, at.name) for n in _called(d))]
            if own and not several and not any(fnmatchcase(Path(path).name, at.name) for path, _ in none):
                raise unknown("variant", at.name, [*dict.fromkeys(n for d in own for n in _called(d))])
            failed += [f for f in none if not own or fnmatchcase(Path(f[0]).name, at.name)]
        else:
            raise unknown("design", text, [f.name for f in bundled])
        for d in several:
            ours = d.folder.is_relative_to(ROOT / "rtl") and not there
            chosen.setdefault(d, "" if ours else text)
    return list(chosen.items()), failed


def _called(d: Design) -> tuple[str, ...]:
    """What tells a design from the others of its folder: its variant, and its name where its description has none."""
    return (d.variant,) if d.variant != ONLY else (d.variant, d.name)


def _named(folders: Sequence[Path], text: str) -> list[tuple[Path, str]]:
    """The folders and variants of bundled designs of a name, which is the one that they have without options."""
    found = [settled(d) for folder in folders for d in designs_of(folder)]
    return [(d.folder, d.variant) for d in found if any(fnmatchcase(n, text) for n in (d.family, d.name, d.label))]


def _several(folders: Sequence[Path], ask: Rtl, failed: list[tuple[str, str]]) -> list[Design]:
    """The designs of folders; what is none comes to ``failed``, with the reason."""
    made: list[Design] = []
    for folder in folders:
        try:
            found = designs_of(folder, top=ask.top, aead=ask.aead, hash=ask.hash, failed=failed)
        except UserError as e:
            failed.append((str(folder), str(e)))
            continue
        for d in found:
            try:
                made.append(settled(d))
            except UserError as e:
                alone = d.variant == ONLY and len(found) > 1
                failed.append((str(folder / d.name if alone else folder), str(e)))
    return made


def _verify(
    work: Hardware, found: Sequence[Design], failed: Sequence[tuple[str, str]], ask: Rtl, modes: tuple[str, ...]
) -> int:
    """Says of each design whether it is right, and the cycles of a message of 64 bytes."""
    from concurrent.futures import ThreadPoolExecutor

    def one(d: Design) -> tuple[tuple[str | int | None, ...], bool]:
        try:
            v = work.verified(d, modes)
        except (ToolError, DeviceError) as e:
            return (d.label, str(e.failure.reason), None, None, None, e.failure.detail), False
        cycles = {(s.op, s.ad, s.message, s.reuse): c for s, c in zip(v.sizes, v.cycles, strict=True)}
        outcome = "verified" if v.failure is None else str(v.failure.reason)
        told = v.failure.detail if v.failure else "; ".join((*d.notes, *v.notes))
        enc, hashed = cycles.get(("encrypt", 0, 64, False)), cycles.get(("hash", 0, 64, False))
        return (d.label, outcome, v.operations, enc, hashed, told), v.failure is None

    with ThreadPoolExecutor(work.threads) as pool:
        made = list(pool.map(one, found))
    columns = {"design": None, "outcome": None, "operations": 0, "encrypt 0/64": 0, "hash 64": 0, "detail": None}
    ask.out.give([plain("", "verified", columns, [m for m, _ in made]), *refused(failed)])
    return 0 if made and all(good for _, good in made) and not failed else 1


def _trace(found: Sequence[tuple[Design, str]], ask: Rtl, modes: tuple[str, ...]) -> int:
    if len(found) != 1:
        raise UserError(f"--trace is of one design; {counted(len(found), 'design')} are named")
    assert ask.trace is not None
    writable(ask.trace)
    try:
        outcome = traced(found[0][0], ask.trace, ask.seed, modes, ask.every)
    except ToolError as e:
        raise UserError(f"{e.failure.reason}: {e.failure.detail}") from e
    if outcome is None:
        where = "any mode" if modes == MODES else f"mode {', '.join(modes)}"
        sizes = "all sizes up to 2 KiB" if ask.every else "the timed sizes"
        stderr().print(f"nothing is wrong in {where}, nor at {sizes}, so there is no trace", soft_wrap=True)
        return 0
    failure = outcome.failure
    stderr().print(f"wrote {ask.trace}: {failure.detail if failure else ''}", soft_wrap=True)
    return 1
