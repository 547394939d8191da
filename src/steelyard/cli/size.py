"""``steelyard size``: where the bytes of an implementation are, symbol by symbol."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.call import DeviceError
from ..model.errors import WorkError
from ..model.implementation import Implementation
from ..model.workload import workload
from ..pipeline import Job, sizes
from ..publish.sheet import Cell
from . import select
from .output import Output, sheet, show
from .profile import apart, failed, one_implementation

_NOTE = (
    "both, encrypt, decrypt: images that hold both operations, or only one. Below zero is what nocrypt "
    "alone holds. Unnamed constants and alignment are in rom and not here."
)
Sizes = dict[str, dict[tuple[str, str], int]]


def size_command(what: str, target: str, flags: str | None, toolchain: str, against: str | None, out: Output) -> int:
    """Prints bytes by symbol for the whole, for encryption and for decryption alone; or beside another's."""
    chip = select.one_target(target, toolchain)
    options = select.one_flag_set(flags, chip)

    def seen(implementation: Implementation) -> Sizes:
        try:
            return sizes(Job(implementation, chip, options, workload("kat")))
        except DeviceError as e:
            raise WorkError(failed(implementation, e.failure)) from e

    first = one_implementation(what)
    mine = seen(first)
    other = one_implementation(against) if against else None
    theirs = seen(other) if other else {}
    title = f"{first.label} on {chip.name}, {' '.join(options)}: bytes by symbol, less nocrypt's"
    columns: tuple[str, ...] = tuple(mine)
    if other:
        names = apart(first.label, other.label, what, against or "")
        columns, rows = (*names, "difference"), _beside(mine, theirs)
    else:
        rows = _alone(mine)
    answer = sheet(title, "size", [("symbol", None), ("kind", None), *((c, 0) for c in columns)], rows)
    answer = replace(answer, notes=(_NOTE,))
    if out.console:
        show(answer)
    else:
        labels = [first.label, *([other.label] if other else [])]
        out.tables([answer], [_json(n, s) for n, s in zip(labels, [mine, theirs], strict=False)])
    return 0


def _alone(mine: Sizes) -> list[list[Cell]]:
    keys = sorted({k for part in mine.values() for k in part}, key=lambda k: (-mine["both"].get(k, 0), k))
    rows: list[list[Cell]] = [[*k, *(part.get(k) for part in mine.values())] for k in keys]
    return [*rows, ["all", "", *(sum(part.values()) for part in mine.values())]]


def _beside(mine: Sizes, theirs: Sizes) -> list[list[Cell]]:
    a, b = mine["both"], theirs["both"]
    change = {k: b.get(k, 0) - a.get(k, 0) for k in {**a, **b}}
    keys = sorted(change, key=lambda k: (-abs(change[k]), k))
    rows: list[list[Cell]] = [[*k, a.get(k), b.get(k), change[k]] for k in keys]
    return [*rows, ["all", "", sum(a.values()), sum(b.values()), sum(change.values())]]


def _json(label: str, found: Sizes) -> dict[str, object]:
    parts = {p: [{"symbol": n, "kind": k, "bytes": v} for (n, k), v in part.items()] for p, part in found.items()}
    return {"implementation": label, "images": parts}
