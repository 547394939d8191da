"""How much of a package's code is assembly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..model.elf import sections
from ..model.implementation import SourceFile
from ..model.metric import ASSEMBLY


def assembly(files: Iterable[SourceFile], objects: Mapping[str, Path]) -> dict[str, float]:
    """``assembly_percent``: the share of code in objects that were made of assembly, before linking. Nothing where
    objects hold no code, because the compiler generates it when it links."""
    language = {f.name: f.language for f in files}
    code = {True: 0, False: 0}
    for name, file in objects.items():
        try:
            found = sections(file.read_bytes())
        except ValueError:  # the compiler's own form, which is no ELF file
            return {}
        code[language[name] == "asm"] += sum(s.size for s in found if s.kind == "code")
    every = sum(code.values())
    return {ASSEMBLY: 100 * code[True] / every} if every else {}
