"""What is wrong for few keys or blocks of a block cipher."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard import verify
from steelyard.model.call import Beside, Request, Vector
from steelyard.model.inputs import Inputs
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.reference import reference
from steelyard.verify import BlockVerifier, Mismatch, many
from steelyard.verify.block import SCHEDULES
from steelyard.verify.calls import as_hex
from tests.conftest import Bench
from tests.verify.test_block_ciphers import package


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        ("before", Reason.WRONG_OUTPUT),  # both directions, so that they agree
        ("decrypt", Reason.DECRYPT_MISMATCH),
    ],
)
@pytest.mark.parametrize("rare", ["ctx[7] % 64 == 17", "ctx[13] % 64 == 18", "in[2] % 64 == 19"])
def test_what_is_wrong_for_one_key_in_sixty_is_refused(
    bench: Bench, uno: Target, hook: str, reason: Reason, rare: str
) -> None:
    wrong = f"if ({rare}) {'ctx++' if hook == 'before' else 'out[0] ^= 1'};"
    mine = package(bench, **{hook: wrong})  # type: ignore[arg-type]
    verifier = BlockVerifier(bench.client(mine, uno), mine, Inputs(mine.digest), reference(mine, uno))
    with pytest.raises(Mismatch) as found:
        many.many_keys(verifier)
    assert found.value.failure.reason is reason
    said = re.fullmatch(r"fresh inputs, key (\w+), block (\w+): got \w+, \D+ \w+", found.value.failure.detail)
    assert said, found.value.failure.detail
    tried = [verifier.vector(f"many/{k}", 0) for k in range(many.KEYS)]
    assert said.groups() in [(as_hex(v.key), as_hex(v.message)) for v in tried]


def test_a_run_tries_them_and_has_their_stack(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(verify, "many_keys", lambda v, few: (asked.append(few), many.many_keys(v, few=few)))
    deep = "static __attribute__((noinline)) void deep(void) { volatile char all[300]; all[0] = all[299] = 1; }"
    mine = package(bench, top=deep, before="if (ctx[9] % 128 == 77) deep();")
    assert bench.weigh(mine, uno).metrics["stack_encrypt"] > 300
    assert set(asked) == {False}


@pytest.mark.parametrize(("few", "cycles", "batches"), [(False, 1000, 4), (False, 30_000, 2), (True, 1000, 1)])
def test_slow_calls_are_fewer(few: bool, cycles: int, batches: int) -> None:
    made, inputs = [], Inputs("x")
    answer = SimpleNamespace(pulse=SimpleNamespace(cycles=cycles))

    def answers(requests: list[Request], vectors: list[Vector], _: str, seen: list[Any]) -> list[bytes]:
        seen += [(r.op.value, v, answer) for r, v in zip(requests, vectors, strict=True)]
        made.append(len(requests))
        return [v.message for v in vectors]

    verifier: Any = SimpleNamespace(
        vector=lambda use, count: inputs.vector(use, count, 16, 0, 8, 0),
        schedule=lambda op, v: Request(SCHEDULES[op], v.key, b"", b"", b""),
        block=lambda op, v, context, data: Request(op, v.key, context, b"", data),
        keep=lambda *_: None,
        agrees=lambda *_: None,
        answers=answers,
        beside=Beside(),
    )
    many.many_keys(verifier, few=few)
    assert made == [many.AT_ONCE] * 4 * batches
    assert len(verifier.beside.elsewhere) == sum(made)
