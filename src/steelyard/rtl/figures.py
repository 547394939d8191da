"""The figures of a design on a device, as docs/definitions.md defines them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev

from ..model.record import Point
from .device import Device
from .synthesis import Cells, Routed
from .vectors import GMU, LARGEST, CallSize

#: what data are, and the part of a metric's name that says so
KINDS = {"PT": "pt", "AD": "ad", "AD+PT": "ad_pt", "HM": "hash"}
#: the same, as a design's description says what its blocks are of
_PARTS = {"PT": ("data",), "AD": ("ad",), "AD+PT": ("ad", "data"), "HM": ("hash",)}
_BACK = "decrypt_"
#: bytes that a block may have though its design says that they are fewer, or nothing
_ANY = 64
#: the part of the longest call that may be of no block: who starts slowly in every size would seem faster by the rest
_START = 1 / 16


def area(cells: Cells, device: Device) -> dict[str, int | float]:
    """Tables, flip-flops, and other cells; of a library's gates the area in equivalents."""

    def weighed(table: Mapping[str, float]) -> int:
        return round(sum(n * table.get(kind, 0) for kind, n in cells.types.items()))

    if device.ge:
        return {"ge": weighed(device.ge), "ff": weighed(device.ff), "depth": cells.depth}
    made: dict[str, int | float] = {"lut": weighed(device.lut), "ff": weighed(device.ff), "depth": cells.depth}
    if device.lut_low:
        made["lut_low"] = weighed(device.lut_low)
    if device.elements:
        made["elements_low"], made["elements_high"] = max(made["lut"], made["ff"]), made["lut"] + made["ff"]
    counted = {*device.lut, *device.ff}
    made["cells_other"] = sum(n for k, n in cells.types.items() if k not in counted and not k.startswith("$"))
    return made


def frequency(routes: Sequence[Routed]) -> dict[str, int | float]:
    """MHz over the seeds."""
    mhz = [r.mhz for r in routes]
    ns = [v for r in routes for v in r.ports.values()]
    return {
        "fmax_mean": fmean(mhz), "fmax_best": max(mhz), "fmax_seeds": len(mhz),
        **({"fmax_sd": stdev(mhz)} if len(mhz) > 1 else {}), **({"ports_ns": max(ns)} if ns else {}),
    }  # fmt: skip


def points(sizes: Sequence[CallSize], cycles: Sequence[int]) -> tuple[Point, ...]:
    """Cycles of calls with a new key as points."""
    made = {(s.op, s.ad, s.message): c for s, c in zip(sizes, cycles, strict=True) if not s.reuse}
    return tuple(Point(op, a, m, c) for (op, a, m), c in made.items())  # type: ignore[arg-type]


def of_cycles(
    sizes: Sequence[CallSize], cycles: Sequence[int], blocks: Mapping[str, int]
) -> tuple[dict[str, int | float], list[str]]:
    """Bits in a cycle of long inputs, and what a new key costs, as far as other sizes do not belie them; and a note for
    each that they do, for each kind of data whose differences do not agree yet, and for each call that is mostly
    start."""
    made: dict[str, int | float] = {}
    notes = []
    taken = dict(zip(sizes, cycles, strict=True))
    for op in dict.fromkeys(s.op for s in sizes):
        rates: dict[str, float] = {}
        for of, name in KINDS.items():
            of_it = {_bytes(s): s for s in sizes if s.op == op and s.of == of and not s.reuse}
            most = max(of_it, default=0)  # the longest, a half and a quarter of it are whole blocks
            if most % 4 or not {most // 2, most // 4} <= of_it.keys():
                continue
            long = [of_it[most // 4], of_it[most // 2], of_it[most]]
            first, last = ((taken[b] - taken[a]) / (_bytes(b) - _bytes(a)) for a, b in pairwise(long))
            slower = max(first, last)  # who rests in all sizes but the longest has nothing of it
            if len(_PARTS[of]) == 1:
                rates |= dict.fromkeys(_PARTS[of], slower)
            held = [*(s for s in of_it.values() if max(s.ad, s.message) in GMU), *long]
            if belied := _belied({s: taken[s] for s in held}, rates, blocks):
                notes.append(f"{op} of {of}: no bits in a cycle of long inputs, as {belied}")
                continue
            least = (1 - _START) * taken[long[-1]] / most
            made[f"bits_per_cycle_{_prefix(op)}{name}"] = 8 / max(slower, least)
            if least > slower + 1e-9:
                start = taken[long[-1]] - slower * most
                said = f"{start:.0f} of the {taken[long[-1]]} cycles of {most} bytes are of no block"
                notes.append(f"{op} of {of}: {said}, so bits in a cycle are those of all these cycles but a sixteenth")
            if abs(8 / first - 8 / last) > 1e-9:
                sizes_said = ", ".join(str(_bytes(s)) for s in long)
                said = f"{8 / first:.4g}, {8 / last:.4g}"
                notes.append(f"{op} of {of}: bits in a cycle differ between {sizes_said} bytes: {said}")
    saved = {taken[CallSize(s.op, s.of, s.ad, s.message)] - taken[s] for s in sizes if s.reuse and s.op == "encrypt"}
    if len(saved) == 1:
        made["key_cycles"] = saved.pop()
    elif saved:
        notes.append(f"no cycles of a key, as it costs {min(saved)} to {max(saved)}, by the size of the message")
    return made, notes


def _belied(taken: Mapping[CallSize, int], rates: Mapping[str, float], blocks: Mapping[str, int]) -> str:
    """Which size takes other cycles than the longest one minus those of the bytes between them, by more than a block of
    each kind of data takes; empty where none does. Who rests in the shorter of the two sizes that a difference is of
    has to rest as long in all others, and then too much of the longest call is of no block."""
    longest = [*taken][-1]
    used = {p: rates.get(p, 0) for p in _PARTS[longest.of]}
    if min(used.values()) <= 0:
        return f"{' or '.join(used)} of twice the bytes take no longer"
    room = sum(rate * min(max(blocks.get(p, 0), _ANY), LARGEST) for p, rate in used.items())
    for s, c in taken.items():
        between = {"ad": longest.ad - s.ad, "data": longest.message - s.message, "hash": longest.message - s.message}
        due = taken[longest] - sum(rate * between[p] for p, rate in used.items())
        if abs(c - due) > room + 1e-6:
            return f"{_said(s)} take {c} cycles, and by the longest ones {due:.0f}"
    return ""


def _said(s: CallSize) -> str:
    return f"{s.ad} and {s.message} bytes" if s.ad and s.message else f"{_bytes(s)} bytes"


def of_toggles(sizes: Sequence[CallSize], toggles: Sequence[int]) -> dict[str, int | float]:
    """Bits of the netlist that change for each bit of data."""
    return {f"toggles_{KINDS[s.of]}_{_bytes(s)}": n / (8 * _bytes(s)) for s, n in zip(sizes, toggles, strict=True)}


def _bytes(s: CallSize) -> int:
    return s.ad + s.message


def _prefix(op: str) -> str:
    return _BACK if op == "decrypt" else ""


def throughput(metrics: Mapping[str, int | float], found: Sequence[Point], mhz: float) -> dict[str, int | float]:
    """Mbit/s at a clock of ``mhz``, in all and of each table; and the time of short calls in microseconds."""
    made: dict[str, int | float] = {}
    for name, bits in metrics.items():
        if name.startswith("bits_per_cycle_"):
            made[f"throughput_{name.removeprefix('bits_per_cycle_')}_long"] = bits * mhz
    for p in found:
        of = "hash" if p.operation == "hash" else "pt" if not p.adlen else "ad" if not p.mlen else "ad_pt"
        size = max(p.adlen, p.mlen)
        if size in GMU and p.adlen in (0, size) and p.mlen in (0, size):
            name = f"{_prefix(p.operation)}{of}_{size}"
            made[f"throughput_{name}"] = 8 * (p.adlen + p.mlen) * mhz / p.cycles
            made[f"latency_{name}"] = p.cycles / mhz
    if lut := metrics.get("lut"):
        made |= {
            f"{k}_per_lut": v / lut for k, v in made.items() if k.startswith("throughput_") and k.endswith("_long")
        }
    return made
