"""What a compiler may have of memory, and whose doing it is that there is no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.building import trouble
from steelyard.model.reasons import MACHINE, Reason
from steelyard.model.target import Target
from tests.conftest import Bench

EATS = '__asm__(".rept 2000000000\\n.long 1\\n.endr");'


@pytest.mark.parametrize(
    "said",
    [
        "cc1: out of memory allocating 33554432 bytes after a total of 3881435136 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "avr-ld: memory exhausted",
        "LLVM ERROR: out of memory\nAllocation failed",
    ],
)
def test_memory_is_the_machines_fault_only_where_it_has_less_than_the_bound(
    monkeypatch: pytest.MonkeyPatch, uno: Target, tmp_path: Path, said: str
) -> None:
    failed = [trouble.Failed("a.c", 134, said)]
    monkeypatch.setattr(trouble, "grants", lambda: True)
    assert trouble.of_machine(failed, uno.toolchain, tmp_path) is None
    found = trouble.too_much(failed, tmp_path)
    assert found
    assert (found.reason, found.detail) == (Reason.COMPILE_MEMORY, "a.c: the compiler asks for more than 8 GiB")
    assert found.reason not in MACHINE, "it is not tried again"
    monkeypatch.setattr(trouble, "grants", lambda: False)
    machine = trouble.of_machine(failed, uno.toolchain, tmp_path)
    assert machine
    assert machine.reason is Reason.COMPILER_KILLED


def test_a_text_of_the_sources_is_no_word_of_the_compiler(tmp_path: Path) -> None:
    said = "a.c:1:2: error: #error out of memory allocating\n    1 | #error out of memory allocating\n      |  ^"
    assert trouble.too_much([trouble.Failed("a.c", 1, said)], tmp_path) is None


def test_a_package_that_eats_memory_has_its_result(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trouble, "grants", lambda: True)
    built = bench.build(bench.package(top=EATS), uno)
    assert built.failure
    assert built.failure.reason is Reason.COMPILE_MEMORY
    monkeypatch.setattr(trouble, "grants", lambda: False)
    again = bench.build(bench.package(top=f"{EATS} /* elsewhere */"), uno)
    assert again.failure
    assert again.failure.reason is Reason.COMPILER_KILLED
