"""Figures that cannot be, and time that depends on the inputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard import measure
from steelyard.measure.dependence import dependence, scatter
from steelyard.measure.untold import untold
from steelyard.model.call import Beside, CallResult, Observed, Pulse, Vector
from steelyard.model.inputs import Inputs
from steelyard.model.reasons import Reason
from steelyard.model.target import load_target
from steelyard.pipeline import nocrypt
from steelyard.sources import discover
from tests.conftest import ROOT

ASCON = discover(ROOT / "ciphers/crypto_aead/ascon/ascon128v12/fast").implementations[0]
EMPTY = {"encrypt": 20, "decrypt": 20, "reject": 20, "hash": 20}


def observed(op: str, cycles: int, size: int = 32, count: int = 1) -> Observed:
    v = Vector(count, bytes(16), bytes(16), bytes(size), bytes(size))
    return op, v, CallResult(0, size + 16, True, 0, 0, 0, bytes(size + 16), Pulse(20 + cycles))


@pytest.mark.parametrize(
    ("name", "op", "least"),
    [
        ("uno", "encrypt", 144),  # 16 + 16 + 32 + 32 in, 48 out, a byte a cycle
        ("uno", "reject", 96),
        ("msp430f1611", "encrypt", 144),
        ("bluepill", "encrypt", 36),
        ("maixduino", "encrypt", 18),
        ("nucleo-f746zg", "encrypt", 9),
    ],
)
def test_a_call_takes_the_time_to_move_its_data(name: str, op: str, least: int) -> None:
    target = load_target(name)
    assert measure.implausible([observed(op, least)], EMPTY, "cycles", target, ASCON) is None
    failure = measure.implausible([observed(op, 5000, 0), observed(op, least - 1)], EMPTY, "cycles", target, ASCON)
    assert failure is not None
    assert failure.reason is Reason.IMPLAUSIBLE
    assert failure.detail.startswith(f"{op} of 32/32 bytes takes {least - 1} cycles; moving ")


@pytest.mark.parametrize("field", ["stack", "heap"])
def test_no_call_takes_more_than_there_is(field: str) -> None:
    op, v, answer = observed("encrypt", 5000)
    for used, right in ((2048, True), (2049, False)):
        calls = [(op, v, replace(answer, **{field: used}))]
        failure = measure.implausible(calls, EMPTY, "cycles", load_target("uno"), ASCON)
        assert (failure is None) == right


def test_no_mean_is_below_zero() -> None:
    calls = [observed("encrypt", 500), observed("decrypt", -2)]
    for target in (load_target("host"), load_target("bluepill")):
        failure = measure.implausible(calls, EMPTY, "cycles", target, ASCON)
        assert failure is not None
        assert failure.detail == "cycles_decrypt_mean is -2: the work was not done inside the calls"
    base = nocrypt("crypto_aead")
    assert measure.implausible(calls[:1], EMPTY, "cycles", load_target("uno"), base) is None
    assert measure.implausible(calls, EMPTY, "cycles", load_target("uno"), base) is not None


def test_a_schedule_that_copies_the_key_may_come_out_below_the_empty_call_on_a_machine() -> None:
    xtea = discover(ROOT / "ciphers/crypto_block/xtea/xtea/ref").implementations[0]
    empty = {"schedule_encrypt": 20}
    for cycles, machine, chip in ((-13, True, False), (-60, False, False), (4, True, True)):
        calls = [observed("schedule_encrypt", cycles, 0)]
        for name, fine in (("host", machine), ("bluepill", chip)):
            failure = measure.implausible(calls, empty, "cycles", load_target(name), xtea)
            assert (failure is None) is fine, (cycles, name)


def test_a_block_cipher_moves_its_key_or_both_blocks_but_not_all_of_its_context() -> None:
    xtea = discover(ROOT / "ciphers/crypto_block/xtea/xtea/ref").implementations[0]
    v = Vector(1, bytes(16), bytes(400), bytes(8), b"")
    for cycles, fine in ((16, True), (15, False)):  # on an AVR, a byte a cycle
        calls: list[Observed] = [("encrypt", v, CallResult(0, 8, True, 0, 0, 0, bytes(8), Pulse(20 + cycles)))]
        failure = measure.implausible(calls, EMPTY, "cycles", load_target("uno"), xtea)
        assert (failure is None) is fine
        assert failure is None or failure.detail == "encrypt takes 15 cycles; moving 16 bytes takes more"


@pytest.mark.parametrize(("more", "shown"), [(0, False), (10, False), (60, True), (-60, True)])
def test_both_means_are_shown_where_they_differ(more: int, shown: bool) -> None:
    known = [observed("encrypt", 4000 + k, count=k) for k in range(10)]
    every = [observed("encrypt", 4000 + k + more, count=k) for k in range(10)]
    assert measure.depends(known, [every[3], every[7]], EMPTY) == shown

    figures, notes = dependence(known, every, EMPTY)
    assert figures == {"cycles_encrypt_mean": 4004.5 + more, "cycles_encrypt_known_mean": 4004.5}
    assert notes == [
        "time depends on the inputs: encrypt takes 4004 cycles on the known answers' inputs and "
        f"{4004.5 + more:.0f} on fresh ones"
    ]
    same = [observed("decrypt", 4000 + k, count=k) for k in range(10)]  # it does not depend, whatever the other does
    assert not shown or dependence([*known, *same], [*every, *same], EMPTY)[1] == notes


@pytest.mark.parametrize(
    ("cycles", "most", "machine"),
    [(1000, 10, False), (4000, 20, False), (4000, 444, True), (50, 10, True)],  # 0.5 or 10 %, and 10 cycles
)
def test_time_depends_where_means_differ_by_more_than_is_defined(cycles: int, most: int, machine: bool) -> None:
    def calls(op: str, cycles: int) -> list[Observed]:
        op, v, answer = observed(op, cycles)
        return [(op, v, replace(answer, pulse=replace(answer.pulse, spread=0.0 if machine else None)))]

    same = calls("decrypt", cycles)
    for more in (most, most + 1):
        known, fresh = calls("encrypt", cycles), calls("encrypt", cycles + more)
        assert measure.depends(known, fresh, EMPTY) == (more > most)
        [note] = dependence([*known, *same], [*fresh, *same], EMPTY)[1]
        assert ("decrypt" in note) == (more <= most)  # where no operation depends all are told


@pytest.mark.parametrize(("place", "room"), [("first", 200), ("late", 20)])
@pytest.mark.parametrize("cycles", [0, 80, 8000])
def test_a_call_beside_is_told_where_it_takes_more_than_is_defined(place: str, room: int, cycles: int) -> None:
    most = cycles + cycles // 8 + room
    for taken in (most, most + 1):
        beside = Beside(**{place: [observed("encrypt", taken)]})
        found = untold([observed("encrypt", cycles)], beside, EMPTY)
        assert bool(found) == (taken > most)
        assert all(f" {taken} cycles" in note for note in found)


def test_known_answers_with_one_number_are_compared_all() -> None:
    """A package's own file may number them alike, and the last may be the only one that takes its time."""
    known = [observed("encrypt", 4000 if k == 9 else 400) for k in range(10)]
    assert measure.depends(known, [observed("encrypt", 4000)] * 3, EMPTY)
    assert not measure.depends(known, [observed("encrypt", 760)] * 3, EMPTY)


@given(st.text(max_size=9), st.text(max_size=9), st.integers(0, 60), st.integers(0, 60))
def test_inputs_repeat_and_differ(digest: str, seed: str, count: int, total: int) -> None:
    inputs = Inputs(digest, seed)
    v = inputs.vector("x", 7, 16, 12, 5, 3)
    assert (len(v.key), len(v.npub), len(v.message), len(v.ad), v.count) == (16, 12, 5, 3, 7)
    assert v == Inputs(digest, seed).vector("x", 7, 16, 12, 5, 3)
    others = (Inputs(f"{digest}a", seed).vector("x", 7, 16, 12, 5, 3), inputs.vector("y", 7, 16, 12, 5, 3))
    assert v.key not in {w.key for w in others}
    sample = inputs.sample("s", total, count)
    assert sample == sorted(set(sample))
    assert len(sample) == min(count, total)
    assert set(sample) <= set(range(total))


def test_calls_that_scatter_with_their_inputs_are_told_though_their_mean_is_the_same() -> None:
    """Their single points are of some inputs."""
    known = [observed("encrypt", 4000, count=k) for k in range(10)]
    fresh = [observed("encrypt", 4000 + 100 * (-1) ** k, count=k) for k in range(10)]
    assert not measure.depends(known, fresh, EMPTY)
    told = scatter(known, fresh, EMPTY, depends=False, sized=True, exact=False)
    assert told == {"cycles_encrypt_inputs_sd": pytest.approx(105.4, abs=0.1)}
    assert scatter(known, known, EMPTY, depends=False, sized=True, exact=True) == {}
    slightly = [observed("encrypt", 4000 + (-1) ** k, count=k) for k in range(10)]
    told, untold = (scatter(known, slightly, EMPTY, depends=False, sized=True, exact=exact) for exact in (True, False))
    assert (told, untold) == ({"cycles_encrypt_inputs_sd": pytest.approx(1.05, abs=0.01)}, {})
