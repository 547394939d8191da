"""The IoT study: its measures fit the paper's own consistent figures, and nothing without a figure gets one."""

from __future__ import annotations

import math

import pytest

from steelyard.analyse import rank, study
from steelyard.model.row import Row
from steelyard.model.target import load_target

UNO = load_target("uno")


def row(variant: str, cycles: float | None, *, primitive: str = "crypto_block", run: int = 1, **more: object) -> Row:
    name = study.LATENCY[primitive][-1]
    return {
        "run": run, "primitive": primitive, "variant": variant, "implementation": "ref", "label": f"{variant}/ref",
        "flags": "-O3", name: cycles, "rom": 1000, "ram": 100,
    } | more  # type: ignore[return-value]  # fmt: skip


def one(of: Row) -> study.Cipher:
    [made] = study.ciphers([of], UNO)
    return made


def test_a_block_is_one_of_many() -> None:
    """The paper's latency follows from its throughput: the fastest is the one whose calls after others are."""
    ref = row("xtea", 773, cycles_encrypt_warm_mean=775)
    fast = row("xtea", 853, run=2, label="xtea/fast", cycles_encrypt_warm_mean=657, cycles_schedule_encrypt_mean=90)
    [made] = study.ciphers([ref, fast | {"cycles_schedule_encrypt_warm_mean": 80}], UNO)
    assert (made.row["run"], made.figures["latency"], made.figures["schedule_latency"]) == (2, 657, 80)
    assert study.is_warm(made)
    assert not study.is_warm(one(row("xtea", 773)))


def test_the_papers_own_figures_fit_its_equations_as_they_are_read() -> None:
    hight = one(row("hight", 16e6 * 8 / 64_100))
    assert hight.figures["throughput"] == pytest.approx(64_100)  # "64.1 kB/s", and "2 kcycles/block"
    assert round((hight.figures["latency"] or 0) / 1000) == 2
    ktantan = one(row("ktantan32", 1.0, cycles_schedule_encrypt_mean=161_340))
    assert ktantan.figures["schedule_throughput"] == pytest.approx(990, rel=0.003)  # "0.99 kB/s" of a key of 10 bytes


def test_a_cipher_that_nobody_knows_is_weighed_by_its_own_block() -> None:
    toy = one(row("Toy_64_64", 533, encrypt_per_byte=66.625))
    assert (toy.block, toy.figures["cycles_per_byte"]) == (64, pytest.approx(66.625))
    blind = one(row("Toy_64_64", 533))
    assert (blind.block, blind.figures["cycles_per_byte"], blind.figures["throughput"]) == (0, None, None)
    assert study.without_aes([toy]) == {"aes128": ["Toy_64_64"]}


def test_an_aead_is_weighed_by_a_message_of_16_bytes() -> None:
    ascon = one(row("ascon128v12", 1600, primitive="crypto_aead"))
    assert (ascon.key, ascon.block, ascon.figures["cycles_per_byte"]) == (128, 0, 100.0)
    assert ascon.figures["throughput"] == pytest.approx(16 * 16e6 / 1600)


def test_a_cipher_of_felics_says_its_key_in_its_name() -> None:
    cham, theirs = (one(row(f"CHAM_128_256{of}", 3200, encrypt_per_byte=200)) for of in ("", " (a place)"))
    assert (cham.key, cham.block, theirs.key) == (256, 128, 256)
    [part] = study.parts([cham, one(row("aes256", 1600)), one(row("aes128", 1600))])
    assert (part.aes, part.percent["cycles_per_byte"]) == ("aes256", 200.0)
    assert study.without_key([cham, one(row("Toy", 533))]) == ["Toy"]


def test_one_name_of_two_places_means_two_ciphers_where_nobody_knows_it() -> None:
    mine, theirs = (row("Toy", n, origin=place, encrypt_per_byte=n / 8) for n, place in ((500, "a"), (400, "b")))
    assert [c.variant for c in study.ciphers(rank.apart([mine, theirs]), UNO)] == ["Toy (a)", "Toy (b)"]
    known = [row("aes128", 500, origin="bundled"), row("aes128", 400, origin="b")]
    assert [(c.variant, c.figures["latency"]) for c in study.ciphers(rank.apart(known), UNO)] == [("aes128", 400)]


def test_energy_is_power_by_time() -> None:
    aes = one(row("aes128", 3200))
    assert aes.figures["power"] == pytest.approx(52.0)  # 5 V x 5.2 mA at 8 MHz, here at 16
    assert aes.figures["energy_per_byte"] == pytest.approx(52e-3 * 3200 / 16e6 / 16 * 1e6)
    assert aes.figures["energy_per_bit"] == pytest.approx(aes.figures["energy_per_byte"] * 1000 / 8)
    metered = one(row("aes128", 3200, power_measured=104.0))
    assert metered.figures["energy_per_byte"] == pytest.approx(2 * aes.figures["energy_per_byte"])
    [slow] = study.ciphers(
        [row("aes128", 3200, power_measured=30.0)], load_target("esp32")
    )  # whose boards run at 40 MHz
    assert slow.figures["energy_per_byte"] == pytest.approx(30e-3 * 3200 / 40e6 / 16 * 1e6)
    own = row("aes128", 4000, power_measured=30.0, energy_encrypt_measured_with_idle=6.0, cycles_encrypt_warm_mean=3200)
    assert one(own).figures["energy_per_byte"] == pytest.approx(6.0 * 3200 / 4000 / 16), "at whatever clock"
    assert slow.figures["throughput"] == pytest.approx(16 / (3200 / 240e6))


def test_what_cannot_be_had_is_none() -> None:
    xtea = one(row("xtea", 100, cycles_schedule_encrypt_mean=0))
    assert xtea.figures["schedule_throughput"] is xtea.figures["schedule_latency"] is None
    quick = one(row("xtea", 100, cycles_schedule_encrypt_mean=-12.5))  # on a machine, a copy below the empty call
    assert quick.figures["schedule_throughput"] is quick.figures["schedule_latency"] is None
    assert study.ciphers([row("xtea", None)], UNO) == []  # not verified for its measure
    [far] = study.ciphers([row("xtea", 100)], load_target("raspberry-pi"))  # a clock that nobody knows
    assert far.figures["latency"] == 100
    assert {far.figures[m] for m in ("throughput", "power", "energy_per_byte")} == {None}


def test_a_cipher_is_compared_with_the_aes_of_its_key() -> None:
    rows = [
        row("aes128", 1600),
        row("aes192", 2400),
        row("aes256", 3200),
        row("speck64128", 400),
        row("lea192", 1200),
        row("lea256", 1600),
        row("qarma64sigma0r5", 800),
    ]
    parts = {p.cipher.variant: p for p in study.parts(study.ciphers(rows, UNO))}
    assert {v: (p.aes, p.percent["cycles_per_byte"]) for v, p in parts.items()} == {
        "speck64128": ("aes128", 50.0),  # by bytes: a quarter of the cycles for half a block
        "lea192": ("aes192", 50.0),
        "lea256": ("aes256", 50.0),
        "qarma64sigma0r5": ("aes128", 100.0),  # its tweak is no key
    }
    assert "energy_per_byte" not in parts["lea256"].percent, "modelled energy is cycles again"
    assert [p.cipher.variant for p in study.parts(study.ciphers(rows[1:], UNO))] == ["lea192", "lea256"]


def test_groups_add_up() -> None:
    rows = [row("aes128", 1600), row("speck64128", 400), row("hight", 1600), row("xtea", 3200, rom=0)]
    groups = {g.measure: g for g in study.groups(study.parts(study.ciphers(rows, UNO)), "key")}
    time = groups["cycles_per_byte"]
    assert (time.size, time.count, time.below, time.percent) == (128, 3, 1, 50.0)
    assert [c.variant for c in time.winners] == ["speck64128"]
    assert time.total == 50 + 200 + 400
    assert time.mean == pytest.approx(math.cbrt(50 * 200 * 400))
    assert groups["rom"].count == 2, "none has a ROM of 0"
    assert [c.variant for c in groups["rom"].winners] == ["hight", "speck64128"], "equal figures win together"


def test_scores_share_ranks_and_leave_out_what_lacks_a_figure() -> None:
    rows = [row("aes128", 1600), row("hight", 800, ram=50), row("xtea", 1600, ram=None)]
    ranking = study.scores(study.ciphers(rows, UNO), ["rom", "ram", "throughput"])
    assert [(p.row["variant"], p.value) for p in ranking.places] == [
        ("hight", 1.5 + 1 + 1.5),
        ("aes128", 1.5 + 2 + 1.5),
    ]
    assert [r["variant"] for r in ranking.left_out] == ["xtea"]


def test_what_moved_most_comes_first() -> None:
    names = ("aes128", "hight", "xtea", "prince")
    there = study.ciphers([row(v, 16 * (k + 1) if v == "aes128" else 8 * (k + 1)) for k, v in enumerate(names)], UNO)
    here = study.ciphers([row(v, 80 - 8 * k) for k, v in enumerate(names[1:])], UNO)
    assert [(a.variant, x, y) for a, _, x, y in study.moved(there, here, "cycles_per_byte")] == [
        ("hight", 1, 3),
        ("prince", 3, 1),
        ("xtea", 2, 2),
    ]


def test_the_key_is_that_of_the_device_and_ram_has_one_context() -> None:
    own = one(row("Tea_own", 3200, encrypt_per_byte=400, key_bytes=32, context=48))
    assert (own.key, own.figures["ram"]) == (256, 148)
    assert one(row("asconaead128", 1600, primitive="crypto_aead", context=48)).figures["ram"] == 100
    [part] = study.parts([own, one(row("aes256", 1600)), one(row("aes128", 800))])
    assert part.aes == "aes256"
