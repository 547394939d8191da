"""What ``profile`` and ``size`` share: one implementation on one target, alone or beside another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from msgspec import Struct

from ..model.call import DeviceError
from ..model.errors import UserError, WorkError
from ..model.implementation import Implementation
from ..model.primitive import PRIMITIVES
from ..model.workload import workload
from ..pipeline import Job
from ..publish.sheet import Cell
from . import options, select
from .output import Output

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Examine(Struct, frozen=True, kw_only=True):
    """Their common parameters."""

    what: str
    target: str
    flags: str | None
    toolchain: str
    against: str | None
    out: Output


declared = (options.one, options.one_target, options.one_flag_set, options.toolchain, options.against)


def jobs(ask: Examine, operation: str | None = None) -> dict[str, Job]:
    """The job of the implementation, and that of the one ``against`` it, by what stands above their columns. Where a
    name has several, an ``operation`` decides which only one of them has; none if the verb is not asked for one."""
    target = select.one_target(ask.target, ask.toolchain)
    flags = select.one_flag_set(ask.flags, target)
    named = [ask.what, *([ask.against] if ask.against else [])]
    made = [Job(_one(text, operation), target, flags, workload("kat")) for text in named]
    labels = [job.implementation.label for job in made]
    of = [job.implementation.primitive for job in made]
    if len(set(of)) > 1:
        why = "only one primitive can be compared; name another implementation with --against"
        raise UserError(f"{labels[0]} is a {of[0]} and {labels[1]} a {of[1]}: {why}")
    if len(set(labels)) < len(labels):  # two may have the same label
        labels = named if len(set(named)) == len(named) else [labels[0], f"{labels[1]} again"]
    return dict(zip(labels, made, strict=True))


def answered(job: Job, examined: Callable[[Job], T]) -> T:
    """What comes out of a job; :class:`WorkError` with cause, place and next action where it fails."""
    try:
        return examined(job)
    except DeviceError as e:
        f = e.failure
        raise WorkError(f"{job.implementation.label}: {f.reason}: {f.detail}; {f.next_action}") from e


def beside(a: Mapping[K, int], b: Mapping[K, int]) -> list[tuple[K, list[Cell]]]:
    """Two figures of each key and their difference, the largest first."""
    change = {k: b.get(k, 0) - a.get(k, 0) for k in {**a, **b}}
    ordered = sorted(change, key=lambda k: (-abs(change[k]), str(k)))
    return [(k, [a.get(k), b.get(k), change[k]]) for k in ordered]


def _one(text: str, operation: str | None) -> Implementation:
    """The one implementation that ``text`` names, with this operation if one is asked for; :class:`UserError` when it
    names none or several."""
    select.usable_home()
    chosen, rejected = select.implementations([text])
    if operation:
        chosen = [c for c in chosen if operation in PRIMITIVES[c.implementation.primitive].operations] or chosen
    if len(chosen) != 1:
        if rejected and not chosen:
            raise UserError(f"{text}: {rejected[0].failure.reason}: {rejected[0].failure.detail}")
        several = len({c.implementation.primitive for c in chosen}) > 1
        found = (c.implementation for c in chosen[:6])
        names = ", ".join(f"{i.primitive} {i.label}" if several else i.label for i in found)
        how = ", by its folder" * several + (" or --operation" if several and operation is not None else "")
        raise UserError(f"{text} names {len(chosen)} implementations ({names}); name one{how}")
    return chosen[0].implementation
