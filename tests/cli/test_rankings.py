"""Rankings and reports: what is first by each metric, relative to what, and what is told of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Verification
from tests.made_up import record, store

from .conftest import Cli


def test_a_ranking_holds_each_implementation_once(answers: Cli) -> None:
    for kind in ("top", "places", "merit", "score --by rom", "pareto --by rom"):
        text = answers(f"rank --kind {kind} --where flags==-O3").out
        for table in text.split("\nuno")[: 1 if kind != "top" else None]:
            lines = re.findall(r"toy\d/ref", table)
            assert len(lines) == len(set(lines)), table
    assert re.findall(r"toy\d/ref", answers("rank -n 1 --by rom --where flags==-O3").out) == ["toy1/ref"]


@pytest.mark.parametrize("kind", ["top", "merit", "score", "pareto"])
def test_rankings_call_metrics_what_their_columns_are_called(answers: Cli, kind: str) -> None:
    assert not re.search("cycles_encrypt_mean|rom,", answers(f"rank --kind {kind}").out)


def test_hashes_are_scored_by_what_they_have(cli: Cli, tmp_path: Path) -> None:
    hashes = [record(f"hash{n}/ref", primitive="crypto_hash", per_byte=n, rom=100 * n) for n in (2, 1)]
    store(tmp_path / "results.db", record(), *hashes)
    tables = json.loads(cli("rank --kind score --json").out)
    assert ["crypto_hash, sum of ranks" in t["title"] for t in tables] == [False, True]
    assert [r["label"] for r in tables[1]["rows"]] == ["hash1/ref", "hash2/ref"]


def test_a_reference_of_equal_figures_is_the_one_that_is_ranked(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("toy1/ant"), record("toy1/zebra"), record("toy2/ref"))
    out = cli("rank --variants --relative-to toy1 --by rom").out
    assert "toy1/ant = 100 %" in out
    assert "zebra" not in out


def test_the_best_by_each_metric(cli: Cli, tmp_path: Path) -> None:
    store(
        tmp_path / "results.db",
        record("toy1/fast", cycles=100, rom=900, stack=90),
        record("toy1/small", cycles=900, rom=100, stack=50),
        record("toy2/ref", cycles=500, rom=500, stack=70),
    )
    for command in ("rank --variants", "rank --variants --relative-to toy1/fast"):
        fast, small, ram, joint = (t for t in cli(command).out.split("uno (")[1:])
        assert re.search(r"1 +toy1/fast", fast)
        assert re.search(r"1 +toy1/small", small)
        assert re.search(r"1 +toy1/small", ram)
        assert "toy1/fast, toy1/small" in joint
        assert "toy1/fast" not in small.replace("toy1/fast =", "")
    assert cli("report -o report.html").code == 0
    page = (tmp_path / "report.html").read_text()
    summary = page[page.index("first by each metric") : page.index('id="target-uno')]
    assert re.findall(r"<td>(toy[^<]*)</td>", summary)[:3] == ["toy1/fast", "toy1/small", "toy1/small"]


def test_merit_over_targets_says_what_it_leaves_out_and_mixes(cli: Cli, tmp_path: Path) -> None:
    store(
        tmp_path / "results.db",
        *(record(f"toy{n}/ref", target=t, rom=100 * n) for n in (1, 2) for t in ("uno", "due")),
        record("toy3/ref", target="due"),
        record("toy4/ref", target="uno", compiler="gcc 2"),
        record("toy4/ref", target="due"),
    )
    over = cli("rank --kind merit").out.partition("over 2 targets\n")[2]
    assert "toy4" in over
    assert "not on all of them, so not ranked: toy3" in over
    assert "figures of several compilers, harnesses or timing models: uno" in over


def test_merit_over_targets_names_everything_that_it_leaves_out(cli: Cli, tmp_path: Path) -> None:
    kept = (record("toy1/ref", target=t) for t in ("uno", "due"))
    lost = [f"gap{n}" for n in range(10, 22)]
    store(tmp_path / "results.db", *kept, *(record(f"{name}/ref", target="due") for name in lost))
    assert f"not on all of them, so not ranked: {', '.join(lost)}\n" in cli("rank --kind merit").out


def test_merit_is_over_the_targets_where_something_has_the_figures(cli: Cli, tmp_path: Path) -> None:
    measured = (record(f"toy{n}/ref", target=t, rom=100 * n, felics_ram=n) for n in (1, 2) for t in ("uno", "due"))
    store(tmp_path / "results.db", *measured, record("toy1/ref", target="bluepill"))
    over = cli("rank --kind merit --by rom,felics_ram").out.partition("over 2 targets\n")[2]
    assert "toy2" in over
    assert "not counted, because nothing has these figures there: bluepill" in over


def test_what_a_report_names_is_beaten_by_nothing(cli: Cli, tmp_path: Path) -> None:
    """``middle`` is first in nothing, but beats the other variant."""
    store(
        tmp_path / "results.db",
        record("toy1/fast", cycles=100, rom=900, stack=90),
        record("toy1/small", cycles=900, rom=100, stack=50),
        record("toy1/middle", cycles=400, rom=400, stack=60),
        record("toy2/ref", cycles=500, rom=500, stack=70),
    )
    cli("report -o report.html")
    page = (tmp_path / "report.html").read_text()
    [figure] = [f for f in re.findall(r"<figure>.*?</figure>", page, re.DOTALL) if "Cycles against ROM" in f]
    assert set(re.findall(r">(toy\d/\w+)</text>", figure)) == {"toy1/fast", "toy1/small", "toy1/middle"}


def test_a_report_begins_with_its_summary(cli: Cli, tmp_path: Path) -> None:
    bad = Failure(Reason.FLASH_OVERFLOW, "too large")
    store(
        tmp_path / "results.db",
        *(record(f"toy{n}/ref", target=t, rom=100 * n) for n in (1, 2) for t in ("uno", "due")),
        *(record(f"toy{n}/ref", failure=bad, flags="-O0") for n in (1, 2)),
    )
    cli("report -o report.html")
    page = (tmp_path / "report.html").read_text()
    summary = page[page.index('id="summary"') : page.index('id="target-')]
    assert [c for c in ("winners-crypto_aead", "crypto_aead-cycles_encrypt_mean-by-target") if c not in summary] == []
    reasons = summary[summary.index("failures-by-reason") :]
    assert re.search(r"flash-overflow</td><td[^>]*>2</td>", reasons)


@pytest.mark.parametrize("kind", ["score --by rom", "merit", "places"])
def test_how_many_are_shown_counts_for_every_ranking(answers: Cli, kind: str) -> None:
    assert answers(f"rank --kind {kind} -n 1 --where flags==-O3").out.count("/ref") == 1


def test_a_reference_is_one_whatever_the_group(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("ascon128v12/ref"), record("ascon80pqv12/ref", rom=1000))
    sheets = json.loads(cli("rank --by rom --group-by key --relative-to ascon128v12 --json").out)
    found = {s["title"].split(" bits")[0]: s["rows"][0]["relative"] for s in sheets}
    assert found == {"key 128": 100, "key 160": 200}


def test_a_reference_that_means_two_ciphers_is_named_by_its_place(cli: Cli, tmp_path: Path) -> None:
    store(
        tmp_path / "results.db",
        record("toy1/ref", origin="p1"),
        record("toy1/ref", origin="p2", digest="b", rom=1000),
    )
    asked = cli("rank --by rom --relative-to toy1")
    said = "--relative-to toy1: is the name of 2 ciphers; give one of 'toy1 (p1)', 'toy1 (p2)'"
    assert (asked.code, said in asked.err) == (2, True)
    for name in ("toy1 (p1)", "toy1/ref (p1)"):
        [sheet] = json.loads(cli(["rank", "--by", "rom", "--relative-to", name, "--json"]).out)
        assert [r["relative"] for r in sheet["rows"]] == [100, 200]


def test_what_only_its_own_answers_vouch_for_is_told(cli: Cli, tmp_path: Path) -> None:
    some = (("toy", "package", 1), ("both", "package+known", 2), ("core", "asconaead128+package", 3))
    made = [
        replace(record(f"{name}/ref", cycles=420, rom=rom), verification=Verification(source, 9, 0, 0))
        for name, source, rom in some
    ]
    store(tmp_path / "results.db", *made)
    said = "right by their own package's answers alone, for nothing published could be checked: toy/ref;"
    for question in ("rank --by rom", "choose -t uno --mlen 24", "choose --table --mlen 24 --by rom", "study -t uno"):
        assert said in cli(question).out, question
        known = cli([*question.split(), "--where", "answers == known"]).out
        assert ("toy" in known, "both" in known) == (False, True), question
    for question in ("choose toy/ref -t uno --mlen 24 --ram 1", "choose toy/ref --table --mlen 24 --ram 1"):
        assert said in cli(question).out, question


def test_a_size_that_nobody_knows_is_the_runs(cli: Cli, tmp_path: Path) -> None:
    toy = record("toy/ref", primitive="crypto_block", key_bytes=5, cycles_encrypt_mean=800, encrypt_per_byte=100)
    store(tmp_path / "results.db", toy)
    titles = [json.loads(cli(f"rank --by rom --group-by {size} --json").out)[0]["title"] for size in ("key", "block")]
    assert [t.split(",")[0] for t in titles] == ["key 40 bits", "block 64 bits"]
    none = cli("rank --by rom --group-by nonce")
    assert (none.code, none.err) == (1, "rank --kind top: without nonce, so not ranked: toy/ref\n")
    store(tmp_path / "results.db", record("ascon128v12/ref"))
    for size, bits, other in (("tag", "tag 128", "toy"), ("block", "block 64", "ascon128v12")):
        some = cli(f"rank --by rom --group-by {size}").out
        assert some.startswith(f"{bits} bits, uno")
        assert some.count(" bits, ") == 1
        assert f"without {size}, so not ranked: {other}/ref" in some


def test_the_baseline_of_blocks_of_another_size_is_taken_off_by_the_byte(cli: Cli, tmp_path: Path) -> None:
    """nocrypt's blocks have 16 bytes, and the groups are those of whole figures."""
    for label, cycles, each in (("nocrypt/ref", 120, 7.5), ("toy/ref", 800, 100)):
        made = record(label, primitive="crypto_block", load="kat", cycles_encrypt_mean=cycles, encrypt_per_byte=each)
        store(tmp_path / "results.db", made)
    [sheet] = json.loads(cli("rank --by encrypt_per_byte --group-by block --minus-nocrypt --json").out)
    assert sheet["title"].startswith("block 64 bits, ")
    assert [r["encrypt_per_byte"] for r in sheet["rows"]] == [(800 - 120) / 8]


def test_of_block_ciphers_the_fastest_is_by_the_byte(cli: Cli, tmp_path: Path) -> None:
    """A small block takes few cycles, and many of them; a context is no part of RAM."""
    for label, cycles, each, ram in (("small/ref", 400, 100, 10), ("large/ref", 800, 50, 20)):
        made = record(
            label, primitive="crypto_block", load="kat", cycles=cycles, encrypt_per_byte=each, stack=ram,
            rom=1000 * ram, cycles_schedule_encrypt_mean=1,
        )  # fmt: skip
        store(tmp_path / "results.db", made)
    for question in ("rank --top 1", "rank --kind merit --top 1", "rank --kind pareto"):
        [first, *_] = json.loads(cli(f"{question} --json").out)
        assert "encrypt_per_byte" in first["rows"][0], question
        assert first["rows"][0]["label"] == ("small/ref" if "merit" in question else "large/ref"), question
    assert cli("rank").out.count("RAM: without the context of a key, which the caller holds") == 2
    for figure in ("top", "tradeoff"):
        cli(f"plot {figure} -o {figure}.vl.json")
        text = (tmp_path / f"{figure}.vl.json").read_text()
        assert "cycles/byte" in text or "of block ciphers per byte" in text, figure
        assert "without the context of a" in cli(f"plot {figure} --format md -o -").out, figure


def test_a_share_is_of_what_its_heading_names(cli: Cli, tmp_path: Path) -> None:
    """Of each metric another implementation and other flags may be the reference's best."""
    store(
        tmp_path / "results.db",
        record("toy1/fast", cycles=100, rom=900, flags="-O3"),
        record("toy1/fast", cycles=200, rom=800, flags="-Os"),
        record("toy1/small", cycles=900, rom=400, flags="-O3"),
        record("toy1/small", cycles=950, rom=100, flags="-Os"),
        record("toy2/ref", cycles=500, rom=500, flags="-O3"),
        record("toy2/ref", cycles=300, rom=600, flags="-Os"),
    )
    cycles, rom, *_ = cli("rank --variants --relative-to toy1").out.split("uno (")[1:]
    assert "toy1/fast -O3 = 100 %" in cycles
    assert re.search(r"toy2/ref +-Os +300 +300\.0", cycles)
    assert "toy1/small -Os = 100 %" in rom
    assert re.search(r"toy2/ref +-O3 +500 +500\.0", rom)

    each = cli("rank --by cycles_encrypt_mean --relative-to toy1").out
    assert "toy1, same flags = 100 %" in each
    assert re.search(r"toy2/ref +-O3 +500 +500\.0", each)
    assert re.search(r"toy2/ref +-Os +300 +150\.0", each)


def test_a_report_does_not_call_nocrypt_an_algorithm(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("nocrypt/ref"), record("toy1/ref"), record("toy2/ref"))
    cli("report -o report.html")
    assert "2 verified runs of 2 algorithms on 1 target" in (tmp_path / "report.html").read_text()


def test_the_baseline_is_taken_off_whatever_workload_it_ran(cli: Cli, tmp_path: Path) -> None:
    base = record("nocrypt/ref", load="kat", cycles=100)
    store(tmp_path / "results.db", base, record(cycles=1000), record("toy2/ref", cycles=2000))
    shown = cli("rank --minus-nocrypt --by cycles_encrypt_mean")
    assert re.search(r"1 +toy1/ref +-O3 +900\b", shown.out)
    assert "name it too" not in shown.err
    note = "cycles: those of nocrypt are subtracted"
    assert note in cli("rank --minus-nocrypt --by cycles_encrypt_mean -o - --format md").out
    assert note not in cli("rank --by cycles_encrypt_mean -o - --format md").out


def test_the_baseline_is_that_of_the_flags_which_it_has_whatever_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    flags = "-O3 -fno-inline"
    failed = record("nocrypt/ref", flags=flags, failure=Failure(Reason.RUNAWAY, ""))
    store(tmp_path / "results.db", record("nocrypt/ref", cycles=100), record(cycles=1000, flags=flags), failed)
    words = ["rank", "--minus-nocrypt", "--by", "cycles_encrypt_mean", "--where", 'flags == "-O3 -fno-inline"']
    assert re.search(r"1 +toy1/ref +-O3 -fno-inline +900\b", cli(words).out)


def test_the_baseline_of_a_size_may_be_of_another_workload_and_that_of_a_line_not(cli: Cli, tmp_path: Path) -> None:
    base = record("nocrypt/ref", load="0/16,0/24,0/32,0/40", per_byte=2)
    store(tmp_path / "results.db", base, record(load="0/16,0/48,0/64,0/80"))
    shown = cli("rank --minus-nocrypt --by encrypt@0/16 -o - --format csv")
    assert f",{8 * 16}," in shown.out or shown.out.rstrip().endswith(f",{8 * 16}"), shown.out
    assert "toy1 crypto_aead" not in shown.err
    lost = cli("rank --minus-nocrypt --by encrypt_per_byte")
    assert "nocrypt is not among the rows of uno crypto_aead -O3 with workload 0/16,0/48,0/64,0/80" in lost.err


def test_the_baseline_is_of_the_workload_and_device_of_what_it_is_taken_off(cli: Cli, tmp_path: Path) -> None:
    both = [record(n, load=w, per_byte=b) for n, b in (("nocrypt/ref", 2), ("toy1/ref", 10)) for w in ("0/16", "0/17")]
    board = [replace(r, setup=replace(r.setup, device="board", timing_model="sigrok")) for r in both]
    slower = [replace(r, points=tuple(replace(p, cycles=p.cycles + 50) for p in r.points)) for r in board[:2]]
    store(tmp_path / "results.db", *both, record("nocrypt/ref", load="default"), *slower, *board[2:])
    for where, size, left in (("simulator", 17, 8 * 17), ("simulator", 16, 8 * 16), ("board", 17, 8 * 17 - 50)):
        words = ["rank", "--minus-nocrypt", "--by", f"encrypt@0/{size}", "--where", f"device == {where}"]
        assert re.search(rf"1 +toy1/ref +-O3 +{left}\b", cli(words).out), (where, size)


def test_what_is_not_ranked_does_not_choose_the_workload(cli: Cli, tmp_path: Path) -> None:
    """Ciphers without known answers have figures, and are in no ranking."""
    unknown = Failure(Reason.NO_EXPECTED, "")
    others = [replace(record(f"own{k}/ref", load="0/16"), failure=unknown) for k in range(3)]
    bases = [record("nocrypt/ref", load="0/16", flags=f) for f in ("-O0", "-O1", "-O2", "-O3")]
    store(tmp_path / "results.db", record(stack=80), record("toy2/ref", stack=90), *others, *bases)
    done = cli("rank --by stack")
    assert re.search(r"1 +toy1/ref +-O3 +80\b", done.out), done.out
    assert "among the first 1" not in done.err
    assert re.search(r"toy1/ref +80\b", cli("publish --pivot target --columns stack").out)


def test_what_failed_does_not_choose_the_workload_where_nothing_is_verified(cli: Cli, tmp_path: Path) -> None:
    """The only figures that a lab's own cipher has are those without known answers."""
    mine = replace(record("own/ref", load="0/16", stack=106), failure=Failure(Reason.NO_EXPECTED, ""))
    failed = [record("own/ref", flags=f, failure=Failure(Reason.COMPILE_ERROR, "")) for f in ("-O1", "-O2", "-Os")]
    store(tmp_path / "results.db", mine, *failed)
    done = cli("report -o - --format md")
    assert re.search(r"own/ref .*\b106\b", done.out), done.out


@pytest.mark.parametrize("kind", ["top", "places", "score", "pareto"])
@pytest.mark.parametrize("name", [f"cycles_{o}_mean" for o in ("encrypt_warm", "schedule_encrypt", "decrypt_warm")])
def test_a_ranking_by_what_nothing_has_is_none(answers: Cli, kind: str, name: str) -> None:
    none = answers(f"rank --kind {kind} --by {name}")
    assert (none.code, none.out, f"no run here has {name}" in none.err) == (1, "", True), none.err
    some = answers(f"rank --kind {kind} --by {name},rom")
    one_for_all = kind in ("score", "pareto")  # these are of what has every metric
    assert (some.code, f"no run here has {name}" in some.err) == (int(one_for_all), True), some.err
    assert (f"rank --kind {kind}: nothing is ranked; no run here has {name}" in some.err) == one_for_all


def test_the_baseline_of_another_compiler_is_taken_off_nothing(cli: Cli, tmp_path: Path) -> None:
    """Names keep the newest generation of their own, so rows of two may be in one answer."""
    older = record("toy2/ref", cycles=2000)
    older = replace(older, setup=replace(older.setup, timing_model="older/1"))
    store(tmp_path / "results.db", older, record("nocrypt/ref", cycles=100), record(cycles=1000))
    shown = cli("rank --minus-nocrypt --by cycles_encrypt_mean")
    assert re.search(r"1 +toy1/ref +-O3 +900\b", shown.out)
    assert "1 900" not in shown.out
    assert "rows of uno crypto_aead -O3 with their compiler, harness and timing model" in shown.err


def test_the_baseline_is_ours_whatever_others_hand_in(tmp_path: Path, cli: Cli) -> None:
    """A slow package that somebody calls nocrypt takes nothing off."""
    ours, mine = record("nocrypt/ref", cycles=100.0), record("toy1/ref", cycles=1000.0)
    theirs = replace(record("nocrypt/slow", cycles=900.0), origin="nocrypt.zip (submission 1)")
    store(tmp_path / "results.db", ours, mine, theirs)
    result = cli(f"rank --minus-nocrypt --by cycles_encrypt_mean --db {tmp_path / 'results.db'} --json")
    assert [
        r["cycles_encrypt_mean"] for t in json.loads(result.out) for r in t["rows"] if "toy1/ref" in r.values()
    ] == [900]


@pytest.mark.parametrize("kind", ["top", "places", "merit", "score", "pareto"])
@pytest.mark.parametrize("name", ["cycles_encrypt_mean", "encrypt@0/64"])
def test_of_a_hash_encryption_is_the_hash_and_what_it_has_no_call_for_is_not(
    cli: Cli, tmp_path: Path, kind: str, name: str
) -> None:
    made = [record(f"hash{n}/ref", primitive="crypto_hash", load="0/64", cycles=n, per_byte=n) for n in (2, 1)]
    store(tmp_path / "results.db", *made, record(load="0/64", cycles_schedule_encrypt_mean=9))
    words = f"rank --kind {kind} --by {name} --json --where"
    first = json.loads(cli([*words.split(), "primitive == crypto_hash"]).out)[0]
    assert first["rows"][0]["label"] == "hash1/ref"
    schedule = cli(f"rank --kind {kind} --by cycles_schedule_encrypt_mean")
    assert (schedule.code, "toy1/ref" in schedule.out) == (0, True), schedule.err


def test_a_ranking_without_a_row_is_no_answer(cli: Cli, tmp_path: Path) -> None:
    """Of one size no cycles per byte can be told."""
    store(tmp_path / "results.db", record(load="0/16"))
    none = cli("rank --kind score")
    assert (none.code, "nothing is ranked; no run here has encrypt_per_byte" in none.err) == (1, True)
    store(tmp_path / "results.db", record("toy2/ref"))
    assert cli("rank --kind score").code == 0
