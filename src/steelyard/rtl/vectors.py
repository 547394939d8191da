"""Calls that a design is verified with, and those whose cycles count: inputs that nobody knows beforehand, answers from
the software side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import Protocol

from msgspec import Struct

from ..model.inputs import Inputs
from .design import Design
from .streams import MAX_SEGMENT, Call

#: sizes around words and blocks
_SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 15, 16, 17, 23, 24, 31, 32, 33, 44, 48, 63, 64, 65)
#: the longest message and associated data, in bytes
LONGEST = 2048
#: GMU's sizes in bytes
GMU = (16, 64, 1536)
#: the three long inputs whose differences give the cycles of a block, in multiples of the bytes that hold whole ones
_LONG = (2, 4, 8)
#: bytes that are a multiple of the usual blocks
_ANY_BLOCK = 528


class Oracle(Protocol):
    """Software that says what is right: bytes of its key, nonce and tag, and answers to many inputs. ``binds`` says
    that the tag depends on everything."""

    key: int
    npub: int
    tag: int
    binds: bool

    def encrypt(self, inputs: Sequence[tuple[bytes, bytes, bytes, bytes]]) -> list[bytes]:
        """Ciphertexts with tags for (key, nonce, associated data, message)."""

    def hash(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Digests."""


class Nocrypt:
    """What the baseline answers: the text as it is, and zeros for tag and digest. A tag that is not zero is refused;
    nothing else is looked at."""

    key, npub, tag = 16, 16, 16
    binds = False

    def encrypt(self, inputs: Sequence[tuple[bytes, bytes, bytes, bytes]]) -> list[bytes]:
        """See :meth:`Oracle.encrypt`."""
        return [message + bytes(self.tag) for *_, message in inputs]

    def hash(self, inputs: Sequence[bytes]) -> list[bytes]:
        """See :meth:`Oracle.hash`."""
        return [bytes(32)] * len(inputs)


class CallSize(Struct, frozen=True):
    """What a call of cycles is: ``of`` is ``PT``, ``AD`` or ``AD+PT``, or ``HM``."""

    op: str
    of: str
    ad: int
    message: int
    reuse: bool = False


def aead(design: Design, oracle: Oracle, inputs: Inputs, count: int = 48) -> list[Call]:
    """Encryptions and decryptions: ``count`` sizes around words and blocks, some up to 2 KiB, keys used again, inputs
    in several segments, and forgeries."""
    pairs = list(zip(*(_sizes(inputs, f"rtl/{what}", count) for what in ("ad", "message")), strict=True))
    pairs = [(0, 0), (0, 16), (16, 0), (16, 16), *pairs]
    long = inputs.numbers("rtl/long", 8, LONGEST + 1)
    pairs += [*zip(long[::2], long[1::2], strict=True), (LONGEST, LONGEST)]
    step = _step(design)
    cuts = (
        []
        if not design.segments
        else [
            (step * a, step * m + r, step * s)
            for a, m, r, s in ((3, 4, 1, 1), (6, 5, 0, 2), (0, 7, 3, 3), (5, 0, 0, 2))
        ]
    )
    made: list[Call] = []
    given = [*((a, m, MAX_SEGMENT) for a, m in pairs), *cuts]
    reused = [design.key_reuse and n == 0 for n in inputs.numbers("rtl/reuse", 2 * len(given), 3)]
    texts = [
        (
            inputs.stream(f"rtl/{k}/key", oracle.key), inputs.stream(f"rtl/{k}/npub", oracle.npub),
            inputs.stream(f"rtl/{k}/ad", a), inputs.stream(f"rtl/{k}/message", m),
        )
        for k, (a, m, _) in enumerate(given)
    ]  # fmt: skip
    for k in range(1, len(texts)):  # an operation with the key of the one before it
        if reused[2 * k]:
            texts[k] = (texts[k - 1][0], *texts[k][1:])
    for k, (text, output) in enumerate(zip(texts, oracle.encrypt(texts), strict=True)):
        key, npub, ad, message = text
        body, tag = _parted(output, oracle.tag)
        call = Call("encrypt", message, body, key, npub, ad, tag, segment=given[k][2], reuse=reused[2 * k] and k > 0)
        back = Call("decrypt", message, body, key, npub, ad, tag, segment=given[k][2], reuse=reused[2 * k + 1])
        made += [call, back]
        if k % 4 == 3 and oracle.tag:
            parts = (("tag", tag), ("data", body), ("ad", ad), ("npub", npub))
            possible = [p for p, data in parts if data and (oracle.binds or p == "tag")]
            forged = possible[(k // 4) % len(possible)]
            made.append(Call("decrypt", message, body, key, npub, ad, tag, forged=forged, reuse=False))
    return made


def _parted(output: bytes, tag: int) -> tuple[bytes, bytes]:
    return output[: len(output) - tag], output[len(output) - tag :]


def _sizes(inputs: Inputs, use: str, count: int) -> list[int]:
    return [_SMALL[n] for n in inputs.numbers(use, count, len(_SMALL))]


def _step(design: Design) -> int:
    """Bytes after which input may be cut into segments."""
    if design.any_segments:
        return 4
    sizes = dict(design.block)
    step = 1
    for n in (sizes.get("ad", 0), sizes.get("data", 0)):
        step = lcm(step, n or _ANY_BLOCK)
    return step


def hashes(design: Design, oracle: Oracle, inputs: Inputs, count: int = 24) -> list[Call]:
    """Messages around words and blocks, some up to 2 KiB, some in several segments."""
    step = 4 if design.any_segments else dict(design.block).get("hash", 0) or _ANY_BLOCK
    sizes = [0, *_sizes(inputs, "rtl/hash", count), *inputs.numbers("rtl/long hash", 3, LONGEST + 1), LONGEST]
    cuts = [(s, MAX_SEGMENT) for s in sizes]
    cuts += [(step * 5 + 1, step), (step * 6, step * 2)] if design.segments else []
    texts = [inputs.stream(f"rtl/hash/{k}", size) for k, (size, _) in enumerate(cuts)]
    answers = oracle.hash(texts)
    return [Call("hash", t, a, segment=cut) for t, a, (_, cut) in zip(texts, answers, cuts, strict=True)]


def measured(design: Design, ops: Sequence[str]) -> list[CallSize]:
    """The calls whose cycles count, of the operations that the design has."""
    blocks = dict(design.block)
    made = []
    for op in (o for o in ops if o != "hash"):
        for reuse in (False, True) if design.key_reuse else (False,):
            for n in GMU:
                made += [
                    CallSize(op, "PT", 0, n, reuse),
                    CallSize(op, "AD", n, 0, reuse),
                    CallSize(op, "AD+PT", n, n, reuse),
                ]
        for k in _LONG:
            pt, ad = (_long(blocks, w, k) for w in ("data", "ad"))
            made += [CallSize(op, "PT", 0, pt), CallSize(op, "AD", ad, 0)]
            made.append(CallSize(op, "AD+PT", ad, pt))
    if "hash" in ops:
        made += [CallSize("hash", "HM", 0, n) for n in (*GMU, *(_long(blocks, "hash", k) for k in _LONG))]
    return list(dict.fromkeys(made))


def _long(blocks: Mapping[str, int], of: str, count: int) -> int:
    """Bytes of a long input: whole blocks, if they are as long as the design says, and if they are of a usual size."""
    step = lcm(_ANY_BLOCK, blocks.get(of) or 1)
    return count * (step if count * step <= MAX_SEGMENT else _ANY_BLOCK)


def toggled(sizes: Sequence[CallSize]) -> list[CallSize]:
    """The calls whose toggles count, of those whose cycles do: GMU's sizes of one kind of data, with a new key."""
    return [s for s in sizes if s.op != "decrypt" and not s.reuse and s.of != "AD+PT" and s.ad + s.message in GMU]


def every(ops: Sequence[str]) -> list[CallSize]:
    """All sizes from 0 to 2 KiB of all operations."""
    sizes = range(LONGEST + 1)
    made = [
        s for op in ops if op != "hash" for n in sizes for s in (CallSize(op, "PT", 0, n), CallSize(op, "AD", n, 0))
    ]
    return [*made, *(CallSize("hash", "HM", 0, n) for n in sizes if "hash" in ops)]


def calls(sizes: Sequence[CallSize], oracles: tuple[Oracle | None, Oracle | None], inputs: Inputs) -> list[Call]:
    """The calls of sizes; the oracles are those of the AEAD and of the hash. One whose key is used again follows one
    that brings it, which is not among ``sizes``: :func:`kept` leaves that out."""
    texts, messages = [], []
    for k, s in enumerate(sizes):
        if s.op == "hash":
            messages.append(inputs.stream(f"rtl/cycles/{k}", s.message))
        elif oracles[0] is not None:
            key, npub = (
                inputs.stream(f"rtl/cycles/{k}/{w}", n) for w, n in (("key", oracles[0].key), ("npub", oracles[0].npub))
            )
            texts.append(
                (key, npub, inputs.stream(f"rtl/cycles/{k}/ad", s.ad), inputs.stream(f"rtl/cycles/{k}", s.message))
            )
    outputs = iter(oracles[0].encrypt(texts) if oracles[0] is not None and texts else [])
    digests = iter(oracles[1].hash(messages) if oracles[1] is not None and messages else [])
    given, hashed = iter(texts), iter(messages)
    made = []
    for s in sizes:
        if s.op == "hash":
            made.append(Call("hash", next(hashed), next(digests)))
            continue
        assert oracles[0] is not None
        key, npub, ad, message = next(given)
        body, tag = _parted(next(outputs), oracles[0].tag)
        if s.reuse:
            made.append(Call(s.op, message, body, key, npub, ad, tag))
        made.append(Call(s.op, message, body, key, npub, ad, tag, reuse=s.reuse))
    return made


def kept(sizes: Sequence[CallSize], cycles: Sequence[int]) -> list[int]:
    """The cycles of sizes among those of :func:`calls`."""
    every = iter(cycles)
    made = []
    for s in sizes:
        if s.reuse:
            next(every)
        made.append(next(every))
    return made
