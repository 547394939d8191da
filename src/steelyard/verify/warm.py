"""Calls of a block cipher right after another one, which left the caches warm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from ..model.call import Observed, Op, Request, Vector
from ..model.errors import counted
from ..model.reasons import Failure, Reason
from .block import SCHEDULES, BlockVerifier, same
from .check import KnownAnswers
from .expected import Mismatch

_ABOUT = "right after another call, "
#: cycles after which enough calls of an operation were followed: following them one by one takes some seconds
_MOST = 100_000_000


def warm_blocks(
    verifier: BlockVerifier, known: KnownAnswers, *, sampled: bool = False
) -> tuple[list[Observed], list[str]]:
    """The known answers' calls with warm caches, and notes. The call before each is of the same operation, with key and
    block (or context and block) of the vector before, so that nothing which it may have kept is of use. No calls where
    the harness settles nothing, since all are alike there; where pulses are ``sampled``, which come too close to each
    other here; and where RAM has no room for the inputs of two.

    Inputs are in RAM already while the call before runs, which could do their work. So none may take less than its
    instructions do where nothing was called before, as far as following them takes no minutes. Blocks come with the
    contexts of calls that are not warm: others could say that a warm schedule made them. Raises :class:`Mismatch` and
    :class:`DeviceError`."""
    hello = verifier.client.hello
    if not hello.warms:
        return [], []
    if sampled:
        return [], ["no warm figures: the two pulses of a warm call are too close for an analyzer"]
    second = hello.npub_bytes + hello.key_bytes + hello.a_bytes
    if not all(hello.fits(op, 0, 0, verifier.client.most + second) for op in (Op.SCHEDULE_ENCRYPT, Op.ENCRYPT)):
        return [], [f"no warm figures: there is no room for the {counted(second, 'byte')} of another call's inputs"]
    first = (verifier.vector("warm", 0), b"")
    observed: list[Observed] = []
    for op in SCHEDULES:
        calls = [first, *known.outputs]
        vectors = [v for v, _ in calls]
        verifier.forget()
        scheduled = [verifier.schedule(op, v) for v in vectors]
        least = _least(verifier, scheduled)
        contexts = _outputs(verifier, scheduled, vectors, least, observed)
        verifier.keep(op, vectors[:1], contexts[:1])
        given = [v.message if op is Op.ENCRYPT else c or v.message for v, c in calls]
        wanted = [c if op is Op.ENCRYPT else v.message for v, c in known.outputs]
        verifier.forget()
        blocks = [verifier.block(op, v, x, d) for v, x, d in zip(vectors, contexts, given, strict=True)]
        outputs = _outputs(verifier, blocks, vectors, {}, [])
        _right(op, vectors, outputs, wanted, f"with the context of a schedule {_ABOUT}")
        verifier.forget()
        blocks = [replace(r, npub=verifier.again(op, v)) for r, v in zip(blocks, vectors, strict=True)]
        least = _least(verifier, blocks)
        _right(op, vectors, _outputs(verifier, blocks, vectors, least, observed), wanted, _ABOUT)
    return observed, []


def _right(op: Op, vectors: Sequence[Vector], outputs: Sequence[bytes], wanted: Sequence[bytes], about: str) -> None:
    """Raises :class:`Mismatch` for the first output, but for that of the call before all, that is wrong."""
    for v, got, want in zip(vectors[1:], outputs[1:], wanted, strict=True):
        same(got, want, Reason.WRONG_OUTPUT, f"{op.value}, {about}vector {v.count}: ")


def _least(verifier: BlockVerifier, requests: Sequence[Request]) -> dict[int, int]:
    """What the instructions of ``requests``, by number, take at the least: of all but the first, or of long ones of as
    many as have time. They are made as those whose cycles are stored, after a restart and in this order, so that no
    package can tell: one that does less here has lower cycles there, which others are held against. The device is
    restarted afterwards, too: no call finds what this one left."""
    found: dict[int, int] = {}
    for k in range(1, len(requests)):
        cycles = verifier.client.least(requests[k])
        if cycles is None:
            return {}
        found[k] = cycles
        if sum(found.values()) > _MOST:
            break
    verifier.forget()
    return found


def _outputs(
    verifier: BlockVerifier,
    requests: Sequence[Request],
    vectors: Sequence[Vector],
    least: Mapping[int, int],
    observed: list[Observed],
) -> list[bytes]:
    """The outputs of all ``requests``, each warm but the first, whose inputs are those before the second's, and none
    of which takes less than the ``least``. Notes the warm calls as ``observed``."""
    asked = [requests[0], *(r.after(before) for before, r in pairwise(requests))]
    outputs = []
    for k, (r, v, answer) in enumerate(zip(asked, vectors, verifier.client.calls(asked), strict=True)):
        verifier.sane(r, answer, f"{_ABOUT if r.warm else ''}vector {v.count}: ")
        if (cycles := answer.pulse.cycles) < least.get(k, 0):
            text = f"{r.op.value} takes {cycles} cycles {_ABOUT}and its instructions alone take {least[k]} otherwise"
            raise Mismatch(Failure(Reason.IMPLAUSIBLE, f"{text}: the work was not done inside the call"))
        outputs.append(answer.output)
        if r.warm:
            observed.append(r.seen(answer, v.count))
    return outputs
