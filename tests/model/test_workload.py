"""Workloads by their words."""

from __future__ import annotations

import pytest

from steelyard.model.workload import workload


@pytest.mark.parametrize("text", ["0/16,16/0", "kat", "default", "lorawan"])
def test_a_workload_is_found_again_by_its_word(text: str) -> None:
    """As a task of a queue finds it."""
    assert workload(workload(text).word) == workload(text)
