"""``steelyard check``: verifies implementations, and measures nothing but their known answers."""

from __future__ import annotations

from ..model import paths
from ..model.campaign import Campaign
from ..publish.sheet import Cell, plain
from . import options
from .options import command
from .plan import asked, plan
from .records import document
from .weigh import exit_code, max_cycles, weigh


class Check(options.Weighing, frozen=True, kw_only=True):
    """What ``check`` is asked."""

    toolchain: str
    force: bool
    max_cycles: int


@command(
    Check,
    options.packages,
    options.targets,
    options.flags,
    options.toolchain,
    options.force,
    max_cycles,
    options.db,
    options.tables,
)
def verb(ask: Check) -> int:
    """Verify only: all known answers, decryption and forgeries, without the sweep over sizes."""
    said = Campaign(targets=ask.target, flags=ask.flags, workloads=("kat",), toolchain=ask.toolchain)
    jobs, rejected = plan(asked(ask.what, said), baselines=False)
    weighed = weigh(jobs, ask.db, force=ask.force, max_cycles=ask.max_cycles)
    several = ask.out.flat or len({r.setup.primitive for r in weighed.records}) > 1
    lines: list[tuple[Cell, ...]] = []
    for r in weighed.records:
        v = r.verification
        counts = (v.vectors, v.ext_vectors, v.skipped, v.source) if v else (None,) * 4
        outcome = "verified" if r.ok else f"{r.failure.reason}: {r.failure.detail}" if r.failure else ""
        of = [r.setup.primitive] if several else []
        lines.append((r.setup.label, *of, r.setup.target, r.setup.flags, outcome, *counts))
    for x in rejected:
        lines.append(
            (
                paths.short(x.path),
                *([None] if several else []),
                None,
                None,
                f"{x.failure.reason}: {x.failure.detail}",
                *(None,) * 4,
            )
        )
    heads = dict.fromkeys(("implementation", *(["primitive"] if several else []), "target", "flags", "outcome"))
    counted = {"vectors": 0, "second set": 0, "skipped": 0, "expected from": None}
    ask.out.give([plain("", "check", heads | counted, lines)], document(weighed.records, rejected))
    return exit_code(weighed, rejected)
