"""Warm calls of a block cipher find nothing that an earlier pass left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from steelyard import device, verify
from steelyard.model.call import CallResult, Op, Request
from steelyard.model.inputs import Inputs
from steelyard.model.paths import CIPHERS
from steelyard.sources import discover
from steelyard.verify import warm
from tests.conftest import Bench, the_target


class _Kept(device.Client):
    """A client that keeps what it was asked, and how much of it before each restart."""

    def __init__(self, link: device.Link) -> None:
        self.asked: list[Request] = []
        self.restarts: list[int] = []
        super().__init__(link)

    def restart(self) -> None:
        self.restarts.append(len(self.asked))
        super().restart()

    def calls(self, requests: Iterable[Request]) -> Iterator[CallResult]:
        every = list(requests)
        self.asked += every
        return super().calls(every)


def test_blocks_come_after_a_restart_where_no_sample_is_followed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a package had their keys from the schedules."""
    monkeypatch.setattr(warm, "_least", lambda *_: {})  # which restarts too
    (xtea,) = discover(CIPHERS / "crypto_block" / "xtea" / "xtea" / "ref").implementations
    client = _Kept(bench.client(xtea, the_target("nrf52840")).link)
    verifier = verify.BlockVerifier(client, xtea, Inputs(xtea.digest))
    known, _ = verify.known_blocks_answers(verifier)
    warm.warm_blocks(verifier, known)
    asked = [r.op if r.warm else None for r in client.asked]
    for schedule, block in ((Op.SCHEDULE_ENCRYPT, Op.ENCRYPT), (Op.SCHEDULE_DECRYPT, Op.DECRYPT)):
        last = len(asked) - asked[::-1].index(schedule)
        assert any(last <= n < asked.index(block) for n in client.restarts)
