"""The result tables: one for each target and primitive, one row a run."""

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
from ..store import Store
from .console import number, table

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
_REASONS = ("run", "implementation", "target", "flags", "reason", "detail")
# where the terminal is narrow these go first
_DROP = ("enc", "dec", "heap", "reject", "static", "fixed", "run", "ok", "flags", "cyc/B", "stack", "decrypt")
#: most implementations whose answers are looked for among all runs
_CONFIRMED = 50
_RAM = (("stack", "stack", 0), ("static", "ram_static", 0), ("heap", "heap", 0))


def print_results(console: Console, records: Sequence[Record]) -> None:
    """Tables of all records, then what has no figures and why."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for r in records:
        if r.metrics:
            groups.setdefault((r.setup.target, r.setup.primitive), []).append(r)
    for (target, primitive), group in sorted(groups.items()):
        metrics = (_AEAD if primitive == "crypto_aead" else _HASH) + _RAM
        one_flags = len({r.setup.flags for r in group}) == 1
        columns = [
            "run",
            "implementation",
            *([] if one_flags else ["flags"]),
            "ok",
            *(n for n, _, _ in metrics),
        ]
        rows = [_row(r, metrics, one_flags) for r in sorted(group, key=_order)]
        flags = f", {group[0].setup.flags}" if one_flags else ""
        title = f"{_title(target)}: {primitive}{flags}, {group[0].setup.toolchain.version}"
        console.print(table(title, columns, rows, left=len(columns) - len(metrics), drop=_DROP))
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


def legend(console: Console) -> None:
    """What the columns mean, in a line or two."""
    console.print(
        "encrypt, decrypt, reject, hash: mean cycles over the known-answer calls, empty call subtracted. "
        "cyc/B, fixed: line through the workload's messages.\n"
        "ROM (enc, dec alone), stack, static, heap: bytes; ROM and static less the nocrypt image. "
        "How far to trust them: docs/claims.md. Details: steelyard show RUN",
        style="dim",
    )


def _row(r: Record, metrics: Iterable[tuple[str, str, int]], one_flags: bool) -> list[str | Text]:
    mark = Text(f"yes{'*' if dependent(r) else ''}", style="green") if r.ok else Text("no", style="bold red")
    head: list[str | Text] = [str(r.id or "-"), r.setup.label, *([] if one_flags else [r.setup.flags]), mark]
    return head + [number(r.metrics.get(m), digits) for _, m, digits in metrics]


def dependent(r: Record) -> bool:
    """Whether the known answers' inputs take another time than fresh ones."""
    return any(m.endswith("_fresh_mean") for m in r.metrics)


def _order(r: Record) -> tuple[bool, float, str, str]:
    baseline = r.setup.variant == "nocrypt"
    cycles = r.metrics.get("cycles_encrypt_mean", r.metrics.get("cycles_hash_mean", 0.0))
    return (not baseline, cycles, r.setup.label, r.setup.flags)


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
