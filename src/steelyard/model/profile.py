"""Where the cycles of one call go: a call tree, and what kinds of instructions ran."""

from __future__ import annotations

from msgspec import Struct


class Node(Struct, frozen=True):
    """A function as called along one path: ``calls`` times, ``cycles`` in itself; a root is its own parent."""

    function: str
    parent: int
    calls: int
    cycles: int


class Profile(Struct, frozen=True):
    """One call's nodes, callers before callees, its instructions by mnemonic, and its taken branches."""

    label: str
    nodes: tuple[Node, ...]
    instructions: dict[str, int]
    taken: int
    unaligned: int

    @property
    def cycles(self) -> int:
        """All cycles of the tree."""
        return sum(n.cycles for n in self.nodes)
