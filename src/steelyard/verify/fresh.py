"""Verifies beyond the known answers: fresh inputs of the same sizes, and forgeries of every kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ..model.call import DeviceError, Observed, Op, Request, Vector
from ..model.reasons import LAB, Failure, Reason
from ..model.workload import Workload
from .calls import Verifier, describe
from .check import KnownAnswers
from .expected import Mismatch

#: how many known-answer sizes are repeated with fresh inputs
SAMPLE = 48
#: number of calls with random sizes, and their largest message and associated data in bytes; the smallest is half of it
RANDOM, LONGEST = 4, 128
#: vectors on which each kind of forgery is tried: with known answers' sizes, and with random sizes
EACH, EACH_RANDOM = 8, 2
#: lengths below the tag's to which a ciphertext is cut, besides zero and the longest
CUTS = 4
_FRESH = "fresh inputs, "


def again(verifier: Verifier, known: KnownAnswers, *, every: bool = False) -> list[Observed]:
    """Repeats a sample of the known answers' sizes, or ``every`` size, with fresh inputs; each output is checked, and
    what was refused has to be refused. A vector has the number of the known answer with the same sizes. Raises
    :class:`Mismatch`."""
    sizes = [(v.count, len(v.message), len(v.ad)) for v, _ in known.outputs]
    chosen = range(len(sizes)) if every else verifier.inputs.sample("sizes", len(sizes), SAMPLE)
    vectors = [verifier.vector(f"fresh/{k}", *sizes[k]) for k in chosen]
    refused = verifier.refused
    others = verifier.inputs.sample("refused", len(refused), SAMPLE)
    verifier.calls([verifier.vector(f"refused/{k}", 0, *refused[k]) for k in others], _FRESH)
    return verifier.calls(vectors, _FRESH)


def sweep(verifier: Verifier, known: KnownAnswers, workload: Workload) -> tuple[list[Observed], int]:
    """Makes the workload's calls, each with a key and nonce of its own, and checks their outputs. Returns them, and how
    many sizes were left out because they are too large for the algorithm, or for the target's RAM with the stack that
    the ``known`` answers showed. Raises :class:`Mismatch`."""
    sizes = [s for s in workload.sizes if verifier.aead or s[0] == 0]
    fitting = [(a, m) for a, m in sizes if verifier.has_room(m, a)]
    calls = verifier.calls([verifier.vector(f"{a}/{m}", 0, m, a) for a, m in fitting], "workload, ")
    forgeries(verifier, calls, 1)
    return calls, len(sizes) - sum(op == verifier.name for op, _, _ in calls)


def once_more(verifier: Verifier, swept: Sequence[Observed]) -> list[Observed]:
    """Makes the calls of a sweep again, in the same order; every output is checked. Raises :class:`Mismatch`."""
    vectors = [v for op, v, _ in swept if op == verifier.name]
    return verifier.calls(vectors, "workload, repeated, ")


def forge(verifier: Verifier, fresh: Sequence[Observed]) -> None:
    """Tries all forgeries on ``fresh`` calls and on a few with random sizes. Raises :class:`Mismatch` for the first
    that is accepted."""
    forgeries(verifier, fresh, EACH)
    forgeries(verifier, random_sizes(verifier), EACH_RANDOM)


def random_sizes(verifier: Verifier) -> list[Observed]:
    """Makes a few calls with random sizes. Raises :class:`Mismatch`."""
    longest = [min(LONGEST, verifier.expect.readings[0].max_mlen), 0] if verifier.one_block else [LONGEST, LONGEST]
    if verifier.implementation.primitive == "crypto_hash":
        longest[1] = 0
    lengths = [
        [n - below for below in verifier.inputs.numbers(f"length {i}", RANDOM, n // 2 + 1)]
        for i, n in enumerate(longest)
    ]
    vectors = [verifier.vector(f"random/{k}", 0, *pair) for k, pair in enumerate(zip(*lengths, strict=True))]
    return verifier.calls(verifier.fitting(vectors), _FRESH)


def forgeries(verifier: Verifier, observed: Sequence[Observed], each: int) -> None:
    """Tries every kind of forgery on up to ``each`` of the ciphertexts that were ``observed``, among right ones in an
    order that no package can know: refusing all of them is not an answer. Raises :class:`Mismatch`."""
    if not verifier.aead or verifier.client.hello.a_bytes == 0:
        return
    sealed = [(v, a.output) for op, v, a in observed if op == "encrypt"]
    tried: list[tuple[str, Vector, Request]] = []
    for kind, forge in _KINDS.items():
        chosen = verifier.inputs.sample(f"forged/{kind}", len(sealed), len(sealed))
        made = [(kind, sealed[k][0], forge(verifier, *sealed[k])) for k in chosen]
        tried += [(name, v, r) for name, v, r in made if r is not None and _held(verifier, r)][:each]
    right = [("", v, replace(verifier.request(Op.DECRYPT, v, c), aside=True)) for v, c in sealed]
    if right:
        at = verifier.inputs.numbers(f"forged/right/{len(sealed)}", 2 * (len(tried) // 2), 1 << 32)
        for which, place in zip(at[::2], at[1::2], strict=True):
            tried.insert(place % (len(tried) + 1), right[which % len(right)])
    for (kind, v, _), answer in zip(tried, verifier.client.calls(r for _, _, r in tried), strict=True):
        if not kind:
            verifier.right(v, answer, f"{_FRESH}among forgeries, ")
            continue
        where = f"{_FRESH}{describe(v)}"
        if answer.code == 0:
            raise Mismatch(Failure(Reason.FORGERY_ACCEPTED, f"{where}: accepted with {kind}"))
        if not answer.intact:
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"reject with {kind}, {where}"))


def _held(verifier: Verifier, r: Request) -> bool:
    """Whether the forgery fits the target's RAM: one kind is longer than the original."""
    return verifier.client.fits(Op.DECRYPT, max(0, len(r.data) - verifier.client.hello.a_bytes), len(r.ad))


def cut_short(verifier: Verifier, known: KnownAnswers) -> list[str]:
    """Tries ciphertexts shorter than their tag, and returns notes when one does harm. Raises :class:`Mismatch` when one
    is accepted.

    NIST's API does not demand that they do no harm. They may leave the device in any state, so this comes last.
    """
    sealed = known.outputs if verifier.aead else ()
    if not sealed or verifier.shortest_tag < 1:
        return []
    lengths = [0, verifier.shortest_tag - 1, *verifier.inputs.numbers("cut", CUTS, verifier.shortest_tag)]
    for k, length in enumerate(dict.fromkeys(lengths)):
        v, c = sealed[k % len(sealed)]
        try:
            answer = verifier.client.call(verifier.request(Op.DECRYPT, v, c[:length]))
        except DeviceError as e:
            if e.failure.reason in LAB:  # no doing of the implementation's
                raise
            return [f"crashes on a ciphertext shorter than the tag: {e.failure.detail}"]
        if answer.code == 0:
            text = f"a ciphertext of {length} bytes, shorter than the tag, was accepted"
            raise Mismatch(Failure(Reason.FORGERY_ACCEPTED, text))
        if not answer.intact:
            return ["writes past its output buffer on a ciphertext shorter than the tag"]
    return []


Forge = Callable[[Verifier, Vector, bytes], Request | None]


def _bytes(verifier: Verifier, v: Vector, use: str, size: int) -> bytes:
    sizes = f"{v.count}/{len(v.message)}/{len(v.ad)}"
    return verifier.inputs.stream(f"forged/{use}/{sizes}", size)


def _with_tag(verifier: Verifier, v: Vector, c: bytes, tag: bytes) -> Request | None:
    forged = c[: len(c) - len(tag)] + tag
    return verifier.request(Op.DECRYPT, v, forged) if forged != c else None


def _random_tag(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    return _with_tag(verifier, v, c, _bytes(verifier, v, "tag", verifier.tag_of(v, c)))


def _several_bits(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    tag = bytearray(c[len(c) - verifier.tag_of(v, c) :])
    for a, b in zip(*[iter(_bytes(verifier, v, "bits", 8))] * 2, strict=True):
        tag[a % len(tag)] ^= 1 << b % 8
    return _with_tag(verifier, v, c, bytes(tag))


def _swapped(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    tag = bytearray(c[len(c) - verifier.tag_of(v, c) :])
    first, second = _bytes(verifier, v, "swap", 2)
    i = first % len(tag)
    others = [j for j in range(len(tag)) if tag[j] != tag[i]]
    if not others:
        return None
    j = others[second % len(others)]
    tag[i], tag[j] = tag[j], tag[i]
    return _with_tag(verifier, v, c, bytes(tag))


def _body(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    body = len(c) - verifier.tag_of(v, c)
    if body == 0:
        return None
    at, bit = int.from_bytes(_bytes(verifier, v, "body", 4)) % body, v.count % 8
    return verifier.request(Op.DECRYPT, v, c[:at] + bytes((c[at] ^ 1 << bit,)) + c[at + 1 :])


def _end_cut(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    """A ciphertext that is cut, but not shorter than a tag."""
    room = len(c) - max(verifier.shortest_tag, verifier.tag_of(v, c))
    if room <= 0:
        return None
    return verifier.request(Op.DECRYPT, v, c[: len(c) - 1 - _bytes(verifier, v, "end", 1)[0] % room])


def _ad_bit(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    if not v.ad:
        return None
    at, bit = int.from_bytes(_bytes(verifier, v, "ad", 4)) % len(v.ad), v.count % 8
    return _other(verifier, v, c, ad=v.ad[:at] + bytes((v.ad[at] ^ 1 << bit,)) + v.ad[at + 1 :])


def _ad_longer(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    return None if verifier.one_block else _other(verifier, v, c, ad=v.ad + b"\0")


def _ad_shorter(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    return _other(verifier, v, c, ad=v.ad[:-1]) if v.ad else None


# replaced as a whole, because some algorithms ignore a bit of key or nonce, as specified
def _nonce(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    return _other(verifier, v, c, npub=_bytes(verifier, v, "nonce", len(v.npub))) if v.npub else None


def _key(verifier: Verifier, v: Vector, c: bytes) -> Request | None:
    return _other(verifier, v, c, key=_bytes(verifier, v, "key", len(v.key))) if v.key else None


def _other(verifier: Verifier, v: Vector, c: bytes, **changed: bytes) -> Request:
    return verifier.request(Op.DECRYPT, replace(v, **changed), c)


_KINDS: dict[str, Forge] = {
    "a random tag": _random_tag,
    "several bits of the tag turned": _several_bits,
    "two bytes of the tag swapped": _swapped,
    "a bit of the ciphertext turned": _body,
    "the ciphertext's end cut off": _end_cut,
    "a bit of the associated data turned": _ad_bit,
    "associated data longer by a zero byte": _ad_longer,
    "associated data shorter by a byte": _ad_shorter,
    "another nonce": _nonce,
    "another key": _key,
}
