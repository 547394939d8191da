"""Encryption and decryption alone, whose ROM is told: an image that nobody runs could hold less than it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..model.call import Caller, DeviceError, Observed, Op
from ..model.reasons import Failure, Reason
from .calls import Verifier, as_hex, describe
from .expected import Mismatch

#: known answers that each image gives again
_SAMPLE = 12


def parts(verifier: Verifier, answers: Sequence[Observed], device_of: Callable[[str], Caller]) -> None:
    """Known answers again, of the images ``encrypt`` and ``decrypt``: they must answer as the one with both did.

    :class:`Mismatch` where one does not, :class:`DeviceError` where it ends otherwise.
    """
    if not verifier.aead:
        return
    made = [(v, a.output) for name, v, a in answers if name == "encrypt"]
    step = -(-len(made) // _SAMPLE)
    sample = [*made[::step], *made[-1:]]
    for part, op in (("encrypt", Op.ENCRYPT), ("decrypt", Op.DECRYPT)):
        try:
            requests = (verifier.request(op, v, v.message if op is Op.ENCRYPT else c) for v, c in sample)
            for (v, c), answer in zip(sample, device_of(part).calls(requests), strict=True):
                want = c if op is Op.ENCRYPT else v.message
                if answer.code != 0 or answer.output != want:
                    text = f"got {as_hex(answer.output)}" if answer.code == 0 else f"returned {answer.code}"
                    text = f"{part}, {describe(v)}, in an image of its own: {text}, with both in it {as_hex(want)}"
                    raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))
        except DeviceError as e:
            text = f"{part}, in an image of its own: {e.failure.detail}"
            raise DeviceError(replace(e.failure, detail=text)) from e
