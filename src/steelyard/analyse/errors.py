"""How far simulated cycles are from published ones, by target and kind of code: what every simulated figure carries.

docs/validation/errors.csv is the only place of these numbers; docs/claims.md shows them as ``steelyard targets
--errors`` prints them.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec import Struct

from ..model import paths
from ..model.metric import ASSEMBLY, ERRORS
from ..model.row import Row
from ..model.target import load_target, target_names

FILE = paths.ROOT / "docs" / "validation" / "errors.csv"
#: kinds of code, as the file names them
CODES = ("assembly", "compiled")
#: percent of a call's cycles in assembly from which on a package counts as assembly, here and in the comparisons with
#: published figures that the errors are of: permutations with C around them
LEAST = 70.0


class Error(Struct, frozen=True):
    """The error of a timing model on a target, in percent of published cycles: of ``code`` that is ``assembly`` or
    ``compiled``, and that a cache holds (``cached``), does not (``beyond``), or ``any``. ``cache_bytes`` are those of a
    cache whose misses the model leaves out; else 0, and the chip's are known. ``page`` of docs/validation has the
    comparison."""

    target: str
    timing_model: str
    code: str
    memory: str
    cache_bytes: int
    values: int
    median_percent: float
    p95_percent: float
    page: str
    remark: str

    @property
    def kind(self) -> str:
        """The kind of code, in words."""
        return self.code if self.memory == "any" else f"{self.code}, {self.memory}"

    @property
    def text(self) -> str:
        """In words, for a reader of one figure."""
        size = f"median {self.median_percent:.2g} %, 95 % of them within {self.p95_percent:.2g} %"
        return f"{size} ({self.kind}; {self.values} published values; {self.remark}; docs/validation/{self.page})"


@cache
def published() -> tuple[Error, ...]:
    """All of them, in the file's order; none where the documents are not here."""
    if not FILE.exists():
        return ()
    with FILE.open(newline="", encoding="utf-8") as stream:
        return tuple(msgspec.convert(row, Error, strict=False) for row in csv.DictReader(stream))


def error_of(row: Row) -> Error | None:
    """The error that a row's cycles carry. Where it is not known what kind of code they are of, that of the kind with
    the larger error, if compiled code has one; none where nothing is published of this target and model, and where
    there are no cycles, or none that are simulated."""
    share = row.get(ASSEMBLY)
    if share is None and row.get("rom") is None:  # what failed has no figures at all
        return None
    found = of_models([row])
    if isinstance(share, (int, float)):
        kind = "assembly" if share >= LEAST else "compiled"
        found = [e for e in found if e.code == kind]
    elif not any(e.code == "compiled" for e in found):
        return None
    rom = row.get("image_rom", row.get("rom"))
    found = _held(found, int(rom) if isinstance(rom, (int, float)) else None)
    return max(found, key=lambda e: e.p95_percent, default=None)


def of_models(rows: Sequence[Row]) -> list[Error]:
    """The published errors of the simulated targets and models that rows are of."""
    # a model is named with its target's files where two of them have its name
    models = {
        (r["target"], str(r.get("timing_model")).partition(",")[0]) for r in rows if r.get("device") == "simulator"
    }
    return [e for e in published() if (e.target, e.timing_model) in models]


def of_model(target: str, timing_model: str, image_rom: int | None = None) -> list[Error]:
    """The published errors of a target's timing model; only those of what a cache holds, or does not, of an image of so
    many bytes, if this is known."""
    found = [e for e in published() if (e.target, e.timing_model) == (target, timing_model)]
    return found if image_rom is None else _held(found, image_rom)


def of_kinds(target: str, timing_model: str, image_rom: int | None = None) -> list[str]:
    """What is known of the error of a target's timing model, in words, for each kind of code: for a reader of figures
    whose kind is not known. As :func:`of_model` of an image of so many bytes."""
    found = of_model(target, timing_model, image_rom)
    if not found and of_model(target, timing_model):
        return [unpublished(f"{target} and this model where code, here {image_rom} bytes, is larger than the cache")]
    texts = [e.text for e in found]
    missing = [code for code in CODES if code not in {e.code for e in found}]
    if not found:
        return [unpublished(f"{target} and this model")]
    return [*texts, *(unpublished(f"{code} code on {target} and this model") for code in missing)]


def unpublished(of: str) -> str:
    """That nothing is known of an error, for a reader of one figure."""
    return f"no error is published of {of}; docs/claims.md says what the model was checked by, and what it leaves out"


def carried(rows: Sequence[Row]) -> Sequence[Row]:
    """The same rows, with the columns of their error."""
    for row in rows:
        error = error_of(row)
        if error is not None:
            row.update(zip(ERRORS, (error.median_percent, error.p95_percent), strict=True))
    return rows


@cache
def _cache(target: str) -> int:
    """Bytes of a target's cache of code; 0 where it has none."""
    if target not in target_names():
        return 0
    flash = msgspec.json.decode(load_target(target).chip.json)["flash_timing"]
    return int(flash["cache_lines"] * flash["line_bytes"])


def _held(found: Sequence[Error], image_rom: int | None) -> list[Error]:
    """Of these errors those of an image of so many bytes, or of one of unknown size."""
    found = [e for e in found if e.memory in ("any", _memory(e, image_rom) or e.memory)]
    exact = {e.code for e in found if e.memory != "any"}
    return [e for e in found if e.memory != "any" or e.code not in exact]


def _memory(error: Error, image_rom: int | None) -> str:
    """Whether a cache holds all of an image, harness and all, as the published errors have it; empty where there is no
    cache, or this is not known."""
    size = error.cache_bytes or _cache(error.target)
    if not size or image_rom is None:
        return ""
    return "cached" if image_rom <= size else "beyond"
