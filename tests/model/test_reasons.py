"""The vocabulary is whole, and documents name what code does."""

from __future__ import annotations

import re

from steelyard.model.reasons import MACHINE, NEXT_ACTION, UNFIT, Reason
from tests.conftest import ROOT


def test_every_reason_has_a_next_action() -> None:
    assert NEXT_ACTION.keys() == set(Reason)
    assert set(Reason) >= MACHINE | UNFIT


def test_the_definitions_list_what_is_never_reused() -> None:
    text = " ".join((ROOT / "docs/definitions.md").read_text().split())
    listed = text.split("caused by the machine:")[1].split(", and off the")[0]
    words = set(re.findall(r"`([\w-]+)`", listed))
    assert words >= MACHINE
    assert not words & (set(Reason) - MACHINE)
