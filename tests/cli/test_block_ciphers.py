"""Verbs about block ciphers, whose calls have one size."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard.analyse.rows import rows
from steelyard.model.campaign import Campaign
from steelyard.model.paths import CIPHERS
from steelyard.publish.results import DEFAULT
from steelyard.store import Store
from steelyard.web import campaigns
from tests.conftest import the_target

from .conftest import Cli

NAMES = "crypto_block/xtea/xtea/ref crypto_block/speck/speck3264/ref"


@pytest.fixture
def weighed(cli: Cli) -> Cli:
    """Two block ciphers that were run with sizes."""
    the_target("uno")
    made = cli(f"run {NAMES} -t uno -w 16/64,0/16 -w vectors")
    assert made.code == 0, made.err
    assert made.err.count("workloads are ignored for crypto_block, whose calls have one size") == 1
    return cli


def test_there_is_one_run_of_each_whatever_workloads_are_asked_for(weighed: Cli) -> None:
    found = json.loads(weighed("list runs --json").out)
    # of two that run side by side either may end first
    assert sorted((r["setup"]["variant"], r["setup"]["workload"][:4]) for r in found) == [
        (name, "kat ") for name in ("nocrypt", "speck3264", "xtea")
    ]
    assert {"cycles_encrypt_mean", "cycles_schedule_encrypt_mean", "encrypt_per_byte", "context"} <= {
        *found[0]["metrics"]
    }
    again = weighed(f"run {NAMES} -t uno --dry-run")
    assert "0 to run, 3 stored; nothing was done" in again.out


def test_answers_know_them(weighed: Cli) -> None:
    shown = weighed("show 2").out
    assert "64 known answers" in shown
    assert "cycles_schedule_decrypt_mean" in shown
    table = weighed("publish").out
    assert all(f" {heading} " in table for heading in ("encrypt", "schedule encrypt", "encrypt/B", "context", "ROM"))
    ranked = weighed("rank --group-by block").out
    assert ranked.index("block 32 bits, uno") < ranked.index("block 64 bits, uno")
    assert "key 64 bits, uno" in weighed("rank --group-by key").out
    places = weighed("rank --kind places --json")
    assert places.code == 0
    assert "schedule_encrypt" in places.out
    compared = weighed("compare xtea/ref speck3264/ref").out
    assert "schedule decrypt (cycles)" in compared


def test_a_report_a_choice_and_any_metric(weighed: Cli, tmp_path: Path) -> None:
    assert weighed(f"report -o {tmp_path / 'report.html'}").code == 0
    page = (tmp_path / "report.html").read_text()
    assert page.count("speck3264") > 1
    assert "schedule encrypt" in page
    chosen = weighed("choose -t uno --mlen 16 --primitive crypto_block")
    assert chosen.code == 0
    assert "speck3264/ref is first: of 2 that fit" in chosen.out or "xtea/ref is first: of 2 that fit" in chosen.out
    assert "encryption of 16 bytes" in chosen.out
    assert weighed("choose -t uno --mlen 16 --adlen 4 --primitive crypto_block").code == 2
    table = weighed("publish --columns label,cycles_encrypt_mean,cycles_encrypt_warm_mean --json").out
    rows = json.loads(table)[0]["rows"]
    assert len(rows) >= 2
    assert all(r["cycles_encrypt_warm_mean"] == r["cycles_encrypt_mean"] for r in rows)  # an AVR has no cache


def test_history_follows_them(cli: Cli, tmp_path: Path) -> None:
    the_target("uno")
    folder = tmp_path / "crypto_block" / "xtea" / "ref"
    shutil.copytree(CIPHERS / "crypto_block" / "xtea" / "xtea" / "ref", folder)

    def git(*arguments: str) -> None:
        name = ["-c", "user.name=you", "-c", "user.email=you@example.com"]
        environment = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(["git", *name, *arguments], cwd=tmp_path, env=environment, check=True)

    git("init", "-q", ".")
    for text in ("", "/* other */\n"):
        source = folder / "ref.c"
        source.write_text(source.read_text() + text)
        git("add", "crypto_block")
        git("commit", "-q", "-m", text or "begin")
    told = cli("history HEAD crypto_block -t uno -c cycles_encrypt_mean,cycles_schedule_encrypt_mean --json")
    assert told.code == 0, told.err
    rows = json.loads(told.out)[0]["rows"]
    assert len(rows) == 2
    assert all(r["cycles_encrypt_mean"] > r["cycles_schedule_encrypt_mean"] > 0 for r in rows)


def test_profile_takes_an_operation_and_no_size(weighed: Cli) -> None:
    name = "crypto_block/xtea/xtea/ref"
    assert (
        "xtea/ref on uno, schedule_decrypt, -O3" in weighed(f"profile {name} -t uno --operation schedule_decrypt").out
    )
    assert "crypto_block_encrypt " in weighed(f"profile {name} -t uno").out
    for wrong, why in (
        ("--size 0/8", "--size: calls of a crypto_block have one size; leave it out"),
        ("--operation hash", "xtea/ref is a crypto_block; it has no hash"),
    ):
        refused = weighed(f"profile {name} -t uno {wrong}")
        assert (refused.code, why in refused.err) == (2, True), refused.err


def test_a_campaign_misses_no_size_of_them(weighed: Cli) -> None:
    with Store.open("results.db") as store:
        stored = rows(store.records(range(1, 4)))
    asked = Campaign(implementations=("speck3264/ref", "xtea/ref"), targets=("uno",))
    (counts,) = campaigns.sheets(asked, stored)
    assert [line.cells for line in counts.lines] == [("uno", 2, 0, 0)]
    assert DEFAULT["crypto_block"][0] == "cycles_encrypt_mean"  # what a matrix shows
