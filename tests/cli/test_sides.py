"""What the two sides of a comparison say of their rows, and which pairs follow from it."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steelyard.cli import revisions
from steelyard.cli.records import as_json
from steelyard.cli.weigh import Weighed
from steelyard.model.campaign import Campaign
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.pipeline import Job
from tests import toys
from tests.conftest import write
from tests.made_up import record, store

from .conftest import Cli, cells

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


def test_pairs_have_equal_sources_unless_asked(cli: Cli, tmp_path: Path) -> None:
    """The source has changed since -O3 was run; only the old one was run with -Os as well."""
    first = [record(origin="mine", flags=f, rom=n) for f, n in (("-O3", 500), ("-Os", 300))]
    store(tmp_path / "results.db", *first, record(origin="mine", digest="b", rom=400))
    ask = "compare flags==-O3 flags==-Os --where origin==mine -c rom"
    equal = cli(ask)
    assert re.search(r"500 +300", equal.out), equal.out
    assert "sources differ" not in equal.out
    asked = cli(f"{ask} --sources")
    assert re.search(r"400 +300", asked.out), asked.out
    assert "sources differ: toy1/ref" in asked.out


def test_where_only_other_workloads_share_sources_no_size_is_compared(cli: Cli, tmp_path: Path) -> None:
    """As after ``check``, an edit and a run of one more set of flags."""
    store(tmp_path / "results.db", record(), record(digest="b", load="kat", rom=400), record(digest="b", flags="-Os"))
    result = cli("compare flags==-O3 flags==-Os -c rom,stack --everything")
    assert re.search(r"400 +500", result.out)
    assert "stack (bytes)" not in result.out
    assert "1 setup of other sizes on one side, so not compared: stack" in result.out
    assert "workload differs, without what depends on sizes" in result.out


def test_without_equal_sources_nothing_is_compared(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(flags="-Os"), record(digest="b"))
    result = cli("compare flags==-O3 flags==-Os -c rom")
    assert result.code == 1
    assert "--sources compares different sources" in result.out
    assert "0 setups compared" in result.out


def test_a_setup_of_two_workloads_is_compared_once(answers: Cli) -> None:
    result = answers("compare flags==-O3 flags==-Os -c rom")
    assert "2 setups compared, 0 only old, 0 only new, 0 refused" in result.out
    assert "2 setups compared" in answers("compare workload~default* workload~gmu* --where flags==-O3 -c rom").out


def test_a_program_reads_of_a_change_its_metric_unit_and_number(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(rom=400), record(flags="-Os", rom=300), record("toy2/ref"))
    ask = "compare flags==-O3 flags==-Os -c rom,cycles_encrypt_mean"
    changes, missing = json.loads(cli(f"{ask} --json").out)
    [row] = changes["rows"]
    assert (row["label"], row["metric"], row["unit"], row["verdict"]) == ("toy1/ref", "rom", "bytes", "better")
    assert (row["old"], row["new"], row["ratio"], row["change"]) == (400, 300, 0.75, -25.0)
    assert row["runs"] == [1, 2]
    assert missing["title"] == "only in the old results"
    assert cells(cli(f"{ask} --format csv --everything").out)[1][6:13] == [
        "cycles_encrypt_mean", "cycles", "1000.0", "1000.0", "1.0", "0.0", "same"
    ]  # fmt: skip
    assert re.search(r"ROM \(bytes\) +400 +300 +0\.7500 +-25\.00 % ▾", cli(ask).out)


def test_sides_of_two_primitives_are_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(), record("toy2/ref", primitive="crypto_hash"), record("toy2/ref", rom=9))
    why = "the old side is of crypto_aead, the new one of crypto_hash: only figures of one primitive can be compared"
    for sides in (["toy1/ref", "2"], ["primitive == crypto_aead", "primitive == crypto_hash"]):
        refused = cli(["compare", *sides, "--fail-on", "worse"])
        assert (refused.code, refused.out) == (2, "")
        assert f"{why}; name two of one primitive" in " ".join(refused.err.split())
    one = cli("compare toy1/ref toy2/ref -c rom")
    assert "1 setup compared" in one.out, "the AEAD of that name"
    assert "only in the new results" in one.out


def test_one_call_stands_beside_no_other_primitives(cli: Cli) -> None:
    for verb in ("profile", "size"):
        refused = cli([verb, "asconhash256/small", "--against", "asconaead128/small", "-t", "uno"])
        assert refused.code == 2
        said = "asconhash256/small is a crypto_hash and asconaead128/small a crypto_aead: only one primitive"
        assert said in " ".join(refused.err.split())


@pytest.mark.parametrize(
    "rule", ["ram>0%", "encrypt@16/64>0%", "energy_encrypt_modelled>0%", "image_rom>10%", "rom>10%"]
)
def test_a_gate_compares_what_it_names(cli: Cli, tmp_path: Path, rule: str) -> None:
    """Whatever the columns are, and although the size is of another workload than most runs."""
    for n, label in enumerate(("toy1/ref", "toy2/ref"), 1):
        more = {"energy_encrypt_modelled": 2.0 * n, "image_rom": 600 * n, "rom": 500 * n, "stack": 80 * n}
        store(tmp_path / "results.db", record(label, load="16/64", per_byte=10 * n, **more))  # type: ignore[arg-type]
        store(tmp_path / "results.db", record(label, load="gmu", **more))  # type: ignore[arg-type]
    for columns in ("", "-c cycles_encrypt_mean"):
        worse = cli([*f"compare toy1 toy2 {columns} --fail-on".split(), rule])
        assert (worse.code, f"--fail-on: {rule[: rule.index('>')]} is worse by more than" in worse.err) == (1, True)
        assert cli([*f"compare toy2 toy1 {columns} --fail-on".split(), rule]).code == 0


@pytest.mark.parametrize(
    ("metric", "old", "new", "beside"),
    [
        ("cycles_encrypt_mean", 100_000.0, 100_100.0, {"clock_uncertainty": 1000.0}),
        ("energy_encrypt_measured", 7.26, 7.42, {"energy_encrypt_measured_uncertainty": 0.15}),
        ("power_measured", 60.0, 60.9, {"power_measured_uncertainty": 1.0}),
    ],
)
def test_what_a_board_cannot_tell_is_no_change(
    cli: Cli, tmp_path: Path, metric: str, old: float, new: float, beside: dict[str, float]
) -> None:
    """Its clock and its meter are as uncertain in what is read from the database as they are in files; a gate passes
    such a change, and stops it where nothing is uncertain."""
    base = record("toy1/ref")
    for label, value in (("toy1/ref", old), ("toy2/ref", new)):
        made = record(label)
        store(tmp_path / "results.db", replace(made, metrics=made.metrics | {metric: value} | beside))
    asked = f"compare toy1/ref toy2/ref -c {metric} --fail-on {metric}>0%"
    done = cli(asked)
    assert (done.code, "within the noise on the one target" in done.out or metric == "power_measured") == (0, True)
    for label, value in (("toy1/ref", old), ("toy2/ref", new)):
        store(tmp_path / "results.db", replace(record(label), metrics=base.metrics | {metric: value}))
    assert cli(asked).code == 1


def test_what_was_left_out_is_neither_unchanged_nor_passed(cli: Cli, tmp_path: Path) -> None:
    old = [record(load=load, stack=159) for load in ("kat", "default")]
    store(tmp_path / "results.db", old[0], record("toy2/ref", load="0/16", stack=183), old[1])
    plain = cli("compare toy1 toy2")
    assert (plain.code, "no change in RAM" in plain.out) == (0, False)
    assert "no change in static RAM" in plain.out
    assert "1 setup of other sizes on one side, so not compared: stack, heap" in plain.out
    for rule in ("stack>0%", "worse", "any>50%"):
        gate = cli(["compare", "toy1", "toy2", "--fail-on", rule])
        what = "stack" if rule.startswith("stack") else "stack, heap"
        said = f"--fail-on: {what} of toy2/ref on uno were of other sizes, so nobody can compare them"
        assert (gate.code, said in " ".join(gate.err.split())) == (1, True), rule
    assert cli(["compare", "toy1", "toy2", "--fail-on", "rom>0%"]).code == 0


@pytest.mark.parametrize(
    ("metric", "said"),
    [("ticks_encrypt_mean", "nothing that was compared has"), ("context", "one side of toy2/ref on uno has no")],
)
def test_a_gate_does_not_pass_what_no_figure_is_of(cli: Cli, tmp_path: Path, metric: str, said: str) -> None:
    store(tmp_path / "results.db", record(context=4), record("toy2/ref"))
    gate = cli(["compare", "toy1", "toy2", "--fail-on", f"{metric}>5%"])
    assert (gate.code, f"--fail-on: {said} {metric}" in gate.err) == (1, True)


@pytest.mark.parametrize("rule", ["worse", "any>5%"])
def test_a_gate_does_not_pass_a_mean_that_is_gone(cli: Cli, tmp_path: Path, rule: str) -> None:
    store(tmp_path / "results.db", record(), replace(less := record("toy2/ref"), metrics=without_means(less)))
    gate = cli(["compare", "toy1", "toy2", "--fail-on", rule])
    assert (gate.code, "--fail-on: one side of toy2/ref on uno has no cycles_encrypt_mean" in gate.err) == (1, True)
    assert cli(["compare", "toy2", "toy1", "--fail-on", rule]).code == 0


def without_means(of: Record) -> dict[str, float]:
    return {name: value for name, value in of.metrics.items() if not name.endswith("_mean")}


def test_a_gate_does_not_pass_what_cannot_be_compared(cli: Cli, tmp_path: Path) -> None:
    pairs = [record(f"toy{n}/ref", flags=f, compiler=f"gcc {c}") for n, f, c in (
        (1, "-O3", 1), (1, "-Os", 1), (2, "-O3", 1), (2, "-Os", 2))]  # fmt: skip
    store(tmp_path / "results.db", *pairs)
    for more, code in ((), 1), (("--mixed",), 0):
        gate = cli(["compare", "flags == -O3", "flags == -Os", "--fail-on", "worse", *more])
        assert (gate.code, "toy2/ref on uno cannot be compared: compiler differs" in gate.err) == (code, not more)


@pytest.mark.parametrize("reason", [Reason.COMPILE_ERROR, Reason.FORGERY_ACCEPTED])
def test_figures_without_known_answers_can_be_lost(cli: Cli, monkeypatch: pytest.MonkeyPatch, reason: Reason) -> None:
    """On one target of two: the other is compared all the same."""
    unknown = Failure(Reason.NO_EXPECTED, "")
    old = [replace(record(target=t), failure=unknown) for t in ("uno", "bluepill")]
    held = {"HEAD~1": old, "HEAD": [old[0], record(target="bluepill", failure=Failure(reason, ""))]}
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: held[revision])
    gate = cli("compare --revisions HEAD~1 HEAD --fail-on worse")
    assert (gate.code, f"toy1/ref on bluepill had figures, and now is {reason}" in gate.err) == (1, True)
    assert "1 with figures on one side only" in gate.out
    assert "without figures on both sides" not in gate.out
    gone = {"HEAD~1": old, "HEAD": old[:1]}
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: gone[revision])
    assert (
        "toy1/ref on bluepill had figures, and HEAD has" in cli("compare --revisions HEAD~1 HEAD --fail-on worse").err
    )


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"compiler": "gcc 2"}, "compiler differs"),
        ({"compiler": "gcc 2", "failure": Failure(Reason.FORGERY_ACCEPTED, "")}, "compiler differs"),
        ({"load": "0/32"}, "one side of toy2/ref on uno has no encrypt@0/16"),
    ],
)
def test_a_gate_does_not_pass_figures_without_known_answers_that_cannot_be_compared(
    cli: Cli, tmp_path: Path, new: dict[str, Any], said: str
) -> None:
    """As those of verified runs, of which there is one that is as it was."""
    unknown = Failure(Reason.NO_EXPECTED, "")
    sides = [
        [record(flags=f), replace(r := record("toy2/ref", flags=f, **of), failure=r.failure or unknown)]
        for f, of in (("-O3", {}), ("-Os", new))
    ]
    store(tmp_path / "results.db", *sides[0], *sides[1])
    command = ["compare", "flags == -O3", "flags == -Os", "--columns", "encrypt@0/16", "--fail-on", "encrypt@0/16>5%"]
    gate = cli(command)
    assert (gate.code, said in " ".join(gate.err.split()), "toy2/ref on uno" in gate.err) == (1, True, True), gate.err


def test_a_gate_of_files_does_not_pass_what_was_left_out(cli: Cli, tmp_path: Path) -> None:
    """Two packages of one name, of which the newest is compared."""
    for name, places in (("old", "xy"), ("new", "vw")):
        runs = [as_json(replace(record(digest=p), origin=p, id=n)) for n, p in enumerate(places, 1)]
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode({"schema": 1, "runs": runs}))
    for where in ([], ["--where", "target == uno"]):
        gate = cli(["compare", "old.json", "new.json", "--fail-on", "worse", *where])
        assert (gate.code, "--fail-on: toy1/ref means other sources too" in gate.err) == (1, True), gate.err


def test_a_gate_of_files_is_of_every_workload_that_both_have(cli: Cli, tmp_path: Path) -> None:
    """What a campaign weighed in two is compared in each; else the gate says what was not compared."""
    loads = ("0/16", "0/64")
    made = {
        "old": [record(load=w) for w in loads],
        "new": [record(load=w, stack=85 if w == "0/16" else 130) for w in loads],
        "more": [*(record(load=w) for w in loads), record(load="0/32")],
    }
    for name, records in made.items():
        runs = [as_json(replace(r, id=n)) for n, r in enumerate(records, 1)]
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode({"schema": 1, "runs": runs}))
    assert cli("compare old.json old.json --fail-on worse").code == 0
    gate = cli("compare old.json new.json --fail-on stack>50%")
    assert (gate.code, "2 setups compared" in gate.out, "stack is worse by" in gate.err) == (1, True, True), gate.err
    more = cli("compare old.json more.json --fail-on worse")
    assert (more.code, "which both sides have, was not compared" in more.err) == (1, True), more.err


def test_a_gate_of_revisions_does_not_pass_what_was_not_compared(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages of one name that have all moved, and a column that nothing has."""
    held = {
        when: [replace(record(digest=f"{p}{when}"), origin=f"{p} at {when} (0123456789ab)") for p in places]
        for when, places in (("HEAD~1", "xy"), ("HEAD", "vw"))
    }
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: held[revision])
    moved = cli("compare --revisions HEAD~1 HEAD --fail-on worse")
    assert (moved.code, "--fail-on: toy1/ref means other sources too" in moved.err) == (1, True), moved.err
    held["HEAD"] = held["HEAD~1"] = held["HEAD"][:1]
    assert cli("compare --revisions HEAD~1 HEAD --fail-on worse").code == 0
    none = cli("compare --revisions HEAD~1 HEAD --columns cycles_hash_mean --fail-on worse")
    assert (none.code, "no run here has cycles_hash_mean" in none.err) == (1, True), none.err
    assert "--fail-on: nothing that was compared has cycles_hash_mean" in none.err
    held["HEAD"] = [replace(r := held["HEAD"][0], metrics=r.metrics | {"cycles_hash_mean": 1.0})]
    new = cli("compare --revisions HEAD~1 HEAD --columns cycles_hash_mean --fail-on worse")
    assert (new.code, "has cycles_hash_mean on both sides" in new.err) == (1, True), new.err


def test_what_a_revision_lost_is_no_longer_verified(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package that is refused makes no run; one that was never verified is no loss."""
    large = record("toy3/ref", failure=Failure(Reason.FLASH_OVERFLOW, "2922 bytes too many"))
    held = {"HEAD~1": [record(), record("toy2/ref"), large], "HEAD": [record()]}
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: held[revision])
    gate = cli("compare --revisions HEAD~1 HEAD --fail-on worse")
    assert (gate.code, gate.err.count("--fail-on: ")) == (1, 1)
    assert "toy2/ref on uno was verified, and HEAD has no result of it" in gate.err
    assert cli("compare --revisions HEAD~1 HEAD").code == 0
    assert cli("compare --revisions HEAD HEAD~1 --fail-on worse").code == 0


def test_a_revision_is_compared_in_each_workload(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is equal passes in both, and what is worse in either does not."""
    loads = ("0/16", "0/64")
    held = {
        "HEAD~1": [record(load=w) for w in loads],
        "HEAD": [record(load=w, per_byte=10 + (w == "0/16")) for w in loads],
    }
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: held[revision])
    for size in loads:
        rule = f"encrypt@{size}>1%"
        assert cli(["compare", "--revisions", "HEAD", "HEAD", "--fail-on", rule]).code == 0
        gate = cli(["compare", "--revisions", "HEAD~1", "HEAD", "--fail-on", rule])
        assert (gate.code, "2 setups compared" in gate.out) == (int(size == "0/16"), True), gate.err


def test_a_gate_fails_where_a_size_that_is_compared_is_gone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"HEAD~1": [record(load="0/16,0/64")], "HEAD": [replace(r := record(load="0/16,0/64"), points=r.points[:1])]}
    monkeypatch.setattr(revisions, "git", lambda *_: "0" * 40)
    monkeypatch.setattr(revisions.Revisions, "weighed", lambda _, revision, __: held[revision])
    for rule in ("worse", "any>5%"):
        asked = ["compare", "--revisions", "HEAD~1", "HEAD", "--columns", "encrypt@0/16,encrypt@0/64"]
        gate = cli([*asked, "--fail-on", rule])
        assert (gate.code, "one side of toy1/ref on uno has no encrypt@0/64" in gate.err) == (1, True)


def test_sources_of_a_revision_are_where_it_has_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not where they were weighed first, and in each folder that holds them."""
    for place in ("avr", "arm"):
        write(tmp_path / place / "crypto_aead/toy1/ref", toys.files() | {"LWC_AEAD_KAT_128_128.txt": toys.kat()})

    def weigh(jobs: list[Job], _: object) -> Weighed:
        setups = {job.plan.key: job.plan for job in jobs}
        return Weighed([replace(record(), setup=s, origin="/elsewhere") for s in setups.values()], [], lost=False)

    monkeypatch.setattr(revisions, "weigh", weigh)
    monkeypatch.setattr(revisions, "copied", lambda *_: nullcontext(tmp_path))
    monkeypatch.setattr(revisions, "files_of", lambda *_: [])
    monkeypatch.setattr(revisions, "git", lambda *_: "")
    asked = revisions.Revisions(tmp_path, (), Campaign(targets=("uno",), flags=("-Os",), workloads=("kat",)), None)
    shutil.copytree(tmp_path / "avr", tmp_path / "other/avr")  # of the same family
    for there in (["arm", "avr", "other/avr"], ["avr", "other/avr"]):
        places = [r.origin for r in asked.weighed("HEAD", "0" * 40)]
        assert places == [f"{p} at HEAD (000000000000)" for p in there]
        shutil.rmtree(tmp_path / "arm", ignore_errors=True)


def test_a_gate_does_not_pass_what_a_revision_refuses(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though a package of its name is new elsewhere. A variant that the repository's folder names keeps its name."""
    top = tmp_path / "toy1"
    files = toys.files() | {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
    write(top / "ref", files)
    monkeypatch.setattr(revisions, "git", lambda *_: str(top))
    monkeypatch.setattr(revisions, "copied", lambda *_: nullcontext(top))
    monkeypatch.setattr(revisions, "files_of", lambda *_: [])
    ask = "compare --revisions {} HEAD -t uno -w kat --fail-on worse"
    assert cli(ask.format("HEAD")).code == 0
    weighed, plain = revisions.Revisions.weighed, {"HEAD": files, "HEAD~1": files}

    def at(self: revisions.Revisions, revision: str, commit: str) -> list[Record]:
        shutil.rmtree(top)
        write(top / "ref", plain[revision])
        if revision == "HEAD":
            write(top / "opt", files)
        return weighed(self, revision, commit)

    monkeypatch.setattr(revisions.Revisions, "weighed", at)
    assert cli(ask.format("HEAD~1")).code == 0
    plain["HEAD"] = {name: text for name, text in files.items() if not name.endswith(".c")}
    gate = cli(ask.format("HEAD~1"))
    assert (gate.code, "--fail-on: ref was weighed, and HEAD refuses it" in gate.err) == (1, True), gate.err


def test_each_package_of_one_name_has_a_history_of_its_own(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the first revision has one of them."""
    held = {"a": {"avr": 100}, "b": {"avr": 100, "arm": 300}, "c": {"avr": 110, "arm": 300}}
    commits = [revisions.Commit(commit, before, commit) for before, commit in [(None, "a"), ("a", "b"), ("b", "c")]]
    monkeypatch.setattr(revisions, "git", lambda *_: ".")
    monkeypatch.setattr(revisions.Revisions, "log", lambda *_: commits)
    monkeypatch.setattr(
        revisions.Revisions,
        "weighed",
        lambda _, name, __: [record(origin=f"{p} at {name} (0123456789ab)", rom=n) for p, n in held[name].items()],
    )
    shown = cli("history HEAD --target uno -c rom").out
    rows = re.findall(r"^ (\w) +\w +(toy1/ref \(\w+\)) +(\d+)( ▴)?", shown, re.MULTILINE)
    arm, avr = (f"toy1/ref ({p})" for p in ("arm", "avr"))
    assert [r[:3] for r in rows] == [
        ("b", arm, "300"), ("c", arm, "300"), ("a", avr, "100"), ("b", avr, "100"), ("c", avr, "110")
    ], shown  # fmt: skip
