"""How many of a call's cycles assembly takes: the one definition that records and published comparisons share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..model.call import Caller, DeviceError, Observed, Op, Request, empty_of
from ..model.elf import symbols
from ..model.implementation import SourceFile
from ..model.inputs import Inputs
from ..model.reasons import Reason
from ..model.record import Operation
from .cycles import one_call

#: (function, parent's index, calls, cycles) of a profile
Tree = Sequence[tuple[str, int, int, int]]
#: calls of each operation that are looked at, of each group of sizes
LOOKS = 4
#: cycles beyond the empty call's up to which a schedule does nothing: it may be compiled where the rest is assembly
IDLE = 12
#: what profiles call code without a name (crates/mcu/src/image.rs): a package's function of that name is not told
#: from it
UNNAMED = "other"


class Profiler(Caller, Protocol):
    """What makes calls and sees their functions."""

    def tree(self, request: Request) -> Tree:
        """The call tree of one call."""
        ...


def written(files: Iterable[SourceFile], objects: Mapping[str, Path], image: Path) -> dict[str, float]:
    """The functions of an image that only a package's assembly files hold, each with 1, the share of it that is
    assembly. ``objects`` are by the name of their source. A name that C has too is C's; where the compiler keeps C in a
    form of its own until it links, names that assembly does not export may be. Names are counted before unused sections
    are dropped, too, and one that assembly gives to what lies behind its section is not its function's, nor is that of
    code without a name."""
    language = {f.name: f.language for f in files}
    hand: set[str] = set()
    local: set[str] = set()
    others = {UNNAMED}
    hidden = False
    for name, file in objects.items():
        try:
            code = [s for s in symbols(file.read_bytes()) if s.kind == "code"]
        except ValueError:  # no ELF file
            hidden = True
            continue
        names = {s.name for s in code}
        if language[name] == "asm":
            hand |= names
            local |= {s.name for s in code if s.local}
            others |= {s.name for s in code if not s.left}
        else:
            others |= names
    others |= local if hidden else set()
    if not hand:
        return {}
    merged = image.with_name("merged.o")
    for file in (image, *([merged] if merged.exists() else ())):
        often = Counter(s.name for s in symbols(file.read_bytes()) if s.kind == "code")
        others |= {name for name in hand if often[name] > 1 or (file == image and not often[name])}
    return dict.fromkeys(hand - others, 1.0)


def share(tree: Tree, hand: Mapping[str, float]) -> float:
    """The share of a profile's cycles in assembly, from 0 to 1; ``hand`` has the share of each function's instructions.
    Clones that a compiler makes of a function ("f.constprop.0") are as the function is; what is all of assembly has
    none, so a clone of that name is another function's."""

    def of(name: str) -> float:
        mixed = hand.get(name.split(".")[0], 0.0)
        return hand.get(name, mixed if mixed < 1 else 0.0)

    total = _cycles(tree)
    own = sum(cycles * of(name) for name, _, _, cycles in tree)
    return own / total if total else 0.0


def least(
    client: Profiler,
    hand: Mapping[str, float],
    operations: Mapping[Operation, Op],
    calls: Sequence[Observed],
    swept: Sequence[Observed],
    inputs: Inputs,
) -> float:
    """The least :func:`share` of several calls: one as long as the longest of the known answers' ``calls`` of the first
    operation, and of each the largest of the workload's, those that were ``swept``, and some that nobody can foresee:
    of known answers at least half as long as the longest, of shorter ones, and of the workload. Then the schedules that
    are called and do something. In a call shorter than that half compiled code counts half: the code around a
    permutation is a larger part of it, and the published errors of assembly are of such calls too. Calls that find no
    room are left out: what a package does not make of itself is no verdict on it."""

    def sizes_of(observed: Iterable[Observed]) -> list[tuple[int, int]]:
        return [(len(v.ad), len(v.message)) for name, v, _ in observed if name == first]

    first, called = next(iter(operations)), {name for name, *_ in calls}
    crypts = [op for op in dict.fromkeys(operations.values()) if not op.is_schedule]
    known, points = sizes_of(calls), sizes_of(swept)
    half = max(map(sum, known)) / 2
    groups = {
        "": sorted({size for size in known if sum(size) >= half}),
        " short": sorted({size for size in known if sum(size) < half}),
        " points": sorted({*points}),
    }
    looks = [(crypts[0], max(known, key=sum)), *((op, max(points, key=sum)) for op in crypts if points)]
    for name, sizes in groups.items():
        for op in crypts:
            looks += [(op, sizes[k]) for k in inputs.sample(f"assembly{name}/{op.value}", len(sizes), LOOKS)]
    found = [1.0]
    for op, size in dict.fromkeys(looks):
        if not client.fits(op, size[1], size[0]):
            continue
        try:
            seen = share(client.tree(one_call(client, op, *size, inputs)[0]), hand)
        except DeviceError as e:
            if e.failure.reason not in (Reason.RAM_OVERFLOW, Reason.STACK_OVERFLOW):
                raise
            client.restart()  # as little RAM as is left shows in the call itself
            continue
        found.append(seen if sum(size) >= half else (1 + seen) / 2)
    for op in (op for name, op in operations.items() if op.is_schedule and name in called):
        tree = client.tree(one_call(client, op, 0, 0, inputs)[0])
        if _cycles(tree) > _cycles(client.tree(client.hello.zeros(empty_of(op, client.hello.api)))) + IDLE:
            found.append(share(tree, hand))
    return min(found) if len(found) > 1 else 0.0


def _cycles(tree: Tree) -> int:
    return sum(cycles for *_, cycles in tree)
