"""What is wrong for few keys or blocks of a block cipher."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.model.call import Request, Vector
from steelyard.model.inputs import Inputs
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.verify import many
from steelyard.verify.block import SCHEDULES
from tests.conftest import Bench
from tests.verify.test_block_ciphers import failure, package


@pytest.mark.parametrize("byte", ["ctx[0]", "ctx[7]", "ctx[13]", "in[2]"])
def test_what_is_wrong_for_one_key_in_a_hundred_is_refused(bench: Bench, uno: Target, byte: str) -> None:
    """By encryption and decryption alike, so that they agree."""
    wrong = f"if ({byte} % 128 == 77) ctx++;"
    assert failure(bench.weigh(package(bench, before=wrong), uno)).reason in (Reason.WRONG_OUTPUT, Reason.KAT_MISMATCH)


@pytest.mark.parametrize(("few", "cycles", "batches"), [(False, 1000, 8), (False, 60_000, 2), (True, 1000, 1)])
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
    )
    many.many_keys(verifier, few=few)
    assert made == [many.AT_ONCE] * 4 * batches
