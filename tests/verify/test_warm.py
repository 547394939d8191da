"""Warm calls of a block cipher find nothing that an earlier pass or call left, but for what caches hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard import device, verify
from steelyard.model.call import CallResult, DeviceError, Op, Request
from steelyard.model.inputs import Inputs
from steelyard.model.paths import CIPHERS
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.sources import discover
from steelyard.verify import warm
from tests.conftest import Bench, the_target
from tests.verify.test_block_ciphers import BLOCK, CONTEXT, KEY, package


class _Kept(device.Client):
    """A client that keeps what comes after what: restarts, and groups of calls that are followed or warm."""

    def __init__(self, link: device.Link) -> None:
        self.events: list[str] = []
        super().__init__(link)

    def restart(self) -> None:
        self._comes("restart")
        super().restart()

    def calls(self, requests: Iterable[Request]) -> Iterator[CallResult]:
        every = list(requests)
        if any(r.warm for r in every):
            self._comes(f"warm {every[-1].op.value}")
        return super().calls(every)

    def least(self, request: Request) -> int | None:
        self._comes(f"followed {request.op.value}")
        return super().least(request)

    def _comes(self, event: str) -> None:
        if self.events[-1:] != [event]:
            self.events.append(event)


def test_what_is_followed_and_what_is_stored_come_after_restarts(bench: Bench) -> None:
    """Else a package had in static data what other calls left there: the keys of schedules, or the same inputs."""
    (xtea,) = discover(CIPHERS / "crypto_block" / "xtea" / "xtea" / "ref").implementations
    client = _Kept(bench.client(xtea, the_target("nrf52840")).link)
    verifier = verify.BlockVerifier(client, xtea, Inputs(xtea.digest))
    known, _ = verify.known_blocks_answers(verifier)
    client.events.clear()
    warm.warm_blocks(verifier, known)
    groups = []
    for op in ("encrypt", "decrypt"):
        schedule = f"schedule_{op}"
        groups += [f"followed {schedule}", f"warm {schedule}", f"warm {op}", f"followed {op}", f"warm {op}"]
    assert client.events == [event for group in groups for event in ("restart", group)]


def test_no_context_says_that_its_block_is_warm(bench: Bench) -> None:
    """A warm schedule can tell, by where its key is, and its context could make a block's call another one."""
    marks = "ctx[16] = (uintptr_t)ctx - (uintptr_t)k > 64;"
    slows = "for (volatile int n = 0; ctx[16] && n < 500; n++) ;"
    record = bench.weigh(package(bench, context=24, schedule=marks, before=slows), the_target("nrf52840"))
    assert record.failure is None
    found = record.metrics
    assert all(found[f"cycles_{op}_warm_mean"] < found[f"cycles_{op}_mean"] for op in ("encrypt", "decrypt"))


def test_the_context_of_a_warm_schedule_is_right(bench: Bench) -> None:
    wrong = "ctx[0] ^= (uintptr_t)ctx - (uintptr_t)k > 64;"
    record = bench.weigh(package(bench, context=24, schedule=wrong), the_target("nrf52840"))
    assert record.failure is not None
    assert record.failure.reason is Reason.WRONG_OUTPUT
    assert record.failure.detail.startswith("encrypt, with the context of a schedule right after another call, vector ")


#: the latest call, which gives the same answer at once when it is made again
MEMO = "static unsigned char seen[CRYPTO_CONTEXTBYTES], was[CRYPTO_BLOCKBYTES], kept[CRYPTO_BLOCKBYTES], kind;"
AGAIN = "if (kind == __func__[13] && !memcmp(seen, ctx, sizeof seen) && !memcmp(was, in, sizeof was))"
AGAIN += " { memcpy(out, kept, sizeof kept); return 0; } memcpy(was, in, sizeof was);"
KEEP = "kind = (unsigned char)__func__[13]; memcpy(seen, ctx, sizeof seen); memcpy(kept, out, sizeof kept);"
WARM = tuple(f"cycles_{op}_{{}}mean" for op in ("encrypt", "decrypt", "schedule_encrypt", "schedule_decrypt"))


def test_warm_calls_find_the_cache_filled(bench: Bench) -> None:
    (aes,) = discover(CIPHERS / "crypto_block" / "aes" / "aes128" / "fast").implementations
    record = bench.weigh(aes, the_target("nrf52840"))
    assert record.failure is None
    saved = [record.metrics[m.format("")] - record.metrics[m.format("warm_")] for m in WARM]
    assert min(saved) > 0, saved
    assert record.metrics["encrypt_per_byte"] == record.metrics["cycles_encrypt_warm_mean"] / 16


def test_a_warm_call_is_never_the_same_call_again(bench: Bench) -> None:
    memo = package(bench, top=MEMO, before=AGAIN, encrypt=KEEP, decrypt=KEEP)
    record = bench.weigh(memo, the_target("nrf52840"))
    assert record.failure is None
    found = record.metrics
    assert all(found[f"cycles_{op}_warm_mean"] > found[f"cycles_{op}_mean"] / 2 for op in ("encrypt", "decrypt"))


#: the call after this one is made here, from where its inputs are in RAM already, if it is a warm one
AHEAD = "kind = (unsigned char)__func__[13]; memcpy(seen, ctx - sizeof seen, sizeof seen);"
AHEAD += " memcpy(was, in + CRYPTO_BLOCKBYTES, sizeof was); xtea_{}(kept, was, seen);"


def test_the_call_before_a_warm_one_cannot_do_its_work(bench: Bench) -> None:
    ahead = {op: AHEAD.format(op) for op in ("encrypt", "decrypt")}
    mine = package(bench, top=MEMO, before=AGAIN, encrypt=ahead["encrypt"], decrypt=ahead["decrypt"])
    record = bench.weigh(mine, the_target("nrf52840"))
    assert record.failure is not None
    assert record.failure.reason is Reason.IMPLAUSIBLE
    assert "right after another call, and its instructions alone" in record.failure.detail


def test_every_warm_call_is_held_against_its_instructions(bench: Bench) -> None:
    """In the order in which the cold ones were made: a package could tell others by it."""
    (xtea,) = discover(CIPHERS / "crypto_block" / "xtea" / "xtea" / "ref").implementations
    client = bench.client(xtea, the_target("nrf52840"))
    place = bytes(client.hello.npub_bytes)
    requests = [Request(Op.SCHEDULE_ENCRYPT, bytes((n,)) * KEY, place, b"", b"") for n in range(65)]
    least = warm._least(verify.BlockVerifier(client, xtea, Inputs(xtea.digest)), requests)
    assert list(least) == list(range(1, 65))


def test_few_long_calls_are_followed() -> None:
    """Instruction by instruction a call of seconds takes minutes, in which nobody can stop it."""
    asked = []

    def least(request: Any) -> int:
        asked.append(request)
        return 60_000_000

    client = SimpleNamespace(least=least)
    verifier: Any = SimpleNamespace(client=client, inputs=Inputs("x"), forget=lambda: None)
    requests: Any = [SimpleNamespace(op=Op.ENCRYPT)] * 65
    assert len(warm._least(verifier, requests)) == len(asked) == 2


def test_without_caches_every_call_is_a_warm_one(bench: Bench, uno: Target) -> None:
    found = bench.weigh(package(bench), uno).metrics
    assert [found[m.format("warm_")] for m in WARM] == [found[m.format("")] for m in WARM]
    client = bench.client(package(bench), uno)
    assert not client.hello.warms


def test_a_warm_call_needs_the_inputs_of_another(bench: Bench) -> None:
    client = bench.client(package(bench), the_target("mkrzero"))
    whole = Request(Op.ENCRYPT, bytes(KEY), bytes(CONTEXT), bytes(CONTEXT + KEY + BLOCK), bytes(BLOCK), warm=True)
    assert client.call(whole).output == client.call(replace(whole, ad=b"", warm=False)).output
    with pytest.raises(DeviceError, match="bad request"):
        client.call(replace(whole, ad=whole.ad[1:]))


def test_what_the_call_before_a_warm_one_writes_is_found(bench: Bench) -> None:
    writes = "if (in[-1] == 0xA5) ((unsigned char *)out)[300] = 1;"
    client = bench.client(package(bench, encrypt=writes), the_target("nrf52840"))
    before = bytes(CONTEXT) + bytes(KEY - 1) + b"\xa5" + bytes(BLOCK)
    with pytest.raises(DeviceError, match="stray-write: encrypt"):
        client.call(Request(Op.ENCRYPT, bytes(KEY), bytes(CONTEXT), before, bytes(BLOCK), warm=True))
