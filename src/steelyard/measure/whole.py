"""Whether a record that somebody else's machine made can be what a run leaves: whole, and free of contradictions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from operator import attrgetter
from statistics import fmean

from ..model.implementation import COPIES_KEY
from ..model.metric import MADE, REFUSED, metric, metric_names
from ..model.packed import MOST, unpack
from ..model.primitive import PRIMITIVES
from ..model.reasons import Reason
from ..model.record import OPERATIONS, Record
from ..model.row import grouped
from ..model.target import Target
from ..model.workload import LEFT_OUT, Workload
from .cycles import OF_LINES, lines
from .image import energy

#: what every measured image has, besides the means and the stack of each operation
_ALWAYS = ("rom", "rom_helpers", "ram_static", "image_rom", "image_static", "stack", "heap")
#: what a figure that is a difference may be below zero
_BELOW = -1024
#: the energy that is made of a slope, which may be far below zero
_OF_SLOPES = re.compile(rf"energy_(?:{'|'.join(OPERATIONS)})_measured_per_(?:byte|bit)")
_MOST = 1 << 53
#: known answers of a record, bytes of a message, and what databases take for a number of either
_VECTORS, _BYTES, _INTEGER = 1 << 20, 1 << 16, 1 << 31
_SOURCES = ("known", "package", "package+known")


def why_not(record: Record, asked: Workload, target: Target) -> str:
    """Why a run of this workload on this target cannot leave such figures; empty where it can."""
    failure, verified = record.failure, record.verification
    if not record.final:
        return "a job that is done is verified, or fails by no fault of a machine"
    if failure is not None and not (record.metrics or record.points or record.helpers or record.vector_cycles):
        return ""
    if failure is not None and failure.reason != Reason.NO_EXPECTED:
        return f"{failure.reason}: what fails so has no figures"
    if verified is None or verified.source not in (_SOURCES if failure is None else ("self",)):
        return "verification: what has figures is verified, and says by which answers"
    if verified.vectors < 1 or verified.ext_vectors < 0 or verified.skipped < 0:
        return "verification: no known answer was compared"
    if max(verified.vectors, verified.ext_vectors, verified.skipped) > _VECTORS:
        return "verification: more known answers than there can be"
    parts = (_of_points(record, asked), _of_metrics(record, target), _of_vectors(record))
    return next((wrong for part in parts for wrong in part), "")


def _of_points(record: Record, asked: Workload) -> Iterator[str]:
    """What is wrong with points."""
    offer, primitive = PRIMITIVES[record.setup.primitive], record.setup.primitive
    sizes = {s for s in asked.sizes if primitive == "crypto_aead" or s[0] == 0} if offer.sized else set()
    at = [(p.operation, p.adlen, p.mlen) for p in record.points]
    if not {(a, m) for _, a, m in at} <= sizes or len(set(at)) < len(at):
        yield "points: a size that the workload does not have, or one twice"
    if not {op for op, _, _ in at} <= set(offer.operations):
        yield f"points: an operation that {primitive} does not have"
    if any(not 0 <= n < _MOST for p in record.points for n in (p.cycles, p.counter or 0)):
        yield "points: a time below zero, or too long"
    if any(n.startswith(LEFT_OUT) for n in record.notes):
        sizes = {(a, m) for _, a, m in at}  # as many as had room, of each operation
    for op in offer.operations:
        if op != "reject" and len(sizes) > sum(o == op for o, _, _ in at):
            yield f"points: {op} lacks some of the workload's sizes"


def _of_vectors(record: Record) -> Iterator[str]:
    """What is wrong with the cycles of known answers."""
    offer, said = PRIMITIVES[record.setup.primitive], record.metrics
    try:
        every = unpack(record.vector_cycles)
    except ValueError as e:
        yield f"vector_cycles: {e}"
        return
    if any(not (0 <= p.adlen <= _BYTES and 0 <= p.mlen <= _BYTES and _BELOW <= p.cycles < _MOST) for p in every):
        yield "vector_cycles: a number below zero, or too large"
        return
    verified = record.verification
    if any(n > (verified.vectors if verified else 0) for n in Counter(p.operation for p in every).values()):
        yield "vector_cycles: more than known answers were compared"
        return
    sums = grouped(every, attrgetter("operation"))
    kept = bool(every) or (verified is not None and verified.vectors <= MOST // len(offer.operations))
    for op in offer.operations:
        mean = said.get(f"cycles_{op}_known_mean", said.get(f"cycles_{op}_mean"))
        of = [p.cycles for p in sums.get(op, ())]
        lacking = kept and (mean is None) != (not of)
        if lacking or (of and not math.isclose(fmean(of), mean or 0, rel_tol=1e-9, abs_tol=1e-6)):
            yield f"vector_cycles: those of {op} are not those that its mean is of"
    if odd := set(sums) - set(offer.operations):
        yield f"vector_cycles: {', '.join(sorted(odd))}: {record.setup.primitive} has no such operation"


def _of_metrics(record: Record, target: Target) -> Iterator[str]:
    """What is wrong with metrics."""
    said, names = record.metrics, metric_names()
    offer = PRIMITIVES[record.setup.primitive]
    if any(not 0 < h.size < _INTEGER for h in record.helpers):
        yield "helpers: one that takes no room, or too much"
    means = {name: said[name] for op in offer.operations if (name := f"cycles_{op}_mean") in said}
    made = energy(means, target) | {"rom_helpers": sum(h.size for h in record.helpers)}
    made["stack"] = max((said.get(f"stack_{op}", 0) for op in offer.operations), default=0)
    of_lines: Mapping[str, float] = {}
    if offer.sized and not said.get(REFUSED):
        of_lines = lines(record.points)
        made |= of_lines
    none = {"reject", *(("schedule_encrypt", "schedule_decrypt") if COPIES_KEY in record.notes else ())}
    each = [f"{n.format(op)}" for op in offer.operations if op not in none for n in ("cycles_{}_mean", "stack_{}")]
    if said.get(REFUSED) or (
        record.verification and record.verification.skipped
    ):  # no mean is over what has room alone
        each = [n for n in each if not n.endswith("_mean")]
    if lacking := [n for n in (*_ALWAYS, *each, *made) if n not in said]:
        yield f"{lacking[0]}: this metric is missing"
    for name, value in said.items():
        of_line = offer.sized and OF_LINES.fullmatch(name)
        if name not in names or name in MADE or (of_line and name not in of_lines):
            yield f"{name}: a metric that no such run has"
            continue
        least = -_MOST if of_line or _OF_SLOPES.fullmatch(name) else _BELOW if metric(name).signed else 0
        if not least <= value < _MOST:
            yield f"{name}: below zero, or too large"
        elif metric(name).unit == "bytes" and value != int(value):
            yield f"{name}: no whole number of bytes"
        elif name in made and not math.isclose(value, made[name], rel_tol=1e-9, abs_tol=1e-6):
            yield f"{name}: {value:.6g} contradicts the other figures, of which {made[name]:.6g} follows"
