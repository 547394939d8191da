"""The study's tables have the columns that their titles promise, and rows keep their own figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.analyse import rank, study
from steelyard.analyse.rank import Place, Ranking
from steelyard.analyse.rows import rows
from steelyard.model.row import Row
from steelyard.publish import figure
from steelyard.publish import study as tables
from tests.made_up import record, store

from .test_study import UNO, one, row

CYCLES = {"aes128": 1600, "speck64128": 400, "hight": 3200}


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    file = tmp_path_factory.mktemp("study") / "results.db"
    store(file, record("nocrypt/ref", primitive="crypto_block", load="kat", cycles_encrypt_mean=9), *(
        record(f"{n}/ref", primitive="crypto_block", load="kat", cycles_encrypt_mean=c, rom=c // 2)
        for n, c in CYCLES.items()
    ))  # fmt: skip
    words = [sys.executable, "-m", "steelyard", "study", "--json", "--db", str(file)]
    said = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return {s["title"].removeprefix("uno, block ciphers: "): s["rows"] for s in said}


@pytest.mark.parametrize(
    ("title", "columns"),
    [
        ("score table, as published", {"rom", "throughput", "latency", "power", "energy_per_byte"}),
        ("score table, nothing counted twice", {"rom", "ram", "cycles_per_byte"}),
    ],
)
def test_scores_are_of_the_columns_that_they_name(
    sheets: dict[str, list[dict[str, object]]], title: str, columns: set[str]
) -> None:
    first = sheets[title][0]
    assert first.keys() - {"place", "score", "variant", "runs"} == columns
    assert {r["variant"] for r in sheets[title]} == CYCLES.keys(), "nocrypt is no cipher"


@pytest.mark.parametrize("larger", ["a", "z"])
def test_the_largest_table_of_a_target_is_studied(larger: str) -> None:
    """Wherever it stands in their order."""
    made = rows([
        record(f"{n}/ref", primitive="crypto_block", load="kat", cycles_encrypt_mean=800, compiler=c)
        for c in ("a", "z") for n in (("aes128", "hight", "xtea") if c == larger else ("present80", "twine80"))
    ])  # fmt: skip
    studied = tables.compose("", [r | {"run": k} for k, r in enumerate(made, 1)], ["uno"], [])
    assert studied.lead.startswith("3 ciphers on 1 target")
    assert any(note.startswith("2 rows of other devices, compilers") for note in studied.notes)


def test_what_is_drawn_is_said_to_be_rounded() -> None:
    """The tables below have other digits."""
    for name in ("best", "aes"):
        kind = figure.read(Path(tables.__file__).with_name(f"{name}.json"))
        assert '",.4~r"' in json.dumps(kind.spec)
        assert "four digits" in kind.note


def test_winners_are_counted_among_all(sheets: dict[str, list[dict[str, object]]]) -> None:
    found = {r["measure"]: r["uno_below"] for r in sheets["block ciphers by key: winners against AES"]}
    assert found == {"ROM": "1 of 2", "RAM": "0 of 2", "cycles/B": "1 of 2"}


def test_energy_is_a_part_of_aes_only_where_both_were_metered() -> None:
    for metered in ((), ("aes128",), ("xtea",), ("aes128", "xtea")):
        [part] = study.parts(study.ciphers(
            [row(n, 1600, power_measured=52.0) if n in metered else row(n, 1600) for n in ("aes128", "xtea")], UNO
        ))  # fmt: skip
        expected = {"rom", "ram", "cycles_per_byte", *(["energy_per_byte"] if len(metered) == 2 else [])}
        assert part.percent.keys() == expected


def test_equal_ones_share_a_place_before_they_move() -> None:
    here = [one(row(n, c)) for n, c in (("xtea", 400), ("hight", 400), ("aes128", 9))]
    there = [one(row(n, c)) for n, c in (("xtea", 400), ("hight", 500), ("aes128", 9000))]
    places = {a.variant: (x, y) for a, _, x, y in study.moved(here, there, "cycles_per_byte")}
    assert places == {"hight": (2.5, 2), "xtea": (2.5, 1), "aes128": (1, 3)}


def test_the_first_of_a_variant_keeps_its_own_value() -> None:
    rows: list[Row] = [{"run": n, "variant": v, "label": f"{v}/{n}", "flags": ""} for n, v in enumerate("aabcc")]
    values = [5.0, 7.0, 6.0, None, 9.0]
    having = [(v, r) for v, r in zip(values, rows, strict=True) if v is not None]
    lacking: list[Row] = [rows[3], {"variant": "d", "label": "d/9", "flags": ""}]
    places = tuple(Place(k, r, v) for k, (v, r) in enumerate(sorted(having, key=lambda p: p[0]), 1))
    found = rank.first_of_variant(Ranking(places, tuple(lacking)))
    assert [(p.rank, p.row["variant"], p.value) for p in found.places] == [(1, "a", 5.0), (2, "b", 6.0), (3, "c", 9.0)]
    assert [r["variant"] for r in found.left_out] == ["d"], "c is ranked by another of its implementations"


def test_equal_figures_share_a_place_and_what_all_have_alike_is_not_drawn() -> None:
    of = [one(row(n, c, rom=r)) for n, c, r in (("xtea", 400, 700), ("hight", 400, 500), ("aes128", 3200, 500))]
    drawn = tables._best("uno, block ciphers", of).numbers
    places = [tuple(line.cells[:3]) for line in drawn.lines]
    assert [p for p in places if p[0] == "ROM, bytes"] == [
        ("ROM, bytes", 1, "aes128"),
        ("ROM, bytes", 1, "hight"),
        ("ROM, bytes", 3, "xtea"),
    ]
    assert {p[0].partition(",")[0] for p in places} == {"ROM", "throughput", "latency", "energy/B"}, (
        "RAM and power are alike"
    )


def test_ten_are_best_and_five_are_worst() -> None:
    names = [f"simon{n}" for n in range(17)]
    of = [one(row(n, 1000 + k, encrypt_per_byte=(1000 + k) / 8)) for k, n in enumerate(names)]
    data = json.dumps(tables._best("uno, block ciphers", of).spec)
    for k, name in enumerate(names):
        found = set(re.findall(rf'"among": "([^"]*)", "name": "{name}"', data))
        assert found == ({"best ten"} if k < 10 else {"worst five"} if k >= 12 else set()), name


def test_parts_of_aes_are_in_their_order() -> None:
    cycles = {"aes128": 1600, "xtea": 900, "hight": 300, "speck64128": 600}
    parts = study.parts(study.ciphers([row(n, c) for n, c in cycles.items()], UNO))
    sheet = tables._parts("uno", "block ciphers", parts)
    assert [line.cells[0] for line in sheet.lines] == ["hight", "speck64128", "xtea"]
