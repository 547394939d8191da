"""Workloads: the sizes of the calls that a run measures. Every workload also verifies the known answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from .errors import UserError, cut, unknown
from .protocol import PROTOCOLS


class Workload(Struct, frozen=True):
    """``sizes`` are pairs (associated data, message) in bytes. A hash uses those without associated data."""

    name: str
    sizes: tuple[tuple[int, int], ...]

    @property
    def text(self) -> str:
        """The workload in records: equal texts mean equal workloads. It begins with the word or sizes that
        ``--workload`` takes."""
        sizes = ",".join(f"{a}/{m}" for a, m in self.sizes)
        if self.name == "sizes":
            return sizes
        digest = hashlib.sha256(sizes.encode()).hexdigest()[:8]
        return f"{self.name} ({len(self.sizes)} sizes, {digest})"

    @property
    def word(self) -> str:
        """What ``--workload`` takes for it: its name, or its sizes."""
        return self.text if self.name == "sizes" else self.name


#: what is measured of a primitive whose calls have one size only
KNOWN = "kat"
#: the same with the figures that the first FELICS has of a block cipher in each of its scenarios
SCENARIOS = ("felics-block-0", "felics-block-1", "felics-block-2")
#: how a note begins that says how many sizes were not measured
LEFT_OUT = "sizes of the workload too large for the target's RAM or for the algorithm: "
#: the most sizes of one workload
MAX_SIZES = 4096
_LENGTHS = (0, 16, 32, 64, 128, 256, 512, 1024, 1536)
_NIST = range(0, 129, 8)
_GMU = (16, 64, 1536)
#: sizes in bytes whose difference gives GMU's throughput for long inputs; it is a multiple of nearly every block size
LONG = (768, 2304)
#: workloads that have a name, and their sizes
NAMED = {
    # message alone, associated data alone, both: enough for the two slopes and the usual tables; 16/64 is a typical
    # packet
    "default": (
        *((0, m) for m in _LENGTHS),
        *((a, 0) for a in _LENGTHS[1:]),
        *((n, n) for n in (16, 32, 64, 128)),
        (16, 64),
    ),
    "kat": (),
    # every size of NIST's known answers, for cycles call by call; vector number = 33 x message + associated data + 1
    "vectors": tuple((a, m) for m in range(33) for a in range(33)),
    # GMU's short sizes, of associated data, of message and of both, and two long ones for the difference
    "gmu": (
        *((0, n) for n in (*_GMU, *LONG)),
        *((n, 0) for n in (*_GMU, *LONG)),
        *((n, n) for n in _GMU),
    ),
    "nist-grid": tuple((a, m) for a in _NIST for m in _NIST),
    # FELICS-AE's only case, then the scenarios of the first FELICS as in its code, from which its comments differ
    "felics-ae": ((16, 16),),
    "felics-1": ((0, 102),),
    "felics-2": ((111, 0),),
    "felics-3": ((25, 86),),
    "felics-4": ((0, 1264),),
    "felics-5": ((1264, 0),),
    "felics-6": ((40, 1224),),
    **dict.fromkeys(SCENARIOS, ()),
    # the first FELICS's scenarios 0, 1A, 1B and 1C for hashes
    "felics-hash": ((0, 0), (0, 16), (0, 128), (0, 1024)),
    **{name: tuple((s.adlen, s.mlen) for s in p.sizes) for name, p in PROTOCOLS.items()},
}


def of_one_size(names: Iterable[str]) -> tuple[str, ...]:
    """The workloads among some that a primitive has whose calls have one size only."""
    return tuple(dict.fromkeys(name if name in SCENARIOS else KNOWN for name in names))


def workload(text: str) -> Workload:
    """The workload called ``text``, or the one with the sizes ``AD/M,AD/M,...`` in bytes, such as ``0/16,16/64``.
    Raises :class:`UserError`."""
    if text in NAMED:
        return Workload(text, NAMED[text])
    if "/" not in text and not text.replace(",", "").isdecimal():
        parts = text.split(",")
        if len(parts) > 1 and all(p in NAMED for p in parts):
            each = " ".join(f"--workload {p}" for p in parts)
            raise UserError(f"workload {cut(text)!r}: is several; give --workload for each: {each}")
        raise unknown("workload", text, NAMED)
    sizes = []
    for part in text.split(","):
        ad, _, m = part.strip().partition("/")
        if not all(n.isdecimal() and len(n) <= 5 and int(n) <= 0x7FFF for n in (ad, m)):
            raise UserError(f"workload size {cut(part)!r}: write AD/M in bytes, each at most 32767, such as 16/64")
        sizes.append((int(ad), int(m)))
    if len(sizes) > MAX_SIZES:
        raise UserError(f"--workload lists {len(sizes)} sizes; at most {MAX_SIZES} go into one run")
    return Workload("sizes", tuple(dict.fromkeys(sizes)))


def recorded(text: str) -> tuple[tuple[int, int], ...]:
    """The sizes of a workload in a record, as those of its name are today; none of one that is not known."""
    try:
        return workload(text.partition(" ")[0]).sizes
    except UserError:
        return ()


def grid(adlen: str, mlen: str) -> str:
    """Every pair from two lists of sizes in bytes, as a text for :func:`workload`. A list is ``0,16`` or
    ``FROM:TO:STEP`` with TO included: ``grid("0", "0:32:16")`` is ``0/0,0/16,0/32``. Raises :class:`UserError`."""
    pairs = [f"{a}/{m}" for a in _lengths("--adlen", adlen or "0") for m in _lengths("--mlen", mlen or "0")]
    return ",".join(pairs)


def _lengths(option: str, text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        numbers = part.split(":")
        if not all(n.isdecimal() and len(n) <= 5 for n in numbers) or len(numbers) not in (1, 3):
            raise UserError(f"{option} {text!r}: write sizes in bytes such as 0,16,64 or FROM:TO:STEP such as 0:128:8")
        if len(numbers) == 1:
            found.append(int(part))
        else:
            start, stop, step = map(int, numbers)
            if start > stop:
                turned = f"{stop}:{start}:{step}"
                raise UserError(f"{option} {text!r}: holds no size, as {start} is above {stop}; did you mean {turned}?")
            if step == 0 or (stop - start) // step > MAX_SIZES:
                raise UserError(f"{option} {text!r}: at most {MAX_SIZES} sizes, with a step of at least 1")
            found += range(start, stop + 1, step)
    return found
