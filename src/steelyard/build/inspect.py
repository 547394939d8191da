"""What a package's objects want of the harness, and where they want to be: they have the API and nothing else."""

from __future__ import annotations

import re

from ..model.elf import sections, undefined
from ..model.reasons import Failure, Reason

#: names of the harness, its targets and their linker scripts
_HARNESS = re.compile(r"sy_\w+|main|__?end|end|__heap_start|_start|__vectors|__crt0_\w+")
#: sections that linker scripts put where the chip starts, or where code runs before the harness
_START = re.compile(r"\.(vectors|start|reset|text\.reset|isr_vector|init\d*|fini\d*)(\..*)?")
_CONSTRUCTORS = re.compile(r"\.(preinit_array|init_array|ctors)(\..*)?")


def inspect(merged: bytes) -> tuple[Failure | None, list[str]]:
    """Why a package's merged object cannot be linked with the harness, and what a reader must know of it.

    :class:`ValueError` when it is no object file.
    """
    notes: list[str] = []
    if wanted := sorted({name for name in undefined(merged) if _HARNESS.fullmatch(name)}):
        return Failure(Reason.HARNESS_SYMBOL, ", ".join(wanted[:5])), notes
    placed = [s.name for s in sections(merged) if s.placed]
    if special := sorted({name for name in placed if _START.fullmatch(name)}):
        return Failure(Reason.PLACED_SECTION, ", ".join(special[:5])), notes
    if any(_CONSTRUCTORS.fullmatch(name) for name in placed):
        notes.append("has static constructors, which the harness does not run")
    return None, notes
