"""One run whole: figures, cycles by size, what libraries gave, provenance, and how to repeat it."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence

from .. import lab
from ..analyse.errors import Error, error_of, of_models, unpublished
from ..analyse.rows import rows
from ..model.errors import counted
from ..model.inputs import SEED
from ..model.metric import metric, metric_names
from ..model.origin import submission
from ..model.packed import unpack
from ..model.record import Record, Verification
from ..model.target import load_target, target_names
from .results import ON
from .sheet import ANY, Cell, Column, Line, Sheet, plain

#: units of a run's figures in the order in which these stand; all other figures come after them
_UNITS = ("cycles", "cycles/byte", "ticks", "instructions", "bytes", "µJ", "µJ/byte", "nJ/bit", "mW")


def sheets(r: Record, same: Sequence[int]) -> list[Sheet]:
    """The record as tables: what it is of, its metrics, its cycles by size, and what libraries gave."""
    about = [Column("field", ""), Column("value", "")]
    title = f"run {r.id}: {r.setup.primitive} {r.setup.label} on {r.setup.target}"
    notes = [*(f"note: {n}" for n in r.notes), f"to repeat: {repeating(r)}"]
    sheets = [Sheet(title, "run", about, [Line(fact) for fact in _facts(r, same)], notes=notes)]
    figures: list[tuple[Cell, ...]] = [(n, _unit(n), v) for n, v in sorted(r.metrics.items(), key=_place)]
    heads: dict[str, int | None] = {"metric": None, "unit": None, "value": ANY}
    if figures:
        sheets.append(plain("metrics (docs/definitions.md)", "metrics", heads, figures))
    if r.points:
        operations = tuple(dict.fromkeys(p.operation for p in r.points))
        cells = {(p.adlen, p.mlen, p.operation): p.cycles for p in r.points}
        sizes = dict.fromkeys((p.adlen, p.mlen) for p in r.points)
        grid = [(a, m, *(cells.get((a, m, o)) for o in operations)) for a, m in sizes]
        columns = dict.fromkeys(("AD", "message", *operations), 0)
        sheets.append(plain("cycles by size in bytes", "points", columns, grid))
        more = {(p.adlen, p.mlen, p.operation): p.counter - p.cycles for p in r.points if p.counter is not None}
        if more:
            grid = [(a, m, *(more.get((a, m, o)) for o in operations)) for a, m in sizes]
            sheets.append(plain("cycles that the chip's own counter has more, by size", "counter", columns, grid))
    if r.helpers:
        members = [(h.member, h.size) for h in r.helpers]
        heads = {"member": None, "bytes": 0}
        sheets.append(plain("library members pulled in (counted in ROM)", "members", heads, members))
    return sheets


def vectors(r: Record) -> Sheet:
    """The cycles of every known answer, in their order. Raises :class:`ValueError` where they are damaged."""
    rows: dict[tuple[int, int, int], dict[str, int]] = {}
    numbers = Counter[str]()
    for p in unpack(r.vector_cycles):
        numbers[p.operation] += 1
        rows.setdefault((numbers[p.operation], p.adlen, p.mlen), {})[p.operation] = p.cycles
    columns = dict.fromkeys(("answer", "AD", "message", *numbers), 0)
    grid = [(*at, *map(cycles.get, numbers)) for at, cycles in sorted(rows.items())]
    return plain("cycles of every known answer, minus the empty call's", "vectors", columns, grid)


def _place(figure: tuple[str, float]) -> tuple[int, int, str]:
    """Where a figure stands among those of a run: cycles first, then memory, then energy."""
    name, unit, known = figure[0], _unit(figure[0]), metric_names()
    place = known.index(name) if name in known else len(known)
    return (_UNITS.index(unit) if unit in _UNITS else len(_UNITS), place, name)


def _unit(name: str) -> str:
    """The unit of a metric; of one that this version does not know none."""
    return metric(name).unit if name in metric_names() else ""


def _facts(r: Record, same: Sequence[int]) -> list[tuple[str, str]]:
    s, v = r.setup, r.verification
    facts: list[tuple[str, str]] = []
    if r.failure is not None:
        facts.append(("no verified figures", f"{r.failure.reason}: {r.failure.detail}"))
        facts.append(("what to do", r.failure.next_action))
    facts.append(("implementation", f"{s.implementation_digest[:16]}  {s.family}"))
    if submission(r.origin):
        facts.append(("handed in as", r.origin))
    if v is not None:
        text = f"{v.vectors} known answers, {v.ext_vectors} of the second set, {v.skipped} too large; from: {v.source}"
        if v.source == "self":
            text = f"{counted(v.vectors, 'call')} without known answers, {v.skipped} too large"
        elif v.answers:
            text = f"{_of_its_file(r, v)}; from: {v.source}"
        facts.append(("verified", text))
        if same:
            numbers = ", ".join(map(str, same))
            facts.append(("same answers", f"as {'run' if len(same) == 1 else 'runs'} {numbers}, of other sources"))
    facts += [
        ("device", f"{s.device}, {'timing model' if s.device == 'simulator' else 'clock'} {s.timing_model}"),
        *_error(r),
        ("toolchain", f"{s.toolchain.version}  {s.toolchain.sha256[:16]}"),
        ("flags", s.flags),
        ("workload", s.workload),
        ("seed", r.seed or "-"),
        *([("cycles that a call may take", str(r.max_cycles))] if r.max_cycles is not None else []),
        ("harness", s.harness[:16]),
        ("run", f"{r.finished:%Y-%m-%d %H:%M} UTC on {r.host}, {r.seconds:.2f} s" if r.finished else "-"),
    ]
    return facts


#: what a note says where NIST's calls were made besides those of the package's file
_OWN = re.compile(r"whose answers nobody knows: the (\d+) known answers? of its own file")


def _of_its_file(r: Record, v: Verification) -> str:
    """How many answers of the package's file were compared, as far as the record says it."""
    skipped = f", {v.skipped} too large" if v.skipped else ""
    own = next(filter(None, map(_OWN.search, r.notes)), None)
    if own is not None:
        return f"{v.vectors} calls of NIST's sizes, and {own[1]} known answers of the package's file{skipped}"
    if r.setup.primitive != "crypto_block":
        return f"{v.vectors} known answers of the package's file{skipped}"
    return f"{v.vectors} calls, of which those of the package's file have known answers{skipped}"


def error(r: Record) -> Error | None:
    """The error that a record's simulated cycles carry, where one is published."""
    return error_of(rows([r])[0]) if _simulated(r) else None


def _simulated(r: Record) -> bool:
    return r.setup.device == "simulator" and bool(r.metrics)


def _error(r: Record) -> list[tuple[str, str]]:
    """The error that simulated cycles carry; nothing where there are none."""
    if not _simulated(r):
        return []
    known = error(r)
    others = "; ".join(dict.fromkeys(e.kind for e in of_models(rows([r]))))
    of = f"{r.setup.target} and this model" + (f" but of other code ({others})" if others else "")
    return [("error of its cycles", known.text if known else unpublished(of))]


def repeating(r: Record) -> str:
    """The command line that repeats a run."""
    s = r.setup
    if s.primitive == "lwc_rtl":
        parts = ["steelyard", "rtl", r.origin or s.label, "--device", s.target]
        parts += ["--seeds", s.flags.removeprefix("seeds 1-")] if s.flags else []
        parts += ["--every"] if s.workload == "lwc-every" else []
        parts += ["--report", "FILE"] if s.timing_model.endswith(", reported") else []
        return shlex.join([*parts, "--force", *(["--seed", r.seed] if r.seed not in ("", SEED) else [])])
    handed_in = submission(r.origin)
    what = handed_in.name if handed_in else r.origin or f"{s.primitive}/{s.family}/{s.label}"
    parts = ["steelyard", "run", what]
    board = lab.board_of(s.device, r.notes)
    parts += ["--on", board or "lab"] if board or s.device in ON else []
    parts += [] if board else ["--target", s.target]  # a run that no board took names none
    if s.target in target_names() and s.toolchain.name in {a.name for a in load_target(s.target).alternative}:
        parts += ["--toolchain", s.toolchain.name]
    parts += [f"--flags={s.flags}", "--workload", s.workload.split(" ")[0], "--force"]
    parts += ["--seed", r.seed] if r.seed not in ("", SEED) else []
    parts += ["--max-cycles", str(r.max_cycles)] if r.max_cycles is not None else []
    return shlex.join(parts) + (f"  # with {handed_in.name}, which somebody handed in" if handed_in else "")
