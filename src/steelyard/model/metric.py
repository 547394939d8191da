"""Metrics by name: their column heading, unit, and number of significant decimals.

They are defined in docs/definitions.md. A *point* is a metric too: ``encrypt@16/64`` is the cycle count of one call
with 16 bytes of associated data and 64 bytes of message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from .errors import UserError, unknown
from .record import OPERATIONS


class Metric(Struct, frozen=True):
    """``title`` heads a column; ``digits`` are the decimals shown. ``lower`` says that smaller is better, False that
    larger is; where it is None, neither is. A ``sized`` one depends on the workload's sizes; a ``known`` one is a mean
    over the calls of the known answers, or follows from it; all others come from the image or the calls of a FELICS
    scenario. Bytes of ``flash`` are none of RAM. A ``signed`` one is a difference, to nocrypt or to the empty call in
    another state, or a slope, and can be a little below zero. A ``timed`` one is of cycles, or cycles times a constant
    of the target, so that it is as far off as they are."""

    name: str
    title: str
    unit: str
    digits: int = 0
    lower: bool | None = True
    sized: bool = False
    flash: bool = False
    signed: bool = False
    known: bool = False
    timed: bool = False


_POINT = re.compile(rf"({'|'.join(OPERATIONS)})@(\d{{1,5}})/(\d{{1,5}})")

#: those of each operation, whose name takes the place of the braces
_OF_OPERATION = (
    Metric("cycles_{}_mean", "{}", "cycles", known=True, timed=True),
    Metric("instructions_{}_mean", "{} instructions", "instructions", signed=True, known=True),
    Metric("ticks_{}_mean", "{} ticks", "ticks", known=True),
    Metric("cycles_{}_known_mean", "{}, known answers", "cycles", signed=True, known=True, timed=True),
    Metric("instructions_{}_known_mean", "{} instructions, known answers", "instructions", signed=True, known=True),
    Metric("ticks_{}_known_mean", "{} ticks, known answers", "ticks", signed=True, known=True),
    Metric("cycles_{}_inputs_sd", "{}, sd by inputs", "cycles", lower=None, known=True),
    Metric("{}_per_byte", "{}/B", "cycles/byte", 1, sized=True, signed=True, timed=True),
    Metric("{}_fixed", "{} fixed", "cycles", sized=True, signed=True, timed=True),
    Metric("{}_per_ad_byte", "{}/B of AD", "cycles/byte", 1, sized=True, signed=True, timed=True),
    Metric("{}_long_per_byte", "{}/B, long", "cycles/byte", 1, sized=True, signed=True, timed=True),
    Metric("{}_long_per_ad_byte", "{}/B of AD, long", "cycles/byte", 1, sized=True, signed=True, timed=True),
    Metric("stack_{}", "stack {}", "bytes", sized=True),
    Metric("energy_{}_modelled", "energy {} (modelled)", "µJ", 2, known=True, timed=True),
)
#: operations of which a call may find the caches warm
_WARM = ("encrypt", "decrypt", "schedule_encrypt", "schedule_decrypt")


def further(operation: str) -> tuple[str, str]:
    """The cycles of a block cipher's call right after another one, where caches are warm: a metric, and that of a first
    call, which stands for it where the other is not known."""
    return f"cycles_{operation}_warm_mean", f"cycles_{operation}_mean"


#: what a power meter measures of each operation
_METERED = (
    Metric("energy_{}_measured", "energy {}", "µJ", 2, known=True),
    Metric("energy_{}_measured_with_idle", "energy {} with idle", "µJ", 2, known=True),
    Metric("energy_{}_measured_per_byte", "energy {}/B", "µJ/byte", 3, sized=True),
    Metric("energy_{}_measured_per_bit", "energy {}/bit", "nJ/bit", 2, sized=True),
)
#: what it measures of a board
_POWER = (
    Metric("power_measured", "power", "mW", 2),
    Metric("power_idle_measured", "idle power", "mW", 2),
)


#: how much of a package's code was assembly
ASSEMBLY = "assembly_cycles"
#: sizes that an algorithm does not take, or that have no room by its own doing
REFUSED = "refused"
#: how well the clock of a board is known
CLOCK = "clock_uncertainty"
#: the median and the 95th percentile of the error that simulated cycles carry; they are looked up, not stored
ERRORS = ("error_median", "error_high")


def _words(operation: str) -> str:
    return operation.replace("_", " ")


def _of(operation: str, metrics: Iterable[Metric]) -> Iterator[Metric]:
    """The metrics of an operation."""
    words = _words(operation)
    return (replace(m, name=m.name.format(operation), title=m.title.format(words)) for m in metrics)


def _metered() -> Iterator[Metric]:
    """What a power meter measures, each with its uncertainty."""
    for m in (*(m for op in OPERATIONS for m in _of(op, _METERED)), *_POWER):
        yield m
        yield replace(m, name=f"{m.name}_uncertainty", title=f"{m.title} ±", lower=None)


def uncertainty_of(name: str) -> str | None:
    """The metric that holds the uncertainty of a measured one, in the same unit; None where there is none."""
    beside = f"{name}_uncertainty"
    return beside if beside in _METRICS else None


def _of_phases() -> Iterator[Metric]:
    """The first FELICS's figures of a block cipher, named as in its tables: key schedules, encryption, decryption."""
    parts = ("eks", "e", "dks", "d")
    for what, unit in (("code", "bytes"), ("stack", "bytes"), ("data", "bytes"), ("cycles", "cycles")):
        more = {"code": ("total",), "data": ("common", "total"), "cycles": ("total",)}.get(what, ())
        for part in (*parts, *more):
            title = f"FELICS {what} {part.upper() if part in parts else part}"
            yield Metric(f"felics_{what}_{part}", title, unit, flash=what == "code", timed=what == "cycles")
    yield Metric("felics_code_mode", "FELICS code of the mode", "bytes", flash=True)
    yield Metric("felics_ram", "FELICS data and stack", "bytes")


def _of_hardware() -> Iterator[Metric]:
    """What a design is and does on a device."""
    for name, title, unit, digits, lower in (
        ("lut", "LUT", "", 0, True),
        ("lut_low", "LUT without small", "", 0, True),
        ("ff", "FF", "", 0, True),
        ("elements_low", "LE, at least", "", 0, True),
        ("elements_high", "LE, at most", "", 0, True),
        ("ge", "GE", "", 0, True),
        ("cells_other", "other cells", "", 0, None),
        ("depth", "depth", "cells", 0, True),
        ("fmax_mean", "fmax", "MHz", 1, False),
        ("fmax_sd", "fmax sd", "MHz", 1, None),
        ("fmax_best", "fmax best", "MHz", 1, False),
        ("fmax_seeds", "seeds", "", 0, None),
        ("fmax_reported", "fmax, reported", "MHz", 1, False),
        ("ports_ns", "ports", "ns", 1, True),
        ("key_cycles", "new key", "cycles", 0, True),
    ):
        yield Metric(name, title, unit, digits, lower)
    for data in ("pt", "ad", "ad_pt", "hash", "decrypt_pt", "decrypt_ad", "decrypt_ad_pt"):
        said = data.replace("ad_pt", "AD+PT").replace("_", " ").replace("pt", "PT").replace("ad", "AD")
        said = said.replace("decryPT", "decrypt")
        yield Metric(f"bits_per_cycle_{data}", f"{said}, long", "bits/cycle", 2, lower=False, sized=True)
        if data in ("pt", "ad", "hash"):
            for n in (16, 64, 1536):
                yield Metric(f"toggles_{data}_{n}", f"toggles of {said} {n}", "toggles/bit", 0, sized=True)
        for size in (16, 64, 1536, "long"):
            yield Metric(f"throughput_{data}_{size}", f"{said} {size}", "Mbit/s", 0, lower=False, sized=True)
            if size == "long":
                title = f"{said} long of a LUT"
                yield Metric(f"throughput_{data}_long_per_lut", title, "Mbit/s", 3, lower=False, sized=True)
            else:
                yield Metric(f"latency_{data}_{size}", f"time of {said} {size}", "µs", 2, sized=True)


#: figures of the first FELICS's scenarios, which are of the workload that has the scenario
_SCENARIOS = tuple(_of_phases())

_METRICS = {
    m.name: m
    for m in (
        *(m for op in OPERATIONS for m in _of(op, _OF_OPERATION)),
        *(
            Metric(f"cycles_{op}_warm_mean", f"{_words(op)}, warm", "cycles", signed=True, known=True, timed=True)
            for op in _WARM
        ),
        *_metered(),
        Metric("rom", "ROM", "bytes", flash=True, signed=True),
        Metric("rom_encrypt", "ROM encrypt", "bytes", flash=True, signed=True),
        Metric("rom_decrypt", "ROM decrypt", "bytes", flash=True, signed=True),
        Metric("rom_helpers", "ROM of library", "bytes", flash=True),
        Metric("stack", "stack", "bytes", sized=True),
        Metric("ram_static", "static RAM", "bytes", signed=True),
        Metric("ram_renner", "RAM (Renner)", "bytes", signed=True),
        Metric("heap", "heap", "bytes", sized=True),
        Metric("ram", "RAM", "bytes", sized=True),
        Metric("image_rom", "image ROM", "bytes", flash=True),
        Metric("image_rom_encrypt", "image ROM encrypt", "bytes", flash=True),
        Metric("image_rom_decrypt", "image ROM decrypt", "bytes", flash=True),
        Metric("image_static", "image static", "bytes"),
        Metric("image_ram_touched", "image RAM touched", "bytes"),
        Metric("context", "context", "bytes"),
        Metric("key_bytes", "key size", "bytes", lower=None),
        Metric(REFUSED, "sizes refused", "", lower=None, sized=True),
        Metric(ASSEMBLY, "cycles in assembly", "%", 0, lower=None),
        Metric(ERRORS[0], "error, median", "%", 2, lower=None),
        Metric(ERRORS[1], "error, 95 %", "%", 2, lower=None),
        Metric("unaligned", "unaligned accesses", "", sized=True),
        Metric("spread_percent", "spread", "%", 2),
        Metric("counter_difference", "counter difference", "cycles", 1, lower=None, sized=True),
        Metric(CLOCK, "clock uncertainty", "ppm", 0),
        *_SCENARIOS,
        *_of_hardware(),
        Metric("felics_code_size", "FELICS code size", "bytes", sized=True, flash=True),
        Metric("felics_code_ram", "FELICS RAM", "bytes", sized=True),
        Metric("felics_code_time", "FELICS time", "cycles", sized=True, timed=True),
        Metric("felics_code_size_decrypt", "FELICS code size decrypt", "bytes", sized=True, flash=True),
        Metric("felics_code_ram_decrypt", "FELICS RAM decrypt", "bytes", sized=True),
        Metric("felics_code_time_decrypt", "FELICS time decrypt", "cycles", sized=True, timed=True),
    )
}
#: metrics that are sums of others: ``ram`` is the deepest stack, static data and heap together
DERIVED = {"ram": ("stack", "ram_static", "heap")}


#: what else is made of stored metrics
MADE = DERIVED | dict.fromkeys(ERRORS, (ASSEMBLY, "rom", "image_rom"))


class Size(Struct, frozen=True):
    """The operation of a point, and its associated data and message in bytes."""

    operation: str
    adlen: int
    mlen: int


@cache
def size_of(name: str) -> Size | None:
    """The point that a name means; None when it is not a point. ``encrypt@16/64`` is ``Size("encrypt", 16, 64)``."""
    found = _POINT.fullmatch(name)
    return Size(found[1], int(found[2]), int(found[3])) if found else None


def of_point(operation: str, size: tuple[int, int]) -> str:
    """The column of a call's cycles at a size (associated data, message) in bytes."""
    return f"{operation}@{size[0]}/{size[1]}"


def of_sizes(name: str) -> bool:
    """Whether a column is a metric that depends on the workload's sizes, or a point."""
    return _METRICS[name].sized if name in _METRICS else size_of(name) is not None


_OF_SCENARIO = frozenset(m.name for m in _SCENARIOS)


def of_scenario(name: str) -> bool:
    """Whether a column is a figure of a scenario of the first FELICS's, and so of one workload."""
    return name in _OF_SCENARIO


@cache
def metric(name: str) -> Metric:
    """The metric or point called ``name``. Raises :class:`UserError` with a suggestion when it is unknown."""
    if name in _METRICS:
        return _METRICS[name]
    if size := size_of(name):
        return Metric(name, f"{size.operation} {size.adlen}/{size.mlen}", "cycles", timed=True)
    if "@" in name:
        raise UserError(f"unknown point {name!r}; write OPERATION@AD/MESSAGE in bytes, such as encrypt@16/64")
    raise unknown("metric", name, _METRICS, headings())


def headings() -> dict[str, str]:
    """Column headings by metric name, without points."""
    return {name: m.title for name, m in _METRICS.items()}


def metric_names() -> tuple[str, ...]:
    """Names of all metrics, without points."""
    return tuple(_METRICS)
