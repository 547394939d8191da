"""``steelyard list`` and ``steelyard targets``."""

from __future__ import annotations

from ..build import identify
from ..model import paths, toml
from ..model.errors import counted, refuse, unknown
from ..model.implementation import Implementation
from ..model.row import CONTEXT
from ..model.target import Target, load_target, target_names
from ..model.variant import variant_of
from ..publish.sheet import Cell
from ..sources import Sizes, sizes
from . import select
from .output import Output, sheet, show
from .results import as_json


def list_command(kind: str, path: str | None, db: str | None, out: Output) -> int:
    """Prints one list."""
    lists = {"implementations": lambda: _implementations(path, out), "targets": lambda: _targets(out)}
    lists["runs"] = lambda: _runs(db, out)
    if kind not in lists:
        raise unknown("list", kind, lists)
    if kind != "implementations":
        refuse({path or "": path}, f"list {kind} takes no path; leave it out")
    lists[kind]()
    return 0


def _implementations(path: str | None, out: Output) -> None:
    chosen, rejected = select.implementations([] if path is None else [path])
    found = [c.implementation for c in chosen]
    sheets = []
    for primitive in dict.fromkeys(i.primitive for i in found):
        group = [i for i in found if i.primitive == primitive]
        aead = primitive == "crypto_aead"
        columns = {
            **dict.fromkeys(("implementation", "structure", "underlying", "mode", "rounds")),
            "state": 0,
            "rate": 0,
        }
        columns |= dict.fromkeys(("key", "nonce", "tag") if aead else ("digest",), 0)
        variants = counted(len({i.variant for i in group}), "variant")
        title = f"{primitive}: {counted(len(group), 'implementation')} of {variants}; sizes in bits"
        sheets.append(sheet(title, primitive, columns, [_parameters(i, aead) for i in group]))
    bad = [{"path": paths.short(r.path), "reason": str(r.failure.reason), "detail": r.failure.detail} for r in rejected]
    if bad:
        columns = dict.fromkeys(("package", "reason", "detail"))
        sheets.append(sheet("Not implementations", "rejected", columns, [tuple(r.values()) for r in bad]))
    if out.console:
        drop = ("mode", "structure", "underlying", "state", "rounds", "rate")
        for s in sheets:
            show(s, drop=drop, wrap=("package", "detail"))
    else:
        out.tables(sheets, {"implementations": [_implementation(i) for i in found], "rejected": bad})


def _parameters(i: Implementation, aead: bool) -> tuple[Cell, ...]:
    v, s = variant_of(i.folder), sizes(i)
    known = (v.structure, v.underlying, v.mode, v.rounds, v.state, v.rate) if v else (None,) * 6
    return (i.label, *known, *(None if n is None else n * 8 for n in _own(s, aead)))


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


def _targets(out: Output) -> None:
    every = [load_target(n) for n in target_names()]
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
    columns = dict.fromkeys(("target", "chip", "core", "clock", "flash / RAM", "compiler", "cycle counts"))
    answer = sheet("", "targets", columns, rows)
    if out.console:
        show(answer, wrap=("compiler",), drop=("core", "flash / RAM", "clock"))
    else:
        out.tables([answer], [_target(t) for t in every])


def _clock(t: Target) -> str:
    return f"{t.chip.clock_hz / 1e6:g} MHz" if t.chip.clock_hz else "-"


def _target(t: Target) -> dict[str, object]:
    toolchain = identify(t.toolchain)
    data = toml.plain(t)
    del data["folder"]
    return data | {"compiler": toolchain.version if toolchain else None, "digest": t.digest}


def _runs(db: str | None, out: Output) -> None:
    with select.store(db, existing=True) as store:
        if out.format == "json":
            out.tables([], [as_json(r) for r in store.runs()])
            return
        runs = store.rows(metrics=())
    names = ("run", "primitive", "label", "target", "flags", "workload", "outcome", "finished")
    rows = [tuple(str(r[n]).split(" (")[0] if n == "workload" else r[n] for n in names) for r in runs]
    answer = sheet("", "runs", dict.fromkeys(CONTEXT[n] for n in names), rows)
    if out.console:
        show(answer, wrap=("outcome",), drop=("finished (UTC)", "primitive", "workload", "flags"))
    else:
        out.tables([answer])
