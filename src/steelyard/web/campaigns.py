"""Campaigns: what the files in ``campaigns/`` ask for, and what of it is stored, failed or missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import itemgetter

from ..analyse.answer import BUNDLED, came_from, of_setups, recency, workload_name
from ..jobs import identity
from ..model import campaign, paths
from ..model.campaign import Campaign
from ..model.errors import UserError
from ..model.implementation import Implementation
from ..model.origin import is_revision
from ..model.primitive import PRIMITIVES
from ..model.row import Row
from ..model.target import load_target, target_names
from ..model.workload import of_one_size
from ..publish.results import ON, column, run_of
from ..publish.sheet import Cell, Column, Line, Sheet, plain
from ..sources import discover


@cache
def bundled() -> tuple[Implementation, ...]:
    """The implementations that come with Steelyard."""
    return discover(paths.CIPHERS).implementations


@cache
def _digests() -> frozenset[tuple[object, ...]]:
    return frozenset((i.primitive, i.label, identity(i)) for i in bundled())


def names() -> tuple[str, ...]:
    """The campaigns that come with Steelyard."""
    return tuple(sorted(f.stem for f in (paths.ROOT / "campaigns").glob("*.toml")))


def load(name: str) -> Campaign:
    """The campaign of this name, which is one of :func:`names`."""
    return campaign.load(paths.ROOT / "campaigns" / f"{name}.toml")


def _asked(c: Campaign) -> list[Implementation]:
    """The bundled implementations that a campaign names."""
    wanted = [i for i in bundled() if not c.implementations or any(map(i.is_called, c.implementations))]
    return [i for i in wanted if not any(map(i.is_called, c.exclude))]


def variants(c: Campaign) -> tuple[str, ...]:
    """The variants that a campaign names."""
    return tuple(dict.fromkeys(i.variant for i in _asked(c)))


def _flags(c: Campaign, target: str) -> list[str]:
    usual = load_target(target).using(c.toolchain).toolchain.default_flags
    return [" ".join(s) for s in campaign.flag_sets(c.flags) or [usual]]


def sheets(c: Campaign, rows: Sequence[Row]) -> list[Sheet]:
    """What of a campaign is verified, failed and missing: counts by target, then each that failed or is missing.
    ``rows`` are all stored ones of its variants, with details; what boards measured does not belong to it, nor
    revisions, nor what is others' of the same name, but the same sources."""
    newest: dict[tuple[object, ...], Row] = {}
    simulated = [r for r in rows if r.get("device") not in ON and not is_revision(str(r.get("origin")))]
    same = itemgetter("primitive", "label", "digest")
    ours = {*_digests(), *(same(r) for r in simulated if came_from(r) == BUNDLED)}
    for r in sorted((r for r in of_setups(simulated) if same(r) in ours), key=recency()):
        place = (r["primitive"], r["label"], r["target"], r["flags"], workload_name(str(r["workload"])))
        newest[place] = r
    loads = c.workloads or ("default",)
    targets = c.targets or tuple(n for n in target_names() if not load_target(n).opt_in)
    counts: list[tuple[Cell, ...]] = []
    failed: list[Row] = []
    missing: list[tuple[Cell, ...]] = []
    implementations = _asked(c)
    for target in targets:
        try:
            flags = _flags(c, target)
        except UserError:
            counts.append((target, None, None, None))
            continue
        loads_of = {True: loads, False: of_one_size(loads)}  # by whether calls have sizes
        places = [(i, f, w) for i in implementations for f in flags for w in loads_of[PRIMITIVES[i.primitive].sized]]
        found = [newest.get((i.primitive, i.label, target, f, w)) for i, f, w in places]
        bad = [r for r in found if r is not None and r["outcome"] != "verified"]
        gone = [p for p, r in zip(places, found, strict=True) if r is None]
        counts.append((target, len(places) - len(bad) - len(gone), len(bad), len(gone)))
        failed += bad
        missing += [(i.label, i.primitive, target, f, w) for i, f, w in gone]
    heads = {"target": None, "verified": 0, "without verified figures": 0, "missing": 0}
    made = [plain("What is stored", "stored", heads, counts)]
    if failed:
        columns = [*map(column, ("run", "label", "target", "flags", "outcome")), Column("detail", "detail")]
        lines = [Line([r.get(c.name) for c in columns], run_of(r)) for r in failed]
        made.append(Sheet("Without verified figures", "failed", columns, lines))
    if missing:
        heads_ = ("name", "primitive", "target", "flags", "workload")
        made.append(plain("Missing: never run", "missing", heads_, missing))
    return made
