"""Cycles: means over the known-answer calls, points of the workload, and the lines through them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import cast

from msgspec import Struct

from ..model.call import API_BLOCK, Caller, DeviceError, Observed, Op, Pulse, Request, Vector, empty_of, scheduling
from ..model.inputs import Inputs
from ..model.metric import further
from ..model.reasons import Failure, Reason
from ..model.record import OPERATIONS, Operation, Point
from ..model.row import grouped
from ..model.workload import LONG
from .repeats import outlying

#: the figures of :func:`lines`, and of which operation each is
OF_LINES = re.compile(rf"({'|'.join(OPERATIONS)})_(?:long_per_byte|long_per_ad_byte|per_byte|per_ad_byte|fixed)")
#: empty calls, an odd number
EMPTY = 9
#: inputs of calls that are shown, and in no figure
_EVERYBODYS = Inputs("")
_cycles = attrgetter("cycles")


class Empty(Struct, frozen=True):
    """The cost of calling a function that only returns, by operation: cycles between the edges, and instructions where
    the device counts them. ``notes`` are on those that took another time than the others."""

    cycles: dict[str, int]
    instructions: dict[str, int]
    notes: tuple[str, ...] = ()


def empty_calls(
    client: Caller, operations: Mapping[Operation, Op], resolution: float = 0.0, *, warm: bool = False
) -> Empty:
    """Measures the empty calls of some operations, whose cost is subtracted from every figure of a call: the median of
    several, because the first finds branch predictors that know nothing of it, and an analyzer is good to a sample,
    which is the ``resolution`` in cycles; then notes name outliers. ``warm`` ones are subtracted from warm calls.
    Raises :class:`DeviceError`."""

    def made(op: Op) -> list[Pulse]:
        request = client.hello.zeros(op)
        requests = [request.after(request) if warm else request] * EMPTY
        return sorted((a.pulse for a in client.calls(requests)), key=_cycles)

    empty = {name: empty_of(op, client.hello.api) for name, op in operations.items()}
    of = {op: made(op) for op in dict.fromkeys(empty.values())}
    pulses: dict[str, Pulse] = {name: of[op][EMPTY // 2] for name, op in empty.items()}
    odd = [o for op, some in of.items() if resolution for o in outlying(op.value, [p.cycles for p in some], resolution)]
    notes = (f"{len(odd)} of {EMPTY * len(of)} empty calls are outliers: {'; '.join(odd)}",) if odd else ()
    return Empty(
        {op: p.cycles for op, p in pulses.items()}, {op: p.instructions or 0 for op, p in pulses.items()}, notes
    )


def points(observed: Iterable[Observed], empty: dict[str, int]) -> tuple[Point, ...]:
    """Points: cycles of each call minus the empty call's (``empty``, in cycles by operation), by the pulse and, where
    they were compared, by the chip's own counter."""

    def point(op: str, v: Vector, p: Pulse) -> Point:
        cycles = p.cycles - empty[op]
        counted = None if p.apart is None else cycles + round(p.apart)
        return Point(cast(Operation, op), len(v.ad), len(v.message), cycles, counted)

    return tuple(point(op, v, a.pulse) for op, v, a in observed)


def one_call(client: Caller, op: Op, adlen: int, mlen: int, inputs: Inputs = _EVERYBODYS) -> tuple[Request, int]:
    """The request for one call on pseudo-random inputs of ``adlen`` and ``mlen`` bytes, everybody's unless they are
    given, and its number of unaligned accesses. For decryption the implementation itself makes the ciphertext. Raises
    :class:`DeviceError` when the call does not fit the RAM or fails."""
    hello = client.hello
    if hello.api != API_BLOCK and not client.fits(op, mlen, adlen):  # blocks have one size, which calls were made with
        text = f"{adlen}/{mlen} bytes do not fit: {hello.capacity} are free for buffers and stack"
        raise DeviceError(Failure(Reason.RAM_OVERFLOW, text))
    if hello.api == API_BLOCK:
        return _block_call(client, op, inputs)
    v = inputs.vector("profile", 0, hello.key_bytes, hello.npub_bytes, mlen, adlen)
    forward = Request(Op.ENCRYPT if op is Op.DECRYPT else op, v.key, v.npub, v.ad, v.message)
    request = forward
    if op is Op.DECRYPT:
        request = Request(op, v.key, v.npub, v.ad, client.call(forward).output)
    return request, client.call(request).pulse.unaligned or 0


def _block_call(client: Caller, op: Op, inputs: Inputs) -> tuple[Request, int]:
    """The same of a block cipher: a context is made by the schedule of the call's direction."""
    hello = client.hello
    stream = inputs.stream("profile", hello.key_bytes + hello.npub_bytes + hello.a_bytes)
    key, rest = stream[: hello.key_bytes], stream[hello.key_bytes :]
    context, block = rest[: hello.npub_bytes], rest[hello.npub_bytes :]
    if op.is_schedule:
        request = scheduling(client, op, key, context)
    else:
        own = Op.SCHEDULE_DECRYPT if op is Op.DECRYPT else Op.SCHEDULE_ENCRYPT
        request = Request(op, key, client.call(scheduling(client, own, key, context)).output, b"", block)
    return request, client.call(request).pulse.unaligned or 0


def means(observed: Iterable[Observed], empty: dict[str, int], quantity: str = "cycles") -> dict[str, float]:
    """``cycles_<operation>_mean`` over the known-answer calls, minus the empty call's. ``quantity`` replaces ``cycles``
    in the name where the device counts something else."""
    return _means(quantity, ((op, answer.pulse.cycles) for op, _, answer in observed), empty)


def warm(observed: Iterable[Observed], empty: Mapping[str, int]) -> dict[str, float]:
    """``cycles_<operation>_warm_mean`` over warm calls, minus the warm empty call's."""
    sums = grouped(((op, answer.pulse.cycles - empty[op]) for op, _, answer in observed), itemgetter(0))
    return {f"cycles_{op}_warm_mean": sum(n for _, n in of) / len(of) for op, of in sums.items()}


def instructions(observed: Iterable[Observed], empty: dict[str, int]) -> dict[str, float]:
    """``instructions_<operation>_mean``, like :func:`means`; empty where the device does not count instructions."""
    counts = [(op, answer.pulse.instructions) for op, _, answer in observed]
    counted = [(op, n) for op, n in counts if n is not None]
    return _means("instructions", counted, empty) if len(counted) == len(counts) else {}


def _means(quantity: str, counts: Iterable[tuple[str, int]], empty: dict[str, int]) -> dict[str, float]:
    sums = grouped(counts, itemgetter(0))
    return {f"{quantity}_{op}_mean": sum(n - empty[op] for _, n in of) / len(of) for op, of in sums.items()}


def counter(observed: Iterable[Observed]) -> dict[str, float]:
    """``counter_difference``: the most cycles by which a pulse and the chip's own counter differ; empty where they were
    not compared."""
    apart = [abs(a.pulse.apart) for _, _, a in observed if a.pulse.apart is not None]
    return {"counter_difference": max(apart)} if apart else {}


def lines(points: Sequence[Point]) -> dict[str, float]:
    """``<operation>_per_byte`` and ``<operation>_fixed`` (least squares over messages without associated data),
    ``<operation>_per_ad_byte`` (over associated data without message), and for GMU's workload their ``_long_``
    counterparts from the difference of two sizes. All are in cycles, or cycles per byte."""
    metrics: dict[str, float] = {}
    for op in dict.fromkeys(p.operation for p in points):
        message = _line([(p.mlen, p.cycles) for p in points if p.operation == op and p.adlen == 0])
        ad = _line([(p.adlen, p.cycles) for p in points if p.operation == op and p.mlen == 0])
        if message:
            metrics[f"{op}_per_byte"], metrics[f"{op}_fixed"] = message
        if ad:
            metrics[f"{op}_per_ad_byte"] = ad[0]
        at = {(p.adlen, p.mlen): p.cycles for p in points if p.operation == op}
        few, many = LONG
        if {(0, few), (0, many)} <= at.keys():
            metrics[f"{op}_long_per_byte"] = (at[0, many] - at[0, few]) / (many - few)
        if {(few, 0), (many, 0)} <= at.keys():
            metrics[f"{op}_long_per_ad_byte"] = (at[many, 0] - at[few, 0]) / (many - few)
    return metrics


def blocks(means: Mapping[str, float], size: int) -> dict[str, float]:
    """``encrypt_per_byte`` and ``decrypt_per_byte`` of a block cipher: the mean of a further block over its bytes."""
    made = {op: next((means[n] for n in further(op) if n in means), None) for op in ("encrypt", "decrypt")}
    return {f"{op}_per_byte": mean / size for op, mean in made.items() if mean is not None}


def _line(points: list[tuple[int, int]]) -> tuple[float, float] | None:
    """Slope and intercept of the least-squares line; None for fewer than three sizes."""
    n = len(points)
    if n < 3:
        return None
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    slope = sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)
    return slope, my - slope * mx
