"""Many more keys of a block cipher, each with a block of its own: a lost carry is wrong for few of them."""

from __future__ import annotations

from msgspec.structs import replace

from ..model.call import Observed, Op
from ..model.reasons import Reason
from .block import SCHEDULES, BlockVerifier, keyed, same

#: keys, of which so many are tried before anybody looks at the cycles that they took, of which many take seconds to
#: simulate
KEYS, AT_ONCE, CYCLES = 256, 64, 10_000_000
_ABOUT = "fresh inputs, "


def many_keys(verifier: BlockVerifier, *, few: bool = False) -> None:
    """Encrypts and decrypts a block with each of :data:`KEYS` fresh keys, or of as many as take :data:`CYCLES`; with
    the first :data:`AT_ONCE` where a line makes calls slow (``few``). Stack and heap are of these
    calls too, and no other figure. Raises :class:`.Mismatch`, and DeviceError where the device fails."""
    made: list[Observed] = []
    for first in range(0, AT_ONCE if few else KEYS, AT_ONCE):
        vectors = [verifier.vector(f"many/{k}", 0) for k in range(first, first + AT_ONCE)]
        blocks = [v.message for v in vectors]
        for op in SCHEDULES:
            schedules = [replace(verifier.schedule(op, v), aside=True) for v in vectors]
            contexts = verifier.answers(schedules, vectors, _ABOUT, made)
            verifier.keep(op, vectors, contexts)
            turns = zip(vectors, contexts, blocks, strict=True)
            calls = [replace(verifier.block(op, v, c, x), aside=True) for v, c, x in turns]
            blocks = verifier.answers(calls, vectors, _ABOUT, made)
            if op is Op.ENCRYPT:
                verifier.agrees(vectors, blocks, _ABOUT)
        for v, got in zip(vectors, blocks, strict=True):
            same(got, v.message, Reason.DECRYPT_MISMATCH, f"{_ABOUT}{keyed(v)}")
        if sum(answer.pulse.cycles for _, _, answer in made) > CYCLES:
            break
    verifier.beside.elsewhere.extend(made)
