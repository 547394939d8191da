"""Calls that a design is verified with, and those whose cycles count: inputs that nobody knows beforehand, answers from
the software side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ..model.inputs import Inputs
from .design import Design
from .streams import MAX_SEGMENT, Call

#: every size up to this occurs, and up to twice a block; and bytes past two of them
_EVERY, _PAST = 72, 8
#: the largest block that counts, whatever a design says
LARGEST = 136
#: the longest message and associated data, in bytes
LONGEST = 2048
#: cycles of sizes that a netlist is asked besides those that count: it is simulated forty times as slowly as a source
_SAMPLED = 1_000_000
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


class Asking(Struct, frozen=True):
    """An operation before its bytes are known. ``op`` is ``encrypt``, ``decrypt`` or ``hash``. ``forged`` is the part
    that is another, and ``how``; ``at`` is the byte of it, taken modulo its length. ``part`` is the bytes of a
    segment."""

    op: str
    ad: int
    message: int
    part: int = MAX_SEGMENT
    forged: str = ""
    how: str = ""
    at: int = 0


def verification(design: Design, aead: Oracle | None, hashed: Oracle | None, inputs: Inputs) -> list[Call]:
    """What a design is verified with: every size around blocks, random ones up to 2 KiB, inputs in several segments,
    keys used again and forgeries, in an order in which each kind of operation follows each."""
    asked = [*(_aead(design, aead, inputs) if aead else []), *(_hashes(design, inputs) if hashed else [])]
    order = _order(inputs.shuffled("rtl/order", asked), inputs, reuse=design.key_reuse)
    texts: list[tuple[bytes, bytes, bytes, bytes]] = []
    messages = []
    for k, (a, reuse) in enumerate(order):
        message = inputs.stream(f"rtl/{k}/message", a.message)
        if a.op == "hash":
            messages.append(message)
        elif aead is not None:
            key = texts[-1][0] if reuse else inputs.stream(f"rtl/{k}/key", aead.key)
            npub, ad = inputs.stream(f"rtl/{k}/npub", aead.npub), inputs.stream(f"rtl/{k}/ad", a.ad)
            texts.append((key, npub, ad, message))
    sealed = iter(zip(texts, aead.encrypt(texts) if aead and texts else (), strict=True))
    digests = iter(zip(messages, hashed.hash(messages) if hashed and messages else (), strict=True))
    made = []
    for k, (a, reuse) in enumerate(order):
        if a.op == "hash":
            message, digest = next(digests)
            made.append(Call("hash", message, digest, segment=a.part))
            continue
        assert aead is not None
        (key, npub, ad, message), output = next(sealed)
        body, tag = _parted(output, aead.tag)
        call = Call(a.op, message, body, key, npub, ad, tag, reuse=reuse, forged=a.forged, segment=a.part)
        if a.forged:
            whole = {"tag": tag, "data": body, "ad": ad, "npub": npub}[a.forged]
            call = replace(call, instead=_forgery(whole, a.how, a.at, inputs.numbers(f"rtl/{k}/forged", 2, 1 << 32)))
        made.append(call)
    return made


def _order(asked: Sequence[Asking], inputs: Inputs, *, reuse: bool) -> list[tuple[Asking, bool]]:
    """Operations, and whether each has the key of the one before it: first a few such that each kind follows each, then
    the others as they come. One in several segments brings its key, so that what a design lacks is plain."""
    left = list(asked)
    kinds = list(dict.fromkeys((a.op, bool(a.forged)) for a in asked))
    every = [(*k, again) for k in kinds for again in (False, True) if not again or (reuse and k[0] != "hash")]
    every = inputs.shuffled("rtl/kinds", every)
    every.sort(key=lambda k: k[2])  # the first one brings a key
    pairs = [k for i, first in enumerate(every) for k in (first, *(x for y in every[i + 1 :] for x in (first, y)))]
    made = []
    for op, forged, again in [*pairs, *every[:1]]:
        of_kind = (a for a in left if (a.op, bool(a.forged)) == (op, forged))
        fits = (a for a in of_kind if not again or a.part == MAX_SEGMENT)
        if (found := next(fits, None)) is not None:
            left.remove(found)
            made.append((found, again))
    third = [n == 0 for n in inputs.numbers("rtl/reuse", len(left), 3)]
    made += [
        (a, reuse and one and a.op != "hash" and a.part == MAX_SEGMENT) for a, one in zip(left, third, strict=True)
    ]
    brought = next((k for k, (a, _) in enumerate(made) if a.op != "hash"), 0)
    return [(a, again and k > brought) for k, (a, again) in enumerate(made)]


def _aead(design: Design, oracle: Oracle, inputs: Inputs) -> list[Asking]:
    """Encryptions, decryptions and forgeries. Each byte of the tag is another once; the forgeries are of few bytes."""
    blocks = dict(design.block)
    sizes = range(_until(max(blocks.get("ad", 0), blocks.get("data", 0))))
    pairs = [*zip(inputs.shuffled("rtl/ad", sizes), inputs.shuffled("rtl/message", sizes), strict=True)]
    pairs += [(0, 0), *((0, n) for n in inputs.numbers("rtl/no ad", 8, len(sizes)))]
    pairs += [(n, 0) for n in inputs.numbers("rtl/no message", 8, len(sizes))]
    long = [*inputs.numbers("rtl/longer", 16, 4 * len(sizes)), *inputs.numbers("rtl/long", 6, LONGEST + 1)]
    pairs += [*zip(long[::2], long[1::2], strict=True), (LONGEST, LONGEST)]
    made = [Asking(op, a, m) for a, m in pairs for op in ("encrypt", "decrypt")]
    if design.segments:
        step = _step(design)
        cuts = ((3, 4, 1, 1), (6, 5, 0, 2), (0, 7, 3, 3), (5, 0, 0, 2))
        made += [Asking(op, step * a, step * m + r, step * s) for a, m, r, s in cuts for op in ("encrypt", "decrypt")]
    forged = [("tag", "bit", k) for k in range(oracle.tag)]
    for part in (("tag", "data", "ad", "npub") if oracle.binds else ("tag",)) if oracle.tag else ():
        at = iter(inputs.numbers(f"rtl/forged {part}", len(_HOW), 1 << 32))
        forged += [(part, how, next(at)) for how in _HOW]
    few = inputs.numbers("rtl/forged sizes", 2 * len(forged), 40)
    for (part, how, at_), a, m in zip(forged, few[::2], few[1::2], strict=True):
        made.append(Asking("decrypt", a + (part == "ad"), m + (part == "data"), forged=part, how=how, at=at_))
    return made


#: ways in which a part is another: a bit, the same bit of two bytes, two bytes that change places, zeros in the end
_HOW = ("bit", "bit", "bits", "bits", "swapped", "cleared")


def _forgery(whole: bytes, how: str, at: int, other: Sequence[int]) -> bytes:
    """Other bytes than those of a part, of one of :data:`_HOW`; a bit where that changes nothing."""
    made = bytearray(whole)
    at %= len(whole)
    second, bit = other[0] % len(whole), 1 << other[1] % 8
    if how == "bits" and second != at:
        made[at] ^= bit
        made[second] ^= bit
    elif how == "swapped":
        made[at], made[second] = made[second], made[at]
    elif how == "cleared":
        made[len(whole) // 2 :] = bytes(len(whole) - len(whole) // 2)
    if made == whole:
        made[at] ^= bit
    return bytes(made)


def _parted(output: bytes, tag: int) -> tuple[bytes, bytes]:
    return output[: len(output) - tag], output[len(output) - tag :]


def _until(block: int) -> int:
    """The size before which every one occurs."""
    return max(_EVERY, 2 * min(block, LARGEST)) + _PAST


def _step(design: Design) -> int:
    """Bytes after which input may be cut into segments."""
    if design.any_segments:
        return 4
    sizes = dict(design.block)
    step = 1
    for n in (sizes.get("ad", 0), sizes.get("data", 0)):
        step = lcm(step, n or _ANY_BLOCK)
    return step


def _hashes(design: Design, inputs: Inputs) -> list[Asking]:
    """Hashes of messages of every size around blocks, some up to 2 KiB, some in several segments."""
    block = dict(design.block).get("hash", 0)
    step = 4 if design.any_segments else block or _ANY_BLOCK
    sizes = [*range(_until(block)), *inputs.numbers("rtl/long hash", 3, LONGEST + 1), LONGEST]
    cuts = [(step * 5 + 1, step), (step * 6, step * 2)] if design.segments else []
    return [*(Asking("hash", 0, n) for n in sizes), *(Asking("hash", 0, n, part) for n, part in cuts)]


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
    """Bytes of a long input: whole blocks, if they are as long as the design says, and if they are of a usual size;
    where these are not both blocks of a segment, those that the design says."""
    block, most = blocks.get(of) or 1, MAX_SEGMENT // max(_LONG)
    steps = (lcm(_ANY_BLOCK, block), block * -(-_ANY_BLOCK // block))
    return count * next((step for step in steps if step <= most), _ANY_BLOCK)


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


def sampled(sizes: Sequence[CallSize], cycles: Sequence[int], inputs: Inputs) -> list[int]:
    """The places of the sizes that a netlist is asked too: those of every small one, and of others by chance."""
    small = [k for k, s in enumerate(sizes) if s.ad + s.message < _EVERY]
    left = _SAMPLED - sum(cycles[k] for k in small)
    made = small
    for k in inputs.shuffled("rtl/sampled", sorted({*range(len(sizes))} - {*small})):
        left -= cycles[k]
        if left < 0:
            break
        made.append(k)
    return sorted(made)


def calls(sizes: Sequence[CallSize], oracles: tuple[Oracle | None, Oracle | None], inputs: Inputs) -> list[Call]:
    """The calls of sizes; the oracles are those of the AEAD and of the hash. One whose key is used again follows one
    of the same sizes that brings it, which is not among ``sizes``: :func:`kept` leaves that out."""
    texts, messages = [], []
    for k, s in enumerate(sizes):
        if s.op == "hash":
            messages.append(inputs.stream(f"rtl/cycles/{k}", s.message))
        elif oracles[0] is not None:
            key = inputs.stream(f"rtl/cycles/{k}/key", oracles[0].key)
            for use in (f"rtl/cycles/{k}", *([f"rtl/cycles/{k}/again"] if s.reuse else [])):
                npub, ad = inputs.stream(f"{use}/npub", oracles[0].npub), inputs.stream(f"{use}/ad", s.ad)
                texts.append((key, npub, ad, inputs.stream(use, s.message)))
    sealed = iter(zip(texts, oracles[0].encrypt(texts) if oracles[0] is not None and texts else [], strict=True))
    hashed = iter(zip(messages, oracles[1].hash(messages) if oracles[1] is not None and messages else [], strict=True))
    made = []
    for s in sizes:
        if s.op == "hash":
            message, digest = next(hashed)
            made.append(Call("hash", message, digest))
            continue
        assert oracles[0] is not None
        for reuse in (False, True) if s.reuse else (False,):
            (key, npub, ad, message), output = next(sealed)
            body, tag = _parted(output, oracles[0].tag)
            made.append(Call(s.op, message, body, key, npub, ad, tag, reuse=reuse))
    return made


def turns(sizes: Sequence[CallSize]) -> list[int]:
    """The order in which the calls of :func:`calls` are timed: hashes are between the others."""
    at = 0
    aead: list[list[int]] = []
    hashes: list[list[int]] = []
    for s in sizes:
        (hashes if s.op == "hash" else aead).append([at, at + 1] if s.reuse else [at])
        at += 2 if s.reuse else 1
    step = len(aead) // (len(hashes) + 1) + 1
    made: list[int] = []
    for k, own in enumerate(aead):
        made += own
        if hashes and k % step == 0:
            made += hashes.pop(0)
    return [*made, *(n for own in hashes for n in own)]


def kept(sizes: Sequence[CallSize], cycles: Sequence[int]) -> list[int]:
    """The cycles of sizes among those of calls that were made in their :func:`turns`."""
    of = dict(zip(turns(sizes), cycles, strict=True))
    made, at = [], 0
    for s in sizes:
        at += s.reuse
        made.append(of[at])
        at += 1
    return made
