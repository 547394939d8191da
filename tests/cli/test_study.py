"""``steelyard study``: the whole study from what is stored."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.analyse import study as measures
from steelyard.analyse.rows import rows
from steelyard.model.campaign import load
from steelyard.model.paths import ROOT
from steelyard.model.record import Record
from steelyard.model.target import load_target
from steelyard.publish import study
from tests.conftest import with_dependencies
from tests.made_up import record, store

from .conftest import Cli

AES, ASCON = "aes128gcm/ref", "asconaead128/ref"


def on_board(made: Record) -> Record:
    """The record as a virtual board's."""
    return replace(made, setup=replace(made.setup, device="virtual-board"))


def test_a_study_has_all_its_parts_in_every_format(cli: Cli, tmp_path: Path) -> None:
    weighed = [(AES, "uno", 20), (ASCON, "uno", 5), (AES, "bluepill", 5), (ASCON, "bluepill", 10)]
    some = [record(label, target=target, per_byte=n, load="0/16") for label, target, n in weighed]
    store(tmp_path / "results.db", *some, record("toy1/ref", load="16/0"))
    sheets = {s["title"]: s["rows"] for s in json.loads(cli("study --json").out)}
    score = sheets["uno, AEADs: score table, nothing counted twice"]
    assert [line["variant"] for line in score] == ["asconaead128", "aes128gcm"]
    aes = sheets["uno, AEADs: parts of AES (figure 2)"]
    assert [(line["variant"], line["cycles_per_byte"]) for line in aes] == [("asconaead128", 100 * 180 / 420)]
    moved = sheets["AEADs: what moved most from uno to bluepill"]
    assert {(line["variant"], line["moved"]) for line in moved} == {("asconaead128", "-1"), ("aes128gcm", "+1")}
    assert len(sheets["Published ranges and ours"]) == 8, "those of the Uno, and none of a platform that is not there"
    for title in ("AEADs by key: winners against AES", "Published ranges and ours"):
        assert all(line["runs"] for line in sheets[title] if line.get("most", 1) is not None), title
    cli("study -o study.html")
    page = (tmp_path / "study.html").read_text()
    assert page.count("<svg") == 4
    ids = re.findall(r'<(?:table|h2|input)[^>]* id="([^"]*)"', page)
    assert len(ids) == len(set(ids)) > 10
    assert "2 ciphers on 1 target" in cli("study -t bluepill").out


@pytest.mark.parametrize("format", ["text", "md", "tex", "csv", "json", "html"])
def test_each_format_says_that_figures_are_of_a_board(cli: Cli, tmp_path: Path, format: str) -> None:
    store(tmp_path / "results.db", *(on_board(record(label, load="0/16")) for label in (AES, ASCON)))
    words = "" if format == "text" else f"--format {format}"
    said = " ".join(cli(f"study {words}").out.split())
    assert "AEADs: score table, nothing counted twice, measured on a virtual board" in said
    assert "each by its fastest implementation there; measured on a virtual board: uno." in said


def test_a_study_of_a_board_has_no_model_to_be_validated(cli: Cli, tmp_path: Path) -> None:
    block = {"primitive": "crypto_block", "load": "kat", "cycles_encrypt_mean": 1600.0, "encrypt_per_byte": 100}
    aeads = [record(label, load="0/16") for label in (AES, ASCON)]
    blocks = [record(f"{n}/ref", **block) for n in ("aes128", "xtea")]  # type: ignore[arg-type]
    for k, (made, cell) in enumerate((
        ([*aeads, *blocks], "exact"),
        ([*map(on_board, aeads), *blocks], "exact; others measured on a virtual board"),
        ([*map(on_board, aeads), *map(on_board, blocks)], "measured on a virtual board"),
    )):  # fmt: skip
        runs = " ".join(map(str, store(tmp_path / f"{k}.db", *made)))  # named, for a simulator's go before a board's
        words = f"{runs} --json --db {k}.db"
        sheets, others = (
            {s["title"]: s["rows"] for s in json.loads(cli(f"{verb} {words}").out)} for verb in ("study", "report")
        )
        for of in (sheets, others):
            [line] = of["How far each target's cycles are validated"]
            assert list(line.values())[1] == cell
            assert (list(line.values())[3] == "-") == (cell == "measured on a virtual board")
        simulated = "uno, block ciphers: all measures (Table II), simulated" in sheets
        assert simulated == (k == 1), "it says so beside what a board measured"


def test_a_meters_power_is_not_ranked_against_the_models(cli: Cli, tmp_path: Path) -> None:
    both = record(AES, load="0/16", power_measured=40.0), record(ASCON, load="0/16", power_measured=60.0)
    plain = record(ASCON, load="0/16")
    for k, (made, sources, ranked, note) in enumerate((
        (both, ["meter", "meter"], [40.0, 60.0], "power and energy: measured by a meter"),
        ((both[0], plain), ["meter", "model"], [52.0, 52.0],
         "power and energy: modelled, if at all, because a meter measured only aes128gcm"),
    )):  # fmt: skip
        store(tmp_path / f"{k}.db", *map(on_board, made))
        sheets = {
            s["title"].removesuffix(", measured on a virtual board"): s
            for s in json.loads(cli(f"study --json --db {k}.db").out)
        }
        table, score = (
            sheets[f"uno, AEADs: {what}"] for what in ("all measures (Table II)", "score table, as published")
        )
        assert [line["power_from"] for line in table["rows"]] == sources
        assert [line["power"] for line in sorted(score["rows"], key=lambda r: r["variant"])] == ranked
        assert note in score["notes"]
        assert table["rows"][0]["power"] == 40.0
        whose = "" if k == 0 else " for aes128gcm, else modelled"
        assert f"power and energy: measured by a meter{whose}" in table["notes"]


def test_groups_are_of_what_they_say(cli: Cli, tmp_path: Path) -> None:
    """By key and by block, with count, sum and geometric mean of the parts as a reader computes them."""
    cycles = {"aes128": 1600, "aes256": 3200, "speck64128": 400, "hight": 1600, "lea128": 800, "lea256": 800}
    store(tmp_path / "results.db", *(
        record(f"{n}/ref", primitive="crypto_block", load="kat", rom=1000, cycles_encrypt_mean=c, context=16)
        for n, c in cycles.items()
    ))  # fmt: skip
    sheets = {s["title"]: s["rows"] for s in json.loads(cli("study --json").out)}
    part = {"speck64128": 50.0, "hight": 200.0, "lea128": 50.0, "lea256": 25.0}
    size = {"key": {"lea256": 256}, "block": {"speck64128": 64, "hight": 64}}
    for by in ("key", "block"):
        groups: dict[int, list[str]] = {}
        for name in part:
            groups.setdefault(size[by].get(name, 128), []).append(name)
        rows = {r[by]: r for r in sheets[f"uno, block ciphers by {by}: against AES"] if r["measure"] == "cycles/B"}
        assert rows.keys() == groups.keys()
        for bits, names in groups.items():
            of, r = [part[n] for n in names], rows[bits]
            least = ", ".join(sorted(n for n in names if part[n] == min(of)))
            assert (r["count"], r["below"], r["total"]) == (len(of), sum(p < 100 for p in of), sum(of))
            assert (r["mean"], r["winner"], r["percent"]) == (
                pytest.approx(math.prod(of) ** (1 / len(of))),
                least,
                min(of),
            )


def test_a_verified_cipher_that_cannot_be_compared_is_named(cli: Cli, tmp_path: Path) -> None:
    short = record("saturninshortv2/ref", load="0/8")
    store(tmp_path / "results.db", record(AES, load="0/16"), short)
    said = "or of a message of 16 bytes in the workload that most have, so not compared: saturninshortv2"
    assert said in cli("study").out
    alone = cli("study saturninshortv2")
    assert (alone.code, said in alone.err) == (1, True)


def test_nothing_but_the_baseline_is_no_study(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(AES, load="0/16"), record("nocrypt/ref", load="0/16", rom=0))
    empty = cli(["study", "--where", "rom < 10"])
    assert (empty.code, empty.out) == (1, "")
    assert "no stored run of a cipher with such a name that passes the filter has the cycles of a block" in empty.err


def test_targets_with_few_ciphers_are_not_studied_unless_they_are_named(cli: Cli, tmp_path: Path) -> None:
    some = [record(f"toy{k}/ref", target=t, load="0/16") for k in range(4) for t in ("uno", "bluepill")]
    store(tmp_path / "results.db", *some, record("toy1/ref", target="atmega128", load="0/16"))
    done = cli("study --json")
    assert not any("atmega128" in s["title"] for s in json.loads(done.out))
    assert "4 ciphers on 2 targets" in cli("study").out
    assert "so left out: atmega128; --target names them" in cli("study").out
    assert "1 cipher on 1 target" in cli("study -t atmega128").out


def test_the_best_are_those_with_the_least_or_with_the_most_throughput() -> None:
    some = measures.ciphers(
        [
            {**made, "run": k, "rom": 100 * k, "cycles_encrypt_mean": 1000.0 * k, "encrypt_per_byte": 125.0 * k}
            for k in range(1, 21)
            for made in rows([record(f"toy{k:02}/ref", primitive="crypto_block", load="kat")])
        ],
        load_target("uno"),
    )
    lines = [dict(zip(("panel", "rank", "name"), line.cells, strict=False))
             for line in study._best("uno, block ciphers", some).numbers.lines]  # fmt: skip
    best = [f"toy{k:02}" for k in (*range(1, 11), *range(16, 21))]
    for panel in ("ROM, bytes", "throughput, B/s"):
        assert [(d["rank"], d["name"]) for d in lines if d["panel"] == panel] == [(int(n[3:]), n) for n in best]


def test_ours_are_within_a_published_range_up_to_both_of_its_ends() -> None:
    published = next(r for r in study.ranges() if r.measure == "latency" and r.chip == "ATmega328P")
    least, most = published.least, published.most
    cycles = [least * 0.9, least, (least + most) / 2, most, most * 1.1]
    [made] = rows([record("toy/ref", primitive="crypto_block", load="kat")])
    row = {**made, "run": 1, "cycles_encrypt_mean": 1000.0, "encrypt_per_byte": 125.0}
    [one] = measures.ciphers([row], load_target("uno"))
    some = [replace(one, figures={**one.figures, "latency": n}) for n in cycles]
    within = [line.cells[6] for line in study._published({"uno": some}).lines if line.cells[1] == "latency"]
    assert within == ["3 of 5"]


def test_the_ten_best_and_the_five_worst_are_drawn() -> None:
    assert study.extremes(20) == [*range(10), *range(15, 20)]
    assert study.extremes(12) == [*range(12)]


def test_what_has_no_block_is_not_studied(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(AES, load="16/0"))
    none = cli("study")
    assert (none.code, none.out) == (1, "")
    assert "no stored run has the cycles of a block, or of a message of 16 bytes" in none.err
    assert "unknown target 'unoo'; did you mean uno?" in cli("study -t unoo").err


@pytest.mark.parametrize(("name", "least"), [("iot-study", 500), ("felics-blocks", 300)])
def test_the_campaigns_are_of_what_is_bundled(cli: Cli, name: str, least: int) -> None:
    if name == "iot-study":  # it has mbedTLS
        with_dependencies()
    jobs = json.loads(cli(f"run {ROOT}/campaigns/{name}.toml --dry-run --json").out)
    assert len(jobs) >= least
    assert {j["target"] for j in jobs} == set(load(ROOT / "campaigns" / f"{name}.toml").targets)


def test_the_papers_score_is_of_block_ciphers_too(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", *(
        record(f"{n}/ref", primitive="crypto_block", load="kat", cycles_encrypt_mean=c, encrypt_per_byte=100,
               energy_encrypt_modelled=1.0)
        for n, c in (("aes128", 1600), ("xtea", 800))
    ))  # fmt: skip
    [sheet] = json.loads(cli("rank --kind score --paper --json").out)
    assert [line["label"] for line in sheet["rows"]] == ["xtea/ref", "aes128/ref"]
