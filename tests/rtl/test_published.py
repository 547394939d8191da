"""docs/validation/hardware.md: its tables are made from its files, and what is reproduced is what it says."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from steelyard.model.paths import ROOT

#: how far cells of VHDL are apart in percent at most, and frequencies in standard deviations
CELLS, SPREADS = 6.0, 2.0


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """scripts/public_designs.py."""
    spec = importlib.util.spec_from_file_location("public_designs", ROOT / "scripts" / "public_designs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_from_its_files(script: ModuleType) -> None:
    made = [script.read(f) for f in (script.TABLE, script.ASCON, script.VERDICTS, script.RENAMED)]
    text = script.PAGE.read_text()
    assert script.written(text, script.page_tables(*made)) == text


def test_names_of_nets_are_worth_what_the_page_says(script: ModuleType) -> None:
    """More than what differs for one design, less for the other."""
    lines, names = script.read(script.TABLE), script.read(script.RENAMED)
    for name in {x["design"] for x in names}:
        tables = [int(x["tables"]) for x in names if x["design"] == name]
        (found,) = (x for x in lines if (x["design"], x["device"], x["figure"]) == (name, "ecp5", "tables"))
        explained = max(tables) / min(tables) - 1 > abs(script.apart(found)) / 100
        assert explained == (name == "tinyjambu v1"), name
        assert tables[0] == int(found["ours"]), "GHDL's own names"


def test_a_renamed_circuit_is_the_same(script: ModuleType) -> None:
    text = "wire n1_o; wire n23_q; wire [3:0] n4; assign n1_o = n23_q & n4[0] & own1 & nn1;"
    for seed in range(1, 9):
        made = script.renamed(text, seed)
        assert sorted(made) == sorted(text)
        back = dict(zip(made.replace(";", " ").split(), text.replace(";", " ").split(), strict=True))
        assert len(set(back.values())) == len(back)
        assert "own1 & nn1" in made


def test_a_design_has_figures_or_a_reason(script: ModuleType) -> None:
    """Figures of all that was measured before, on its devices, unless its verdict says why not."""
    lines, verdicts = script.read(script.TABLE), {v["design"]: v for v in script.read(script.VERDICTS)}
    assert len(verdicts) >= 6
    assert {x["design"] for x in lines} == verdicts.keys()
    for p in (p for p in script.PUBLIC if p.name in verdicts):
        own = [x for x in lines if x["design"] == p.name]
        assert verdicts[p.name]["modes"] == ", ".join(p.modes)
        lacking = [x["figure"] for x in own if not x["ours"] and x["device"] in ("", *p.devices)]
        assert bool(lacking) == (verdicts[p.name]["outcome"] != "verified"), (p.name, lacking)


def test_cycles_are_those_of_the_earlier_measurement(script: ModuleType) -> None:
    found = [x for x in script.read(script.TABLE) if x["figure"].startswith("cycles") and x["ours"]]
    assert len(found) > 20
    assert [x for x in found if x["ours"] != x["before"]] == []


def test_cells_and_frequency_are_near(script: ModuleType) -> None:
    """Frequency within two standard deviations of the larger spread, flip-flops the same. Tables of Verilog are within
    two percent; those of VHDL are not, which the page says."""
    lines = [x for x in script.read(script.TABLE) if x["ours"]]
    cells = [x for x in lines if x["figure"] in script.CELLS]
    assert len(cells) > 12
    assert [x for x in cells if x["figure"] == "ff" and x["ours"] != x["before"]] == []
    assert [x for x in cells if abs(script.apart(x)) > CELLS] == []
    assert [x for x in cells if x["design"].startswith("bluelight") and abs(script.apart(x)) > script.AIM] == []
    routed = [x for x in lines if x["figure"] == "fmax_mean"]
    assert len(routed) >= 3
    spread = {x["design"]: max(float(x["before_sd"] or 0), float(x["ours_sd"] or 0)) for x in routed}
    away = [x for x in routed if abs(float(x["ours"]) - float(x["before"])) > SPREADS * spread[x["design"]]]
    assert away == []


def test_ours_stand_beside_the_public_ones(script: ModuleType) -> None:
    beside, lines = script.read(script.ASCON), script.read(script.TABLE)
    assert {x["design"] for x in beside if x["whose"] == "ours"} <= set(script.OURS)
    assert {x["design"] for x in beside if x["whose"] == "public"} == {
        p.name for p in script.PUBLIC if p.is_ascon and any(x["design"] == p.name and x["ours"] for x in lines)
    }
    for x in beside:
        product = float(x["bits_per_cycle_pt"]) * float(x["fmax_mean"])
        assert product == pytest.approx(float(x["throughput_pt_long"]), rel=2e-3), x["design"]


def test_an_earlier_table_is_read(script: ModuleType) -> None:
    """A row is found by the design's name, or by its name without a version; what is not a figure is none."""
    text = (
        "### 3.2 Cycles\n\n| design | PT | AD | hash | long |\n|---|---|---|---|---|\n"
        "| photonbeetle | 1/2/3 | 4/5/6 | \u2013 | 8 |\n"
        "### 3.3 ECP5\n| design | LUT4 | COMB | FF | seeds | mean | best |\n|---|---|---|---|---|---|---|\n"
        "| tinyjambu | 10 | 11 | 12 | 1 2 | 3.5 ± 0.5 | 4 |\n| dummy, OOC | 99 | | | | 1 | |\n"
        "### 3.4 others\n| design | cells | LC | FF | comb | FF |\n|---|---|---|---|---|---|\n"
        "| dummy | 749 (+72) | 618 | 191 | 1374 | 703 (RAM) |\n"
    )
    found = script.before(text)
    assert found["photonbeetle", "", "cycles_ad_1536"] == ("6", "")
    assert ("photonbeetle", "", "cycles_hash_16") not in found
    assert found["tinyjambu v1", "ecp5", "fmax_mean"] == ("3.5", "0.5")
    assert found["dummy", "cyclone10lp", "ff"] == ("703", "")
    assert ("dummy", "ecp5", "tables") not in found
