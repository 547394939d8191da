"""Which implementations fit a device's messages, memory and battery, and what each costs there: arithmetic on rows.

Cycles at sizes that were not weighed are interpolated between the points of one record (docs/definitions.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from operator import itemgetter, mul

from msgspec import Struct

from ..model.metric import further
from ..model.row import Row, Value
from .rank import pareto, value

#: what candidates are compared by: energy is cycles times a constant of the target
AIMS = ("cycles", "rom", "ram")
#: bytes of a block where a variant does not say
BLOCK = 16
#: known answers have messages and associated data of 0 to 32 bytes, every pair once
_KNOWN = range(1, 33)
_PAIRS = (len(_KNOWN) + 1) ** 2
#: what of a block's cost may be left over where nodes lie on a line of blocks
_STRAIGHT = 0.4
#: parts of a block whose costs are as good as equal
_EQUAL = 0.01
#: least and most of a block that an incomplete one may cost
_PART = (-0.2, 1.5)
#: how FELICS calls a cipher: with the bits of block and key
_FELICS = re.compile(r".+_\d{1,4}_(\d{1,4})")
#: bytes of associated data and of message
Size = tuple[int, int]


class Limits(Struct, frozen=True):
    """What there is: bytes of ROM and RAM, and cycles for a message; None without limit."""

    rom: float | None = None
    ram: float | None = None
    cycles: float | None = None


class Device(Struct, frozen=True):
    """What it runs on: ``clock`` in hertz, ``joules`` of a cycle, messages a second, coulombs and volts of the battery,
    amperes that flow all the time."""

    clock: float
    joules: float | None = None
    rate: float | None = None
    charge: float | None = None
    volts: float = 0.0
    idle: float = 0.0


class Relaxed(Struct, frozen=True):
    """Which limits let a candidate in, if they were these."""

    limits: Mapping[str, float]
    row: Row


class Curve(Struct, frozen=True):
    """Cycles over sizes of one input, the other being empty: ``zero`` of none, and of others ``slope`` a byte of blocks
    and what is ``left`` at the ``nodes``. ``shift`` are the bytes that fill the first block already; None where nodes
    hold whole blocks only, which leaves open what a part of a block costs."""

    zero: float
    nodes: tuple[int, ...]
    block: int
    shift: int | None
    slope: float
    left: tuple[float, ...]

    def at(self, size: int, part: float) -> float:
        """Cycles of a size; a block that is not full costs ``part`` of one."""
        if size == 0:
            return self.zero
        return self.slope * _blocks(size, self.block, self.shift, part) + _between(self.nodes, self.left, size)

    def mean(self, part: float) -> float:
        """Mean over the sizes of the known answers."""
        steps, weights = _steps(self.block, self.shift, part), _weights(self.nodes)
        total: float = self.zero + self.slope * steps + sum(map(mul, weights, self.left))
        return total / (len(_KNOWN) + 1)


def _blocks(size: int, block: int, shift: int | None, part: float) -> float:
    """Bytes of the blocks that a size takes."""
    if shift is not None:
        return block * ((size + shift) // block)
    whole, rest = divmod(size, block)
    return block * (whole + (part if rest else 0))


@cache
def _steps(block: int, shift: int | None, part: float) -> float:
    return sum(_blocks(n, block, shift, part) for n in _KNOWN)


@cache
def _weights(nodes: tuple[int, ...]) -> list[float]:
    """How often each node counts in the known answers' sizes."""
    each = [tuple(float(i == k) for i in range(len(nodes))) for k in range(len(nodes))]
    return [sum(_between(nodes, one, n) for n in _KNOWN) for one in each]


def _between(nodes: Sequence[int], values: Sequence[float], size: int) -> float:
    """A value on the straight line between two nodes; beyond the ends that of the end."""
    if size >= nodes[-1]:
        return values[-1]
    above = next(k for k, n in enumerate(nodes) if n >= size)
    if above == 0:
        return values[0]
    low, high = nodes[above - 1], nodes[above]
    share = (size - low) / (high - low)
    return values[above - 1] * (1 - share) + values[above] * share


def _curves(cycles: Mapping[int, float], block: int) -> list[Curve]:
    """The lines through the cycles by size that are as good as each other, for blocks of this size or for pairs of
    them; none where there are too few points."""
    nodes = tuple(sorted(n for n in cycles if n))
    if len(nodes) < 2 or 0 not in cycles:
        return []
    best: tuple[float, list[Curve]] = (math.inf, [])
    for size in (block, 2 * block):
        shifts: Sequence[int | None] = (None,) if all(n % size == 0 for n in nodes) else range(size)
        fits = [_fitted(cycles, nodes, size, shift) for shift in shifts]
        least = min(bend for bend, _ in fits)
        good = [line for bend, line in fits if bend <= least + _EQUAL * size * abs(line.slope)]
        # padding that starts a block always, or never
        usual = [line for line in good if line.shift in (None, 0, size - 1)] or good[:1]
        if least < best[0]:
            best = least, usual
        if least <= _STRAIGHT * size * usual[0].slope:
            break
    return best[1]


def _fitted(cycles: Mapping[int, float], nodes: tuple[int, ...], block: int, shift: int | None) -> tuple[float, Curve]:
    """The line of least squares over blocks, and how far nodes are from it."""
    xs, weights = _grid(nodes, block, shift)
    ys = [cycles[n] for n in nodes]
    slope = sum(map(mul, weights, ys))
    left = tuple([y - slope * x for x, y in zip(xs, ys, strict=True)])
    return max(left) - min(left), Curve(cycles[0], nodes, block, shift, slope, left)


@cache
def _grid(nodes: tuple[int, ...], block: int, shift: int | None) -> tuple[list[float], list[float]]:
    """Bytes of the blocks at the nodes, and what each node's cycles count for the slope: records share their nodes."""
    xs = [_blocks(n, block, shift, 0) for n in nodes]
    mean = sum(xs) / len(xs)
    wide = sum((x - mean) ** 2 for x in xs)
    return xs, [(x - mean) / wide if wide else 0.0 for x in xs]


class Model(Struct, frozen=True):
    """Cycles over both sizes: the lines of associated data and of message, what both together cost ``besides``, the
    ``part`` of a block that an incomplete one costs, and the ``points`` that were weighed."""

    ad: Curve
    message: Curve
    besides: Mapping[Size, float]
    part: float
    points: Mapping[Size, float]

    def at(self, adlen: int, mlen: int) -> float:
        """Cycles of a call with these sizes: not fewer than of a smaller one that was weighed, not more than of a
        larger."""
        together = _nearest(self.besides, (adlen, mlen)) if adlen and mlen else 0.0
        cycles = self.ad.at(adlen, self.part) + self.message.at(mlen, self.part) - self.message.zero + together
        most = min((c for (a, m), c in self.points.items() if a >= adlen and m >= mlen), default=math.inf)
        least = max((c for (a, m), c in self.points.items() if a <= adlen and m <= mlen), default=0.0)
        return max(min(cycles, most), least)

    @property
    def most(self) -> Size:
        """The largest sizes that were weighed; what lies beyond is extrapolated."""
        return self.ad.nodes[-1], self.message.nodes[-1]


def _nearest(values: Mapping[Size, float], size: Size) -> float:
    if not values:
        return 0.0
    return values[min(values, key=lambda s: abs(s[0] - size[0]) + abs(s[1] - size[1]))]


def model(points: Mapping[Size, float], block: int, mean: float | None) -> Model | None:
    """The model through the points of one record, for blocks of this size in bytes. ``mean`` is that over all known
    answers, which tells what incomplete blocks cost. None where the points have no empty call, or too few sizes of
    message or of associated data alone.
    """
    messages = {m: c for (a, m), c in points.items() if a == 0}
    data = {a: c for (a, m), c in points.items() if m == 0}
    of_message, of_data = _curves(messages, block), _curves(data, block)
    if not of_message or not of_data:
        return None
    zero = points[0, 0]
    besides = {
        (a, m): c - data[a] - messages[m] + zero
        for (a, m), c in points.items()
        if a and m and a in data and m in messages
    }
    small = _nearest(besides, (BLOCK, BLOCK)) * len(_KNOWN) ** 2 / _PAIRS

    def tried() -> Iterator[tuple[float, Model]]:
        for ad, message in product(of_data, of_message):
            none, whole = (ad.mean(p) + message.mean(p) - zero + small for p in (0, 1))
            part = 0.5 if mean is None or whole == none else (mean - none) / (whole - none)
            part = min(max(part, _PART[0]), _PART[1])
            off = abs(none + part * (whole - none) - mean) if mean is not None else 0.0
            yield off, Model(ad, message, besides, part, points)

    _, best = min(tried(), key=itemgetter(0))
    return best


def known_mean(row: Row, operation: str) -> float | None:
    """The mean over all known answers of NIST's sizes; None where RAM has no room for some, for then it is that of
    shorter ones. Of older records that count others with them, nobody knows which were left out."""
    vectors = row.get("vectors")
    if isinstance(vectors, int) and (vectors < _PAIRS or (vectors > _PAIRS and row.get("skipped"))):
        return None
    return value(row, f"cycles_{operation}_mean")


def further_cycles(row: Row, operation: str) -> float | None:
    """Cycles of a block cipher's call right after another one of the same operation."""
    return next((cycles for name in further(operation) if (cycles := value(row, name)) is not None), None)


def block_bytes(row: Row) -> int | None:
    """Bytes of a block cipher's block: of one that nobody knows its cycles over those of a byte."""
    from ..verify.knownblock import known_block  # which most questions do not need

    if known := known_block(str(row["variant"])):
        return known.block
    cycles, each = further_cycles(row, "encrypt"), value(row, "encrypt_per_byte")
    return round(cycles / each) if cycles and each else None


def key_bytes(row: Row) -> int | None:
    """Bytes of a block cipher's key without its tweak: of one that nobody knows as its run, or FELICS's name, says."""
    from ..verify.knownblock import known_block  # which most questions do not need

    if known := known_block(str(row["variant"])):
        return known.key - known.tweak
    if said := value(row, "key_bytes"):
        return int(said)
    named = _FELICS.fullmatch(str(row["variant"]).partition(" (")[0])
    return int(named[1]) // 8 if named else None


def blocks_cost(row: Row, block: int, mlen: int, *, decrypt: bool, key_per_message: bool) -> float | None:
    """Cycles of a message in blocks of a block cipher, the mode not counted; with the key schedule where each message
    has its key. Caches know nothing of schedule and first block: the device did other things before a message. A
    cipher without figures of schedules has none: each block expands the key."""
    operation = "decrypt" if decrypt else "encrypt"
    first, each = value(row, f"cycles_{operation}_mean"), further_cycles(row, operation)
    schedule = value(row, f"cycles_schedule_{operation}_mean")
    unknown = schedule is None and value(row, f"cycles_schedule_{'encrypt' if decrypt else 'decrypt'}_mean") is not None
    if first is None or each is None or (key_per_message and unknown):
        return None
    return first + (math.ceil(mlen / block) - 1) * each + (schedule or 0.0) * key_per_message


def fitting(rows: Sequence[Row], limits: Limits) -> list[Row]:
    """The candidates within all limits."""
    return [r for r in rows if not _over(r, limits)]


def _over(row: Row, limits: Limits) -> dict[str, float]:
    """The limits that a candidate passes, with its own figures."""
    return {name: v for name, most in _given(limits).items() if (v := value(row, name) or 0.0) > most}


def _given(limits: Limits) -> dict[str, float]:
    every = {"cycles": limits.cycles, "rom": limits.rom, "ram": limits.ram}
    return {name: most for name, most in every.items() if most is not None}


def relaxed(rows: Sequence[Row], limits: Limits) -> list[Relaxed]:
    """Where nothing fits: for each limit that lets something in alone, the least that it has to be. Where none does,
    the fewest limits together, those that are passed by the least factor."""
    over = [(found, r) for r in rows if (found := _over(r, limits))]
    fewest = min((len(found) for found, _ in over), default=0)
    given = _given(limits)

    def factor(near: tuple[dict[str, float], Row]) -> tuple[float, float, str, str]:
        found, row = near
        least = max(v / max(given[name], 1) for name, v in found.items())
        return least, value(row, AIMS[0]) or 0.0, str(row["label"]), str(row["flags"])

    best: dict[tuple[str, ...], Relaxed] = {}
    for found, r in sorted((n for n in over if len(n[0]) == fewest), key=factor):
        best.setdefault(tuple(found), Relaxed(found, r))
    return list(best.values())[: None if fewest == 1 else 1]


def ordered(rows: Sequence[Row], by: str = AIMS[0]) -> list[Row]:
    """The least ``by`` one of the aims first; equal ones by the others, in their order."""
    names = (by, *(n for n in AIMS if n != by))
    return sorted(rows, key=lambda r: (*(value(r, n) or 0.0 for n in names), str(r["label"]), str(r["flags"])))


def front(rows: Sequence[Row]) -> set[Value]:
    """The runs that no other beats in cycles, ROM and RAM at once."""
    return {r["run"] for r in pareto(rows, AIMS)}


def best_flags(rows: Sequence[Row], kept: set[Value]) -> list[Row]:
    """Of each implementation the first row, and those that are ``kept``, in order."""
    first: dict[Value, Value] = {}
    for r in rows:
        first.setdefault(r["label"], r["run"])
    return [r for r in rows if r["run"] == first[r["label"]] or r["run"] in kept]


def share(cycles: float, device: Device) -> float:
    """Percent of the core's time that messages of this cost take."""
    return 100 * cycles * (device.rate or 0.0) / device.clock


def joules(cycles: float, device: Device) -> float | None:
    """Energy of one message, modelled."""
    return None if device.joules is None else cycles * device.joules


def life(cycles: float, device: Device) -> float | None:
    """Days that the battery lasts: its charge at its voltage, over the power of the messages and of what flows all the
    time. Nothing else draws from it, and it does not discharge by itself."""
    if device.joules is None or device.charge is None or device.rate is None:
        return None
    power = cycles * device.joules * device.rate + device.idle * device.volts
    return device.charge * device.volts / power / 86400 if power > 0 else None
