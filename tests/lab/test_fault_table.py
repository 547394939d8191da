"""The guide's table of faults: each names tests that are there."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT

from .faults import FAULTS, table


def test_the_guide_has_the_table() -> None:
    """``python -m tests.lab.faults`` prints it."""
    assert f"\n\n{table()}" in (ROOT / "docs" / "guides" / "lab.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({test for fault in FAULTS for test in fault.tests}))
def test_each_fault_is_caused_by_a_test(name: str) -> None:
    found = re.fullmatch(r"(\w+)::(test_\w+)(?:\[([\w, -]+)\])?", name)
    assert found, name
    file, function, cases = found.groups()
    tree = ast.parse((ROOT / "tests" / "lab" / f"{file}.py").read_text(encoding="utf-8"))
    [there] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    decorators = " ".join(map(ast.unparse, there.decorator_list))
    assert not re.search(r"mark\.(skip|xfail)", decorators)
    for case in cases.split(", ") if cases else ():
        assert re.search(rf"(?<![\w-]){case}(?![\w-])", decorators), (name, case)


def test_no_fault_is_missing() -> None:
    """Those that boards have to survive, by a word of each."""
    told = " ".join(fault.what for fault in FAULTS)
    words = (
        "unplugged another-name garbage dropped doubled hangs resets browns verify overruns loses-samples dead stuck"
    )
    for word in f"{words} vanishes swapped killed disk".split():
        assert word.replace("-", " ") in told, word
