"""Answers over a store that holds two workloads, two sources, two compilers and two flag sets of the same label."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.cli.records import document
from steelyard.cli.run import sheets_of
from steelyard.cli.weigh import _confirmations
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Verification
from steelyard.publish.sheet import text
from steelyard.store import Store
from tests.made_up import other_build, record, store

from .conftest import BOTH, Cli, cells


def test_a_ranking_holds_each_implementation_once(answers: Cli) -> None:
    for kind in ("top", "places", "merit", "score --by rom", "pareto --by rom"):
        text = answers(f"rank --kind {kind} --where flags==-O3").out
        for table in text.split("\nuno")[: 1 if kind != "top" else None]:
            lines = re.findall(r"toy\d/ref", table)
            assert len(lines) == len(set(lines)), table
    assert re.findall(r"toy\d/ref", answers("rank -n 1 --by rom --where flags==-O3").out) == ["toy1/ref"]


def test_the_most_common_workload_is_said_and_others_are_there_on_request(answers: Cli) -> None:
    shown = answers("publish --where flags==-O3")
    assert shown.out.count("/ref") == 2
    assert "workload default (" in shown.out
    assert "2 rows of workload gmu left out" in shown.out
    assert answers("publish --where flags==-O3 --all-runs").out.count("/ref") == 16
    other = answers("publish --where workload~gmu*")
    assert "workload gmu (" in other.out
    assert "left out for" not in other.out


def test_the_workload_that_has_what_is_asked_for_counts(answers: Cli) -> None:
    for command in ("publish -c label,encrypt@1536/1536 --where flags==-O3", "rank --by encrypt@1536/1536"):
        result = answers(command)
        assert (result.code, result.err) == (0, "")
        assert re.search(r"toy1/ref +(-O3 +)?30 820", result.out)
        assert "of workload default left out for gmu" in result.out
    assert "30 820" in answers("compare flags==-O3 flags==-Os -c encrypt@1536/1536 --everything").out


def test_what_a_machine_reads_holds_what_figures_depend_on(answers: Cli, tmp_path: Path) -> None:
    answers("publish --all-runs -o all.csv")
    with (tmp_path / "all.csv").open() as f:
        rows = list(csv.DictReader(f))
    keys = [tuple(r[n] for n in ("variant", "digest", "workload", "compiler", "flags")) for r in rows]
    assert len(set(keys)) == len(keys) == len(BOTH)


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


def test_means_over_few_known_answers_are_told(cli: Cli, tmp_path: Path) -> None:
    """In tables as in rankings: the shorter the inputs, the faster a cipher looks."""
    few = [replace(record(f"toy{n}/ref"), verification=Verification("package", 1, 0, 0)) for n in range(2, 13)]
    store(tmp_path / "results.db", record(), *few)
    tables = ("publish", "publish -c label,cycles_encrypt_mean", "rank --by cycles_encrypt_mean -n 20")
    figures = ("plot tradeoff --format md", "plot tradeoff --format vl.json -o -", "plot top --format md")
    for command in (*tables, "publish --pivot target", *figures):
        text = " ".join(cli(command).out.split())
        assert "mean over 1 known answers, of others over up to 1089: toy" in text, command
        assert "and 3 more" in text
    assert "mean over" not in cli("publish -c label,rom").out


@pytest.mark.parametrize(("vectors", "told"), [(900, True), (1089, False)])
def test_means_over_somewhat_fewer_known_answers_are_told(cli: Cli, tmp_path: Path, vectors: int, told: bool) -> None:
    """A package that takes much RAM has only the shorter ones; one with a file of its own has some more."""
    own = replace(record("toy2/ref"), verification=Verification("package+known", 1092, 0, 0))
    less = replace(record("toy3/ref"), verification=Verification("known", vectors, 0, 0))
    store(tmp_path / "results.db", own, less)
    text = " ".join(cli("publish").out.split())
    assert (f"mean over {vectors} known answers, of others over up to 1092: toy3/ref" in text) == told


def test_a_label_of_two_sources_says_which(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(), record(digest="b", origin="mine", rom=400))
    for command in ("publish", "rank --by rom", "plot rom -o rom.vl.json", "publish --pivot target -c rom"):
        assert cli(command).code == 0
    text = cli("publish").out + cli("rank --by rom").out + cli("publish --pivot target -c rom").out
    assert text.count("toy1/ref (bundled)") == text.count("toy1/ref (mine)") == 3
    assert "toy1/ref (mine)" in (tmp_path / "rom.csv").read_text()


def test_the_heading_of_a_column_is_a_name_of_it(answers: Cli) -> None:
    by_name = answers("publish -c label,cycles_encrypt_mean,encrypt_per_byte,ram_static,encrypt@16/64 --sort -rom")
    headings = "label,encrypt,encrypt/B,static RAM,encrypt 16/64"
    assert answers(["publish", "-c", headings, "--sort", "-ROM"]).out == by_name.out
    head = next(line for line in by_name.out.splitlines() if line.startswith(" implementation"))
    assert re.split(" {2,}", head.strip())[1:] == headings.split(",")[1:]


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


@pytest.mark.parametrize(
    ("target", "one", "other"),
    [
        (False, "gcc 1, toolchain cccccccc", "gcc 1, toolchain dddddddd"),
        (True, "model/1, target tttttttt", "model/1, target uuuuuuuu"),
    ],
)
def test_builds_of_one_version_do_not_share_a_table(
    cli: Cli, tmp_path: Path, target: bool, one: str, other: str
) -> None:
    """A C library or an assembler may be newer where the compiler says the same; a target's files change unsaid."""
    newer = other_build(record("toy2/ref", rom=90), target=target)
    elsewhere = record(target="due")  # its library is another one, as targets' libraries are
    libraries = replace(elsewhere.setup.toolchain, sha256="e" * 64)
    elsewhere = replace(elsewhere, setup=replace(elsewhere.setup, toolchain=libraries))
    store(tmp_path / "results.db", record("toy1/ref"), record("toy2/ref"), newer, elsewhere)
    shown = cli("publish")
    tables = [table for table in shown.out.split("crypto_aead") if "toy" in table]
    assert [sorted(set(re.findall(r"toy\d", table))) for table in tables] == [["toy1"], ["toy1"], ["toy2"]]
    assert one in shown.out
    assert other in shown.out
    assert "1 row of older sources, compilers or models left out" in shown.out


def test_a_file_of_results_has_the_compiler_that_it_says(cli: Cli, tmp_path: Path) -> None:
    """The store holds several toolchains of one version, or another one of the file's version."""
    old, new = record("toy1/ref", rom=100), other_build(record("toy1/ref", rom=90))
    for name, r in (("old", old), ("new", new)):
        (tmp_path / f"{name}.json").write_text(json.dumps(document([r], []), default=str))
    store(tmp_path / "results.db", old, new)
    for side, rom in (("old", 100), ("new", 90)):  # of the store's two the one that is the file's
        flat = json.loads(cli(f"compare {side}.json toy1/ref -c rom --everything --json").out)[0]["rows"]
        assert [(r["old"], r["new"]) for r in flat] == [(rom, rom)]
    says = ("cannot be compared", "gcc 1, toolchain cccccccc", "gcc 1, toolchain dddddddd")
    (tmp_path / "results.db").unlink()
    store(tmp_path / "results.db", new)
    for command in ("compare old.json toy1/ref", "compare old.json new.json", "compare toy1/ref old.json"):
        result = cli(f"{command} -c rom")
        assert result.code == 1
        assert all(text in result.out for text in says), result.out
        assert "90" in cli(f"{command} -c rom --mixed").out
    assert "there are: gcc 1, toolchain dddddddd" in cli(["compare", "old.json", "compiler == 'gcc 1'"]).err
    named = cli(["compare", "old.json", "compiler == 'gcc 1, toolchain dddddddd'", "-c", "rom"])
    assert "-10.00 %" in named.out  # compilers are what is compared
    (tmp_path / "old.csv").write_text("label\n")
    assert "old.csv: only .json holds all that a comparison needs" in cli("compare old.csv toy1/ref").err


def test_a_pivot_names_compilers_that_meet_in_a_column_of_one_target(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(), record(target="due", compiler="gcc 2"))
    assert "several compilers" not in cli("publish --pivot flags -c rom").out
    store(tmp_path / "results.db", record("toy2/ref", compiler="gcc 3"))
    assert "figures of several compilers: -O3" in cli("publish --pivot flags -c rom").out


def test_what_is_whole_is_written_whole(answers: Cli, tmp_path: Path) -> None:
    """ROM is bytes and a place a number, whatever they went through."""
    for command in ("rank --by rom", "rank --kind places --by rom", "rank --kind merit", "publish -c label,rom"):
        for sheet in json.loads(answers(f"{command} --json --where flags==-O3").out):
            for line in sheet["rows"]:
                assert {type(line[n]) for n in ("rom", "place", "rom_place") if n in line} == {int}, (command, line)
    answers("plot top -o top.csv --where flags==-O3")
    assert {row[5] for row in cells((tmp_path / "top.csv").read_text())} == {"1", "1.5", "2"}  # two use as much RAM


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


@pytest.mark.parametrize("title", ["\udce9", "b\u202ed", "\x1b[31m"])
def test_words_that_no_terminal_shows_become_escapes(cli: Cli, tmp_path: Path, title: str) -> None:
    store(tmp_path / "results.db", record())
    shown = cli(["report", "--title", title, "--json"])
    assert shown.code == 0, shown.err
    assert title not in shown.out


def test_the_sizes_that_are_there_are_those_of_verified_runs(cli: Cli, tmp_path: Path) -> None:
    bad = record("toy2/ref", failure=Failure(Reason.FLASH_OVERFLOW, "too large"))
    store(tmp_path / "results.db", record(), replace(bad, points=()))
    said = cli("publish -c label,encrypt@16/65").err
    assert "no run here has encrypt@16/65; the nearest sizes that are: encrypt@16/64, " in said


@pytest.mark.parametrize("out", ["", "-o table.tex", "-o table.md"])
def test_a_table_says_of_how_many_runs_it_has_no_figures(cli: Cli, tmp_path: Path, out: str) -> None:
    bad = Failure(Reason.FLASH_OVERFLOW, "too large")
    store(tmp_path / "results.db", record(), record("toy2/ref", failure=bad))
    said = "1 run without verified figures; publish without columns says why"
    result = cli(f"publish -c label,rom {out}")
    written = (tmp_path / out.split()[1]).read_text() if out else result.out
    assert said in written
    assert said in result.out + result.err
    assert said not in cli("publish -c label,rom toy1").out


@pytest.mark.parametrize("ending", ["", "md", "tex", "csv", "json", "html", "xlsx", "ods", "parquet"])
def test_a_metric_across_targets(cli: Cli, tmp_path: Path, ending: str) -> None:
    store(
        tmp_path / "results.db",
        *(record(f"toy{n}/ref", target=t, rom=100 * n + (t == "due")) for n in (1, 2, 3) for t in ("uno", "due")),
        record("toy4/ref", rom=50),
    )
    result = cli(f"publish --pivot target -c rom{' -o table.' + ending if ending else ''}")
    assert result.code == 0, result.err
    if not ending:
        lines = [line.split() for line in result.out.splitlines() if line.startswith((" i", " t"))]
        assert lines[0] == ["implementation", "due", "uno"]
        assert lines[1:] == [
            ["toy4/ref", "-", "50"],
            *([f"toy{n}/ref", str(100 * n + 1), str(100 * n)] for n in (1, 2, 3)),
        ]
    if ending == "csv":
        rows = cells((tmp_path / "table.csv").read_text())
        assert rows == [["toy4/ref", "", "50"], *([f"toy{n}/ref", str(100 * n + 1), str(100 * n)] for n in (1, 2, 3))]


def test_any_context_can_stand_across(answers: Cli) -> None:
    shown = answers("publish --pivot flags -c rom").out
    assert re.search(r"implementation +-O3 +-Os", shown)
    assert re.search(r"toy2/ref +2 100 +2 100", shown)
    assert re.search(r"gcc 1 +gcc 2", answers("publish --pivot compiler -c rom --where flags==-O3").out)
    assert re.search(r"default +gmu", answers("publish --pivot workload -c rom --where flags==-O3").out)
    assert answers("publish --pivot rom").code == 2
    assert answers("publish --pivot target -c label,rom").code == 2


def test_a_packet_is_in_the_default_workload(answers: Cli) -> None:
    shown = answers("publish -c label,encrypt@16/64 --sort encrypt@16/64 --where flags==-O3")
    assert (shown.code, shown.err) == (0, "")
    assert re.search(r"toy1/ref +900", shown.out)


def test_what_has_no_value_to_sort_by_stands_as_it_does_unsorted(cli: Cli, tmp_path: Path) -> None:
    hashes = [record(f"toyhash/i{n}", primitive="crypto_hash", cycles=n) for n in (3, 1, 2)]
    store(tmp_path / "results.db", record(), *hashes)
    for sort in ("", "--sort encrypt@16/64"):
        assert re.findall(r"toyhash/i(\d)", cli(f"publish {sort}").out) == ["1", "2", "3"], sort


def test_the_nearest_sizes_are_of_the_operation(cli: Cli, tmp_path: Path) -> None:
    """Hashes of the same workload, which are stored after them, have other sizes."""
    store(tmp_path / "results.db", record(), record("toyhash/ref", primitive="crypto_hash"))
    assert "that are: encrypt@16/64, encrypt" in cli("publish -c label,encrypt@16/65").err


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("publish -c label,rom,encrypt@16/96", 0, "no run here has encrypt@16/96; the nearest sizes that are: "),
        ("publish -c label,encrypt@16/96", 1, "encrypt@0/128"),
        ("publish --sort encrypt@16/96", 1, "steelyard run --workload 16/96"),
        ("publish --where encrypt@16/96<5", 1, "no run here has encrypt@16/96"),
        ("publish -c energy_encrypt_modelled,rom", 0, "no run here has energy_encrypt_modelled"),
        ("rank --by encrypt@16/96", 1, "no run here has encrypt@16/96"),
        ("compare flags==-O3 flags==-Os -c encrypt@16/96,rom", 0, "no run here has encrypt@16/96"),
        ("publish --where target==unoo", 1, "no stored run has a target 'unoo'; did you mean uno?"),
        ("publish --where target==due", 1, "no stored run has a target 'due'; there are: uno"),
        ("publish --where (target==uno)and(variant!=toy11)", 0, "'toy11' to leave out; did you mean toy1 or"),
        ("publish --where (target==uno)or(target==due)", 0, "no stored run has a target 'due'"),
        ("publish --where workload~vec*", 1, "no stored run has a workload like 'vec*'; there are: default, gmu"),
        ("publish toi1", 1, "no stored run is called 'toi1'; did you mean toy1"),
        ("publish 9999", 1, "no stored run is called '9999'"),
        ("rank --kind pareto -n 3", 0, "--top is ignored"),
        ("rank --kind pareto --variants", 0, "--variants is ignored"),
        ("rank --kind score --relative-to toy1", 0, "--relative-to is ignored"),
        ("rank --unit", 0, "--unit is ignored"),
        ("plot vectors -o v.vl.json", 1, "draws no other; run: steelyard run --workload vectors"),
        ("compare flags==-O3 flags==-O9", 1, "flags==-O9: no stored run matches"),
        ("compare toi1 toy1", 1, "toi1: no stored run matches"),
        ("compare uno toy1", 2, "uno: is a target"),
        ("rank --minus-nocrypt", 0, "nocrypt is not among the rows of uno crypto_aead -O3, uno crypto_aead -Os"),
        ("rank --paper", 0, "--paper is ignored"),
    ],
)
def test_what_finds_nothing_is_said(answers: Cli, command: str, code: int, said: str) -> None:
    result = answers(command)
    assert said in result.err
    assert result.code == code


@pytest.mark.parametrize("kind", ["score --by rom", "merit", "places"])
def test_how_many_are_shown_counts_for_every_ranking(answers: Cli, kind: str) -> None:
    assert answers(f"rank --kind {kind} -n 1 --where flags==-O3").out.count("/ref") == 1


def test_a_reference_is_one_whatever_the_group(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("ascon128v12/ref"), record("ascon80pqv12/ref", rom=1000))
    sheets = json.loads(cli("rank --by rom --group-by key --relative-to ascon128v12 --json").out)
    found = {s["title"].split(" bits")[0]: s["rows"][0]["relative"] for s in sheets}
    assert found == {"key 128": 100, "key 160": 200}


def test_what_answers_alike_is_named_by_its_place(tmp_path: Path) -> None:
    made = []
    for origin, digest, answers in (("p1", "a", "x"), ("p2", "b", "y"), ("p3", "c", "x")):
        seen = Verification("package", 9, 0, 0, answers * 64)
        made.append(replace(record(origin=origin, digest=digest), verification=seen))
    store(tmp_path / "results.db", *made)
    with Store.open(tmp_path / "results.db") as opened:
        said = _confirmations(opened, made)
    assert said == [f"toy1/ref ({p}) answers as run {n}, of other sources" for p, n in (("p1", 3), ("p3", 1))]


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


def heads(*records: Record) -> list[list[str]]:
    """Of each table of a run its headings and its lines."""
    made = sheets_of([replace(r, id=n) for n, r in enumerate(records, 1)])
    return [[[c.title for c in s.columns], *(list(line.cells) for line in s.lines)] for s in made]


def test_a_run_shows_its_workloads_own_figures() -> None:
    felics = {"felics_code_size": 4810, "felics_code_ram": 189, "felics_code_time": 44887}
    [few] = heads(record(load="0/16,16/64"), record("toy2/ref", load="0/16,16/64"))
    assert few[0][-2:] == ["encrypt 0/16", "encrypt 16/64"]
    assert few[2][-2:] == [260, 900]
    assert "encrypt/B" not in few[0]
    large = record(load="0/16,16/1536")
    [lacks] = heads(replace(large, points=tuple(p for p in large.points if p.mlen == 16)))
    assert lacks[0][-2:] == ["encrypt 0/16", "encrypt 16/1536"]
    assert lacks[1][-2:] == [260, None]
    [several] = heads(record(load="default"), record(load="felics-ae", **felics))  # type: ignore[arg-type]
    assert several[0][2] == "workload"
    assert {tuple(line[-3:]) for line in several[1:]} == {(None, None, None), (4810, 189, 44887)}
    assert several[0][-3:] == ["FELICS code size", "FELICS RAM", "FELICS time"]
    [usual] = heads(record(), record("toy2/ref"))
    assert "encrypt/B" in usual[0]
    assert not [h for h in usual[0] if re.search("workload|FELICS|/16", h)]


@pytest.mark.parametrize("load", ["default", "0/16,16/64"])
def test_a_run_prints_what_publish_prints(cli: Cli, tmp_path: Path, load: str) -> None:
    bad = Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many")
    records = [
        record(load=load),
        record("toy2/ref", load=load, flags="-Os"),
        record("toy3/ref", load=load, failure=bad),
    ]
    store(tmp_path / "results.db", *records)
    made = sheets_of([replace(r, id=n) for n, r in enumerate(records, 1)])
    published = cli("publish").out
    for sheet in made:
        for title in (sheet.title, *(c.title for c in sheet.columns), *sheet.notes):
            assert title in published
        for line in sheet.lines:
            assert re.search(
                " +".join(re.escape(text(v, c, " ")) for v, c in zip(line.cells, sheet.columns, strict=True)), published
            )


def test_the_baseline_is_taken_off_whatever_workload_it_ran(cli: Cli, tmp_path: Path) -> None:
    base = record("nocrypt/ref", load="kat", cycles=100)
    store(tmp_path / "results.db", base, record(cycles=1000), record("toy2/ref", cycles=2000))
    shown = cli("rank --minus-nocrypt --by cycles_encrypt_mean")
    assert re.search(r"1 +toy1/ref +-O3 +900\b", shown.out)
    assert "name it too" not in shown.err
    note = "cycles: those of nocrypt are subtracted"
    assert note in cli("rank --minus-nocrypt --by cycles_encrypt_mean -o - --format md").out
    assert note not in cli("rank --by cycles_encrypt_mean -o - --format md").out


def test_the_baseline_of_another_compiler_is_taken_off_nothing(cli: Cli, tmp_path: Path) -> None:
    """Names keep the newest generation of their own, so rows of two may be in one answer."""
    older = record("toy2/ref", cycles=2000)
    older = replace(older, setup=replace(older.setup, timing_model="older/1"))
    store(tmp_path / "results.db", older, record("nocrypt/ref", cycles=100), record(cycles=1000))
    shown = cli("rank --minus-nocrypt --by cycles_encrypt_mean")
    assert re.search(r"1 +toy1/ref +-O3 +900\b", shown.out)
    assert "1 900" not in shown.out
    assert "rows of uno crypto_aead -O3 with their compiler, harness and timing model" in shown.err


def test_runs_of_several_devices_say_theirs(cli: Cli, tmp_path: Path) -> None:
    board = record()
    board = replace(board, setup=replace(board.setup, device="board", timing_model="sigrok"))
    store(tmp_path / "results.db", record())
    assert "simulator" not in cli("list runs").out
    store(tmp_path / "results.db", board)
    shown = csv.DictReader(io.StringIO(cli("list runs -o - --format csv").out))
    assert [(r["run"], r["device"]) for r in shown] == [("2", "board"), ("1", "simulator")]


def test_a_gate_does_not_pass_where_means_are_of_other_calls(cli: Cli, tmp_path: Path) -> None:
    less = replace(record("toy2/ref"), verification=Verification("known", 110, 0, 0))
    store(tmp_path / "results.db", record("toy1/ref"), less)
    result = cli(["compare", "toy1", "toy2", "--fail-on", "cycles_encrypt_mean>0%"])
    assert (result.code, "nobody can compare them" in result.err) == (1, True)
    assert cli(["compare", "toy1", "toy2", "--fail-on", "rom>0%"]).code == 0


def test_the_baseline_is_ours_whatever_others_hand_in(tmp_path: Path, cli: Cli) -> None:
    """A slow package that somebody calls nocrypt takes nothing off."""
    ours, mine = record("nocrypt/ref", cycles=100.0), record("toy1/ref", cycles=1000.0)
    theirs = replace(record("nocrypt/slow", cycles=900.0), origin="nocrypt.zip (submission 1)")
    store(tmp_path / "results.db", ours, mine, theirs)
    result = cli(f"rank --minus-nocrypt --by cycles_encrypt_mean --db {tmp_path / 'results.db'} --json")
    assert [
        r["cycles_encrypt_mean"] for t in json.loads(result.out) for r in t["rows"] if "toy1/ref" in r.values()
    ] == [900]
