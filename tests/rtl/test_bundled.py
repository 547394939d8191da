"""Our own designs: right in every mode, with all that the API has."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.hardware import Hardware
from steelyard.model.paths import ROOT
from steelyard.rtl.design import Design, described
from steelyard.store import Store
from tests.rtl import toys

DESIGNS = [d for file in sorted((ROOT / "rtl").glob("*/*/design.toml")) for d in described(file.parent)]


def test_there_are_designs() -> None:
    assert {"nocrypt", "ascon", "tinyjambu", "xoodyak"} <= {d.family for d in DESIGNS}
    assert all(d.aead or d.hash for d in DESIGNS)


@pytest.mark.long
@toys.needs("verilator")
@pytest.mark.parametrize("design", DESIGNS, ids=lambda d: d.label)
def test_a_bundled_design_is_right(design: Design, tmp_path: Path) -> None:
    with Store.open(tmp_path / "results.db") as store:
        verified = Hardware(store, threads=1).verified(design)
    assert verified.failure is None, verified.failure
    assert verified.reuse
    assert verified.segments
    assert not [n for n in verified.notes if "went away" in n], "what is valid stays until it is taken"
    assert len(verified.cycles) == len(verified.sizes) > 5
