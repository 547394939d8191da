"""The result tables: all targets at one view, then one for each target and primitive, one row a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import to_builtins
from rich.console import Console
from rich.text import Text

from ..model.record import Record
from ..model.target import load_target, target_names
from ..model.workload import workload
from ..store import Store
from .console import number, table
from .matrix import matrices

_AEAD = (
    ("encrypt", "cycles_encrypt_mean", 0),
    ("decrypt", "cycles_decrypt_mean", 0),
    ("reject", "cycles_reject_mean", 0),
    ("cyc/B", "encrypt_per_byte", 1),
    ("fixed", "encrypt_fixed", 0),
    ("ROM", "rom", 0),
    ("enc", "rom_encrypt", 0),
    ("dec", "rom_decrypt", 0),
)
_HASH = (
    ("hash", "cycles_hash_mean", 0),
    ("cyc/B", "hash_per_byte", 1),
    ("fixed", "hash_fixed", 0),
    ("ROM", "rom", 0),
)
_FELICS = (
    ("FELICS size", "felics_code_size", 0),
    ("FELICS RAM", "felics_code_ram", 0),
    ("FELICS time", "felics_code_time", 0),
)
#: most sizes of a workload that stand in the table
FEW = 6
Metrics = tuple[tuple[str, str, int], ...]
_REASONS = ("run", "implementation", "target", "flags", "reason", "detail")
# where the terminal is narrow these go first
_DROP = ("enc", "dec", "heap", "reject", "static", "fixed", "run", "ok", "flags", "cyc/B", "stack", "decrypt")
#: most implementations whose answers are looked for among all runs
_CONFIRMED = 50
_RAM = (("stack", "stack", 0), ("static", "ram_static", 0), ("heap", "heap", 0))


def print_results(console: Console, records: Sequence[Record]) -> None:
    """Tables of all records, then what has no figures and why."""
    for primitive, (name, metric, _) in (("crypto_aead", _AEAD[0]), ("crypto_hash", _HASH[0])):
        chosen = [r for r in records if r.setup.primitive == primitive]
        for matrix in matrices(f"{primitive}: {name}, mean cycles", metric, chosen):
            console.print(matrix)
    groups: dict[tuple[str, str], list[Record]] = {}
    for r in records:
        if r.metrics:
            groups.setdefault((r.setup.target, r.setup.primitive), []).append(r)
    sizes: dict[str, None] = {}
    for (target, primitive), group in sorted(groups.items()):
        metrics = (_AEAD if primitive == "crypto_aead" else _HASH) + _RAM
        own = _own(group)
        # where there are few sizes or none, lines through them are not there to be shown
        lines = [n for _, n, _ in metrics if n.endswith(("_per_byte", "_fixed"))]
        bare = {n for n in lines if all(r.metrics.get(n) is None for r in group)}
        metrics = (*(m for m in metrics if m[1] not in bare), *own)
        apart = [n for n in ("flags", "workload") if len({getattr(r.setup, n) for r in group}) > 1]
        columns = ["run", "implementation", *apart, "ok", *(n for n, _, _ in metrics)]
        rows = [_row(r, metrics, apart) for r in sorted(group, key=_order)]
        flags = "" if "flags" in apart else f", {group[0].setup.flags}"
        title = f"{_title(target)}: {primitive}{flags}, {group[0].setup.toolchain.version}"
        console.print(table(title, columns, rows, left=len(columns) - len(metrics), drop=_DROP))
        sizes |= {title: None for title, name, _ in own if "@" in name}
    if sizes:
        text = "cycles of one encryption or hash with so many bytes of associated data and message; - does not fit"
        console.print(f"{', '.join(sizes)}: {text}", style="dim")
    if any(r.ok and dependent(r) for r in records):
        console.print(
            "* time depends on the inputs: fresh ones take another than the known answers'; see steelyard show"
        )
    failures = [r for r in records if r.failure is not None]
    if failures:
        rows_ = [
            (
                str(r.id or "-"),
                r.setup.label,
                r.setup.target,
                r.setup.flags,
                str(r.failure.reason),
                r.failure.detail,
            )
            for r in failures
            if r.failure is not None
        ]
        console.print(
            table("No verified figures", _REASONS, rows_, left=6, wrap=("detail",), drop=("flags", "run", "target"))
        )


def confirmations(store: Store, records: Iterable[Record]) -> list[str]:
    """For variants that nobody knows, which runs of other sources gave the same answers."""
    answered = {r.setup.label: r for r in records if r.verification is not None and r.verification.answers}
    found = [(label, store.same_answers(r)) for label, r in islice(answered.items(), _CONFIRMED)]
    return [f"{label} answers as run {', '.join(map(str, runs))}, of other sources" for label, runs in found if runs]


def legend(console: Console, records: Iterable[Record]) -> None:
    """What the columns that these records have mean, in a line or two."""
    measured = [r for r in records if r.metrics]
    names = {n for r in measured for n in r.metrics}
    means = [title for title, metric, _ in (*_AEAD[:3], _HASH[0]) if metric in names]
    sentences = (
        [f"{', '.join(means)}: mean cycles over the known-answer calls, empty call subtracted."] if means else []
    )
    if any(n.endswith("_per_byte") for n in names):
        sentences.append("cyc/B, fixed: line through the workload's messages.")
    if sentences:
        console.print(" ".join(sentences), style="dim")
    apart = " (enc, dec alone)" if any(r.setup.primitive == "crypto_aead" for r in measured) else ""
    console.print(
        f"ROM{apart}, stack, static, heap: bytes; ROM and static less the nocrypt image. "
        "How far to trust them: docs/claims.md. Details: steelyard show RUN",
        style="dim",
    )


def _own(group: Sequence[Record]) -> Metrics:
    """Columns of the workloads themselves: cycles at their sizes where these are few, and FELICS-AE's three figures."""
    asked = {r.setup.workload for r in group if r.setup.primitive == "crypto_aead" and r.setup.workload[:1].isdigit()}
    calls = dict.fromkeys(("encrypt", a, m) for text in sorted(asked) for a, m in workload(text).sizes)
    calls |= dict.fromkeys(
        (p.operation, p.adlen, p.mlen) for r in group for p in r.points if p.operation in ("encrypt", "hash")
    )
    sizes = () if len(calls) > FEW else tuple((f"{a}/{m}", f"{o}@{a}/{m}", 0) for o, a, m in calls)
    felics = any(_FELICS[0][1] in r.metrics for r in group)
    return (*sizes, *(_FELICS if felics else ()))


def _row(r: Record, metrics: Metrics, apart: Sequence[str]) -> list[str | Text]:
    mark = Text(f"yes{'*' if dependent(r) else ''}", style="green") if r.ok else Text("no", style="bold red")
    context = [str(getattr(r.setup, n)).split(" (")[0] for n in apart]
    figures = r.metrics | {f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in r.points}
    return [str(r.id or "-"), r.setup.label, *context, mark, *(number(figures.get(m), d) for _, m, d in metrics)]


def dependent(r: Record) -> bool:
    """Whether the known answers' inputs take another time than fresh ones."""
    return any(m.endswith("_fresh_mean") for m in r.metrics)


def _order(r: Record) -> tuple[bool, float, str, str, str]:
    baseline = r.setup.variant == "nocrypt"
    cycles = r.metrics.get("cycles_encrypt_mean", r.metrics.get("cycles_hash_mean", 0.0))
    return (not baseline, cycles, r.setup.label, r.setup.flags, r.setup.workload)


def _title(target: str) -> str:
    if target not in target_names():
        return target
    t = load_target(target)
    if t.device != "simulator":
        return f"{target} ({t.chip_name}, {t.tier})"
    return f"{target} ({t.chip_name}, {t.chip.clock_hz / 1e6:g} MHz, simulated, {t.tier})"


def as_json(r: Record) -> dict[str, Any]:
    """A record for ``--json``."""
    data: dict[str, Any] = to_builtins(r, builtin_types=(datetime,))
    data["key"] = r.setup.key
    data["ok"] = r.ok
    if r.failure is not None:
        data["failure"]["next_action"] = r.failure.next_action
    return data
