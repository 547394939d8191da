"""Verification on a device: encryption, decryption and rejection on the very image that is measured."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from ..model.call import Answer, Caller, DeviceError, Observed, Op, Request, Vector
from ..model.implementation import Implementation
from ..model.reasons import Failure, Reason
from ..model.record import Verification
from . import felicsfile, katfile
from .known import Known, known
from .vectors import genkat


class Mismatch(Exception):
    """Verification failed; ``failure`` is what the record says."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class Expected(Struct):
    """What an implementation is held against: its package's vectors, the digest table, or only itself."""

    own: list[Vector] | None
    table: tuple[Known, ...]
    notes: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """Word for the record."""
        parts = (["package"] if self.own else []) + (["known"] if self.table else [])
        return "+".join(parts) or "self"

    def kat(self, key: int, npub: int, primitive: str) -> list[Vector]:
        """The KAT inputs to run."""
        if self.own is not None:
            return self.own
        if self.table:
            return self.table[0].kat()
        return list(genkat(key, npub, (0, 0, 0, 0), *((32, 32) if primitive == "crypto_aead" else (1024, 0))))


def expected(implementation: Implementation) -> Expected:
    """Expected values for an implementation. :class:`Mismatch` when its KAT file is malformed."""
    table = known(implementation.primitive, implementation.variant)
    own = None
    if implementation.kat:
        try:
            file = implementation.kat[0]
            own = felicsfile.read(file) if file.suffix == ".c" else katfile.read(file, implementation.primitive)
        except (katfile.MalformedKat, OSError) as e:
            raise Mismatch(Failure(Reason.BAD_KAT, str(e))) from None
    return Expected(own, table)


def verify(client: Caller, implementation: Implementation, expect: Expected, answers: list[Observed]) -> Verification:
    """Runs both vector sets; answers to the first go into ``answers``. :class:`Mismatch` on the first wrong one."""
    hello = client.hello
    aead = implementation.primitive == "crypto_aead"
    for k in expect.table:
        if (k.key, k.npub, k.out) != (hello.key_bytes, hello.npub_bytes, hello.a_bytes):
            sizes = f"key {hello.key_bytes}, nonce {hello.npub_bytes}, tag or digest {hello.a_bytes} bytes"
            raise Mismatch(
                Failure(Reason.KAT_MISMATCH, f"api.h says {sizes}; {k.variant} has {k.key}, {k.npub}, {k.out}")
            )
    vectors = expect.kat(hello.key_bytes, hello.npub_bytes, implementation.primitive)
    for v in vectors:
        if aead and (len(v.key), len(v.npub)) != (hello.key_bytes, hello.npub_bytes):
            text = (
                f"vector {v.count} has a key of {len(v.key)} and a nonce of {len(v.npub)} bytes, api.h says otherwise"
            )
            raise Mismatch(Failure(Reason.BAD_KAT, text))
    fitting = _fitting(client, vectors, aead)
    _probe(client, fitting[:1], aead)
    fitting = _fitting(client, fitting, aead)
    if not fitting:
        text = f"no known answer fits: {hello.capacity} bytes are free for buffers and stack"
        raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))
    skipped = len(vectors) - len(fitting)

    whole = bool(expect.table) and expect.table[0].one_block
    outputs = _forward(client, fitting, aead and not whole, answers)
    _compare(outputs, expect, complete=skipped == 0)
    if aead:
        over = _backward(client, outputs, answers)
        if over:
            expect.notes.append(f"decryption writes up to {over} bytes behind its message")

    ext_count = 0
    readings = [k for k in _agreeing(outputs, expect.table) if k.ext_checks]
    if readings:
        ext = readings[0].ext()
        fit_ext = _fitting(client, ext, aead)
        skipped += len(ext) - len(fit_ext)
        outputs = _forward(client, fit_ext, aead and not whole, [])
        wrong = [k.wrong_ext(outputs) for k in readings]
        if all(w is not None for w in wrong):
            bad, got = next((v, o) for v, o in outputs if v is wrong[0])
            raise Mismatch(Failure(Reason.KAT_MISMATCH, f"second set, {_describe(bad)}: got {_hex(got)}"))
        if aead:
            _backward(client, outputs, [])
        ext_count = len(fit_ext)
    return Verification(expect.source, len(fitting), ext_count, skipped)


def _probe(client: Caller, vectors: list[Vector], aead: bool) -> None:
    """Calls both directions once, so that their stack is known before sizes are chosen."""
    for v in vectors:
        answer = client.call(_request(Op.ENCRYPT, v, v.message, client.hello.key_bytes))
        lengths = (len(v.message) + client.hello.a_bytes, client.hello.a_bytes)
        if aead and answer.code == 0 and answer.length in lengths:
            client.call(_request(Op.DECRYPT, v, answer.output, client.hello.key_bytes))


def _fitting(client: Caller, vectors: list[Vector], aead: bool) -> list[Vector]:
    ops = (Op.ENCRYPT, Op.DECRYPT) if aead else (Op.HASH,)
    longest = max((len(v.message) for v in vectors), default=0), max((len(v.ad) for v in vectors), default=0)
    if all(client.fits(op, *longest) for op in ops):
        return vectors
    return [v for v in vectors if all(client.fits(op, len(v.message), len(v.ad)) for op in ops)]


def _forward(client: Caller, vectors: list[Vector], grows: bool, answers: list[Observed]) -> list[tuple[Vector, bytes]]:
    """Encrypts or hashes. ``grows`` is whether the output is as long as message and tag, or as the latter alone."""
    op, name = (Op.ENCRYPT, "encrypt") if client.hello.key_bytes else (Op.HASH, "hash")
    requests = (_request(op, v, v.message, client.hello.key_bytes) for v in vectors)
    outputs = []
    for v, answer in zip(vectors, client.calls(requests), strict=True):
        _sane(v, answer, name, len(v.message) + client.hello.a_bytes if grows else client.hello.a_bytes)
        answers.append((name, v, answer))
        outputs.append((v, answer.output))
    return outputs


def _backward(client: Caller, outputs: list[tuple[Vector, bytes]], answers: list[Observed]) -> int:
    """Decrypts each ciphertext, and each once more with one bit of its tag turned.

    Returns the most bytes that a decryption wrote behind its message, where the tag has its room.
    """
    hello = client.hello
    over = 0
    requests = (_request(Op.DECRYPT, v, c, hello.key_bytes) for v, c in outputs)
    for (v, _), answer in zip(outputs, client.calls(requests), strict=True):
        if answer.code != 0 or answer.output != v.message:
            text = f"code {answer.code}" if answer.code else f"got {_hex(answer.output)}, expected {_hex(v.message)}"
            raise Mismatch(Failure(Reason.DECRYPT_MISMATCH, f"{_describe(v)}: {text}"))
        _sane(v, answer, "decrypt", len(v.message))
        over = max(over, answer.over)
        answers.append(("decrypt", v, answer))
    if hello.a_bytes == 0:
        return over
    forged = (_request(Op.DECRYPT, v, _forge(v, c, hello.a_bytes), hello.key_bytes) for v, c in outputs)
    for (v, _), answer in zip(outputs, client.calls(forged), strict=True):
        if answer.code == 0:
            raise Mismatch(Failure(Reason.FORGERY_ACCEPTED, f"{_describe(v)}: a wrong tag was accepted"))
        if not answer.intact:
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"reject, {_describe(v)}"))
        answers.append(("reject", v, answer))
    return over


def _forge(v: Vector, c: bytes, tag: int) -> bytes:
    """Turns one bit of the tag: over as many vectors as the tag has bits, each of them."""
    at, bit = len(c) - 1 - v.count % tag, v.count // tag % 8
    return c[:at] + bytes((c[at] ^ 1 << bit,)) + c[at + 1 :]


def _request(op: Op, v: Vector, data: bytes, key_bytes: int) -> Request:
    # hashes have no key or nonce; their vectors carry none
    return Request(op, v.key if key_bytes else b"", v.npub if key_bytes else b"", v.ad, data)


def _sane(v: Vector, answer: Answer, name: str, length: int) -> None:
    if not answer.intact:
        raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"{name}, {_describe(v)}"))
    if answer.code != 0:
        raise Mismatch(Failure(Reason.KAT_MISMATCH, f"{name}, {_describe(v)}: returned {answer.code}"))
    if answer.length != length:
        text = f"{name}, {_describe(v)}: says {answer.length} bytes of output, expected {length}"
        raise Mismatch(Failure(Reason.KAT_MISMATCH, text))


def _compare(outputs: list[tuple[Vector, bytes]], expect: Expected, complete: bool) -> None:
    for v, got in outputs:
        if v.output is not None and v.output != got:
            text = f"{_describe(v)}: got {_hex(got)}, expected {_hex(v.output)}"
            raise Mismatch(Failure(Reason.KAT_MISMATCH, text))
    if expect.own is not None or not expect.table:
        return
    readings = [k for k in expect.table if k.starts == expect.table[0].starts]
    fits = [k for k in readings if (k.digest_fits(outputs) if complete else k.wrong_kat(outputs) is None)]
    if fits:
        if fits[0].choice != expect.table[0].choice:
            expect.notes.append(
                f"answers as the submission's own KAT file, not as the specification ({fits[0].status})"
            )
        return
    first = readings[0].wrong_kat(outputs) or outputs[0][0]
    v, got = next((v, o) for v, o in outputs if v is first)
    raise Mismatch(Failure(Reason.KAT_MISMATCH, f"{_describe(v)}: got {_hex(got)}, which is not the official answer"))


def _agreeing(outputs: list[tuple[Vector, bytes]], table: tuple[Known, ...]) -> list[Known]:
    """The readings that no answer contradicts, wherever its inputs came from; every one when none is left."""
    if len(table) < 2:
        return list(table)

    def contradicted(k: Known) -> bool:
        inputs = {(v.key, v.npub, v.message, v.ad): v for v in k.kat()}
        same = [(inputs.get((v.key, v.npub, v.message, v.ad)), got) for v, got in outputs]
        return k.wrong_kat((v, got) for v, got in same if v is not None) is not None

    return [k for k in table if not contradicted(k)] or list(table)


def unaligned(client: Caller, observed: list[Observed], aead: bool) -> str | None:
    """Repeats a few calls with every buffer at an odd address: None when they work, else what happened."""
    op, name = (Op.ENCRYPT, "encrypt") if aead else (Op.HASH, "hash")
    calls = [(v, a) for o, v, a in observed if o == name]
    calls = calls[:: max(1, len(calls) // 4)]
    odd = (replace(_request(op, v, v.message, client.hello.key_bytes), offset=1) for v, _ in calls)
    try:
        if any(a.output != b.output for (_, a), b in zip(calls, client.calls(odd), strict=True)):
            return "other results with buffers at odd addresses"
    except DeviceError as e:
        return f"with buffers at odd addresses: {e.failure.detail}"
    return None


def _describe(v: Vector) -> str:
    return f"vector {v.count} (message {len(v.message)}, associated data {len(v.ad)} bytes)"


def _hex(data: bytes) -> str:
    text = data.hex().upper()
    return (text if len(text) <= 96 else f"{text[:96]}... ({len(data)} bytes)") or "nothing"
