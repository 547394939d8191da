"""Makes a few calls, so that it is known whether longer ones use more stack or heap."""

from __future__ import annotations

from ..model.call import GROWTH, Caller, DeviceError, Op
from ..model.implementation import Implementation
from ..model.inputs import Inputs
from .calls import Verifier
from .expected import expected


def look_at_growth(client: Caller, implementation: Implementation, inputs: Inputs) -> None:
    """Makes the calls on a device that makes no others, up to the first that fails. Raises :class:`Mismatch` where its
    known answers cannot be read."""
    verifier = Verifier(client, implementation, expected(implementation, client.hello), inputs)
    sizes = [*((n, 0) for n in GROWTH), *((0, n) for n in GROWTH if verifier.aead)]
    try:
        for mlen, adlen in sizes:
            if verifier.fits(mlen, adlen):
                v = verifier.vector(f"growth/{mlen}/{adlen}", 0, mlen, adlen)
                answer = client.call(verifier.request(verifier.op, v, v.message))
                if verifier.aead and answer.code == 0 and answer.length in verifier.allowed(v):
                    client.call(verifier.request(Op.DECRYPT, v, answer.output))
    except DeviceError:
        return
