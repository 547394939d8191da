"""``steelyard size``: where the bytes of an implementation are, symbol by symbol."""

from __future__ import annotations

from ..model.call import DeviceError
from ..model.errors import UserError
from ..model.implementation import Implementation
from ..model.workload import workload
from ..pipeline import Job, sizes
from . import select
from .console import number, print_json, stdout, table
from .profile import one_implementation

Sizes = dict[str, dict[tuple[str, str], int]]


def size_command(what: str, target: str, flags: str | None, toolchain: str, against: str | None, json: bool) -> int:
    """Prints bytes by symbol for the whole, for encryption and for decryption alone; or beside another's."""
    chip = select.target(target, toolchain)
    options = select.flag_sets([flags] if flags else [], chip)
    if len(options) != 1:
        raise UserError("size takes one set of flags")

    def seen(implementation: Implementation) -> Sizes:
        try:
            return sizes(Job(implementation, chip, options[0], workload("kat")))
        except DeviceError as e:
            raise UserError(f"{implementation.label}: {e.failure.reason}: {e.failure.detail}") from e

    first = one_implementation(what)
    mine = seen(first)
    other = one_implementation(against) if against else None
    theirs = seen(other) if other else {}
    if json:
        labels = [first.label, *([other.label] if other else [])]
        print_json([_json(n, s) for n, s in zip(labels, [mine, theirs], strict=False)])
        return 0
    title = f"{first.label} on {target}, {' '.join(options[0])}: bytes by symbol, less nocrypt's"
    if other:
        columns, rows = ("symbol", "kind", first.label, other.label, "difference"), _beside(mine, theirs)
    else:
        columns, rows = ("symbol", "kind", *mine), _alone(mine)  # type: ignore[assignment]
    stdout().print(table(title, columns, rows, left=2))
    stdout().print(
        "both, encrypt, decrypt: images that hold both operations, or only one. Unnamed constants and "
        "alignment are in rom and not here.",
        style="dim",
    )
    return 0


def _alone(mine: Sizes) -> list[tuple[str, ...]]:
    keys = sorted({k for part in mine.values() for k in part}, key=lambda k: (-mine["both"].get(k, 0), k))
    rows = [(*k, *(number(part.get(k)) for part in mine.values())) for k in keys]
    return [*rows, ("all", "", *(number(sum(part.values())) for part in mine.values()))]


def _beside(mine: Sizes, theirs: Sizes) -> list[tuple[str, ...]]:
    a, b = mine["both"], theirs["both"]
    change = {k: b.get(k, 0) - a.get(k, 0) for k in {**a, **b}}
    keys = sorted(change, key=lambda k: (-abs(change[k]), k))
    rows = [(*k, number(a.get(k)), number(b.get(k)), f"{change[k]:+}") for k in keys]
    return [*rows, ("all", "", number(sum(a.values())), number(sum(b.values())), f"{sum(change.values()):+}")]


def _json(label: str, found: Sizes) -> dict[str, object]:
    parts = {p: [{"symbol": n, "kind": k, "bytes": v} for (n, k), v in part.items()] for p, part in found.items()}
    return {"implementation": label, "images": parts}
