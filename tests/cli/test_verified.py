"""Answers over runs of which some are not verified."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.cli import revisions
from steelyard.cli.run import sheets_of
from steelyard.model.campaign import Campaign
from steelyard.model.errors import WorkError
from steelyard.model.reasons import Failure, Reason
from tests.made_up import record, store

from .conftest import Cli


def test_runs_without_verified_figures_are_not_called_missing(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many")))
    assert "1 matching run, none of them verified" in cli("plot rom").err
    assert "no stored run matches" in cli("plot rom toy2").err
    assert "1 matching run, none of them verified" in cli("rank").err
    assert "no stored run matches" in cli("rank toy2").err
    assert "no stored run matches; steelyard rtl makes" in cli("rank toy2 --kind sizes").err


def test_a_baseline_alone_is_not_called_missing(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("nocrypt/ref", family="nocrypt"))
    assert "no run but nocrypt's, the baseline, matches" in cli("rank").err
    assert "steelyard rtl makes runs of hardware" in cli("rank --kind sizes").err


def test_a_ranking_says_whom_it_could_not_judge(cli: Cli, tmp_path: Path) -> None:
    unknown = Failure(Reason.NO_EXPECTED, "no known answers for mine")
    store(tmp_path / "results.db", record(), record("mine/ref", failure=unknown))
    for kind in ("top", "places", "merit", "pareto"):
        assert "without known answers, so not ranked: mine/ref" in cli(f"rank --kind {kind}").out, kind


def test_a_choice_and_a_study_say_so_too(cli: Cli, tmp_path: Path) -> None:
    unknown = Failure(Reason.NO_EXPECTED, "no known answers for mine")
    mine = replace(record("mine/ref", load="0/16"), failure=unknown)
    store(tmp_path / "results.db", mine)
    said = "without known answers, so not compared: mine/ref"
    assert said in cli("study").err
    store(tmp_path / "results.db", record(load="0/16"))
    assert said in cli("study").out
    assert said in cli("choose -t uno --mlen 16").out


def test_what_nobody_could_judge_is_in_no_figure_and_no_matrix(cli: Cli, tmp_path: Path) -> None:
    unknown = Failure(Reason.NO_EXPECTED, "no known answers for mine")
    store(tmp_path / "results.db", record(), replace(record("mine/ref"), failure=unknown))
    assert "without known answers, so not drawn: mine/ref" in cli("plot rom").err
    pivoted = cli("publish --pivot target --columns rom")
    assert re.search(r"^ mine/ref", pivoted.out, re.MULTILINE) is None
    assert "without known answers, so not shown: mine/ref" in pivoted.out
    alone = cli("publish mine --pivot target")
    assert (alone.code, "1 matching run, none of them verified" in alone.err) == (1, True)
    assert "into the variant's folder; docs/packages.md" in cli("publish").out


def test_revisions_that_nobody_can_judge_are_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Who compares his own cipher's has no known answers; the comparison says so."""
    mine = record("mine/ref", failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many"))
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda *_: [mine])
    asked = revisions.Revisions(tmp_path, (), Campaign(), None)
    with pytest.raises(WorkError, match="nothing could be weighed"):
        asked.of_revision("HEAD")
    mine = replace(record("mine/ref"), failure=Failure(Reason.NO_EXPECTED, "no known answers for mine"))
    assert [r["label"] for r in asked.of_revision("HEAD")] == ["mine/ref"]


def test_what_is_no_longer_verified_is_no_equal_result(cli: Cli, tmp_path: Path) -> None:
    wrong = Failure(Reason.KAT_MISMATCH, "count 1")
    large = Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many")
    store(
        tmp_path / "results.db",
        *(record("toy1/ref", flags=f, failure=e) for f, e in (("-O3", None), ("-Os", wrong))),
        *(record("toy2/ref", flags=f) for f in ("-O3", "-Os")),
        *(record("toy3/ref", flags=f, failure=large) for f in ("-O3", "-Os")),
    )
    both = ["flags == -O3", "flags == -Os"]
    plain = cli(["compare", *both])
    assert plain.code == 0
    assert re.search(r"^ toy1/ref +crypto_aead +uno .* verified +kat-mismatch$", plain.out, re.MULTILINE)
    assert "toy3/ref" not in plain.out
    assert "1 setup compared, 1 without figures on both sides, 1 verified on one side only, 0 only old" in plain.out
    for rule in ("worse", "rom>5%"):
        result = cli(["compare", *both, "--fail-on", rule])
        assert result.code == 1
        assert "--fail-on: toy1/ref on uno was verified, and now is kat-mismatch" in result.err
    assert cli(["compare", *reversed(both), "--fail-on", "worse"]).code == 0
    lost = cli(["compare", *both, "--where", "variant == toy1"])
    assert lost.code == 1
    assert "kat-mismatch" in lost.out
    gate = cli(["compare", *both, "--where", "variant == toy1", "--fail-on", "worse"])
    assert "--fail-on: toy1/ref on uno was verified, and now is kat-mismatch" in gate.err, (
        "although nothing is compared"
    )


def test_figures_whose_known_answers_are_gone_are_no_longer_verified(cli: Cli, tmp_path: Path) -> None:
    unknown = Failure(Reason.NO_EXPECTED, "")
    store(tmp_path / "results.db", record(), replace(record(flags="-Os"), failure=unknown))
    gate = cli(["compare", "flags == -O3", "flags == -Os", "--fail-on", "worse"])
    assert (gate.code, "1 verified on one side only" in gate.out) == (1, True)
    assert "--fail-on: toy1/ref on uno was verified, and now is no-expected-values" in gate.err


def test_a_run_says_why_whatever_its_columns_are() -> None:
    bad = record("toy3/ref", failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many"))
    for columns in ([], ["label", "rom"]):
        cells = [cell for s in sheets_of([record(), bad], columns) for line in s.lines for cell in line.cells]
        assert "2922 bytes too many" in cells


def test_a_report_shows_figures_without_known_answers_and_marks_them(cli: Cli, tmp_path: Path) -> None:
    """As the tables do: whoever has a new cipher has no known answers of it."""
    unknown = Failure(Reason.NO_EXPECTED, "no known answers for mine")
    wrong = record("toy2/ref", failure=Failure(Reason.KAT_MISMATCH, "count 1"))
    own = replace(record("mine/ref", cycles=1234, target="due"), failure=unknown)
    store(tmp_path / "results.db", record(), replace(own, setup=replace(own.setup, target="uno")), own, wrong)
    made = cli("report -o - --format md").out
    assert "1 verified run of 1 algorithm on 1 target; 3 runs without verified figures" in made
    for target in ("uno", "due"):
        [table] = re.findall(rf"^### {target} \(.*?(?=^###)", made, re.MULTILINE | re.DOTALL)
        assert re.search(r"mine/ref +\| no-expected-values +\| +1234 ", table), table
    assert made.count("### No verified figures") == 1
    winners = made.split("### crypto_aead: first by each metric")[1].split("###")[0]
    assert "mine" not in winners


def test_a_wrong_answer_by_an_older_compiler_hides_no_newer_run(cli: Cli, tmp_path: Path) -> None:
    """One by the newest compiler does, at whichever workload."""
    wrong = Failure(Reason.KAT_MISMATCH, "count 1")
    store(tmp_path / "old.db", record(compiler="gcc 1", failure=wrong), record(compiler="gcc 2"))
    failed = record(compiler="gcc 3", failure=Failure(Reason.FLASH_OVERFLOW, "1"))
    store(tmp_path / "three.db", record(compiler="gcc 1"), record(compiler="gcc 2", failure=wrong), failed)
    chosen = cli("choose -t uno --mlen 16 --db three.db")
    assert (chosen.code, "is first" in chosen.out) == (1, False), chosen.out
    ask = ["rank", "toy1/ref", "--by", "rom", "--db"]
    assert cli([*ask, "old.db"]).code == 0
    later = record(compiler="gcc 2", load="0/16", failure=wrong)
    store(tmp_path / "new.db", record(compiler="gcc 1"), record(compiler="gcc 2", load="0/32"), later)
    for where in ([], ["--where", "workload ~ 0/32*"], ["--where", 'compiler == "gcc 1"']):
        shown = cli([*ask, "new.db", *where])
        assert shown.code == 1, shown.out


@pytest.mark.parametrize("where", [[], ["--where", "target == uno"]])
def test_what_answered_wrongly_brings_no_older_sources_back(cli: Cli, tmp_path: Path, where: list[str]) -> None:
    """Nor does a machine's failure that another path's wrong answer hides; other flags' figures stay."""
    wrong, lost = Failure(Reason.WRONG_OUTPUT, "0/4000"), Failure(Reason.COMPILE_TIMEOUT, "")
    new, old = record(digest="b", load="0/16", failure=wrong, origin="p"), record(digest="a", origin="p")
    store(tmp_path / "one.db", new, old, record(digest="b", origin="p"))
    store(tmp_path / "two.db", old, replace(new, failure=lost), replace(new, origin="q"))
    other = record(digest="b", flags="-Os", origin="p")
    store(tmp_path / "flags.db", other, old, replace(new, failure=lost), replace(new, origin="q"))
    for name, flags in (("one", []), ("two", []), ("flags", ["-Os"])):
        ranked = cli(["rank", "toy1/ref", "--by", "rom", "--db", f"{name}.db", *where]).out
        assert re.findall(r" (-O[3s]) ", ranked) == flags, (name, ranked)
