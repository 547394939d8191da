"""What a design is asked, and what is right: calls that bundled software answers, and the package's own files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from .model.errors import UserError
from .model.implementation import Primitive
from .model.inputs import Inputs
from .model.reasons import Failure, Reason
from .reference import bundled
from .rtl import bench, package, vectors
from .rtl.design import Design
from .rtl.streams import Call, Stream, read, stream, unpadded
from .rtl.tools import ToolError
from .rtl.vectors import CallSize, Oracle
from .software import Software

#: most letters of what a record was verified with, as the store has it
_LETTERS = 64


def settled(design: Design) -> Design:
    """The design in the family of the algorithm that it is verified against, which its folder need not be called after,
    and without the algorithms that nothing bundled has, where its package's files say what is right. Raises
    :class:`UserError` where they do not."""
    named = _named(design)
    families = [i.family for primitive, name in named if name for i in bundled(primitive, name)]
    if families and design.family != families[0]:
        design = replace(design, family=families[0])
    unknown = [n for primitive, n in named if n and n != "nocrypt" and not bundled(primitive, n)]
    if not unknown:
        return design
    if design.answers is None:
        text = f"{design.folder}: no bundled software is called {unknown[0]}, and there are no pdi, sdi and do files"
        raise UserError(f"{text}; steelyard list implementations")
    note = f"no software here has {', '.join(dict.fromkeys(unknown))}: what is right, the package's files alone say"
    aead, hashed = ("" if n in unknown else n for n in (design.aead, design.hash))
    return replace(design, aead=aead, hash=hashed, notes=(*design.notes, note))


class Asked:
    """What one design is asked. Raises :class:`UserError` for a name that nothing bundled has, and for files that are
    not of one another."""

    def __init__(self, design: Design, seed: str) -> None:
        self._design = design
        self._inputs = Inputs(design.digest, seed)
        files = _of_package(design)
        self._package = files if design.padded else [unpadded(s, design.width) for s in files]
        self._known = (_oracle("crypto_aead", design.aead), _oracle("crypto_hash", design.hash))
        forms = package.forms(self._package, design.width)
        self._oracles = tuple(known or form for known, form in zip(self._known, forms, strict=True))

    def streams(self) -> list[Stream]:
        """What the design is verified with. Raises :class:`ToolError` where nothing says what is right."""
        aead, hashed = self._known
        calls = vectors.verification(self._design, aead, hashed, self._inputs)
        made = [*(self._words(c) for c in calls), *self._package]
        if not made:
            text = "no algorithm of the software side is named, and there are no pdi, sdi and do files"
            raise ToolError(Failure(Reason.NO_EXPECTED, text))
        for op, known, form in zip(("encrypt", "hash"), self._known, self._oracles, strict=True):
            own = [s for s in self._package if s.name.startswith(op)]
            if known is None and (own or form is not None) and not package.compared(own, self._design.width):
                why = "the package's do file has none of it, or only X for data"
                text = f"no software here says what is right of {op}, and {why}"
                raise ToolError(Failure(Reason.NO_EXPECTED, text))
        return made

    def sizes(self) -> list[CallSize]:
        """The calls whose cycles count. Whether a decryption is right, only software says."""
        aead, hashed = self._oracles
        ops = [*(["encrypt"] if aead else []), *(["decrypt"] if self._known[0] else []), *(["hash"] if hashed else [])]
        return vectors.measured(self._design, ops)

    def measured(self, sizes: Sequence[CallSize]) -> list[Stream]:
        """The words of calls whose cycles count, which may come out as they want where only their form is known."""
        aead, hashed = self._oracles
        made = []
        for call in vectors.calls(sizes, (aead, hashed), self._inputs):
            known, words = self._known[call.op == "hash"], self._words(call)
            made.append(words if known else package.unchecked(words, self._design.width))
        return made

    def others(self, sizes: Sequence[CallSize]) -> list[CallSize]:
        """All sizes up to 2 KiB of the operations of ``sizes``, without these."""
        there = set(sizes)
        return [s for s in vectors.every(list(dict.fromkeys(s.op for s in sizes))) if s not in there]

    def sampled(self, sizes: Sequence[CallSize], cycles: Sequence[int]) -> list[int]:
        """See :func:`.rtl.vectors.sampled`."""
        return vectors.sampled(sizes, cycles, self._inputs)

    def timed(self, sizes: Sequence[CallSize]) -> list[Stream]:
        """Those of :meth:`measured` in the order that :func:`.rtl.vectors.kept` takes their cycles in."""
        made = self.measured(sizes)
        return [made[k] for k in vectors.turns(sizes)]

    def _words(self, call: Call) -> Stream:
        made = stream(call, self._design.width, self._design.order)
        return made if self._design.padded else unpadded(made, self._design.width)


def swept(
    asked: Asked, work: Path, sizes: Sequence[CallSize], cycles: Sequence[int]
) -> tuple[list[CallSize], tuple[int, ...]]:
    """The sizes and cycles that are there, and those of all sizes up to 2 KiB, of the bench in ``work``. Raises
    :class:`ToolError`."""
    more = asked.others(sizes)
    (made,) = bench.run(work, asked.measured(more), ("single",))
    if made.failure:
        raise ToolError(made.failure)
    return [*sizes, *more], (*cycles, *made.each)


def _of_package(design: Design) -> list[Stream]:
    """The operations of its package's files."""
    if design.answers is None:
        return []
    pdi, sdi, out = design.answer_files
    return read(pdi, sdi, out, design.width)


def _oracle(primitive: Literal["crypto_aead", "crypto_hash"], variant: str) -> Oracle | None:
    """Who says what is right; None where the design has no such algorithm."""
    if variant == "nocrypt":
        return vectors.Nocrypt()
    return Software(primitive, variant) if variant else None


def _named(design: Design) -> tuple[tuple[Primitive, str], ...]:
    return (("crypto_aead", design.aead), ("crypto_hash", design.hash))


def software_of(design: Design) -> list[str]:
    """The sources of the software that says what is right of a design, by their digests."""
    return [i.digest for primitive, name in _named(design) for i in bundled(primitive, name)]


def verified_with(design: Design) -> str:
    """What says what is right, in few letters: algorithms by their names, and the package's files."""
    named = [*dict.fromkeys(filter(None, (design.aead, design.hash))), *["package"] * (design.answers is not None)]
    return "+".join(named)[:_LETTERS]


def against(design: Design) -> list[str]:
    """What the design is verified against, as its description has it."""
    named = ", ".join(f"{what} {name}" for what, name in (("AEAD", design.aead), ("hash", design.hash)) if name)
    files = "the package's own pdi, sdi and do files" if design.answers else ""
    return [f"verified against: {', '.join(filter(None, (named, files)))}"] if named or files else []
