"""How many of a call's cycles assembly takes: the one definition that records and published comparisons share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ..model.call import Caller, Op, Request
from ..model.elf import symbols
from ..model.implementation import SourceFile
from ..model.inputs import Inputs
from .cycles import one_call

#: (function, parent's index, calls, cycles) of a profile
Tree = Sequence[tuple[str, int, int, int]]
#: calls of each operation that are looked at besides the longest one
LOOKS = 4


class Profiler(Caller, Protocol):
    """What makes calls and sees their functions."""

    def tree(self, request: Request) -> Tree:
        """The call tree of one call."""
        ...


def written(files: Iterable[SourceFile], objects: Mapping[str, Path], image: Path) -> dict[str, float]:
    """The functions of an image that only a package's assembly files hold, each with 1, the share of it that is
    assembly. ``objects`` are by the name of their source. A name that C has too is C's; where the compiler keeps C in a
    form of its own until it links, names that assembly does not export may be. Names are counted before unused sections
    are dropped, too, and one that assembly gives to what lies behind its section is not its function's."""
    language = {f.name: f.language for f in files}
    hand: set[str] = set()
    local: set[str] = set()
    others: set[str] = set()
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

    total = sum(cycles for *_, cycles in tree)
    own = sum(cycles * of(name) for name, _, _, cycles in tree)
    return own / total if total else 0.0


def least(
    client: Profiler,
    hand: Mapping[str, float],
    operations: Iterable[Op],
    sizes: Sequence[tuple[int, int]],
    inputs: Inputs,
) -> float:
    """The least :func:`share` of several calls: the longest one of the first operation, and some of each but key
    schedules, which nobody can foresee. Their ``sizes``, bytes of associated data and message, are those of known
    answers at least half as long as the longest: of shorter ones the code around a permutation is a larger part."""
    crypts = [op for op in dict.fromkeys(operations) if not op.is_schedule]
    longest = max(sizes, key=sum)
    long = sorted({size for size in sizes if 2 * sum(size) >= sum(longest)})
    calls = [(crypts[0], longest)]
    calls += [(op, long[k]) for op in crypts for k in inputs.sample(f"assembly/{op.value}", len(long), LOOKS)]
    fitting = [(op, size) for op, size in dict.fromkeys(calls) if client.fits(op, size[1], size[0])]
    trees = (client.tree(one_call(client, op, *size, inputs)[0]) for op, size in fitting)
    return min((share(tree, hand) for tree in trees), default=0.0)
