"""From a call tree to a table: each function once, and two trees side by side."""

from __future__ import annotations

from msgspec import Struct

from ..model.profile import Profile


class Function(Struct, frozen=True):
    """A function over all its paths: ``exclusive`` cycles in itself, ``inclusive`` with what it calls."""

    function: str
    calls: int
    exclusive: int
    inclusive: int


def inclusive(profile: Profile) -> list[int]:
    """Cycles of each node with everything below it."""
    sums = [n.cycles for n in profile.nodes]
    for k in range(len(sums) - 1, -1, -1):  # callees come after callers
        parent = profile.nodes[k].parent
        if parent != k:
            sums[parent] += sums[k]
    return sums


def by_function(profile: Profile) -> list[Function]:
    """Functions, most exclusive cycles first. A recursive function's inclusive cycles count once."""
    sums = inclusive(profile)
    rows: dict[str, Function] = {}
    for k, n in enumerate(profile.nodes):
        old = rows.get(n.function, Function(n.function, 0, 0, 0))
        again = 0 if _below_itself(profile, k) else sums[k]
        rows[n.function] = Function(n.function, old.calls + n.calls, old.exclusive + n.cycles, old.inclusive + again)
    return sorted(rows.values(), key=lambda r: (-r.exclusive, r.function))


def _below_itself(profile: Profile, node: int) -> bool:
    name, at = profile.nodes[node].function, node
    while profile.nodes[at].parent != at:
        at = profile.nodes[at].parent
        if profile.nodes[at].function == name:
            return True
    return False
