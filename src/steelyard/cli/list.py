"""``steelyard list`` and ``steelyard targets``."""

from __future__ import annotations

from pathlib import Path

from ..build import identify
from ..model import paths
from ..model.errors import unknown
from ..model.target import Target, load_target, target_names
from . import select
from .console import number, print_json, stdout, table
from .results import as_json


def list_command(kind: str, path: Path | None, db: str | None, json: bool) -> int:
    """Prints one list."""
    lists = {"implementations": lambda: _implementations(path, json), "targets": lambda: _targets(json)}
    lists["runs"] = lambda: _runs(db, json)
    if kind not in lists:
        raise unknown("list", kind, lists)
    lists[kind]()
    return 0


def _implementations(path: Path | None, json: bool) -> None:
    chosen, rejected = select.implementations([str(path)] if path else [])
    found = [c.implementation for c in chosen]
    rows = [(i.primitive, i.family, i.variant, i.name, str(len(i.files)), i.digest[:12]) for i in found]
    if json:
        data = [
            {"primitive": i.primitive, "family": i.family, "variant": i.variant, "implementation": i.name}
            | {"digest": i.digest, "files": [f.name for f in i.files], "notes": i.notes}
            for i in found
        ]
        bad = [{"path": paths.short(r.path), "reason": r.failure.reason, "detail": r.failure.detail} for r in rejected]
        print_json({"implementations": data, "rejected": bad})
        return
    console = stdout()
    columns = ("primitive", "family", "variant", "implementation", "files", "digest")
    console.print(table("", columns, rows, left=4, drop=("digest", "files", "primitive", "family")))
    if rejected:
        bad_rows = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
        console.print(
            table("Not implementations", ("package", "reason", "detail"), bad_rows, left=3, wrap=("package", "detail"))
        )


def _targets(json: bool) -> None:
    every = [load_target(n) for n in target_names()]
    if json:
        print_json([_target(t) for t in every])
        return
    rows = []
    for t in every:
        toolchain = identify(t.toolchain)
        compiler = toolchain.version if toolchain else f"missing: {t.toolchain.fix}"
        memory = (
            f"{t.chip.flash.size // 1024} KiB / {number(t.chip.ram.size / 1024, 0)} KiB" if t.chip.clock_hz else "-"
        )
        rows.append((t.name, t.chip_name, t.chip.core, _clock(t), memory, compiler, t.tier))
    columns = ("target", "chip", "core", "clock", "flash / RAM", "compiler", "cycle counts")
    stdout().print(table("", columns, rows, left=7, wrap=("compiler",), drop=("core", "flash / RAM", "clock")))


def _clock(t: Target) -> str:
    return f"{t.chip.clock_hz / 1e6:g} MHz" if t.chip.clock_hz else "-"


def _target(t: Target) -> dict[str, object]:
    toolchain = identify(t.toolchain)
    data = t.model_dump(mode="json", exclude={"folder"})
    return data | {"compiler": toolchain.version if toolchain else None, "digest": t.digest}


def _runs(db: str | None, json: bool) -> None:
    with select.store(db, existing=True) as store:
        records = store.runs(with_points=False)
    if json:
        print_json([as_json(r) for r in records])
        return
    rows = [
        (
            str(r.id),
            r.setup.primitive,
            r.setup.label,
            r.setup.target,
            r.setup.flags,
            r.setup.workload.split(" ")[0],
            "verified" if r.ok else str(r.failure.reason if r.failure else ""),
            f"{r.finished:%Y-%m-%d %H:%M}" if r.finished else "-",
        )
        for r in records
    ]
    columns = (
        "run",
        "primitive",
        "implementation",
        "target",
        "flags",
        "workload",
        "outcome",
        "finished (UTC)",
    )
    drop = ("finished (UTC)", "primitive", "workload", "flags")
    stdout().print(table("", columns, rows, left=8, wrap=("outcome",), drop=drop))
