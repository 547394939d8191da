"""Verifies known answers and the second set on the very image that is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..model.call import DeviceError, Observed, Op, Vector
from ..model.errors import counted
from ..model.reasons import LAB, Failure, Reason
from ..model.record import Verification
from .calls import Verifier, as_hex, describe
from .expected import Expected, Mismatch
from .known import KnownVariant, alike
from .vectors import NIST, genkat, kat_digest

#: the least share of NIST's sizes that a verdict is by, and a mean over
_SHARE = 0.1
#: known answers that tell variants apart: with two bytes checked of each, chance agreement is out of the question
_TELLING = 64


class KnownAnswers(Struct, frozen=True):
    """The calls of the first set, all with right answers. Once it exists, the stack of both directions is known.

    The means are over ``calls``, which have NIST's sizes. A package with answers of other sizes makes calls of these
    too, with the official inputs where the variant is known: then ``own`` has those of its file, which are in no mean.
    ``calls`` are none where an unknown variant refuses one of these sizes, or a package asks for more RAM than there is
    for one: a mean over the others would be one of its choice. ``untouched`` is the longest run of RAM bytes that
    nothing had written by then. The second set comes later: it has larger messages, is run for known variants only, and
    would make the figure incomparable. ``skipped`` vectors did not fit the RAM.
    """

    calls: tuple[Observed, ...]
    outputs: tuple[tuple[Vector, bytes], ...]
    skipped: int
    untouched: int | None
    own: tuple[Observed, ...] = ()


def known_answers(verifier: Verifier) -> KnownAnswers:
    """Runs the first set of vectors. Raises :class:`Mismatch` for the first wrong answer, and :class:`DeviceError`."""
    client, expect = verifier.client, verifier.expect
    implementation, aead = verifier.implementation, verifier.aead
    hello = client.hello
    for k in expect.readings:
        if (k.key, k.npub, k.out) != (hello.key_bytes, hello.npub_bytes, hello.a_bytes):
            sizes = f"key {hello.key_bytes}, nonce {hello.npub_bytes}, tag or digest {hello.a_bytes} bytes"
            text = f"api.h says {sizes}; {k.variant} has {k.key}, {k.npub}, {k.out}{_resembles(verifier)}"
            raise Mismatch(Failure(Reason.KAT_MISMATCH, text))
    vectors = expect.kat(hello.key_bytes, hello.npub_bytes, implementation.primitive)
    for v in vectors:
        if aead and (len(v.key), len(v.npub)) != (hello.key_bytes, hello.npub_bytes):
            text = f"vector {v.count} has a key of {len(v.key)} and a nonce of {len(v.npub)} bytes, unlike api.h"
            raise Mismatch(Failure(Reason.BAD_KAT, text))
    # so that the stack is known before sizes are chosen
    begun = [(v, *verifier.begin(v)) for v in verifier.fitting(vectors)[:1]]
    readings = expect.readings if expect.own is None else ()
    known = _answered(verifier, vectors, readings, free=expect.own is None and not readings)
    for v, first, second in begun:
        verifier.began(v, first, second, later=next((out for w, out in known.outputs if w is v), None))
    if verifier.free:
        if not known.outputs:
            verifier.forward(verifier.fitting(vectors), [])  # raises: who refuses every size is wrong
        return _free(verifier, known, len(vectors))
    if expect.own is not None and not expect.readings:
        usual = Expected(None, ()).kat(hello.key_bytes, hello.npub_bytes, implementation.primitive)
        if _sizes(expect.own) != _sizes(usual):
            made = _answered(verifier, usual, (), free=True)
            if verifier.free:
                return _free(verifier, known, len(usual))
            expect.notes.append(_of_other_sizes(expect.own, len(usual)))
            made = _fair(verifier, made)
            return replace(made, own=known.calls, skipped=made.skipped + known.skipped)
    reading = None if expect.own is None or not expect.readings else _agreeing(known.outputs, expect.readings)[0]
    if reading is None or _sizes(expect.own or ()) == _sizes(reading.kat()):
        return _fair(verifier, known)
    alike = tuple(k for k in expect.readings if k.starts == reading.starts)
    official = _answered(verifier, reading.kat(), (reading, *(k for k in alike if k is not reading)))
    about = counted(len(known.outputs), "known answer")
    expect.notes.append(f"the {about} of its own file have other sizes and are in no mean")
    official = _fair(verifier, official)
    return replace(official, own=known.calls, skipped=official.skipped + known.skipped)


def known_once_more(verifier: Verifier, known: KnownAnswers, chosen: Sequence[int]) -> list[Observed]:
    """Makes the calls of some known answers again, by their numbers: after a restart, so that nothing is left of the
    first time. Raises :class:`Mismatch` for the first answer that is another now, and :class:`DeviceError`."""
    verifier.client.restart()
    before = [known.outputs[k] for k in chosen]
    made: list[Observed] = []
    outputs = verifier.forward([v for v, _ in before], made)
    for (v, want), (_, got) in zip(before, outputs, strict=True):
        if got != want:
            text = f"{describe(v)}: got {as_hex(got)} when it was repeated, {as_hex(want)} before"
            raise Mismatch(Failure(Reason.KAT_MISMATCH, text))
    if verifier.aead:
        verifier.backward(outputs, made)
    return made


def _answered(
    verifier: Verifier, vectors: Sequence[Vector], readings: tuple[KnownVariant, ...], *, free: bool = False
) -> KnownAnswers:
    """Runs vectors that have the right answers themselves, or one of ``readings``, if any; some of those without either
    may be refused where it is ``free``."""
    fitting = verifier.fitting(vectors)
    if not fitting:
        text = f"no known answer fits: {verifier.client.hello.capacity} bytes are free for buffers and stack"
        raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))
    skipped = len(vectors) - len(fitting)
    calls: list[Observed] = []
    outputs = verifier.forward(fitting, calls, free=free)
    _compare(outputs, verifier, readings, complete=skipped == 0)
    if verifier.aead:
        over = verifier.backward(outputs, calls)
        note = f"decryption writes up to {over} bytes after its message"
        if over and note not in verifier.expect.notes:
            verifier.expect.notes.append(note)
    return KnownAnswers(tuple(calls), tuple(outputs), skipped, verifier.client.untouched())


def _sizes(vectors: Iterable[Vector]) -> list[tuple[int, int]]:
    return sorted((len(v.message), len(v.ad)) for v in vectors)


def _free(verifier: Verifier, known: KnownAnswers, sizes: int) -> KnownAnswers:
    """The known answers of an algorithm that refuses some of NIST's ``sizes``: no mean is over the others."""
    verifier.expect.notes.append(f"no means: it refuses {len(verifier.refused)} of NIST's {sizes} sizes")
    return replace(known, calls=(), own=known.calls)


def _fair(verifier: Verifier, known: KnownAnswers) -> KnownAnswers:
    """The known answers, with a note when RAM left no room for some, which are the longest: the means are then lower
    than those of packages that take less. One that asks for more RAM the larger a call is could choose so what its
    means are over: it has none. Raises :class:`Mismatch` where there is room for few: they are no cipher's."""
    if not known.skipped:
        return known
    made = len(known.outputs)
    total = made + known.skipped
    if made < _SHARE * total:
        text = f"only {made} of {total} known answers find room in RAM, too few to tell whether the others are right"
        raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))
    if not verifier.client.grows:
        text = f"means are over {made} of {total} known answers: others find no room in RAM beside the package's"
        verifier.expect.notes.append(text)
        return known
    why = f"larger calls need more RAM, and {known.skipped} of {total} known answers have no room"
    verifier.expect.notes.append(f"no means: {why}")
    return replace(known, calls=(), own=known.own or known.calls)


def _of_other_sizes(own: Sequence[Vector], nist: int) -> str:
    """A note on a package's own answers that are not of NIST's sizes, which means are over."""
    about = counted(len(own), "known answer")
    nobody = f"means are over calls of NIST's {nist} sizes, whose answers nobody knows"
    return f"{nobody}: the {about} of its own file have others"


def second_set(verifier: Verifier, known: KnownAnswers) -> Verification:
    """Runs the second set of vectors, if the variant has one, and returns what was checked. Raises :class:`Mismatch`
    for the first wrong answer."""
    expect, skipped, ext_count = verifier.expect, known.skipped, 0
    agreeing = _agreeing(known.outputs, expect.readings)
    if agreeing:
        verifier.choice = agreeing[0].choice
    readings = [k for k in agreeing if k.ext_checks]
    if readings:
        ext = readings[0].ext()
        verifier.second |= {(len(v.message), len(v.ad)) for v in ext}
        fit_ext = verifier.fitting(ext)
        skipped += len(ext) - len(fit_ext)
        second = verifier.forward(fit_ext, [])
        wrong = [k.wrong_ext(second) for k in readings]
        if all(w is not None for w in wrong):
            bad, got = next((v, o) for v, o in second if v is wrong[0])
            raise Mismatch(Failure(Reason.KAT_MISMATCH, f"second set, {describe(bad)}: got {as_hex(got)}"))
        verifier.choice = next(k for k, w in zip(readings, wrong, strict=True) if w is None).choice
        if verifier.aead:
            verifier.backward(second, [])
        ext_count = len(fit_ext)
    told = "" if expect.readings else kat_digest(verifier.implementation.primitive, known.outputs)
    return Verification(expect.source, len(known.outputs), ext_count, skipped, told)


def _compare(
    outputs: list[tuple[Vector, bytes]], verifier: Verifier, readings: tuple[KnownVariant, ...], complete: bool
) -> None:
    expect = verifier.expect
    for v, got in outputs:
        if v.output is not None and v.output != got:
            text = f"{describe(v)}: got {as_hex(got)}, expected {as_hex(v.output)}{_resembles(verifier)}"
            raise Mismatch(Failure(Reason.KAT_MISMATCH, text))
    if not readings:
        return
    first = readings[0]
    alternatives = [k for k in readings if k.starts == first.starts]
    fits = [k for k in alternatives if (k.digest_fits(outputs) if complete else k.wrong_kat(outputs) is None)]
    if fits:
        if fits[0].choice != first.choice:
            expect.notes.append(
                f"answers like the submission's own KAT file, not like the specification ({fits[0].status})"
            )
        return
    wrong = first.wrong_kat(outputs) or outputs[0][0]
    v, got = next((v, o) for v, o in outputs if v is wrong)
    text = f"{describe(v)}: got {as_hex(got)}, which is not the official answer{_resembles(verifier)}"
    if all(first.wrong_kat([pair]) for pair in outputs):
        text += (
            "; no answer is right, as of another variant or another version of the cipher, such as an earlier round's"
        )
    raise Mismatch(Failure(Reason.KAT_MISMATCH, text))


def _resembles(verifier: Verifier) -> str:
    """Names the known variant whose answers the implementation gives when that is not its own; otherwise empty."""
    client, primitive = verifier.client, verifier.implementation.primitive
    hello = client.hello
    candidates = alike(primitive, hello.key_bytes, hello.npub_bytes, hello.a_bytes)
    own = {k.variant for k in verifier.expect.readings}
    for starts in dict.fromkeys(k.starts for k in candidates):
        sizes = NIST[primitive]
        vectors = verifier.fitting(genkat(hello.key_bytes, hello.npub_bytes, starts, *sizes)[:_TELLING])
        try:
            got = list(client.calls(verifier.request(verifier.op, v, v.message) for v in vectors))
        except DeviceError:
            return ""
        outputs = [(v, a.output) for v, a in zip(vectors, got, strict=True)]
        for k in candidates:
            whole = k.starts == starts and (k.max_mlen, k.max_adlen) == sizes and k.variant not in own
            if whole and k.wrong_kat(outputs) is None:
                return f"; it answers like {k.variant} ({k.status})"
    return ""


def _agreeing(outputs: Sequence[tuple[Vector, bytes]], readings: tuple[KnownVariant, ...]) -> list[KnownVariant]:
    """The readings that no answer contradicts; all of them when none is left."""
    if len(readings) < 2:
        return list(readings)

    def contradicted(k: KnownVariant) -> bool:
        inputs = {(v.key, v.npub, v.message, v.ad): v for v in k.kat()}
        same = [(inputs.get((v.key, v.npub, v.message, v.ad)), got) for v, got in outputs]
        return k.wrong_kat((v, got) for v, got in same if v is not None) is not None

    return [k for k in readings if not contradicted(k)] or list(readings)


def unaligned(verifier: Verifier, known: KnownAnswers) -> list[str]:
    """Repeats a few calls in each direction with every buffer at an odd address, and returns notes on what does not
    work there."""
    made = known.outputs[:: max(1, len(known.outputs) // 4)]
    calls = [(verifier.name, v, verifier.request(verifier.op, v, v.message), out) for v, out in made]
    if verifier.aead:
        calls += [("decrypt", v, verifier.request(Op.DECRYPT, v, out), v.message) for v, out in made]
    answers = verifier.client.calls(replace(request, offset=1) for _, _, request, _ in calls)
    try:
        for (name, v, _, out), answer in zip(calls, answers, strict=True):
            if answer.full and answer.code != 0:
                return ["with buffers at odd addresses: no room for the heap that it asks for"]
            if (answer.code, answer.output) != (0, out):
                return ["gives other results with buffers at odd addresses"]
            verifier.beside.elsewhere.append((name, v, answer))
    except DeviceError as e:
        if e.failure.reason in LAB:  # no doing of the implementation's
            raise
        return [f"with buffers at odd addresses: {e.failure.detail}"]
    return []
