"""``choose`` over made-up records: which of them it takes, what it says of them, and when it says no."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.cli.plan import Plan
from steelyard.model.campaign import Campaign
from steelyard.model.protocol import PROTOCOLS
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.model.row import Row
from steelyard.model.target import load_target
from steelyard.publish.choice import _ratio
from tests.made_up import record, store

from .conftest import Cli

ASK = "choose -t uno --mlen 24 --adlen 8"


def linear(label: str, per_byte: int, **more: Any) -> Record:
    """A record whose mean over the known answers, of 32 bytes on average, belongs to its points."""
    return record(label, per_byte=per_byte, cycles=100 + 32 * per_byte, **more)


def on_board(made: Record) -> Record:
    """The record as a board's."""
    return replace(made, setup=replace(made.setup, device="board"))


@pytest.fixture
def chosen(cli: Cli, tmp_path: Path) -> Cli:
    """Fast and large, slow and small, one with two flag sets, and what may not be chosen."""
    wrong = Failure(Reason.WRONG_OUTPUT, "vector 1")
    store(
        tmp_path / "results.db",
        linear("nocrypt/ref", 1, rom=0),
        linear("fast1/ref", 10, rom=5000, stack=300),
        linear("small1/ref", 40, rom=900, stack=90),
        linear("both1/ref", 20, rom=3000, stack=200),
        linear("both1/ref", 30, rom=2000, stack=200, flags="-Os"),
        linear("both1/ref", 30, rom=9000, stack=200, flags="-O1"),
        linear("replaced1/ref", 1, digest="a", rom=10),
        record("replaced1/ref", digest="b", failure=wrong),
        linear("older1/ref", 2, digest="a", rom=20),
        linear("older1/ref", 50, digest="b", rom=8000, stack=400),
        on_board(linear("small1/ref", 5, rom=900, stack=90)),
        linear("other1/ref", 1, rom=1, compiler="gcc 2"),
        linear("hash1/ref", 1, primitive="crypto_hash", rom=1),
        linear("fast1/ref", 3, target="bluepill", rom=4000),
    )
    return cli


def lines(chosen: Cli, ask: str) -> list[dict[str, object]]:
    """The table, as JSON has it."""
    said = chosen(f"{ask} --json")
    [sheet] = json.loads(said.out)
    return list(sheet["rows"])


def test_programs_read_the_unit_of_each_figure(chosen: Cli) -> None:
    for ask in (f"{ASK} --rate 5/s --battery 230mAh", f"{ASK} --rom 10", "choose --table --mlen 24"):
        [sheet] = json.loads(chosen(f"{ask} --json").out)
        units = {c["name"]: c["unit"] for c in sheet["columns"]}
        costs = {"cycles": "cycles", "rom": "bytes", "ram": "bytes", "energy": "µJ", "share": "%", "life": "days"}
        assert {n: units[n] for n in costs if n in units} == {n: u for n, u in costs.items() if n in units}
        assert "cycles" in units
    assert "cycles: cycles" not in chosen(ASK).out


def test_only_what_stands_side_by_side_is_chosen_from(chosen: Cli) -> None:
    found = [(r["label"], r["flags"]) for r in lines(chosen, ASK)]
    assert found == [("fast1/ref", "-O3"), ("both1/ref", "-O3"), ("both1/ref", "-Os"), ("small1/ref", "-O3"),
                     ("older1/ref", "-O3")]  # fmt: skip
    text = chosen(ASK).out
    assert "1 row of device board left out" in text
    assert "1 row of other compilers, harnesses or timing models left out" in text


def test_what_a_newer_harness_weighed_too_stays_among_the_others(chosen: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", linear("fast1/ref", 10, harness="i", rom=5000, stack=300))
    found = [(r["label"], r["flags"]) for r in lines(chosen, ASK)]
    assert found[:2] == [("fast1/ref", "-O3"), ("both1/ref", "-O3")]
    assert "2 rows of other compilers, harnesses or timing models left out" in chosen(ASK).out


def test_what_is_measured_stands_alone_where_the_harness_is_a_newer_one(
    chosen: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weighed(ask: object, name: str, rows: Sequence[Row], size: tuple[int, int]) -> tuple[bool, list[str]]:
        load = f"{size[0]}/{size[1]}"
        made = [linear(str(r["label"]), 12, harness="i", load=load, flags=str(r["flags"])) for r in rows]
        return bool(store(tmp_path / "results.db", *made)), []

    monkeypatch.setattr("steelyard.cli.choose._measured", weighed)
    [found] = lines(chosen, f"{ASK} --rom 1000 --measure")
    assert (found["label"], found["by"], found["cycles"]) == ("small1/ref", "weighed", 100 + 12 * 32)


def test_a_target_without_runs_is_no_matter_of_a_filter(chosen: Cli) -> None:
    """Nobody gave one."""
    for ask in ("choose -t nano-every --mlen 24", "study -t nano-every"):
        told = chosen(ask).err
        assert "no stored run has a target 'nano-every'; there are: " in told
        assert "filter" not in told
    assert "filter: no stored run has a target 'x'" in chosen("choose -t uno --mlen 24 --where target==x").err
    assert chosen("choose -t nosuch --mlen 24").err.startswith("steelyard: unknown target 'nosuch'")


def test_what_is_shown_is_weighed_and_has_room(chosen: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is weighed and turns out slower gives way to another, which nobody has weighed yet."""
    store(tmp_path / "results.db", linear("big1/ref", 10, rom=9000, stack=700))  # what has no room
    rounds = []

    def weighed(ask: object, name: str, rows: Sequence[Row], size: tuple[int, int]) -> tuple[bool, list[str]]:
        rounds.append(1)
        made = [
            linear(str(r["label"]), 90, load=f"{size[0]}/{size[1]}", flags=str(r["flags"]), rom=5000, stack=300)
            for r in rows
            if r["label"] != "small1/ref" and r["by"] != "weighed"
        ]
        return bool(store(tmp_path / "results.db", *made)), []

    monkeypatch.setattr("steelyard.cli.choose._measured", weighed)
    asked = chosen("choose fast1 both1 small1 big1 -t uno --mlen 800 --top 1 --measure")
    assert "small1/ref" in asked.out
    assert "big1" not in asked.out
    assert "leave 448 of the chip's 2048 bytes of RAM; 1 implementation needs more" in asked.out
    assert "gave no figure at this size, for the run failed (steelyard list runs says why): small1/ref" in asked.out
    assert "--measure" not in asked.out
    assert len(rounds) == 2


def test_a_filter_that_leaves_nothing_is_no_want_of_runs(chosen: Cli) -> None:
    asked = chosen(["choose", "-t", "uno", "--mlen", "16", "--where", "target == bluepill"])
    assert asked.code == 1
    assert "no verified run of crypto_aead on uno has such a name and passes the filter" in asked.out
    assert "--primitive crypto_block looks among others" in asked.out
    assert "no verified results of crypto_block" in chosen("choose -t uno --mlen 16 --primitive crypto_block").out


def test_what_is_near_is_not_told_as_equal() -> None:
    assert [_ratio(t) for t in (0.972, 1.028, 1.0, 1.5, 240.0)] == ["0.97", "1.03", "1.00", "1.5", "240"]


def test_a_condition_does_not_lead_to_another_target(chosen: Cli) -> None:
    asked = chosen([*ASK.split(), "--where", "rom > 0) or (target == bluepill"])
    assert (asked.code, asked.out) == (2, "")


def test_what_cannot_be_measured_keeps_its_figure_and_that_is_said(chosen: Cli) -> None:
    """Toys of a database have no sources anywhere."""
    found = chosen(f"{ASK} --rom 1000 --measure")
    assert found.code == 0
    assert "not weighed, because their sources are not here as they were: small1/ref" in found.out + found.err


def test_the_study_loses_none_that_a_newer_harness_weighed_too(chosen: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", linear("fast1/ref", 10, harness="i", rom=5000, stack=300))
    sheets = json.loads(chosen("study -t uno --json").out)
    [table] = [s for s in sheets if s["title"] == "uno, AEADs: all measures (Table II)"]
    assert "fast1" in {r["variant"] for r in table["rows"]}


def test_the_first_is_first_for_a_reason(chosen: Cli) -> None:
    text = chosen(f"{ASK} --rom 4K --rate 5/s").out
    assert re.search(
        r"both1/ref is first: of 2 that fit it needs the fewest cycles, \d+, \d+ % fewer than small1", text
    )
    assert "least ROM: small1/ref -O3, 900 bytes" in text
    assert "fast1" not in text


def test_the_first_may_be_the_one_with_the_least_ram_or_rom(chosen: Cli) -> None:
    """By cycles among equals, and with the flags that have the least."""
    found = lines(chosen, f"{ASK} --by ram")
    assert [(r["label"], r["ram"]) for r in found] == [
        ("small1/ref", 90), ("both1/ref", 200), ("both1/ref", 200), ("fast1/ref", 300), ("older1/ref", 400)
    ]  # fmt: skip
    text = chosen(f"{ASK} --by ram --ram 250").out
    assert "small1/ref is first: of 2 that fit it needs the least RAM, 90 bytes, 55 % less than both1/ref" in text
    assert ", and the least ROM" in text
    assert re.search(r"fewest cycles: both1/ref -O3, \d+, 2.2 times the RAM", text)
    [uno] = [r for r in lines(chosen, "choose --table --mlen 24 --by rom both1 fast1") if r["target"] == "uno"]
    assert (uno["label"], uno["flags"], uno["rom"]) == ("both1/ref", "-Os", 2000)
    assert chosen(f"{ASK} --by energy").code == 2


def test_ram_of_a_block_cipher_has_the_context(chosen: Cli, tmp_path: Path) -> None:
    """Stack, static data and heap of the run, and the context that the device keeps: 40 + 8 + 2 + 176."""
    made = record(
        "aes128/ref",
        primitive="crypto_block",
        load="kat",
        rom=900,
        stack=40,
        ram_static=8,
        heap=2,
        context=176,
        cycles_encrypt_mean=500.0,
        cycles_schedule_encrypt_mean=90.0,
    )
    store(tmp_path / "results.db", made)
    ask = "choose -t uno --mlen 33 --primitive crypto_block"
    [row] = lines(chosen, f"{ask} --ram 226")
    assert (row["ram"], row["cycles"], row["by"]) == (226, 1500, "by blocks")
    assert [r["cycles"] for r in lines(chosen, f"{ask} --key-per-message")] == [1590]
    most = (2048 - 226 - 16) // 2  # beside key and context, as it is with an AEAD
    assert [chosen(ask.replace("33", str(n))).code for n in (most, most + 1)] == [0, 1]
    assert "1 implementation needs more, with key and context" in " ".join(
        chosen(ask.replace("33", str(most + 1))).out.split()
    )
    assert "message and output alone take 64000 of" in chosen(ask.replace("33", "32000")).out
    less = chosen(f"{ask} --ram 225")
    assert less.code == 1
    assert "--ram 226" in less.out


def test_a_point_that_was_weighed_is_taken(chosen: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", linear("fast1/ref", 11, load="8/24", rom=5000, stack=300))
    found = {(r["label"], r["flags"]): r for r in lines(chosen, ASK)}
    assert (found["fast1/ref", "-O3"]["by"], found["fast1/ref", "-O3"]["cycles"]) == ("weighed", 100 + 11 * 32)
    assert found["both1/ref", "-O3"]["by"] == "interpolated"


def test_between_sizes_nothing_is_known_of_what_refuses_some(chosen: Cli, tmp_path: Path) -> None:
    """It was the fastest at a size that it does not take."""
    blocks = linear("blocks1/ref", 2, rom=500, stack=80)
    store(tmp_path / "results.db", replace(blocks, metrics=blocks.metrics | {"refused": 990}))
    assert "blocks1/ref" not in {r["label"] for r in lines(chosen, ASK)}
    assert "blocks1/ref" in {r["label"] for r in lines(chosen, "choose -t uno --mlen 16 --adlen 0")}


def test_nothing_fits_and_what_would(chosen: Cli) -> None:
    result = chosen(f"{ASK} --rom 800 --ram 100")
    assert result.code == 1
    assert re.search(r"--rom 900 +small1/ref", result.out)
    assert "of 4 implementations none is within all limits" in result.out
    assert chosen(f"{ASK} --rom 900 --ram 100").code == 0
    fast = chosen(f"{ASK} --rate 100000/s")
    assert fast.code == 1
    [rate] = re.findall(r"--rate (\S+/s)", fast.out)
    assert chosen(f"{ASK} --rate {rate}").code == 0
    large = chosen("choose -t uno --mlen 4096")
    assert large.code == 1
    assert "8192 of the chip's 2048 bytes of RAM" in large.out


def test_what_it_costs_is_arithmetic(chosen: Cli) -> None:
    [row] = lines(chosen, f"{ASK} fast1 --rate 2/s --battery 100mAh --voltage 3V --idle 1mA")
    target = load_target("uno")
    cycles, per = row["cycles"], target.nanojoule_per_cycle
    assert isinstance(cycles, int)
    assert per is not None
    assert row["energy"] == pytest.approx(cycles * per * 1e-3)
    assert row["share"] == pytest.approx(100 * 2 * cycles / 16e6)
    assert row["life"] == pytest.approx(100 * 3.6 * 3 / (2 * cycles * per * 1e-9 + 3e-3) / 86400)


def test_a_battery_at_a_chip_of_no_known_current(chosen: Cli, tmp_path: Path) -> None:
    assert load_target("due").energy is None
    store(tmp_path / "results.db", linear("fast1/ref", 3, target="due", rom=4000))
    text = chosen("choose -t due --mlen 24 --rate 2/s --battery 100mAh").out
    assert "no current of due is known, so nothing says how long it lasts" in text
    assert "0 V" not in text


def test_all_targets(chosen: Cli) -> None:
    found = lines(chosen, "choose --table --mlen 24 --rom 4500")
    assert [(r["target"], r["label"]) for r in found] == [("bluepill", "fast1/ref"), ("uno", "both1/ref")]
    assert [r["tier"] for r in found] == ["not validated", "exact"]
    none = lines(chosen, "choose --table --mlen 24 --rom 2000 small1 fast1")
    assert [(r["label"], r["relax"]) for r in none] == [(None, "--rom 4000: fast1/ref -O3"), ("small1/ref", "")]


def test_a_protocol_refuses_sizes_that_it_does_not_have(chosen: Cli) -> None:
    asked = chosen("choose -t uno --workload lorawan --mlen 243")
    assert asked.code == 2
    assert "--mlen 243: no LoRaWAN frame has such a message; at most 242 bytes (LoRaWAN L2 1.0.4" in asked.err
    short = chosen("choose -t uno --workload lorawan --adlen 8")
    assert short.code == 2
    assert "--adlen 8: no LoRaWAN frame has so many bytes of them; it has 9 to 24 bytes (LoRaWAN" in short.err
    assert "it has 1 byte (Bluetooth" in chosen("choose -t uno --workload ble --adlen 2").err
    assert "encryption of 48 bytes and 9 bytes of" in chosen("choose -t uno --workload lorawan --mlen 48").out
    assert chosen("choose -t uno --workload default --mlen 48").code == 2
    for given in ("5/16 --adlen 0", "0/16 --mlen 0"):
        assert "--workload has the sizes; leave it out" in chosen(f"choose -t uno -w {given}").err
    for given, said in (
        ("tls13 --adlen 0", "--adlen 0: no TLS 1.3 record has so many bytes of them; it has 5 bytes"),
        ("tls13 --mlen 0", "--mlen 0: no TLS 1.3 record has such a message; at least 1 byte"),
        ("lorawan --mlen 242 --adlen 24", "at most 251 bytes of both (LoRaWAN"),
        ("canfd --mlen 9", "--mlen 9: no CAN FD payload has so many bytes; the nearest have 8 and 12 (ISO 11898"),
        ("canfd --mlen 63", "the nearest have 48 and 64 (ISO 11898"),
        ("canfd --mlen 65", "--mlen 65: no CAN FD payload has such a message; at most 64 bytes"),
        ("ieee802154 --mlen 121", "--mlen 121 with 15 of associated data: no IEEE 802.15.4 frame has such a message"),
    ):
        assert said in chosen(f"choose -t uno --workload {given}").err
    for given in (
        "oscore --adlen 19",
        "cose --adlen 11",
        "firmware --adlen 0",
        "ieee802154 --adlen 2",
        "quic --adlen 1",
    ):
        asked = chosen(f"choose -t uno --workload {given}")
        assert (asked.code, "so many bytes of them; it has " in asked.err) == (2, True), given
    for given in ("quic --mlen 0", "ble --mlen 0"):
        assert "has such a message; at least 1 byte" in chosen(f"choose -t uno --workload {given}").err
    assert "and 12 bytes of" in chosen("choose -t uno --workload cose --adlen 12").out


def test_what_has_no_room_beside_the_message_does_not_fit(chosen: Cli, tmp_path: Path) -> None:
    """Of the Uno's 2048 bytes; and no limit is advised that would not help."""
    roomy, alone = (chosen(f"choose -t uno --mlen {n}") for n in (950, 1023))
    assert "need more, with key, nonce and tag" in roomy.out
    assert "leave 148 of the chip's 2048 bytes of RAM" in roomy.out
    assert "leave 2 of the chip's 2048 bytes of RAM" in alone.out
    assert "is first" not in alone.out
    assert "alone take 2050 of the chip's 2048 bytes" in chosen("choose -t uno --mlen 1025").out
    assert "--rom" not in chosen("choose -t uno --mlen 1023 --rom 100").out
    store(tmp_path / "results.db", linear("ascon128v12/ref", 10, rom=500, stack=100))
    known = "choose ascon128v12 -t uno --mlen"
    assert (chosen(f"{known} 950").code, chosen(f"{known} 951").code) == (0, 1), "48 bytes of key, nonce and tag"


def test_what_was_weighed_and_left_out_for_want_of_ram_does_not_fit(chosen: Cli, tmp_path: Path) -> None:
    left_out = replace(linear("small1/ref", 40, load="0/500", rom=900, stack=90), points=())
    wide = replace(linear("wide1/ref", 40, load="0/500", rom=900, stack=1049), points=())
    heaps = replace(linear("heap1/ref", 40, load="0/500", rom=900, stack=90, heap=300), points=())
    store(tmp_path / "results.db", left_out, wide, heaps)
    asked = chosen("choose small1 wide1 heap1 fast1 -t uno --mlen 500")
    none = "for a call of this size, or the algorithm takes none"
    assert f"weighed: RAM has no room {none}: heap1/ref, wide1/ref" in asked.out
    assert f"weighed: the harness's own frames and buffers leave no room in RAM {none}: small1/ref" in asked.out
    assert "fast1/ref is first: nothing else fits" in asked.out
    assert "small1/ref is first" in chosen("choose small1 -t uno --mlen 501").out


def test_a_place_is_weighed_without_its_other_primitives(chosen: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def plan(campaign: Campaign, **more: object) -> Plan:
        planned.append(campaign.exclude)
        return Plan([], [])

    monkeypatch.setattr("steelyard.cli.plan.plan", plan)
    chosen(f"{ASK} --rom 1000 --measure")
    assert planned == [("crypto_block",)]


def test_what_has_no_points_may_fit_and_that_is_said(chosen: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("blind1/ref", rom=800, load="kat"))
    alone = chosen("choose small1 blind1 -t uno --mlen 24 --adlen 8").out
    assert "small1/ref is first: nothing else could be compared: 1 other may fit" in alone
    assert "not compared: blind1/ref; --measure weighs them" in alone
    table = chosen("choose small1 blind1 --table --mlen 24 --adlen 8").out
    assert "not compared, for lack of cycles at this size: 1 on uno" in table
    assert "nothing else fits" in chosen("choose small1 -t uno --mlen 24 --adlen 8").out


def test_what_has_no_figure_of_memory_is_not_taken_for_none(chosen: Cli, tmp_path: Path) -> None:
    """As of a run that another made, or of a chip whose stack nobody could read."""
    for left, digest in (("stack", "a"), ("rom", "b")):
        made = linear("blind1/ref", 1, digest=digest)
        store(tmp_path / "results.db", replace(made, metrics={n: v for n, v in made.metrics.items() if n != left}))
        said = chosen(f"{ASK} --ram 100").out
        assert "small1/ref is first" in said
        assert "without ROM or RAM, so not compared: blind1/ref" in said


def test_what_has_figures_of_a_board_alone_may_fit_and_that_is_said(chosen: Cli, tmp_path: Path) -> None:
    for label in ("real1/ref", "small1/ref"):
        store(tmp_path / "results.db", on_board(linear(label, 5, flags="-O2", rom=900, stack=90)))
    said = chosen("choose small1 real1 -t uno --mlen 24").out
    assert "small1/ref is first: nothing else could be compared: 1 other may fit" in said
    assert "3 rows of device board left out" in said
    table = chosen("choose small1 real1 --table --mlen 24").out
    assert "uno: 3 rows of device board left out; to see: --where 'device == \"board\"'" in table
    assert "left out" not in chosen("choose fast1 --table --mlen 24").out


def test_what_lacks_memory_is_not_told_to_be_too_large(chosen: Cli, tmp_path: Path) -> None:
    made = linear("blind1/ref", 1)
    metrics = {n: v for n, v in made.metrics.items() if n != "rom"}
    store(tmp_path / "results.db", replace(made, metrics=metrics))
    said = chosen("choose small1 blind1 -t uno --mlen 24").out
    assert "small1/ref is first: nothing else could be compared: 1 other may fit" in said


def test_no_filter_brings_back_what_was_replaced(chosen: Cli, tmp_path: Path) -> None:
    """The first sources of two were replaced, by wrong and by larger ones."""
    for where in ("rom < 4000", "outcome == verified", "rom < 4000 and flags == -O3"):
        for command in (ASK.split(), ["publish", "--json"], ["rank", "--json"]):
            found = chosen([*command, "--where", where]).out
            assert "small1" in found
            assert "replaced1" not in found, (command, where)
            assert "older1" not in found or where == "outcome == verified", (command, where)
    past = chosen(["publish", "--json", "--where", "rom < 4000 and finished != never"]).out
    assert "older1" in past, "who asks for the past"


def test_what_ended_later_is_newer_whatever_its_number(chosen: Cli, tmp_path: Path) -> None:
    """A copy of an older database, and a clock that is years ahead."""
    for year, digest in ((2025, "c"), (2999, "d")):
        made = linear("replaced1/ref", 1, digest=digest, rom=10)
        store(tmp_path / "results.db", replace(made, finished=datetime(year, 1, 1, tzinfo=UTC)))
    assert "replaced1" not in chosen(ASK).out


def test_what_answers_wrongly_at_another_size_is_not_chosen(chosen: Cli, tmp_path: Path) -> None:
    wrong = Failure(Reason.WRONG_OUTPUT, "message 1000")
    store(tmp_path / "results.db", linear("fast1/ref", 10), record("fast1/ref", load="16/1000", failure=wrong))
    for command in (ASK.split(), ["rank", "--where", "target == uno"], ["publish", "--where", "target == uno"]):
        text = chosen(command).out
        assert "fast1/ref" not in text.split("No verified figures")[0], command


def test_what_is_weighed_otherwise_than_most_is_named(chosen: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", linear("small1/ref", 40, digest="z", rom=900, stack=90, harness="i"))
    assert "weighed otherwise than most, so without a row: other1/ref, small1/ref" in chosen(ASK).out


def test_what_is_used_today_stands_beside(chosen: Cli, tmp_path: Path) -> None:
    """Whether it fits or not, and each of a protocol's with its cheapest implementation."""
    store(tmp_path / "results.db", linear("aes128gcm/ref", 50, rom=9000, stack=400))
    store(tmp_path / "results.db", linear("aes128gcm/fast", 40, rom=9500, stack=400))
    store(tmp_path / "results.db", linear("aes128ccm/ref", 45, rom=900, stack=60))
    found = {r["label"]: r["today"] for r in lines(chosen, "choose -t uno --workload tls13 --rom 4K")}
    assert found["aes128gcm/fast"] == "yes, does not fit"
    assert (found["aes128ccm/ref"], found["small1/ref"]) == ("yes", "")
    assert "aes128gcm/ref" not in found
    store(tmp_path / "results.db", linear("aes128gcm/fast", 60, rom=3000, stack=60, flags="-Os"))
    again = {(r["label"], r["flags"]): r["today"] for r in lines(chosen, "choose -t uno --workload tls13 --rom 4K")}
    assert again["aes128gcm/fast", "-Os"] == "yes", "of two flag sets the one that fits"
    assert "used today" not in chosen(ASK).out.split("is first")[0]


def test_sizes_of_a_protocol_are_among_those_that_it_has() -> None:
    for p in PROTOCOLS.values():
        least, most = p.ad or (0, None)
        assert all(
            least <= s.adlen <= (most or s.adlen) and p.least <= s.mlen and s.mlen <= (p.most or s.mlen)
            for s in p.sizes
        ), p.name
        assert len([s for s in p.sizes if s.typical]) == 1


def test_a_protocol_has_its_size(chosen: Cli) -> None:
    text = chosen("choose -t uno --workload lorawan").out
    assert "LoRaWAN frame, encryption of 24 bytes and 9 bytes of associated data" in text
    assert "used today, and not among the results: aes128ccm8" in text
