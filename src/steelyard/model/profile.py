"""A profile: the call tree of one call with its cycles, and its instructions by kind."""

from __future__ import annotations

from msgspec import Struct


class Node(Struct, frozen=True):
    """A function as called along one path: how many ``calls``, and ``cycles`` in the function itself. ``parent`` is the
    index of the caller's node; a root is its own parent."""

    function: str
    parent: int
    calls: int
    cycles: int


class Share(Struct, frozen=True):
    """Cycles of one ``cause`` in instructions of one kind (``work``), and how often they came. docs/definitions.md
    names the causes."""

    cause: str
    work: str
    times: int
    cycles: int


class Profile(Struct, frozen=True):
    """The profile of one call: nodes (callers before callees), instruction counts by mnemonic, taken branches,
    unaligned accesses, and cycles by cause where they were asked for. ``image_rom`` are the bytes of flash of the image
    that it was taken of; 0 where this is not known."""

    label: str
    nodes: tuple[Node, ...]
    instructions: dict[str, int]
    taken: int
    unaligned: int
    shares: tuple[Share, ...] = ()
    image_rom: int = 0

    @property
    def cycles(self) -> int:
        """All cycles of the tree."""
        return sum(n.cycles for n in self.nodes)
