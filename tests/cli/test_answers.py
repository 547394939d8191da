"""Tables, runs and comparisons over a store of two workloads, sources, compilers and flag sets of each label."""

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
from steelyard.cli.weigh import _confirmations, _replaced
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Verification
from steelyard.publish.sheet import text
from steelyard.store import Store
from tests import toys
from tests.conftest import write
from tests.made_up import other_build, record, store

from .conftest import BOTH, Cli, cells

#: what is said of stored runs that answers do not take
LATER = "answers take other sources that were run since"


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


def test_energy_is_a_mean_over_known_answers_and_what_hardware_has_is_none(cli: Cli, tmp_path: Path) -> None:
    few = Verification("package", 258, 0, 0)
    for primitive, told in (("crypto_aead", True), ("lwc_rtl", False)):
        figures = {"energy_encrypt_modelled": 2.0, "fmax_mean": 50.0, "lut": 700.0, "cycles_encrypt_mean": 9.0}
        one = replace(record(primitive=primitive, target="uno" if told else "ecp5"), metrics=figures)
        other = replace(record("toy2/ref", primitive=primitive, target=one.setup.target), metrics=figures)
        store(tmp_path / f"{primitive}.db", one, replace(other, verification=few))
        commands = ["publish -c label,energy_encrypt_modelled", "compare toy1 toy2 --everything"]
        commands += [] if told else ["publish", "publish -c label,lut,fmax_mean", "rank --by lut"]
        for command in commands:
            assert ("known answers" in cli(f"{command} --db {primitive}.db").out) == told, command


@pytest.mark.parametrize("kind", ["top", "places", "pareto", "merit", "score"])
def test_what_is_better_the_more_there_is_of_it_is_ranked_by_no_least(cli: Cli, tmp_path: Path, kind: str) -> None:
    store(tmp_path / "results.db", record())
    refused = cli(f"rank --kind {kind} --by rom,throughput_pt_long")
    assert (refused.code, "throughput_pt_long: more is better" in refused.err) == (2, True), refused


@pytest.mark.parametrize(("vectors", "told"), [(900, True), (1000, False), (1089, False)])
def test_means_over_somewhat_fewer_known_answers_are_told(cli: Cli, tmp_path: Path, vectors: int, told: bool) -> None:
    """A package that takes much RAM has only the shorter ones; one with a file of its own has some more."""
    own = replace(record("toy2/ref"), verification=Verification("package+known", 1092, 0, 0))
    less = replace(record("toy3/ref"), verification=Verification("known", vectors, 0, 0))
    store(tmp_path / "results.db", own, less)
    text = " ".join(cli("publish").out.split())
    assert (f"mean over {vectors} known answers, of others over up to 1089: toy3/ref" in text) == told


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
    assert "1 row of revisions, or of older sources, compilers or models left out" in shown.out


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


@pytest.mark.parametrize("ending", ["", "tex", "md", "csv", "json"])
def test_figures_without_known_answers_are_marked_where_columns_are_chosen(
    cli: Cli, tmp_path: Path, ending: str
) -> None:
    store(tmp_path / "results.db", record(), record("toy2/ref", failure=Failure(Reason.NO_EXPECTED, "none")))

    def shown(columns: str, *names: str) -> str:
        result = cli(f"publish {' '.join(names)} -c {columns}{' -o table.' + ending if ending else ''}")
        return (tmp_path / f"table.{ending}").read_text().replace("{-}", "-") if ending else result.out

    assert "no-expected-values" in shown("label,rom")
    assert shown("outcome,label,rom").count("no-expected-values") == 1
    assert "outcome" not in shown("label,rom", "toy1")


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


def test_a_file_of_all_metrics_is_sorted_by_a_size(cli: Cli, tmp_path: Path) -> None:
    """The order is not that of the means, and the size is of another workload than most runs."""
    sized = [record(f"toy{n}/ref", cycles=n, per_byte=10 - n, load="16/64") for n in (1, 2, 3)]
    store(tmp_path / "results.db", *sized, *(record(f"toy{n}/ref") for n in (1, 2)))
    for ending in ("csv", "json", "parquet"):
        result = cli(f"publish --sort encrypt@16/64 -o all.{ending}")
        assert (result.code, "no run here" in result.err) == (0, False), ending
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text())))
    assert [(r["variant"], r["encrypt@16/64"]) for r in rows] == [("toy3", "660"), ("toy2", "740"), ("toy1", "820")]


def test_the_nearest_sizes_are_of_the_operation(cli: Cli, tmp_path: Path) -> None:
    """Hashes of the same workload, which are stored after them, have other sizes."""
    store(tmp_path / "results.db", record(), record("toyhash/ref", primitive="crypto_hash"))
    assert "that are: encrypt@16/64, encrypt" in cli("publish -c label,encrypt@16/65").err


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("publish -c label,rom,encrypt@16/96", 0, "no run here has encrypt@16/96; the nearest sizes that are: "),
        ("publish -c label,encrypt@16/96", 1, "encrypt@0/128"),
        ("publish --sort encrypt@16/96", 1, "steelyard run NAME --workload 16/96"),
        ("publish --where encrypt@16/96<5", 1, "no run here has encrypt@16/96"),
        ("publish -c energy_encrypt_modelled,rom", 0, "no run here has energy_encrypt_modelled"),
        ("rank --by encrypt@16/96", 1, "no run here has encrypt@16/96"),
        ("compare flags==-O3 flags==-Os -c encrypt@16/96,rom", 0, "no run here has encrypt@16/96"),
        ("publish --where target==unoo", 1, "no stored run has a target 'unoo'; did you mean uno?"),
        ("publish --where workload==gmu", 1, "has a workload 'gmu'; write workload ~ \"gmu*\", for more stands after"),
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
        ("plot vectors -o v.vl.json", 1, "draws no other; run: steelyard run NAME --workload vectors"),
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


def test_what_answers_alike_is_named_by_its_place(tmp_path: Path) -> None:
    made = []
    for origin, digest, answers in (("p1", "a", "x"), ("p2", "b", "y"), ("p3", "c", "x")):
        seen = Verification("package", 9, 0, 0, answers * 64)
        made.append(replace(record(origin=origin, digest=digest), verification=seen))
    store(tmp_path / "results.db", *made)
    with Store.open(tmp_path / "results.db") as opened:
        said = _confirmations(opened, made)
    assert said == [f"toy1/ref ({p}) answers as run {n}, of other sources" for p, n in (("p1", 3), ("p3", 1))]


LEFT = "1 row of revisions, or of older sources, compilers or models left out; to see: steelyard publish --all-runs"


@pytest.mark.parametrize(
    "command",
    [
        "publish --where target==uno",
        "publish --where target==uno -o x.tex",
        "publish --where target==uno --pivot target -c rom",
        "rank --where target==uno",
        "report --where target==uno -o x.html",
        "plot top --where target==uno -o x.svg",
        "study --where target==uno -o x.html",
        "choose -t uno --mlen 16",
        "choose --table --mlen 16",
    ],
)
def test_a_filter_hides_not_that_older_sources_are_left_out(cli: Cli, tmp_path: Path, command: str) -> None:
    store(tmp_path / "results.db", record(), record(digest="b"), record("toy2/ref"))
    found = cli(command)
    assert found.code == 0
    assert (found.out + found.err).replace("uno: ", "").replace("\n", " ").count(LEFT) == 1


def test_what_the_filter_hides_is_not_counted(cli: Cli, tmp_path: Path) -> None:
    old = [record(rom=600, flags="-Os"), record(rom=400), record(rom=400, load="gmu")]
    store(tmp_path / "results.db", *old, record(digest="b", rom=700), record("toy2/ref"))
    shown = cli(["publish", "--where", "rom < 550", "-c", "label,rom"])
    assert "toy1" not in shown.out
    assert "2 rows of revisions, or of older sources" in shown.out
    for command in ("publish --where rom<550 --all-runs", "publish --where digest~* -c rom", "publish 2 --where rom>0"):
        assert "2 rows of revisions" not in cli(command).out


def test_a_stored_run_that_others_replaced_is_told_when_it_is_asked_for_again(tmp_path: Path) -> None:
    made = [record(), record("toy2/ref"), record(digest="b"), record(digest="b", target="due"), record(target="due")]
    numbers = store(tmp_path / "results.db", *made)
    stored = [replace(r, id=n) for r, n in zip(made, numbers, strict=True)]
    with Store.open(tmp_path / "results.db") as opened:
        [said] = _replaced(opened, (), stored[:2])
        assert said.endswith("; --force makes these the newest: toy1/ref")
        assert _replaced(opened, (), stored[1:3] + stored[4:]) == []


def test_a_stored_run_of_elsewhere_is_told_where_its_path_shows_others(cli: Cli, tmp_path: Path) -> None:
    """What was weighed there last are not the sources that are there now."""
    for place, files in (("a", toys.files()), ("b", toys.files() | {"more.h": "/* */\n"})):
        write(tmp_path / place / "crypto_aead/toy1/ref", files)
    said = lambda place, more="": " ".join(cli(f"run {place} -t uno -w 0/16 {more}").out.split())  # noqa: E731
    assert [LATER in said(place) for place in "ab"] == [False, False]
    (tmp_path / "a/crypto_aead/toy1/ref/more.h").write_text("/* */\n")
    assert LATER in said("a")
    assert LATER not in said("b")
    assert LATER not in said("a", "--force")
    assert LATER not in said("a")


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
