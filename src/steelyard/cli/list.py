"""``steelyard list``: implementations with their parameters, stored runs, targets, or workloads."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.core import ParameterSource
from msgspec import Struct, to_builtins

from ..analyse.answer import workload_name
from ..model import paths, toml
from ..model.errors import UserError, counted, refuse, unknown
from ..model.implementation import Implementation
from ..model.primitive import PRIMITIVES
from ..model.protocol import PROTOCOLS, Protocol
from ..model.row import Row
from ..model.variant import Variant, variant_of
from ..model.workload import NAMED
from ..publish.results import column, run_of
from ..publish.sheet import Cell, Line, Lines, Sheet, plain
from ..sources import sizes
from . import options, select, targets
from .options import command
from .output import Output
from .records import as_json, refused

#: most sizes of a workload that a line shows
_SHOWN = 8


class List(Struct, frozen=True):
    """What ``list`` is asked."""

    kind: str
    path: str | None
    db: str | None
    out: Output


@command(
    List,
    click.argument("kind", metavar="implementations|targets|runs|workloads", help="What to list."),
    click.argument(
        "path",
        required=False,
        metavar="[PATH]",
        help="For implementations: a folder or zip instead of the bundled ones.",
    ),
    options.db,
    options.tables,
)
def verb(ask: List) -> int:
    """List implementations, targets, workloads, or stored runs."""
    lists = {"implementations": _implementations, "targets": _targets, "runs": _runs, "workloads": _workloads}
    if ask.kind not in lists:
        raise unknown("list", ask.kind, lists)
    if ask.kind != "implementations":
        refuse({ask.path or "": ask.path}, f"list {ask.kind} takes no path; leave it out")
    if ask.kind != "runs" and click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise UserError(f"--db: list {ask.kind} reads no results; leave it out")
    lists[ask.kind](ask)
    return 0


def _targets(ask: List) -> None:
    targets.answer(ask.out)


def _workloads(ask: List) -> None:
    named = [(name, len(sizes), _some(sizes)) for name, sizes in NAMED.items() if name not in PROTOCOLS]
    columns: dict[str, int | None] = {"workload": None, "sizes": 0, "associated data/message, bytes": None}
    document = {
        "workloads": {name: [{"adlen": a, "mlen": m} for a, m in sizes] for name, sizes in NAMED.items()},
        "protocols": to_builtins(PROTOCOLS),
    }
    ask.out.give([plain("", "workloads", columns, named), *map(_protocol, PROTOCOLS.values())], document)


def _protocol(p: Protocol) -> Sheet:
    """The sizes of a protocol; a typical one is an example, and what ``choose`` takes."""
    columns = {"what": None, "associated data": 0, "message": 0, "": None}
    sizes = [(s.what, s.adlen, s.mlen, "typical" if s.typical else "") for s in p.sizes]
    said = [f"associated data: {p.associated}", f"today: {', '.join(p.today)}", p.note]
    return plain(f"{p.name}: {p.title} ({p.standard})", p.name, columns, sizes, [n for n in said if n])


def _some(sizes: Sequence[tuple[int, int]]) -> str:
    """The first of a workload's sizes."""
    shown = ", ".join(f"{a}/{m}" for a, m in sizes[:_SHOWN])
    return f"{shown}, ..." if len(sizes) > _SHOWN else shown


def _implementations(ask: List) -> None:
    chosen, rejected = select.implementations([] if ask.path is None else [ask.path])
    found = [c.implementation for c in chosen]
    sheets: list[Sheet] = []
    for primitive in dict.fromkeys(i.primitive for i in found):
        group = [i for i in found if i.primitive == primitive]
        columns = dict.fromkeys(("implementation", "structure", "underlying", "mode", "rounds"))
        columns |= dict.fromkeys(("state", "rate", *PRIMITIVES[primitive].own), 0)
        variants = counted(len({i.variant for i in group}), "variant")
        title = f"{primitive}: {counted(len(group), 'implementation')} of {variants}; sizes in bits"
        wrong = dict.fromkeys(w for i in group if (w := _variant(i)[1]))
        sheets.append(plain(title, primitive, columns, [_parameters(i) for i in group], list(wrong)))
    bad = [{"path": paths.short(r.path), "reason": str(r.failure.reason), "detail": r.failure.detail} for r in rejected]
    document = {"implementations": [_implementation(i) for i in found], "rejected": bad}
    ask.out.give([*sheets, *refused(rejected)], document)


def _variant(i: Implementation) -> tuple[Variant | None, str]:
    """The parameters of an implementation, and what is wrong with the file that has them: nothing else reads it."""
    try:
        return variant_of(i.folder), ""
    except UserError as e:
        return None, f"no parameters: {e}"


def _parameters(i: Implementation) -> tuple[Cell, ...]:
    (v, _), s = _variant(i), sizes(i)
    known = (v.structure, v.underlying, v.mode, v.rounds, v.state, v.rate) if v else (None,) * 6
    return (i.label, *known, *(None if n is None else n * 8 for n in s.values()))


def _implementation(i: Implementation) -> dict[str, object]:
    (v, wrong), s = _variant(i), sizes(i)
    return {
        "primitive": i.primitive,
        "family": i.family,
        "variant": i.variant,
        "implementation": i.name,
        **{f"{name}_bytes": n for name, n in s.items()},
        "parameters": toml.as_dict(v) if v else None,
        "digest": i.digest,
        "files": [f.name for f in i.files],
        "notes": [*i.notes, wrong] if wrong else i.notes,
    }


def _runs(ask: List) -> None:
    with select.store(ask.db, existing=True) as store:
        runs = [] if ask.out.format == "json" else store.rows(metrics=())
        document = [as_json(r) for r in store.runs()] if ask.out.format == "json" else None
    devices = {r["device"] for r in runs}
    where = ("target", "device") if len(devices) > 1 else ("target",)
    names = ("run", "primitive", "label", *where, "flags", "workload", "outcome", "finished")
    columns = [column(n) for n in names]
    ask.out.give([Sheet("", "runs", columns, Lines(runs, lambda row: _run(row, names)))], document)


def _run(row: Row, names: Sequence[str]) -> Line:
    return Line([workload_name(str(row[n])) if n == "workload" else row[n] for n in names], run_of(row))
