"""``steelyard list`` and ``steelyard targets``."""

from __future__ import annotations

from pathlib import Path

from ..build import identify
from ..model import paths, toml
from ..model.errors import unknown
from ..model.implementation import Implementation
from ..model.target import Target, load_target, target_names
from ..model.variant import variant_of
from ..sources import Sizes, sizes
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
    if json:
        bad = [{"path": paths.short(r.path), "reason": r.failure.reason, "detail": r.failure.detail} for r in rejected]
        print_json({"implementations": [_implementation(i) for i in found], "rejected": bad})
        return
    console = stdout()
    for primitive in dict.fromkeys(i.primitive for i in found):
        group = [i for i in found if i.primitive == primitive]
        aead = primitive == "crypto_aead"
        columns = ["implementation", "structure", "underlying", "mode", "rounds", "state", "rate"]
        columns += ["key", "nonce", "tag"] if aead else ["digest"]
        drop = ("mode", "structure", "underlying", "state", "rounds", "rate")
        title = (
            f"{primitive}: {len(group)} implementations of {len({i.variant for i in group})} variants; sizes in bits"
        )
        console.print(table(title, columns, [_parameters(i, aead) for i in group], left=5, drop=drop))
    if rejected:
        bad_rows = [(paths.short(r.path), str(r.failure.reason), r.failure.detail) for r in rejected]
        console.print(
            table("Not implementations", ("package", "reason", "detail"), bad_rows, left=3, wrap=("package", "detail"))
        )


def _parameters(i: Implementation, aead: bool) -> tuple[str, ...]:
    v, s = variant_of(i.folder), sizes(i)
    known = (v.structure, v.underlying, v.mode, v.rounds, str(v.state), str(v.rate)) if v else ("-",) * 6
    return (i.label, *known, *(number(n * 8) if n is not None else "-" for n in _own(s, aead)))


def _own(s: Sizes, aead: bool) -> tuple[int | None, ...]:
    return (s.key, s.nonce, s.tag) if aead else (s.tag,)


def _implementation(i: Implementation) -> dict[str, object]:
    v, s = variant_of(i.folder), sizes(i)
    names = ("key_bytes", "nonce_bytes", "tag_bytes") if i.primitive == "crypto_aead" else ("digest_bytes",)
    return {
        "primitive": i.primitive,
        "family": i.family,
        "variant": i.variant,
        "implementation": i.name,
        **dict(zip(names, _own(s, i.primitive == "crypto_aead"), strict=True)),
        "parameters": toml.plain(v) if v else None,
        "digest": i.digest,
        "files": [f.name for f in i.files],
        "notes": i.notes,
    }


def _targets(json: bool) -> None:
    every = [load_target(n) for n in target_names()]
    if json:
        print_json([_target(t) for t in every])
        return
    rows = []
    for t in every:
        toolchain = identify(t.toolchain)
        compiler = toolchain.version if toolchain else t.toolchain.missing
        if t.preferred:
            compiler += f", for want of {t.preferred.compiler}, which no Debian package has"
        if t.alternative:
            compiler += f"; --toolchain {', '.join(a.name for a in t.alternative)}"
        memory = f"{t.chip.flash.size // 1024} KiB / {t.chip.ram.size / 1024:g} KiB" if t.chip.clock_hz else "-"
        rows.append((t.name, t.chip_name, t.chip.core, _clock(t), memory, compiler, t.tier))
    columns = ("target", "chip", "core", "clock", "flash / RAM", "compiler", "cycle counts")
    stdout().print(table("", columns, rows, left=7, wrap=("compiler",), drop=("core", "flash / RAM", "clock")))


def _clock(t: Target) -> str:
    return f"{t.chip.clock_hz / 1e6:g} MHz" if t.chip.clock_hz else "-"


def _target(t: Target) -> dict[str, object]:
    toolchain = identify(t.toolchain)
    data = toml.plain(t)
    del data["folder"]
    return data | {"compiler": toolchain.version if toolchain else None, "digest": t.digest}


def _runs(db: str | None, json: bool) -> None:
    with select.store(db, existing=True) as store:
        records = store.runs(points=json, metrics=None if json else ())
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
