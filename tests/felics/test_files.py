"""FELICS-AE's result files: written files can be read, damaged ones are refused with a position and a next action."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.analyse import files
from steelyard.analyse.compare import compare
from steelyard.analyse.rows import rows
from steelyard.device import timing_model
from steelyard.model.errors import UserError
from steelyard.model.record import Record, Setup, Toolchain
from steelyard.model.row import Row
from steelyard.model.target import load_target, target_names
from steelyard.model.workload import NAMED, workload
from steelyard.publish import felics
from tests.conftest import ROOT

SETUP = {
    "cipher_name": "Toy-128",
    "architecture": "AVR",
    "version": "ref",
    "compiler_options": "-O3",
    "code_size": 5838,
    "code_ram": 265,
    "code_time": 193031,
}
METRICS = {"felics_code_size": 5838.0, "felics_code_ram": 265.0, "felics_code_time": 193031.0, "rom": 1.0}


def document(*setups: dict[str, Any]) -> dict[str, Any]:
    return {"commit": "8406a92", "branch": "master", "data": list(setups)}


def save(folder: Path, content: Any) -> Path:
    file = folder / "results.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content, indent=4))
    return file


def record(target: str = "atmega128", **figures: float) -> Record:
    setup = Setup(
        primitive="crypto_aead",
        family="Toy",
        variant="Toy-128",
        implementation="ref",
        implementation_digest="d",
        target=target,
        target_digest="t",
        device="simulator",
        toolchain=Toolchain("gcc", "5.4", "s"),
        flags="-O3",
        workload=workload("felics-ae").text,
        harness="h",
        timing_model="m",
    )
    return Record(setup, None, METRICS | figures, id=3)


def test_codenames_are_felics_aes() -> None:
    names = {t.felics: t.name for t in map(load_target, target_names()) if t.felics}
    assert set(names) == {"AVR", "MSP", "ARM", "NRF52840", "STM32L053", "PC"}
    assert sum(bool(load_target(n).felics) for n in target_names()) == 6


def test_what_is_written() -> None:
    """Exactly the keys, in order, with an indent of four."""
    other = replace(record(), setup=replace(record().setup, target="uno"))
    without = replace(record(), metrics={"felics_code_size": 1.0})
    base = replace(record(), setup=replace(record().setup, variant="nocrypt"))
    text = felics.render(rows([record(), other, without, base])).decode()
    assert text.startswith('{\n    "commit": ')
    read = json.loads(text)
    assert list(read) == ["commit", "branch", "data"]
    assert read["branch"] == "release"
    assert [list(s) for s in read["data"]] == [list(SETUP)]
    assert read["data"] == [SETUP]
    assert all(type(read["data"][0][k]) is int for k in felics.FIGURES)


def read(path: Path) -> list[Row]:
    """As ``compare`` does."""
    return felics.rows(path, files.load(path))


def test_nothing_to_write_is_said() -> None:
    with pytest.raises(UserError, match="steelyard run -w felics-ae"):
        felics.render(rows([replace(record(), metrics={})]))


def test_published_names_are_those_of_records(tmp_path: Path) -> None:
    """Of ciphers that are bundled; others keep theirs, and one that has versions does not say which."""
    names = {"Romulus-N": "romulusn", "AES-128-GCM": "aes128gcm", "TinyJAMBU-128": "TinyJAMBU-128", "Fork": "Fork"}
    published = read(save(tmp_path, document(*(SETUP | {"cipher_name": name} for name in names))))
    assert [(r["variant"], str(r["label"]).split("/")[0]) for r in published] == [(n, n) for n in names.values()]


def test_what_was_written_is_read_as_a_pair_of_its_record(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_bytes(felics.render(rows([record()])))
    published = read(file)
    ours = rows([record(felics_code_time=200000.0)])
    result = compare(published, ours, metrics=list(felics.FIGURES.values()))
    (pair,) = result.pairs
    assert [(c.metric, c.verdict) for c in pair.changes] == [
        ("felics_code_size", "same"),
        ("felics_code_ram", "same"),
        ("felics_code_time", "worse"),
    ]
    assert not result.missing
    assert not result.added
    assert not result.refused


@given(st.lists(st.tuples(st.sampled_from(["AVR", "ARM", "PC"]), st.integers(0, 1 << 40)), max_size=5))
def test_any_results_are_read_in_order(setups: list[tuple[str, int]]) -> None:
    made = document(*(SETUP | {"architecture": a, "code_time": t} for a, t in setups))
    found = felics.rows(Path("x.json"), made)
    assert [r["felics_code_time"] for r in found] == [t for _, t in setups]
    assert all(r["label"] == "Toy-128/ref" and r["primitive"] == "crypto_aead" for r in found)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "line 1, column 1: ends too early"),
        (json.dumps(document(SETUP), indent=4)[:-8], "ends too early.*put \\] and }"),
        (json.dumps(document(SETUP), indent=4).replace("265", "265 266"), "line 11, column 29: .*write it again"),
        ([1, 2], "not results of FELICS-AE"),
        ({"runs": [], "schema": 1}, "not results of FELICS-AE"),
        ({"data": []}, "commit: missing"),
        (document(SETUP | {"code_size": -1}), "data.0.code_size: expected `int` >= 0"),
        (document(SETUP, SETUP | {"code_size": "12"}), "data.1.code_size: expected `int`, got `str`"),
        (document(SETUP | {"code_ram": True}), "data.0.code_ram: expected `int`, got `bool`"),
        (document(SETUP | {"code_time": 1.5}), "data.0.code_time: expected `int`, got `float`"),
        (document({k: v for k, v in SETUP.items() if k != "version"}), "data.0.version: missing"),
        (document(SETUP | {"more": 1}), "data.0.more: unknown key 'more'"),
        (document(SETUP | {"cipher_name": "x" * 301}), "data.0.cipher_name: expected `str` of length <= 300"),
        (document(SETUP | {"architecture": "Z80"}), "data.0.architecture: unknown architecture 'Z80'; it has ARM, AVR"),
        ("[" * 100_000, "not JSON|ends too early"),
        ('{"data": NaN, "commit": "", "branch": ""}', "not JSON: NaN is not a figure"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: Any, said: str) -> None:
    file = save(tmp_path, content)
    with pytest.raises(UserError, match=said) as e:
        read(file)
    assert str(file) in str(e.value)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="No such file"):
        read(tmp_path / "gone.json")
    (tmp_path / "results.json").write_bytes(b'{"data": "\xff"}')
    with pytest.raises(UserError, match="not JSON"):
        read(tmp_path / "results.json")
    monkeypatch.setattr(files, "MAX_BYTES", 5)
    with pytest.raises(UserError, match="larger than"):
        read(save(tmp_path, document(SETUP)))


@given(st.text(max_size=60), st.integers(0, 400))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str, cut: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = json.dumps(document(SETUP))
    for content in (text, whole[:cut] + text, whole[:cut] + text + whole[cut:]):
        file = folder / "any.json"
        file.write_text(content, encoding="utf-8", errors="replace")
        try:
            found = read(file)
        except UserError:
            continue
        assert all(set(felics.FIGURES.values()) <= r.keys() for r in found)


def test_workloads_are_the_scenarios_as_coded() -> None:
    sizes = {name: workload(name).sizes for name in NAMED if name.startswith("felics")}
    assert sizes == {
        "felics-ae": ((16, 16),),
        "felics-1": ((0, 102),),
        "felics-2": ((111, 0),),
        "felics-3": ((25, 86),),
        "felics-4": ((0, 1264),),
        "felics-5": ((1264, 0),),
        "felics-6": ((40, 1224),),
        "felics-hash": ((0, 0), (0, 16), (0, 128), (0, 1024)),
        **{f"felics-block-{n}": () for n in range(3)},
    }


def script(name: str = "felics") -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{name}_script", ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_block_ciphers_says_what_its_table_holds() -> None:
    module = script("felics_blocks")
    page = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(page, module.read()) == page


def test_the_validation_page_says_what_its_table_holds() -> None:
    module = script("felics")
    page = module.PAGE.read_text(encoding="utf-8")
    assert module.filled(page, module.read()) == page
    with module.TABLE.open(newline="") as f:
        lines = list(csv.DictReader(f))
    assert len(lines) > 150
    avr = [line for line in lines if line["target"] == "atmega128" and line["outcome"] == "verified"]
    assert len(avr) >= 50
    for name in ("code_size", "code_ram"):
        assert all(line[name] == line[f"ours_{name}"] for line in avr)
    hand = [line for line in lines if line["target"] == "due" and line["version"].startswith("armv7m")]
    apart = {line["version"]: 100 * (int(line["ours_code_time"]) / int(line["code_time"]) - 1) for line in hand}
    assert {k: round(v, 1) for k, v in apart.items()} == {"armv7m_fast": 1.9, "armv7m_small": -1.2}  # as the page says
    times = [(int(line["ours_code_time"]), int(line["code_time"])) for line in avr]
    assert max(abs(a - b) / b for a, b in times) < 0.0033


def test_a_comparison_for_the_page(tmp_path: Path) -> None:
    """Published rows with runs: on targets of the run only, and empty where there was no run."""
    module = script("felics")
    runs = tmp_path / "runs.json"
    from steelyard.cli.records import as_json

    ours = replace(record(felics_code_time=193000.0), origin="tree")
    runs.write_text(json.dumps({"schema": 1, "runs": [as_json(ours)]}, default=str))
    results = save(tmp_path, document(SETUP, SETUP | {"version": "opt"}, SETUP | {"architecture": "PC"}))
    first, second = module.compared(runs, [results])
    assert (first["ours_code_size"], first["ours_code_time"], first["outcome"]) == (5838, 193000, "verified")
    assert (second["ours_code_size"], second["outcome"]) == ("", "not run")
    assert "| code_time | 2 | 1 | 0 | 0.0161 / 0.0161 / 0.0161 % |" in module.table([first, second])


def test_the_page_of_best_block_ciphers_says_what_its_table_holds() -> None:
    module = script("felics_best")
    page, lines = module.PAGE.read_text(encoding="utf-8"), module.read()
    assert module.filled(page, lines) == page
    assert {(line["target"], line["best"]) for line in lines} == {
        (t, b) for t in module.ARCHITECTURES for b in module.BESTS
    }
    # the aim: of at least half of the families one is as fast or as small
    found = module.families(lines)
    assert len(found) == 10
    assert 2 * sum(found.values()) >= len(found)


@pytest.mark.parametrize("name", ["felics", "felics_best"])
def test_compared_figures_are_by_todays_models(name: str) -> None:
    """Where a model is another one, the comparison is to be made again, as its page says."""
    models = {(line["target"], line["model"]) for line in script(name).read() if line["model"]}
    assert models == {(target, timing_model(load_target(target))) for target, _ in models}


def test_the_best_published_row_is_one_with_all_figures() -> None:
    module = script("felics_best")
    row = {"arch": "AVR", "scenario": "0", "cipher": "TWINE", "block_bits": "64", "key_bits": "80", "language": "C"}
    row |= {"options": "-Os", "cycles_eks": "0", "cycles_d": "9"}
    rows = [
        row | {"version": "01", "code_total": "90", "cycles_e": "50"},
        row | {"version": "02", "code_total": "80", "cycles_e": ""},
        row | {"version": "03", "code_total": "70", "cycles_e": "60", "scenario": "1"},
        row | {"version": "04", "code_total": "60", "cycles_e": "70", "key_bits": "128"},
    ]
    found = module.published(rows, {"twine80"})
    assert found == {("atmega128", "twine80"): [{"name": "v01 (C) -Os", "bytes": "90", "cycles": "50"}]}
