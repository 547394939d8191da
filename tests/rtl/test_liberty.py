"""Libraries of gates, and vendors' reports: files of others, of which only some lines are figures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.model.errors import UserError
from steelyard.rtl import figures, vendor
from steelyard.rtl.device import load_device
from steelyard.rtl.liberty import library
from steelyard.rtl.synthesis import Cells

LIBRARY = """library ("corner") {{ /* cell(NO) {{ area : 9; }} */
 cell (N2) {{ area : 1.5; pin(Y) {{ direction : output; function : "{nand}"; }} }}
 cell (N2X4) {{ area : 4.5; pin(Y) {{ function : "(A B)'"; }} }}
 cell (O2) {{ area : 0.5; pin(Y) {{ function : "!(A + B)"; }} }}
 cell (HALF) {{ area : 0.5; pin(C) {{ function : "(A*B)'"; }} pin(S) {{ function : "A^B"; }} }}
 cell ("DFF") {{ area : 6; ff(IQ,IQN) {{ next_state : "D"; clocked_on : "C"; }} pin(Q) {{ function : "IQ"; }} }}
 cell (CLOCK) {{ dont_use : true; area : 0.1; pin(Y) {{ function : "!(A & B)"; }} }}
}}"""


@pytest.mark.parametrize("nand", ["!(A & B)", "(A*B)'", "(!A) | (!B)", "!A+!B", "(A B)' ", "!(A&B)&(A^B|!A&!B)"])
def test_areas_are_in_the_smallest_nand(tmp_path: Path, nand: str) -> None:
    """However its function is written; it is not the smallest cell, and not one that is not to be used."""
    (tmp_path / "a.lib").write_text(LIBRARY.format(nand=nand))
    found = library(tmp_path / "a.lib")
    assert found.name == "corner"
    assert found.registers == {"DFF": 4.0}
    assert found.gates == {"N2": 1.0, "N2X4": 3.0, "O2": 1 / 3, "HALF": 1 / 3}


@pytest.mark.parametrize("nand", ["!(A & B & C)", "A & B", "!(A & ", "!(A | B)"])
def test_a_library_without_its_equivalent_is_refused(tmp_path: Path, nand: str) -> None:
    text = LIBRARY.format(nand=nand).replace("(A B)'", "A").replace("(A*B)'", "A")
    (tmp_path / "a.lib").write_text(text)
    with pytest.raises(UserError, match="no NAND of two inputs"):
        library(tmp_path / "a.lib")


@pytest.mark.parametrize("area", ["1.2.3", "e", "-4", "1e999", "1e-320", "nan", "1,5", "", "1.5 um"])
def test_an_area_that_is_none_is_refused_by_its_cell(tmp_path: Path, area: str) -> None:
    """But for a cell that is not to be used."""
    text = LIBRARY.format(nand="!(A & B)")
    (tmp_path / "a.lib").write_text(text.replace("area : 6;", f"area : {area};"))
    with pytest.raises(UserError, match=r"a\.lib: area of cell DFF: .* is not a number"):
        library(tmp_path / "a.lib")
    (tmp_path / "a.lib").write_text(text.replace("area : 0.1;", f"area : {area};"))
    assert library(tmp_path / "a.lib").registers == {"DFF": 4.0}


def test_no_library_or_report_is_read_without_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (Path("/dev/zero"), pipe):
        for read in (library, lambda f: vendor.read([f], load_device("artix7"))):
            with pytest.raises(UserError, match=f"{file}: not a file"):
                read(file)


def test_another_library_is_another_device(tmp_path: Path) -> None:
    (tmp_path / "a.lib").write_text(LIBRARY.format(nand="!(A & B)"))
    ours, theirs = load_device("asic"), load_device("asic", tmp_path / "a.lib")
    assert ours.digest != theirs.digest
    assert theirs.known >= {"N2", "DFF"}
    made = figures.area(Cells({"N2": 3, "O2": 3, "DFF": 2}, {}, 5), theirs)
    assert made == {"ge": 12, "ff": 2, "depth": 5}


VIVADO = """| Tool Version : Vivado v.2020.1 (lin64) Build 2902540
| Design       : lwc
| Device       : 7a12tcsg325-3
| Design State : Routed
+-----------------------+------+-------+
| Slice LUTs*           | 1612 |     0 |
|   LUT as Memory       |   12 |     0 |
| Slice Registers       |  540 |     0 |
| Block RAM Tile        |  0.5 |     0 |
| DSPs                  |    0 |     0 |
"""
TIMING = """| Tool Version : Vivado v.2020.1 (lin64) Build 2902540
| Design       : lwc
| Device       : 7a12t-csg325
| Speed File   : -3  PRODUCTION 1.23 2018-06-13
    WNS(ns)      TNS(ns)  TNS Failing Endpoints
    -------      -------  ---------------------
     -0.100       -0.400                      4

Clock  Waveform(ns)         Period(ns)      Frequency(MHz)
-----  ------------         ----------      --------------
clk    {0.000 2.450}        4.900           204.082
"""
QUARTUS = """Quartus Prime Version : 18.1.0 Build 625 09/12/2018 SJ Lite Edition
Revision Name : first
Top-level Entity Name : lwc
Family : Cyclone 10 LP
Device : 10CL016YF484C6G
Total logic elements : 2,808 / 15,408 ( 18 % )
    Total combinational functions : 2,700 / 15,408 ( 18 % )
    Dedicated logic registers : 612 / 15,408 ( 4 % )
Total memory bits : 0 / 516,096 ( 0 % )
"""
FMAX = """; Quartus Prime Version ; Version 18.1.0 Build 625 09/12/2018 SJ Lite Edition ;
; Revision Name         ; first                                               ;
; Device Family         ; Cyclone 10 LP                                       ;
; Device Name           ; 10CL016YF484C6G                                     ;
; Fmax       ; Restricted Fmax ; Clock Name ; Note ;
; 133.74 MHz ; 131.50 MHz      ; clk        ;      ;
; 151.20 MHz ; 150.00 MHz      ; clk        ;      ;
"""


def written(folder: Path, *texts: str) -> list[Path]:
    files = [folder / f"{k}.rpt" for k in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def test_what_vivado_reports(tmp_path: Path) -> None:
    found = vendor.read(written(tmp_path, VIVADO, TIMING), load_device("artix7"))
    assert (found.tool, found.version) == ("vivado", "2020.1")
    assert found.metrics == {"lut": 1612, "ff": 540, "fmax_reported": pytest.approx(200.0)}
    assert found.notes[:2] == ("reported for 7a12tcsg325-3, of lwc", "state of the design: Routed")
    assert "0.5 of block RAM" in found.notes[2]
    assert "fmax_reported" not in vendor.read(written(tmp_path, VIVADO), load_device("artix7")).metrics


def test_what_quartus_reports(tmp_path: Path) -> None:
    found = vendor.read(written(tmp_path, QUARTUS, FMAX), load_device("cyclone10lp"))
    assert (found.tool, found.version) == ("quartus", "18.1.0")
    elements = {"elements_low": 2808, "elements_high": 2808}
    assert found.metrics == {"lut": 2700, "ff": 612, **elements, "fmax_reported": 131.5}
    assert found.notes == ("reported for 10CL016YF484C6G, of lwc",)


def test_commas_are_between_thousands(tmp_path: Path) -> None:
    found = vendor.read(written(tmp_path, VIVADO.replace(" 1612", "5,810")), load_device("artix7"))
    assert found.metrics["lut"] == 5810


OTHER_PART = VIVADO.replace("7a12tcsg325-3", "xc7a35tcsg325-1")


@pytest.mark.parametrize(
    ("device", "texts", "said"),
    [
        ("artix7", ("nothing",), "no report of Vivado or Quartus"),
        ("artix7", (VIVADO, QUARTUS), "both of Vivado and of Quartus"),
        ("artix7", (TIMING,), "no tables are counted"),
        ("artix7", (VIVADO, TIMING + "slow   {0.000 5.000}        10.000          100.000\n"), "clocks clk, slow"),
        ("cyclone10lp", (QUARTUS, FMAX + "; 99.0 MHz ; 99.0 MHz ; slow ; ;\n"), "clocks clk, slow"),
        ("cyclone10lp", (VIVADO,), "7a12tcsg325-3 is no part of cyclone10lp"),
        ("artix7", (QUARTUS, FMAX), "10CL016YF484C6G is no part of artix7"),
        ("artix7", (VIVADO, TIMING.replace("7a12t-", "7vx485t-")), r"1\.rpt: 7vx485t-csg325 is no part of artix7"),
        ("artix7", (VIVADO.replace("| Device", "| Part"),), "no line says of which device"),
        ("ecp5", (VIVADO,), "not of ecp5"),
        ("asic", (VIVADO, TIMING), "not of asic"),
        ("artix7", (VIVADO, VIVADO), "tables of 2 reports"),
        ("artix7", (VIVADO, TIMING, TIMING), "frequencies of 2 reports"),
        ("cyclone10lp", (QUARTUS, FMAX, FMAX), "frequencies of 2 reports"),
        ("artix7", (VIVADO, TIMING.replace(": lwc", ": third")), "designs lwc, third"),
        ("artix7", (VIVADO + OTHER_PART.replace(": lwc", ": third"),), "designs lwc, third"),
        ("artix7", (OTHER_PART, TIMING), "devices xc7a35tcsg325-1, 7a12t-csg325"),
        ("artix7", (VIVADO, TIMING.replace(": -3", ": -1")), "devices 7a12tcsg325-3, 7a12t-csg325"),
        ("cyclone10lp", (QUARTUS, FMAX.replace("first", "second")), "revisions first, second"),
        ("cyclone10lp", (QUARTUS, FMAX.replace("016Y", "010Y")), "devices 10CL016YF484C6G, 10CL010YF484C6G"),
        ("artix7", (VIVADO, TIMING.replace("-0.100", " 4.900")), "4.9 ns in a period of 4.9 ns"),
        ("artix7", (VIVADO, TIMING.replace("-0.100", " 5.100")), "5.1 ns in a period of 4.9 ns"),
        ("artix7", (VIVADO.replace("1612", "5.8.1"),), r"0\.rpt: lut: 5\.8\.1 is not a number"),
        ("artix7", (VIVADO.replace("1612", "581,5"),), "lut: 581,5 is not"),
        ("artix7", (VIVADO.replace("1612", "16 12"),), "lut: 16 12 is not"),
        ("artix7", (VIVADO.replace("1612", "    "),), "no tables are counted"),
        ("artix7", (VIVADO.replace("  540", "1e999"),), "ff: 1e999 is not"),
        ("artix7", (VIVADO.replace("0.5", ". 5"),), r"block RAM: \. 5 is not"),
        ("artix7", (VIVADO, TIMING.replace("4.900 ", "4.9.0 ")), r"period of clk: 4\.9\.0 is not"),
        ("artix7", (VIVADO, TIMING.replace("-0.100", "-0.1.0")), r"WNS: -0\.1\.0 is not"),
        ("cyclone10lp", (QUARTUS.replace("2,808", ",", 1), FMAX), "elements_low: , is not"),
        ("cyclone10lp", (QUARTUS.replace("612", ","), FMAX), "ff: , is not"),
        ("cyclone10lp", (QUARTUS.replace(": 0 / 516", ": , / 516"), FMAX), "block RAM: , is not"),
        ("cyclone10lp", (QUARTUS, FMAX.replace("131.50", "1.31.5")), r"MHz of clk: 1\.31\.5 is not"),
        ("cyclone10lp", (QUARTUS, FMAX.replace("131.50", "000.00")), "0 MHz is no frequency"),
    ],
)
def test_reports_that_say_nothing_of_a_design_on_the_device_are_refused(
    tmp_path: Path, device: str, texts: tuple[str, ...], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        vendor.read(written(tmp_path, *texts), load_device(device))


def test_whole_names_of_parts_are_those_of_timing(tmp_path: Path) -> None:
    whole = VIVADO.replace("7a12tcsg", "xc7a12tcsg")
    found = vendor.read(written(tmp_path, whole, TIMING), load_device("artix7"))
    assert found.notes[0] == "reported for xc7a12tcsg325-3, of lwc"
