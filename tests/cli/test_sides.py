"""What the two sides of a comparison say of their rows, and which pairs follow from it."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import msgspec
from msgspec.structs import replace

from steelyard.cli.records import as_json
from tests.made_up import record, store

from .conftest import Cli

#: -Os of each target is the newest, so that it would be taken where flags were not asked for
BOTH = list(product(("uno", "due"), ("-O3", "-Os")))


def changes(cli: Cli, *words: str) -> list[tuple[object, ...]]:
    """Target, flags, old and new ROM of each pair."""
    made = json.loads(cli(["compare", *words, "-c", "rom", "--everything", "--json"]).out)[0]
    return [(r["target"], r["flags"], r["old"], r["new"]) for r in made["rows"]]


def test_what_one_side_says_narrows_it_and_pairs_stay_alike(cli: Cli, tmp_path: Path) -> None:
    """A file of two sets of flags beside a filter for one of them: -O3 is not compared with -Os."""
    old = [record(target=t, flags=f, rom=n) for n, (t, f) in enumerate(BOTH, 101)]
    new = [record(target=t, flags=f, rom=n, digest="b") for n, (t, f) in enumerate(BOTH, 201)]
    store(tmp_path / "results.db", *new)
    runs = [as_json(replace(r, id=n)) for n, r in enumerate(old, 1)]
    (tmp_path / "before.json").write_bytes(msgspec.json.encode({"schema": 1, "runs": runs}))
    assert changes(cli, "before.json", "flags == -O3") == [("uno", "-O3", 101, 201), ("due", "-O3", 103, 203)]
    assert changes(cli, "before.json", "flags == -O3 and target == due") == [("due", "-O3", 103, 203)]
    assert changes(cli, "flags == -Os and target == uno", "before.json") == [("uno", "-Os", 202, 102)]
    assert changes(cli, "target == uno", "flags == -Os") == [("uno", "-Os", 202, 202)]
    assert changes(cli, "flags == -O3", "flags == -Os and target == due") == [("due", "-O3", 203, 204)]
    assert changes(cli, "1", "flags == -Os") == [("uno", "-O3", 201, 202)]


def test_naming_the_only_target_compares_no_compilers(cli: Cli, tmp_path: Path) -> None:
    """A target brings its compiler along where targets are compared."""
    store(tmp_path / "results.db", record(rom=400), record(flags="-Os", compiler="gcc 2", rom=300))
    assert "0 setups compared" in cli(["compare", "flags == -O3", "flags == -Os and target == uno"]).out


def test_a_table_says_which_side_had_what(cli: Cli, tmp_path: Path) -> None:
    old, new = "gcc 1", "gcc 2"
    made = [
        record(target=t, flags=f, compiler=c, rom=100 + k) for k, (c, (t, f)) in enumerate(product((old, new), BOTH))
    ]
    store(tmp_path / "results.db", *made)
    assert "flags -O3 -> -Os" in cli("compare flags==-O3 flags==-Os -c rom").out
    compilers = cli(["compare", "compiler == 'gcc 1'", "compiler == 'gcc 2'", "-c", "rom"]).out
    assert compilers.count("compiler gcc 1 -> gcc 2") == 2
    targets = cli("compare target==uno target==due -c rom").out
    assert re.search("^uno -> due: toy1/ref$", targets, re.MULTILINE), targets
    mixed = cli(
        ["compare", "flags == -O3 and target == uno or flags == -Os and target == due", "flags == -Os", "-c", "rom"]
    )
    assert re.search(r"^ -O3 -> -Os +ROM \(bytes\)", mixed.out, re.MULTILINE), mixed.out
    [changed] = json.loads(cli("compare 1 2 -c rom --json").out)
    assert [(r["flags"], r["other_flags"]) for r in changed["rows"]] == [("-O3", "-Os")]
