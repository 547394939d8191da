"""``steelyard show``: one run, whole."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..model.errors import UserError
from ..model.inputs import SEED
from ..model.record import Record
from ..model.target import load_target, target_names
from ..publish.sheet import Cell, Sheet
from . import select
from .console import number, stdout, table
from .output import Output, sheet
from .results import as_json


def show_command(run_id: int, log: bool, db: str | None, out: Output) -> int:
    """Prints a stored run; 0, or :class:`UserError` when there is none of that number."""
    with select.store(db, existing=True) as store:
        record = store.get(run_id)
        if record is None:
            raise UserError(f"there is no run {run_id}; steelyard list runs shows them")
        same = store.same_answers(record)
        if log:
            _log(record.id, store.get_blob(record.log).decode(errors="replace") if record.log else "", out)
            return 0
    if not out.console:
        out.tables(_sheets(record, same), as_json(record))
        return 0
    console = stdout()
    s = record.setup
    console.print(f"run {record.id}: {s.primitive} {s.label} on {s.target}", style="bold")
    if record.failure is not None:
        console.print(f"no verified figures: {record.failure.reason}: {record.failure.detail}", style="red")
        console.print(f"what to do: {record.failure.next_action}")
    console.print(table("", ("", ""), _provenance(record, same), left=2, wrap=("",)))
    console.print()
    if record.metrics:
        rows = [(n, number(v, 0 if float(v).is_integer() else 3)) for n, v in sorted(record.metrics.items())]
        console.print(table("metrics (docs/definitions.md)", ("metric", "value"), rows))
    if record.points:
        ops = tuple(dict.fromkeys(p.operation for p in record.points))
        cells = {(p.adlen, p.mlen, p.operation): p.cycles for p in record.points}
        sizes = dict.fromkeys((p.adlen, p.mlen) for p in record.points)
        grid = [(str(a), str(m), *(number(cells.get((a, m, o))) for o in ops)) for a, m in sizes]
        console.print(table("cycles by size in bytes", ("AD", "message", *ops), grid, left=0))
    if record.helpers:
        rows = [(h.member, number(h.size)) for h in record.helpers]
        console.print(table("library members pulled in (counted in ROM)", ("member", "bytes"), rows))
    for note in record.notes:
        console.print(f"note: {note}")
    console.print(f"to repeat: {command(record)}")
    return 0


def _log(run: int | None, text: str, out: Output) -> None:
    """What the compilers said: as it is, or as an object or a table of its lines."""
    if out.console:
        out.put(text or "the compilers said nothing\n")
    else:
        lines = sheet(f"run {run}: what the compilers said", "log", {"log": None}, [(s,) for s in text.splitlines()])
        out.tables([lines], {"run": run, "log": text})


def _sheets(r: Record, same: Sequence[int]) -> list[Sheet]:
    """The record as tables for a file."""
    failure = f"{r.failure.reason}: {r.failure.detail}" if r.failure else "verified"
    about: list[tuple[Cell, ...]] = [("outcome", failure), *_provenance(r, same), *(("note", n) for n in r.notes)]
    title = f"run {r.id}: {r.setup.primitive} {r.setup.label} on {r.setup.target}"
    values = sorted(r.metrics.items())
    points = [(p.operation, p.adlen, p.mlen, p.cycles) for p in r.points]
    columns = {"operation": None, "AD": 0, "message": 0, "cycles": 0}
    return [
        sheet(title, "run", {"field": None, "value": None}, [*about, ("to repeat", command(r))]),
        sheet("metrics", "metrics", {"metric": None, "value": 3}, values),
        sheet("cycles by size in bytes", "points", columns, points),
    ]


def _provenance(r: Record, same: Sequence[int]) -> list[tuple[str, str]]:
    s, v = r.setup, r.verification
    rows = [
        ("implementation", f"{s.implementation_digest[:16]}  {s.family}"),
        ("device", f"{s.device}, timing model {s.timing_model}"),
        ("toolchain", f"{s.toolchain.version}  {s.toolchain.sha256[:16]}"),
        ("flags", s.flags),
        ("workload", s.workload),
        ("seed", r.seed or "-"),
        ("harness", s.harness[:16]),
        ("run", f"{r.finished:%Y-%m-%d %H:%M} UTC on {r.host}, {r.seconds:.2f} s" if r.finished else "-"),
    ]
    if v is not None:
        text = f"{v.vectors} known answers, {v.ext_vectors} of the second set, {v.skipped} too large; from: {v.source}"
        rows.insert(1, ("verified", text))
        if same:
            numbers = ", ".join(map(str, same))
            rows.insert(2, ("same answers", f"as {'run' if len(same) == 1 else 'runs'} {numbers}, of other sources"))
    return rows


def command(r: Record) -> str:
    """The command line that repeats a run."""
    s = r.setup
    parts = ["steelyard", "run", r.origin or f"{s.primitive}/{s.family}/{s.label}", "--target", s.target]
    if s.target in target_names() and s.toolchain.name in {a.name for a in load_target(s.target).alternative}:
        parts += ["--toolchain", s.toolchain.name]
    parts += [f"--flags={s.flags}", "--workload", s.workload.split(" ")[0], "--force"]
    parts += ["--seed", r.seed] if r.seed not in ("", SEED) else []
    return shlex.join(parts)
