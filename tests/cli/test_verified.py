"""Answers over runs of which some are not verified."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.cli.run import sheets_of
from steelyard.model.reasons import Failure, Reason
from tests.made_up import record, store

from .conftest import Cli


def test_runs_without_verified_figures_are_not_called_missing(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many")))
    assert "1 matching run, none of them verified" in cli("plot rom").err
    assert "no stored run matches" in cli("plot rom toy2").err


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


def test_a_run_says_why_whatever_its_columns_are() -> None:
    bad = record("toy3/ref", failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many"))
    for columns in ([], ["label", "rom"]):
        cells = [cell for s in sheets_of([record(), bad], columns) for line in s.lines for cell in line.cells]
        assert "2922 bytes too many" in cells
