"""Calls of a block cipher right after another one, which left the caches warm."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..model.call import Observed, Op, Request, Vector
from ..model.errors import counted
from ..model.reasons import Reason
from .block import SCHEDULES, BlockVerifier, same
from .check import KnownAnswers

_ABOUT = "right after another call, "


def warm_blocks(
    verifier: BlockVerifier, known: KnownAnswers, *, sampled: bool = False
) -> tuple[list[Observed], list[str]]:
    """The known answers' calls with warm caches, and notes. The call before each is of the same operation, with key and
    block (or context and block) of the vector before, so that nothing which it may have kept is of use. No calls where
    the harness settles nothing, since all are alike there; where pulses are ``sampled``, which come too close to each
    other here; and where RAM has no room for the inputs of two. Raises :class:`Mismatch` and :class:`DeviceError`."""
    hello = verifier.client.hello
    if not hello.warms:
        return [], []
    if sampled:
        return [], ["no warm figures: the two pulses of a warm call are too close for an analyzer"]
    second = hello.npub_bytes + hello.key_bytes + hello.a_bytes
    if not all(hello.fits(op, 0, 0, verifier.client.deepest + second) for op in (Op.SCHEDULE_ENCRYPT, Op.ENCRYPT)):
        return [], [f"no warm figures: there is no room for the {counted(second, 'byte')} of another call's inputs"]
    first = (verifier.vector("warm", 0), b"")
    observed: list[Observed] = []
    for op in SCHEDULES:
        calls = [first, *known.outputs]
        vectors = [v for v, _ in calls]
        verifier.forget()
        scheduled = [verifier.schedule(op, v) for v in vectors]
        contexts = _outputs(verifier, scheduled, vectors, observed)
        verifier.forget()
        given = [v.message if op is Op.ENCRYPT else c or v.message for v, c in calls]
        blocks = [verifier.block(op, v, x, d) for v, x, d in zip(vectors, contexts, given, strict=True)]
        outputs = _outputs(verifier, blocks, vectors, observed)
        wanted = [c if op is Op.ENCRYPT else v.message for v, c in known.outputs]
        for v, got, want in zip(vectors[1:], outputs[1:], wanted, strict=True):
            same(got, want, Reason.WRONG_OUTPUT, f"{op.value}, {_ABOUT}vector {v.count}: ")
    return observed, []


def _outputs(
    verifier: BlockVerifier, requests: Sequence[Request], vectors: Sequence[Vector], observed: list[Observed]
) -> list[bytes]:
    """The outputs of all ``requests``, each warm but the first, whose inputs are those before the second's. Notes the
    warm calls as ``observed``."""
    asked = [requests[0], *(r.after(before) for before, r in pairwise(requests))]
    outputs = []
    for r, v, answer in zip(asked, vectors, verifier.client.calls(asked), strict=True):
        verifier.sane(r, answer, f"{_ABOUT if r.warm else ''}vector {v.count}: ")
        outputs.append(answer.output)
        if r.warm:
            observed.append((r.op.value, Vector(v.count, r.key, r.npub, r.data, b""), answer))
    return outputs
