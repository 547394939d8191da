"""El-Hajj and Fadlallah's study over stored results: block ciphers and AEADs by the measures of its Table II, and each
as a part of AES's.

Where its equations leave something open they are read so that its own figures fit (docs/definitions.md says how). Block
ciphers and AEADs are never ranked together: a block is not a message.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ..model.metric import further
from ..model.row import Row, grouped
from ..model.target import Target
from ..verify.known import readings
from . import rank
from .choose import block_bytes, further_cycles, key_bytes

#: bytes of an AEAD's message, which has no associated data: the study takes 16 for the block of what has none
MESSAGE = 16
#: the cycles of a block after others, or of a message: the first that a row has
LATENCY = {"crypto_block": further("encrypt"), "crypto_aead": (f"encrypt@0/{MESSAGE}",)}
#: what stored rows must have
NEEDED = (
    *(name for names in LATENCY.values() for name in names),
    *further("schedule_encrypt"),
    "encrypt_per_byte",
    "rom",
    "ram",
    "context",
    "key_bytes",
    "power_measured",
    "energy_encrypt_measured_with_idle",
    "cycles_encrypt_mean",
)


class Measure(Struct, frozen=True):
    """One of the study's measures: what it is called, its unit and decimals, and whether more of it is better."""

    name: str
    title: str
    unit: str
    digits: int = 0
    more: bool = False


MEASURES = {
    m.name: m
    for m in (
        Measure("rom", "ROM", "bytes"),
        Measure("ram", "RAM", "bytes"),
        Measure("schedule_throughput", "key schedule throughput", "B/s", more=True),
        Measure("schedule_latency", "key schedule latency", "cycles"),
        Measure("throughput", "throughput", "B/s", more=True),
        Measure("latency", "latency", "cycles/block"),
        Measure("cycles_per_byte", "cycles/B", "cycles/byte", 1),
        Measure("power", "power", "mW", 2),
        Measure("energy_per_byte", "energy/B", "µJ/byte", 3),
        Measure("energy_per_bit", "energy/bit", "nJ/bit", 2),
    )
}
#: best and worst of these are drawn
DRAWN = ("rom", "ram", "schedule_throughput", "schedule_latency", "throughput", "latency", "power", "energy_per_byte")
#: what is a part of AES's
AGAINST = ("rom", "ram", "cycles_per_byte", "energy_per_byte")
#: the columns of its score table: time counts three times, as throughput, as latency and in energy
PAPER = ("rom", "throughput", "latency", "power", "energy_per_byte")
#: columns of which none follows from the others
DISTINCT = ("rom", "ram", "cycles_per_byte")
#: what counts as AES for a key of so many bits; 128 where nothing else is said
_AES = {("crypto_block", 192): "aes192", ("crypto_block", 256): "aes256"}
_AES_128 = {"crypto_block": "aes128", "crypto_aead": "aes128gcm"}


class Cipher(Struct, frozen=True):
    """A variant on a target by the implementation that is fastest there. ``key`` and ``block`` are in bits, and 0 where
    they are not known; an AEAD has no block. ``figures`` are by the names of :data:`MEASURES`."""

    row: Row
    key: int
    block: int
    figures: Mapping[str, float | None]

    @property
    def variant(self) -> str:
        """Its name."""
        return str(self.row["variant"])

    @property
    def primitive(self) -> str:
        """``crypto_block`` or ``crypto_aead``."""
        return str(self.row["primitive"])


def has_latency(row: Row) -> bool:
    """Whether a row is of the study."""
    return _latency(row) is not None


def _latency(row: Row) -> float | None:
    names = LATENCY.get(str(row["primitive"]), ())
    return next((cycles for name in names if (cycles := rank.value(row, name)) is not None), None)


def is_warm(of: Cipher) -> bool:
    """Whether a block cipher's cycles are others than those of a call that finds caches empty."""
    return of.primitive == "crypto_block" and of.figures["latency"] != rank.value(of.row, "cycles_encrypt_mean")


def is_metered(of: Cipher) -> bool:
    """Whether its power is a meter's."""
    return bool(rank.value(of.row, "power_measured"))


def alike(of: Sequence[Cipher], target: Target) -> list[Cipher]:
    """The same ciphers of one target, with power that can be ranked: a meter's where all have it, else the model's."""
    if len({is_metered(c) for c in of}) < 2:
        return [*of]
    return [_cipher(c.row | {"power_measured": None}, target) for c in of]


def ciphers(rows: Sequence[Row], target: Target) -> list[Cipher]:
    """The variants among the verified rows of one target that its study is of, by name; see :func:`.rank.apart`."""
    made = []
    for primitive in LATENCY:
        mine = [r for r in rows if r["primitive"] == primitive and r["variant"] != "nocrypt"]
        mine = [r | {"latency": _latency(r)} for r in mine]
        made += [_cipher(r, target) for r in rank.best_of_variant(mine, "latency")]
    return sorted(made, key=lambda c: (c.primitive, c.variant))


def _cipher(row: Row, target: Target) -> Cipher:
    primitive, variant = str(row["primitive"]), str(row["variant"])
    if primitive == "crypto_block":
        key, block = key_bytes(row) or 0, block_bytes(row) or 0
    else:
        found = readings(primitive, variant)  # type: ignore[arg-type]
        key, block = (found[0].key if found else 0), 0
    size = block if primitive == "crypto_block" else MESSAGE
    return Cipher(row, 8 * key, 8 * block, _figures(row, target, key, size))


def _figures(row: Row, target: Target, key: int, size: int) -> dict[str, float | None]:
    """The measures of a row whose calls take ``size`` bytes, 0 where that is not known; None where they cannot be had.
    A schedule without cycles has no throughput."""
    hertz = target.chip.clock_hz or None
    cycles, schedule = rank.value(row, "latency"), further_cycles(row, "schedule_encrypt")
    measured = rank.value(row, "power_measured")
    power = measured or (target.nanojoule_per_cycle or 0.0) * (hertz or 0) / 1e6
    seconds = cycles / hertz if hertz and cycles else None
    energy = power * seconds * 1e3 / size if power and seconds and size else None  # mW s are 1000 µJ
    if measured and cycles and size:  # at the board's own clock, as its analyzer has it
        whole, mean = (rank.value(row, n) for n in ("energy_encrypt_measured_with_idle", "cycles_encrypt_mean"))
        energy = whole * cycles / mean / size if whole and mean else measured * cycles / target.board_hz * 1e3 / size
    return {
        "rom": rank.value(row, "rom"),
        "ram": _ram(row),
        "schedule_throughput": hertz * key / schedule if hertz and key and schedule and schedule > 0 else None,
        "schedule_latency": schedule if schedule and schedule > 0 else None,
        "throughput": size / seconds if seconds and size else None,
        "latency": cycles,
        "cycles_per_byte": cycles / size if cycles and size else None,
        "power": power or None,
        "energy_per_byte": energy,
        "energy_per_bit": energy and energy * 1e3 / 8,
    }


def _ram(row: Row) -> float | None:
    """The RAM that a device needs for a cipher: of a block cipher with one context, which it keeps."""
    ram = rank.value(row, "ram")
    return ram if ram is None or row["primitive"] != "crypto_block" else ram + (rank.value(row, "context") or 0)


def ranked(of: Sequence[Cipher], name: str) -> list[Cipher]:
    """Those that have a measure, best first."""
    sign = -1 if MEASURES[name].more else 1
    having = [c for c in of if c.figures[name] is not None]
    return sorted(having, key=lambda c: (sign * (c.figures[name] or 0.0), c.variant))


class Part(Struct, frozen=True):
    """A cipher as percentages of the AES that has its key's size, by measure; below 100 is better."""

    cipher: Cipher
    aes: str
    percent: Mapping[str, float]


def parts(of: Sequence[Cipher]) -> list[Part]:
    """Ciphers as parts of AES: a block cipher of the block cipher with a key of its size, 128 bits where that is no
    key of AES's; an AEAD of AES-128-GCM. Those without such an AES, and AES itself, are not among them."""
    by_name = {(c.primitive, c.variant): c for c in of}
    made = []
    for c in of:
        name = _AES.get((c.primitive, c.key), _AES_128[c.primitive])
        aes = by_name.get((c.primitive, name))
        if aes is None or c.variant in {*_AES.values(), *_AES_128.values()}:
            continue
        metered = is_metered(c) and is_metered(aes)  # modelled energy follows from cycles
        both = ((m, c.figures[m], aes.figures[m]) for m in AGAINST if metered or m != "energy_per_byte")
        made.append(Part(c, name, {m: 100 * x / y for m, x, y in both if x is not None and y}))
    return made


def without_key(of: Sequence[Cipher]) -> list[str]:
    """The ciphers whose key's size nobody knows."""
    return [c.variant for c in of if not c.key]


def without_aes(of: Sequence[Cipher]) -> dict[str, list[str]]:
    """The ciphers that are not part of an AES because it is not among them, by its name."""
    there = {(c.primitive, c.variant) for c in of}
    found: dict[str, list[str]] = {}
    for c in of:
        name = _AES.get((c.primitive, c.key), _AES_128[c.primitive])
        if (c.primitive, name) not in there:
            found.setdefault(name, []).append(c.variant)
    return found


class Group(Struct, frozen=True):
    """What ciphers of one size are against AES by one measure: how many, how many of them below 100 %, the percentages'
    sum, as the study adds them up, their geometric mean, and the least with all that have it."""

    size: int
    measure: str
    count: int
    below: int
    total: float
    mean: float
    winners: tuple[Cipher, ...]
    percent: float


def groups(of: Iterable[Part], by: str) -> list[Group]:
    """Parts by the ``key`` or ``block`` size, for each measure. A percentage of 0, such as of RAM that
    is not used, has no place in a geometric mean: such parts are left out."""
    made = []
    for size, some in sorted(
        grouped([p for p in of if getattr(p.cipher, by)], lambda p: getattr(p.cipher, by)).items()
    ):
        for m in AGAINST:
            having = [p for p in some if p.percent.get(m, 0) > 0]
            if not having:
                continue
            values = [p.percent[m] for p in having]
            least = min(values)
            winners = sorted((p.cipher for p in having if p.percent[m] == least), key=lambda c: c.variant)
            mean = math.exp(math.fsum(map(math.log, values)) / len(values))
            below = sum(v < 100 for v in values)
            made.append(Group(size, m, len(values), below, math.fsum(values), mean, tuple(winners), least))
    return made


def scores(of: Sequence[Cipher], measures: Sequence[str]) -> rank.Ranking:
    """The score table: ranks added up over the measures, ties averaged, least first; what lacks one is left out."""
    sign = {m: -1 if MEASURES[m].more else 1 for m in measures}
    rows: list[Row] = [
        {**c.row, **{m: None if (v := c.figures[m]) is None else sign[m] * v for m in measures}} for c in of
    ]
    return rank.scores(rows, measures)


def moved(one: Sequence[Cipher], other: Sequence[Cipher], name: str) -> list[tuple[Cipher, Cipher, float, float]]:
    """Ciphers that two targets have, with their places by a measure among those, most moved first."""
    by_name = [{c.variant: c for c in of if c.figures[name] is not None} for of in (one, other)]
    both = by_name[0].keys() & by_name[1].keys()
    places = []
    for of in by_name:
        order = ranked([of[v] for v in both], name)
        ranks = rank.shared_ranks([c.figures[name] or 0.0 for c in order])
        places.append({c.variant: r for c, r in zip(order, ranks, strict=True)})
    found = [(by_name[0][v], by_name[1][v], places[0][v], places[1][v]) for v in both]
    return sorted(found, key=lambda f: (-abs(f[2] - f[3]), f[0].variant))
