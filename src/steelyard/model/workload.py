"""Which calls a run measures. Known answers are verified in every one of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .errors import UserError, unknown


@dataclass(frozen=True)
class Workload:
    """``sizes`` are (associated data, message) in bytes; a hash takes those without associated data."""

    name: str
    sizes: tuple[tuple[int, int], ...]

    @property
    def text(self) -> str:
        """What records carry: two workloads are the same when this is. It starts with what ``--workload`` takes."""
        sizes = ",".join(f"{a}/{m}" for a, m in self.sizes)
        if self.name == "sizes":
            return sizes
        digest = hashlib.sha256(sizes.encode()).hexdigest()[:8]
        return f"{self.name} ({len(self.sizes)} sizes, {digest})"


#: most sizes of one workload
MAX_SIZES = 4096
_LENGTHS = (0, 16, 32, 64, 128, 256, 512, 1024, 1536)
_NIST = range(0, 129, 8)
_NAMED = {
    # message alone, associated data alone, both: enough for the two slopes and the usual tables
    "default": (
        *((0, m) for m in _LENGTHS),
        *((a, 0) for a in _LENGTHS[1:]),
        *((n, n) for n in (16, 32, 64, 128)),
    ),
    "kat": (),
    "nist-grid": tuple((a, m) for a in _NIST for m in _NIST),
    "felics": ((16, 16),),
}


def workload(text: str) -> Workload:
    """The workload called ``text``, or ``AD/M,AD/M,...`` with sizes in bytes. :class:`UserError` otherwise."""
    if text in _NAMED:
        return Workload(text, _NAMED[text])
    if "/" not in text:
        raise unknown("workload", text, _NAMED)
    sizes = []
    for part in text.split(","):
        ad, _, m = part.partition("/")
        if not (ad.isdecimal() and m.isdecimal() and int(ad) <= 0x7FFF and int(m) <= 0x7FFF):
            raise UserError(f"workload size {part!r}: write AD/M in bytes, each at most 32767, such as 16/64")
        sizes.append((int(ad), int(m)))
    if len(sizes) > MAX_SIZES:
        raise UserError(f"--workload lists {len(sizes)} sizes; at most {MAX_SIZES} go into one run")
    return Workload("sizes", tuple(dict.fromkeys(sizes)))


def workload_names() -> tuple[str, ...]:
    """Named workloads."""
    return tuple(_NAMED)
