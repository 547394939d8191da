"""Verifies the images with encryption or decryption alone, whose ROM is reported: unverified, they could lack code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..model.call import Caller, CallResult, DeviceError, Observed, Op, Vector
from ..model.reasons import Failure, Reason
from .calls import Verifier, as_hex, describe
from .expected import Mismatch

#: known answers that each image must repeat
_SAMPLE = 12
#: calls of each other kind, on inputs that are unknown when a package is written
_FRESH = 24


def parts(
    verifier: Verifier,
    known: Sequence[Observed],
    fresh: Sequence[Sequence[Observed]],
    device_of: Callable[[str], Caller],
) -> None:
    """Repeats ``known`` answers and ``fresh`` calls on the images ``encrypt`` and ``decrypt``. They must give the same
    answers as the image with both operations, and refuse what it refused. ``device_of`` opens an image by its part.

    Raises :class:`Mismatch` when one does not, and :class:`DeviceError` when it fails.
    """
    if not verifier.aead:
        return
    made = _sealed(known)
    step = -(-len(made) // _SAMPLE)
    sample = [*made[::step], *made[-1:]]
    for k, calls in enumerate(map(_sealed, fresh)):
        sample += [calls[i] for i in verifier.inputs.sample(f"parts/{k}", len(calls), _FRESH)]
    encrypt = [(verifier.request(Op.ENCRYPT, v, v.message), v, c) for v, c in sample]
    decrypt = [(verifier.request(Op.DECRYPT, v, c), v, v.message) for v, c in sample]
    forged: list[tuple[Vector, bytes]] = sample if verifier.client.hello.a_bytes else []
    reject = [(verifier.request(Op.DECRYPT, v, verifier.forged(v, c)), v, None) for v, c in forged]
    mixed = verifier.inputs.shuffled("parts/order", [*decrypt, *reject])
    for part, requests in (("encrypt", encrypt), ("decrypt", mixed)):
        try:
            answers = device_of(part).calls(r for r, _, _ in requests)
            for (_, v, want), answer in zip(requests, answers, strict=True):
                if text := _odd(answer, want):
                    text = f"{part}, {describe(v)}, in an image of its own: {text}"
                    raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))
        except DeviceError as e:
            text = f"{part}, in an image of its own: {e.failure.detail}"
            raise DeviceError(replace(e.failure, detail=text)) from e


def _sealed(observed: Sequence[Observed]) -> list[tuple[Vector, bytes]]:
    return [(v, a.output) for name, v, a in observed if name == "encrypt"]


def _odd(answer: CallResult, want: bytes | None) -> str:
    """What is wrong with an answer that should be ``want`` (None: a refusal); empty when nothing is."""
    if want is None:
        return "accepts a wrong tag, which the image with both refuses" if answer.code == 0 else ""
    if answer.code == 0 and answer.output == want:
        return ""
    text = f"got {as_hex(answer.output)}" if answer.code == 0 else f"returned {answer.code}"
    return f"{text}, the image with both {as_hex(want)}"
