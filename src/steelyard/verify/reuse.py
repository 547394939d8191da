"""Contexts that are used for several blocks, in turns that no package foresees. No figure is of these calls."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..model.call import Op, Request, Vector
from ..model.inputs import Inputs
from ..model.reasons import Reason
from .block import SCHEDULES, BlockVerifier, same
from .check import KnownAnswers

#: contexts that take turns, their rounds, and the blocks of each turn
_REUSED, _ROUNDS, _IN_A_ROW = 4, 3, 2
#: unforeseeable turns for each context that takes some
_TURNS = 4
#: calls in a direction and of a key that nobody foresees, a half of them of schedules
_MIXED = 64
#: fresh blocks one after the other with one context, more than any figure is of
_ROW = 160
_ABOUT = "a context for several blocks, "


def reused(verifier: BlockVerifier, known: KnownAnswers) -> None:
    """Several blocks with the same context, taking turns with those of other keys: each answer is the block of the next
    call. First all are encrypted, then decrypted; then both directions and their schedules take turns, too; then many
    blocks come in a row; in the end the known answer is as before. Raises :class:`Mismatch`."""
    verifier.forget()
    inputs = verifier.inputs
    chosen = [known.outputs[k] for k in inputs.sample("reused", len(known.outputs), _REUSED)]
    walk = _Walk(verifier, [v for v, _ in chosen])
    order = _order(inputs, len(chosen))
    for op in SCHEDULES:
        for k in order:
            walk.step(op, k)
        walk.judge()
    mixed = [(call, op, k) for call in (walk.step, walk.schedule) for op in SCHEDULES for k in range(len(chosen))]
    for number in inputs.numbers("reused/mixed", _MIXED, len(mixed)):
        call, op, k = mixed[number]
        call(op, k)
    walk.judge()
    v = chosen[0][0]
    stream = inputs.stream("row", _ROW * len(v.message))
    row = [replace(v, message=stream[at : at + len(v.message)]) for at in range(0, len(stream), len(v.message))]
    encrypted = _in_a_row(verifier, Op.ENCRYPT, row)
    verifier.agrees(row, encrypted, _ABOUT)
    decrypted = _in_a_row(verifier, Op.DECRYPT, [replace(v, message=c) for c in encrypted])
    for got, one in zip(decrypted, row, strict=True):
        same(got, one.message, Reason.DECRYPT_MISMATCH, _ABOUT)
    for v, c in chosen:
        same(_block(verifier, Op.ENCRYPT, v, v.message), c, Reason.WRONG_OUTPUT, _ABOUT)
        same(_block(verifier, Op.DECRYPT, v, c), v.message, Reason.DECRYPT_MISMATCH, _ABOUT)
    verifier.begun_right()


def _order(inputs: Inputs, contexts: int) -> list[int]:
    """Whose turn it is: all in rounds, some blocks each; then two, three and so on, block by block in two rounds and as
    nobody foresees. So each comes back after one other, after two, and so on."""
    order = [k for k in range(contexts) for _ in range(_IN_A_ROW)] * _ROUNDS
    for some in range(2, contexts + 1):
        order += [*range(some)] * 2
        order += inputs.numbers(f"reused/{some}", _TURNS * some, some)
    return order


class _Walk:
    """Blocks of each vector's key, where encryption makes the next one of the last one, and decryption goes back."""

    def __init__(self, verifier: BlockVerifier, vectors: Sequence[Vector]) -> None:
        self.verifier = verifier
        self.vectors = vectors
        self.paths = [[v.message] for v in vectors]
        self.encrypted: list[tuple[Vector, bytes]] = []
        self.decrypted: list[tuple[bytes, bytes]] = []

    def step(self, op: Op, k: int) -> None:
        """The next block of vector ``k``, or the one before; where there is none, the next."""
        v, path = self.vectors[k], self.paths[k]
        if op is Op.ENCRYPT or len(path) == 1:
            path.append(_block(self.verifier, Op.ENCRYPT, v, path[-1]))
            self.encrypted.append((replace(v, message=path[-2]), path[-1]))
        else:
            got = path.pop()
            self.decrypted.append((_block(self.verifier, op, v, got), path[-1]))

    def schedule(self, op: Op, k: int) -> None:
        """The schedule of a direction for the key of vector ``k``; contexts stay those that a pass made."""
        _answer(self.verifier, self.verifier.schedule(op, self.vectors[k]))

    def judge(self) -> None:
        """Compares all steps since the last time. Raises :class:`Mismatch`."""
        self.verifier.agrees([v for v, _ in self.encrypted], [got for _, got in self.encrypted], _ABOUT)
        for got, want in self.decrypted:
            same(got, want, Reason.DECRYPT_MISMATCH, _ABOUT)
        self.encrypted.clear()
        self.decrypted.clear()


def _block(verifier: BlockVerifier, op: Op, v: Vector, data: bytes) -> bytes:
    """A block with a context that a pass made."""
    return _answer(verifier, verifier.block(op, v, verifier.again(op, v), data))


def _answer(verifier: BlockVerifier, asked: Request) -> bytes:
    asked = replace(asked, aside=True)
    answer = verifier.client.call(asked)
    verifier.sane(asked, answer, _ABOUT)
    verifier.beside.late.append(asked.seen(answer))
    return answer.output


def _in_a_row(verifier: BlockVerifier, op: Op, blocks: Sequence[Vector]) -> list[bytes]:
    """The blocks, all with the context of the first one's key, one call after the other."""
    context = verifier.again(op, blocks[0])
    asked = [replace(verifier.block(op, v, context, v.message), aside=True) for v in blocks]
    answers = list(verifier.client.calls(asked))
    for r, answer in zip(asked, answers, strict=True):
        verifier.sane(r, answer, _ABOUT)
        verifier.beside.late.append(r.seen(answer))
    return [answer.output for answer in answers]
