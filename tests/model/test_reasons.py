"""The vocabulary is whole, and documents name what code does."""

from __future__ import annotations

import re

from steelyard.model.reasons import MACHINE, UNFIT, Reason
from tests.conftest import ROOT


def test_every_reason_has_a_next_action() -> None:
    assert all(reason.next_action for reason in Reason)
    assert len({reason.next_action for reason in Reason}) >= len(Reason) - 1
    assert set(Reason) >= MACHINE | UNFIT


def test_every_reason_is_given() -> None:
    files = [f for f in (ROOT / "src").rglob("*.py") if f.name != "reasons.py"]
    code = "".join(f.read_text(encoding="utf-8") for f in files)
    assert [reason.name for reason in Reason if f"Reason.{reason.name}" not in code] == []


def test_the_definitions_list_what_is_never_reused() -> None:
    text = " ".join((ROOT / "docs/definitions.md").read_text().split())
    listed = text.split("caused by the machine:")[1].split(", and off the")[0]
    words = set(re.findall(r"`([\w-]+)`", listed))
    assert words >= MACHINE
    assert not words & (set(Reason) - MACHINE)
