"""Choices for a device: limits, fronts, batteries, and cycles between the points of real records."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.analyse import choose
from steelyard.analyse.choose import AIMS, Device, Limits
from steelyard.cli.choose import _block, _worth, block_of
from steelyard.model.errors import UserError
from steelyard.model.implementation import Implementation
from steelyard.model.protocol import PROTOCOLS, Protocol, Size
from steelyard.model.quantity import BYTES, CHARGE, CURRENT, RATE, quantity
from steelyard.model.row import Row
from steelyard.publish import choice
from steelyard.publish.choice import shown
from steelyard.sources import discover
from tests.ciphers.common import CIPHERS
from tests.conftest import Bench, the_target

ROOT = Path(__file__).parents[2]
_LIMIT = st.none() | st.integers(1, 9)
LIMITS = st.builds(Limits, rom=_LIMIT, ram=_LIMIT, cycles=_LIMIT)
ROWS = st.lists(st.tuples(*[st.integers(1, 9)] * 3, st.sampled_from("abc")), min_size=1, max_size=12).map(
    lambda found: [
        {"run": k, "label": f"{name}/ref", "flags": f"-O{k}", **dict(zip(AIMS, figures, strict=True))}
        for k, (*figures, name) in enumerate(found)
    ]
)


def runs(rows: list[Row]) -> set[object]:
    return {r["run"] for r in rows}


@given(ROWS, LIMITS, st.sampled_from(AIMS), st.integers(0, 9))
def test_a_wider_limit_loses_nobody(rows: list[Row], limits: Limits, name: str, more: int) -> None:
    given = {n: getattr(limits, n) for n in AIMS}
    wider = Limits(**given | {name: None if given[name] is None else given[name] + more})
    assert runs(choose.fitting(rows, limits)) <= runs(choose.fitting(rows, wider))


@given(ROWS, LIMITS)
def test_what_is_to_be_relaxed_lets_it_in_and_not_a_byte_less(rows: list[Row], limits: Limits) -> None:
    if choose.fitting(rows, limits):
        return
    given = {n: getattr(limits, n) for n in AIMS}
    advice = choose.relaxed(rows, limits)
    assert advice
    for relaxed in advice:
        assert relaxed.row in choose.fitting(rows, Limits(**given | dict(relaxed.limits)))
    alone = {name: least for relaxed in advice if len(relaxed.limits) == 1 for name, least in relaxed.limits.items()}
    for name in (n for n in AIMS if given[n] is not None):
        enough = alone.get(name, 10)  # no figure is above 9
        assert choose.fitting(rows, Limits(**given | {name: enough - 1})) == []


@given(ROWS)
def test_the_front_is_of_those_that_nothing_beats_and_is_shown(rows: list[Row]) -> None:
    def beats(a: Row, b: Row) -> bool:
        return all(a[n] <= b[n] for n in AIMS) and any(a[n] < b[n] for n in AIMS)  # type: ignore[operator]

    front = choose.front(rows)
    assert front == {r["run"] for r in rows if not any(beats(other, r) for other in rows)}
    few = shown(rows, 1)
    assert front <= runs(few)
    first = choose.ordered(rows)[0]
    assert few[0] is first
    assert first["cycles"] == min(r["cycles"] for r in rows)  # type: ignore[type-var]
    assert {r["label"] for r in shown(rows, 99)} == {r["label"] for r in rows}


def test_batteries_are_counted_in_joules() -> None:
    """230 mAh x 3.6 C/mAh x 3 V = 2484 J. A million cycles of a nanojoule each second are 1 mW, 10 µA at 3 V are
    30 µW: 2484 J / 1.03 mW = 2 411 650 s = 27.9 days."""
    device = Device(16e6, 1e-9, quantity("", "60/min", RATE, ""), quantity("", "230mAh", CHARGE, ""), 3.0, 10e-6)
    assert choose.joules(1e6, device) == pytest.approx(1e-3)
    assert choose.share(1e6, device) == pytest.approx(6.25)
    assert choose.life(1e6, device) == pytest.approx(27.9126, abs=1e-4)
    assert choose.life(1e6, Device(16e6, None, 1.0, 828.0, 3.0)) is None


def test_quantities_have_units() -> None:
    assert quantity("", "4K", BYTES, "") == quantity("", "4096", BYTES, "") == 4096
    assert quantity("", "36/h", RATE, "") == quantity("", "36 / hour", RATE, "") == pytest.approx(0.01)
    assert quantity("", "1e3", BYTES, "") == 1000
    assert quantity("", "2uA", CURRENT, "") == quantity("", "2 µA", CURRENT, "") == 2e-6
    for text in ("", "0", "-1K", "4Q", "K", "1e", "1e99", "nan"):
        with pytest.raises(UserError, match=re.escape("--rom")):
            quantity("--rom", text, BYTES, "4K")


def test_blocks_cost_what_their_calls_do() -> None:
    row: Row = {"cycles_encrypt_mean": 100.0, "cycles_schedule_encrypt_mean": 30.0, "cycles_decrypt_mean": 110.0}
    assert choose.blocks_cost(row, 16, 33, decrypt=False, key_per_message=True) == 330
    assert choose.blocks_cost(row, 16, 33, decrypt=True, key_per_message=False) == 330
    assert choose.blocks_cost(row, 16, 33, decrypt=True, key_per_message=True) is None
    del row["cycles_schedule_encrypt_mean"]  # each block expands the key
    assert choose.blocks_cost(row, 16, 33, decrypt=True, key_per_message=True) == 330


def test_the_first_block_alone_finds_caches_empty() -> None:
    """Two implementations of one cipher of which the other is faster from the second block on."""
    ref: Row = {"cycles_encrypt_mean": 773.0, "cycles_encrypt_warm_mean": 775.0, "cycles_schedule_encrypt_mean": 9.0}
    fast: Row = {"cycles_encrypt_mean": 853.0, "cycles_encrypt_warm_mean": 657.0, "cycles_schedule_encrypt_mean": 9.0}
    ask = {"decrypt": False, "key_per_message": False}
    assert [choose.blocks_cost(r, 16, 1024, **ask) for r in (ref, fast)] == [773 + 63 * 775, 853 + 63 * 657]
    assert [choose.blocks_cost(r, 16, 16, decrypt=False, key_per_message=True) for r in (ref, fast)] == [782, 862]


@pytest.mark.parametrize("shift", [0, 15])
def test_blocks_are_found_whatever_the_padding(shift: int) -> None:
    """100 for the call, 50 for each block of the message, which is padded always or never, and 20 of the associated
    data, with 7 where there is both."""

    def cycles(a: int, m: int) -> float:
        return 100 + 50 * ((m + shift) // 16) + 20 * -(-a // 16) + 7 * bool(a and m)

    sizes = [(0, n) for n in (0, 16, 32, 256)] + [(n, 0) for n in (16, 32, 256)] + [(16, 16)]
    mean = sum(cycles(a, m) for a in range(33) for m in range(33)) / 1089
    model = choose.model({s: cycles(*s) for s in sizes}, 16, mean)
    assert model is not None
    whole = [(16, 48), (64, 0), (32, 128)]
    assert [model.at(*s) for s in whole] == pytest.approx([cycles(*s) for s in whole])
    if shift:  # both paddings are alike, which is what one mean can tell
        assert [model.at(a, m) for a in (1, 17) for m in (5, 40)] == pytest.approx(
            [cycles(a, m) for a in (1, 17) for m in (5, 40)]
        )
    assert choose.model({(0, 16): 1.0, (16, 0): 1.0}, 16, None) is None


def test_a_figure_between_points_is_between_them() -> None:
    """Whatever blocks and a mean suggest: a message is not faster than a shorter one, nor slower than a longer one."""
    points = {(0, 0): 44_636.0, (0, 16): 44_963.0, (0, 32): 67_000.0, (16, 0): 44_700.0, (32, 0): 45_000.0}
    points |= {(16, 16): 45_155.0, (32, 32): 68_000.0}
    model = choose.model(points, 24, 20_000.0)
    assert model is not None
    for size in product(range(33), repeat=2):
        low = max(c for s, c in points.items() if s[0] <= size[0] and s[1] <= size[1])
        high = min(c for s, c in points.items() if s[0] >= size[0] and s[1] >= size[1])
        assert low <= model.at(*size) <= max(low, high), size


def test_a_block_of_a_cipher_that_nobody_knows_has_its_bytes() -> None:
    row: Row = {"variant": "Toy_64_64", "cycles_encrypt_mean": 533.0, "encrypt_per_byte": 66.625}
    assert choose.block_bytes(row) == 8
    assert choose.block_bytes(row | {"cycles_encrypt_mean": 900.0, "cycles_encrypt_warm_mean": 533.0}) == 8
    assert choose.block_bytes({"variant": "xtea"}) == 8
    assert choose.block_bytes({"variant": "Toy_64_64"}) is None


#: sizes of protocols that no workload for interpolation has; the text that says how well they are met
HELD_OUT = "4/1,5/3,5/37,2/65,22/64,9/51,20/99,15/106,11/1173"
SAID = re.compile(
    r"Of (?P<number>\d+) bundled AEADs .* at (?P<sizes>\d+) sizes .* within (?P<half>[\d.]+) % .* "
    r"nine tenths within (?P<most>\d+) %; the worst was (?P<worst>\d+) %"
)


def said() -> dict[str, float]:
    """Errors in percent, as docs/definitions.md has them."""
    text = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    found = SAID.search(" ".join(text.split()))
    assert found
    return {name: float(n) for name, n in found.groupdict().items()}


def errors(bench: Bench, implementation: Implementation, sizes: str) -> dict[tuple[str, int, int], float]:
    """By how many percent what is interpolated differs from what is weighed, on uno; empty where nothing is."""
    known, held = (bench.weigh(implementation, the_target("uno"), load, "-O3") for load in ("default", sizes))
    found: dict[tuple[str, int, int], float] = {}
    for operation in ("encrypt", "decrypt"):
        points = {(p.adlen, p.mlen): float(p.cycles) for p in known.points if p.operation == operation}
        block = block_of(implementation.variant)
        model = choose.model(points, block, known.metrics.get(f"cycles_{operation}_mean"))
        for p in held.points:
            if model and p.operation == operation and p.mlen <= model.most[1]:
                found[operation, p.adlen, p.mlen] = 100 * abs(model.at(p.adlen, p.mlen) / p.cycles - 1)
    return found


def test_one_size_of_a_protocol_is_typical() -> None:
    size = Size(0, 8, "a message")
    for typical in (0, 2):
        sizes = (size, *[replace(size, typical=True)] * typical)
        with pytest.raises(ValueError, match="protocol x: one of its sizes is typical"):
            Protocol("x", "X", "", "", (), sizes)
    for least, most in ((0, None), (0, 8), (2, 7), (2, None)):  # so that each other message has two lengths around it
        with pytest.raises(ValueError, match="protocol x: least and most are"):
            Protocol("x", "X", "", "", (), (replace(size, typical=True),), least=least, most=most, lengths=(2, 4, 8))


@pytest.mark.parametrize(
    ("label", "most"),
    [
        ("giftcofb128v1/fast", 0.5),
        ("tinyjambu128v2/fast", 0.5),
        ("asconaead128/fast", 2.5),
        ("aes128gcm/ref", 2.5),
        ("chacha20poly1305/ref", None),
        ("romulusn/opt32", None),
    ],
)
def test_points_that_were_held_out_are_found_again(bench: Bench, label: str, most: float | None) -> None:
    """With equal blocks to a few percent, and whatever they are, as exactly as is said."""
    variant, name = label.split("/")
    [folder] = (ROOT / "ciphers" / "crypto_aead").glob(f"*/{variant}/{name}")
    found = errors(bench, discover(folder).implementations[0], HELD_OUT)
    assert len(found) >= 16
    assert max(found.values()) <= (most or said()["worst"]), found


@pytest.mark.long
def test_interpolation_is_as_exact_as_is_said(bench: Bench) -> None:
    every = {(s.adlen, s.mlen) for p in PROTOCOLS.values() for s in p.sizes if s.mlen < 1500}
    sizes = ",".join(f"{a}/{m}" for a, m in sorted(every))
    found = [errors(bench, i, sizes) for i in CIPHERS if i.primitive == "crypto_aead"]
    met = [f for f in found if f]
    told, all_ = said(), sorted(e for f in met for e in f.values())
    assert len(met) >= told["number"]
    assert len(all_) >= 2 * told["number"] * told["sizes"]
    assert all_[len(all_) // 2] <= told["half"]
    assert all_[len(all_) * 9 // 10] <= told["most"]
    assert told["worst"] - 1 < all_[-1] <= told["worst"]


def test_a_mean_over_the_shorter_known_answers_says_nothing_of_a_part_of_a_block() -> None:
    row: Row = {"cycles_encrypt_mean": 1000.0, "vectors": 1089}
    assert choose.known_mean(row, "encrypt") == 1000.0
    assert choose.known_mean(row | {"vectors": 1040}, "encrypt") is None
    assert choose.known_mean(row | {"skipped": 2}, "encrypt") == 1000.0  # of the second set


def test_a_bundled_variant_has_its_block_wherever_a_package_of_it_is() -> None:
    """And 16 bytes where none is bundled."""
    assert [_block({"variant": name, "family": "mine"}) for name in ("xoodyakround3", "nobody1")] == [24, 16]


def test_a_rate_that_is_recommended_fits() -> None:
    """However many digits it has: 125 MHz by 254 cycles are 492 125.98 a second."""
    assert choice._needed("cycles", 254, Device(125e6)) == "492125.98/s"


def test_what_was_weighed_bounds_what_the_lines_say() -> None:
    """A longer message that another run of the setup found cheaper than the lines have it, and a shorter one dearer."""
    points = {(0, n): 100.0 + 10 * n for n in (0, 16, 32, 64)} | {(n, 0): 100.0 + n for n in (16, 32, 64)}
    model = choose.model(points, 16, None)
    assert model is not None
    free = model.at(0, 48)
    assert free == pytest.approx(580)
    assert replace(model, points=points | {(0, 56): 500.0}).at(0, 48) == 500.0
    assert replace(model, points=points | {(0, 40): 600.0}).at(0, 48) == 600.0


def test_what_is_weighed_by_default_is_interpolated_in_before_others() -> None:
    loads = ("default (28 sizes, 1)", "gmu (9 sizes, 1)", "nist-grid (289 sizes, 1)", "1/2,3/4", "vectors (1 size, 1)")
    rows: list[Row] = [{"workload": load, "run": k} for k, load in enumerate(loads)]
    assert max(rows, key=lambda r: _worth(r, "encrypt@5/5"))["workload"] == loads[0]
    rows[3]["encrypt@5/5"] = 7
    assert max(rows, key=lambda r: _worth(r, "encrypt@5/5"))["workload"] == loads[3], "it has the size"


def test_of_limits_that_are_passed_together_those_by_the_least_factor_are_advised() -> None:
    """The factor of a row is its worst one."""
    far: Row = {"run": 1, "label": "far/ref", "flags": "", "rom": 1010, "ram": 900, "cycles": 5}
    near: Row = {"run": 2, "label": "near/ref", "flags": "", "rom": 2000, "ram": 200, "cycles": 9}
    (advice,) = choose.relaxed([far, near], Limits(rom=1000, ram=100))
    assert (advice.row["label"], dict(advice.limits)) == ("near/ref", {"rom": 2000, "ram": 200})
