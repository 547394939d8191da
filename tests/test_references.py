"""References in docstrings lead somewhere: ``python -m pydoc steelyard.MODULE`` is the API reference."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "src" / "steelyard"
FILES = {
    ("steelyard", *file.relative_to(PACKAGE).with_suffix("").parts): file
    for file in PACKAGE.rglob("*.py")
    if not {"migrations", "without_lines"} & set(file.parts)
}
#: names of other packages that docstrings refer to
LIBRARIES = {"monotonic_ns", "Group"}
REFERENCE = re.compile(r":(?:class|func|meth|data|mod|attr|exc):`([^`]+)`")


def names(file: Path) -> set[str]:
    """All names that a module gives to something, and those of its classes' members."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Name(ctx=ast.Store()):
                found.add(node.id)
            case ast.Attribute(ctx=ast.Store()):
                found.add(node.attr)
            case ast.Import() | ast.ImportFrom():
                found |= {(a.asname or a.name).split(".")[0] for a in node.names}
    return found


def test_references_lead_somewhere() -> None:
    """``.module.name`` is where imports would find it, and a bare name one of the module's own, or of an exception that
    what it calls raises."""
    known = {module: names(file) for module, file in FILES.items()}
    every = set().union(*known.values())
    raised = {
        n for of in known.values() for n in of if re.fullmatch(r"[A-Z]\w*(Error|Lost|Mismatch)|Mismatch|Store", n)
    }
    lost = []
    for module, file in FILES.items():
        for said in REFERENCE.findall(file.read_text(encoding="utf-8")):
            up, parts = re.match(r"\.*", said)[0], said.lstrip(".").split(".")
            if up:
                whole = (*module[: len(module) - len(up)], *parts)
                at = max(
                    (m for k in range(1, len(whole) + 1) if (m := whole[:k]) in known or (*m, "__init__") in known),
                    key=len,
                )
                rest = whole[len(at) :]
                there = known.get(at) or known[(*at, "__init__")]
            else:
                rest, there = tuple(parts), known[module] | raised | set(dir(builtins)) | {"time"}
            if rest and (rest[0] not in there or not set(rest[1:]) <= every | LIBRARIES):
                lost.append(f"{file.relative_to(ROOT)}: {said}")
    assert lost == []
