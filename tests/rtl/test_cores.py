"""The designs that come with Steelyard."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.hardware import Hardware
from steelyard.model.paths import ROOT
from steelyard.rtl import bench, synthesis, tools
from steelyard.rtl.design import Design
from steelyard.rtl.reading import designs_of
from steelyard.store import Store
from tests.rtl import toys

verilator = toys.needs("verilator")
ALL = [d for file in sorted((ROOT / "rtl").glob("*/*/design.toml")) for d in designs_of(file.parent)]
FIRST = list({(d.family, d.name): d for d in reversed(ALL)}.values())  # of each, its first variant at its first width


def label(d: Design) -> str:
    return d.label


def test_every_family_is_there() -> None:
    """The ten finalists and four others; each says what is right for it."""
    families = {d.family for d in ALL}
    assert families >= {
        "ascon", "elephant", "gift-cofb", "grain-128aead", "isap", "photon-beetle", "romulus", "sparkle", "tinyjambu",
        "xoodyak", "subterranean", "aes-gcm", "sha256", "nocrypt",
    }  # fmt: skip
    assert [d.label for d in ALL if not d.aead and not d.hash] == []
    for name in {d.name for d in ALL} - {"ascon-masked"}:
        assert {d.width for d in ALL if d.name == name} == {8, 16, 32}, name


@verilator
@pytest.mark.parametrize("design", FIRST, ids=label)
def test_lint_has_nothing_to_say(design: Design, tmp_path: Path) -> None:
    assert bench.lint(bench.own(design), tmp_path) == ""


@toys.needs("yosys")
@pytest.mark.parametrize(
    "design", [d if d.name == "nocrypt" else pytest.param(d, marks=pytest.mark.long) for d in FIRST], ids=label
)
def test_slang_reads_it(design: Design, tmp_path: Path) -> None:
    """A core beside our shell may have what only slang reads, which then reads the shell too."""
    read = synthesis.reading(bench.own(design), bench.copied(bench.own(design), tmp_path), slang=True)
    (tmp_path / "read.ys").write_text("\n".join(read))
    assert "warning:" not in tools.run("yosys", ["-s", "../read.ys"], tmp_path, at=bench.AT)


@pytest.mark.long
@verilator
@pytest.mark.parametrize("design", ALL, ids=label)
def test_a_bundled_design_is_right_in_every_mode(
    design: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any width and variant: at full speed, with pauses, with ready withdrawn, with resets; keys used again, several
    segments where the design takes them, forgeries."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    with Store.open(tmp_path / "results.db") as store:
        verified = Hardware(store).verified(design)
    assert verified.failure is None, verified.failure
    assert verified.reuse
    assert verified.segments == design.segments
    assert verified.notes == ()
