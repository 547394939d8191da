"""Whether time depends on the inputs: the known answers' calls against fresh ones of the same sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.call import Observed
from .cycles import means

#: differences of means that caches and branch predictors make by themselves: below 0.2 % on every simulated core.
#: A machine whose calls are repeated has other programs besides
BOUND, BOUND_OF_MACHINES = 0.005, 0.1
#: nor do they count for a call that is itself as short, as the baseline's are
CYCLES = 10


def dependence(
    known: Sequence[Observed], fresh: Sequence[Observed], empty: dict[str, int], quantity: str = "cycles"
) -> tuple[dict[str, float], list[str]]:
    """``cycles_<operation>_fresh_mean`` over calls with fresh inputs of all ``known`` answers' sizes, and a note."""
    old, new = means(known, empty, quantity), means(fresh, empty, quantity)
    figures = {f"{name.removesuffix('_mean')}_fresh_mean": value for name, value in new.items()}
    told = [
        f"{op} takes {old[name]:.0f} {quantity} on the known answers' inputs and {new[name]:.0f} on fresh ones"
        for op in ("encrypt", "decrypt", "reject", "hash")
        if (name := f"{quantity}_{op}_mean") in new and name in old
    ]
    return figures, [f"time depends on the inputs: {'; '.join(told)}"]


def depends(known: Iterable[Observed], fresh: Iterable[Observed], empty: dict[str, int]) -> bool:
    """Whether the mean of some operation differs between the known answers' inputs and ``fresh`` ones, over the sizes
    that both have."""
    at = {(op, v.count, len(v.ad), len(v.message)): a for op, v, a in known}
    sums: dict[str, tuple[int, int, int]] = {}
    bound = BOUND
    for op, v, a in fresh:
        twin = at.get((op, v.count, len(v.ad), len(v.message)))
        if twin is None:
            continue
        if a.pulse.spread is not None:
            bound = BOUND_OF_MACHINES
        calls, first, second = sums.get(op, (0, 0, 0))
        sums[op] = calls + 1, first + twin.pulse.cycles - empty[op], second + a.pulse.cycles - empty[op]
    return any(abs(b - a) > max(bound * max(a, b), CYCLES * calls) for calls, a, b in sums.values())
