"""RAM of calls: stack and heap, exact where the device sees them, otherwise from painted memory."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.call import Observed


def spread(observed: Iterable[Observed]) -> dict[str, float]:
    """``spread_percent``: the mean interquartile range of repeated calls, in percent of their medians; empty without
    repetition."""
    spreads = [a.pulse.spread for _, _, a in observed if a.pulse.spread is not None]
    return {"spread_percent": 100 * sum(spreads) / len(spreads)} if spreads else {}


def peaks(observed: Iterable[Observed], beside: Iterable[Observed] = ()) -> dict[str, float]:
    """``stack_<operation>``, ``stack`` (the largest of them) and ``heap`` in bytes, and the number of ``unaligned``
    accesses. Stack and heap are also of those calls ``beside`` the observed ones that have their sizes.

    Stack is counted from the trigger's rising edge: return address, saved registers and locals of the call.
    """
    stack: dict[str, int] = {}
    observed = list(observed)
    sizes = {(op, len(v.ad), len(v.message)) for op, v, _ in observed}
    more = [(op, v, a) for op, v, a in beside if (op, len(v.ad), len(v.message)) in sizes]
    heap = 0
    for op, _, a in (*observed, *more):
        used = a.stack if a.pulse.stack is None else a.pulse.stack
        if used > stack.get(op, -1):
            stack[op] = used
        if a.heap > heap:
            heap = a.heap
    unaligned = sum(a.pulse.unaligned or 0 for _, _, a in observed)
    metrics: dict[str, float] = {f"stack_{op}": used for op, used in stack.items()}
    return metrics | {"stack": max(stack.values(), default=0), "heap": heap, "unaligned": unaligned}
