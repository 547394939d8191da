"""Verifies a block cipher on the very image that is measured: key schedules, encryption and decryption of one block.

A context is the output of a schedule. It travels to the host and back, so whatever uses it gets it at another address,
and nothing else that a schedule left: the device is restarted in between. No figure is of a call that was made before,
nor of a second one with the same context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from ..model.call import Beside, Caller, CallResult, DeviceError, Observed, Op, Reference, Request, Vector, scheduling
from ..model.implementation import Implementation
from ..model.inputs import Inputs
from ..model.reasons import LAB, Failure, Reason
from ..model.record import Verification
from . import felicsfile
from .calls import as_hex
from .check import KnownAnswers
from .expected import Mismatch
from .katfile import MalformedKat, read
from .knownblock import KnownBlock, digest, inputs, known_block
from .orders import Orders, orders

#: fresh keys and blocks, unless time depends on them
FRESH = 16
#: calls that show how deep the stack is
_PROBED = 4
#: calls that are made again with images of one direction only
_SAMPLE = 12
#: addresses that differ to a word of any chip; contexts are always aligned to so many bytes
_ADDRESSES = 8


class _Place(NamedTuple):
    """Bytes past a multiple of 8 where the ``key`` of a context was, and ``given`` and ``out`` of a block are."""

    key: int
    given: int
    out: int
    in_place: bool = False

    @property
    def request(self) -> dict[str, Any]:
        """The fields of the request for the block."""
        return {"offset": self.given, "out_offset": self.out, "in_place": self.in_place, "aside": True}

    @property
    def text(self) -> str:
        """Where the buffers are, after the name of a call."""
        if self.in_place:
            return f"in place at 8n+{self.out}"
        if not (self.given or self.out):
            return f"after a schedule with its key at 8n+{self.key}"
        return f"with input at 8n+{self.given}, output at 8n+{self.out}"


_ALL = range(_ADDRESSES)
#: each address of a key, each of input and output together, and each in place, all with several keys and blocks
_PLACES = {
    "after a schedule with its key at any address": [_Place(k, 0, 0) for k in _ALL],
    "with input and output at any address": [_Place((i + o) % _ADDRESSES, i, o) for i in _ALL for o in _ALL if i or o],
    "in place": [_Place(o, o, o, in_place=True) for o in _ALL],
}
#: vectors of a package's own file
_MOST = 1024
#: the schedule of each direction
SCHEDULES = {Op.ENCRYPT: Op.SCHEDULE_ENCRYPT, Op.DECRYPT: Op.SCHEDULE_DECRYPT}


class BlockVerifier:
    """A block cipher on a device, and everything that its answers are checked against. ``known`` is its variant's
    entry in the digest table; None for an unknown one."""

    def __init__(
        self, client: Caller, implementation: Implementation, inputs: Inputs, reference: Reference | None = None
    ) -> None:
        self.client = client
        self.implementation = implementation
        self.inputs = inputs
        self.reference = reference
        self.known: KnownBlock | None = known_block(implementation.variant)
        self.own = _own_vector(implementation, client.hello.key_bytes, client.hello.a_bytes)
        self.file = _own_file(implementation, client.hello.key_bytes, client.hello.a_bytes)
        self.orders = Orders()
        self.notes: list[str] = []
        self.beside = Beside()
        self._contexts: dict[tuple[Op, bytes], bytes] = {}
        self._restarts = 0
        self._begun: list[tuple[Vector, Request, CallResult]] = []

    def vector(self, use: str, count: int) -> Vector:
        """A fresh key and block."""
        hello = self.client.hello
        return self.inputs.vector(use, count, hello.key_bytes, 0, hello.a_bytes, 0)

    def schedule(self, op: Op, v: Vector) -> Request:
        """The schedule of a direction for the vector's key. Where it goes on from encryption's round keys they are the
        ones that were measured, else bytes that mean nothing."""
        hello = self.client.hello
        if op is Op.DECRYPT and hello.continues:
            before = self.again(Op.ENCRYPT, v)
        else:
            before = self.inputs.stream(f"context/{v.count}", hello.npub_bytes)
        return Request(SCHEDULES[op], v.key, before, b"", b"")

    def block(self, op: Op, v: Vector, context: bytes, data: bytes) -> Request:
        """An encryption or decryption, which gets no key: another one is where the key was."""
        hello = self.client.hello
        return Request(op, self.inputs.stream(f"no key/{v.count}", hello.key_bytes), context, b"", data)

    def forget(self) -> None:
        """Restarts the device, so that a call finds nothing in static data that another left there. One call of each
        operation with another key then lets honest packages set up what they keep, such as lookup tables."""
        self.client.restart()
        self._restarts += 1
        v = self.vector(f"between passes/{self._restarts}", 0)
        place = bytes(self.client.hello.npub_bytes)
        for op in SCHEDULES:
            asked = scheduling(self.client, SCHEDULES[op], v.key, place)
            scheduled = self.client.call(asked)
            self._begun.append((v, asked, scheduled))
            if scheduled.code == 0:
                block = Request(op, v.key, scheduled.output, b"", v.message)
                answer = self.client.call(block)
                self._begun.append((v, block, answer))
                self.beside.first.extend([asked.seen(scheduled), block.seen(answer)])

    def begun_right(self) -> None:
        """Raises :class:`Mismatch` where one of the first calls after restarts was wrong, which is known once the
        orders of keys and blocks are."""
        for v, asked, answer in self._begun:
            self.sane(asked, answer, _FIRST)
            if asked.op is Op.ENCRYPT:
                self.agrees([v], [answer.output], f"{_FIRST}encrypt: ")
            elif asked.op is Op.DECRYPT:
                self.agrees([replace(v, message=answer.output)], [v.message], f"{_FIRST}decrypt, encrypted again: ")
        self._begun.clear()

    def calls(self, vectors: Sequence[Vector], about: str, check: Callable[[list[bytes]], None]) -> list[Observed]:
        """Both schedules, encryption and decryption of each vector, each operation after a restart; ``check`` looks at
        the encrypted blocks. Raises :class:`Mismatch` for the first wrong answer, with ``about`` in the text."""
        observed: list[Observed] = []
        encrypted = self._pass(Op.ENCRYPT, vectors, [v.message for v in vectors], about, observed)
        check(encrypted)
        decrypted = self._pass(Op.DECRYPT, vectors, encrypted, about, observed)
        for v, got in zip(vectors, decrypted, strict=True):
            if got != v.message:
                text = f"{about}{_numbered(v)}got {as_hex(got)}, expected {as_hex(v.message)}"
                raise Mismatch(Failure(Reason.DECRYPT_MISMATCH, text))
        return observed

    def _pass(
        self, op: Op, vectors: Sequence[Vector], blocks: Sequence[bytes], about: str, observed: list[Observed]
    ) -> list[bytes]:
        """The blocks after a schedule for each key, a restart, and a call of ``op`` for each block."""
        self.forget()
        schedules = [self.schedule(op, v) for v in vectors]
        contexts = self.answers(schedules, vectors, about, observed)
        self.keep(op, vectors, contexts)
        self.forget()
        turns = zip(vectors, contexts, blocks, strict=True)
        return self.answers([self.block(op, v, c, x) for v, c, x in turns], vectors, about, observed)

    def answers(
        self, requests: Sequence[Request], vectors: Sequence[Vector], about: str, observed: list[Observed]
    ) -> list[bytes]:
        """The outputs of calls, all of which must succeed. Notes them as ``observed``."""
        outputs = []
        for r, v, answer in zip(requests, vectors, self.client.calls(requests), strict=True):
            self.sane(r, answer, f"{about}{_numbered(v)}")
            observed.append(r.seen(answer, v.count))
            outputs.append(answer.output)
        return outputs

    def sane(self, r: Request, answer: CallResult, about: str) -> None:
        """Raises :class:`Mismatch` for a call that fails or writes past its output."""
        if not answer.intact:
            what = f"context of {self.client.hello.npub_bytes}" if r.op.is_schedule else f"block of {len(r.data)}"
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"{about}{r.op.value} writes past its {what} bytes"))
        if answer.full and answer.code != 0:
            text = f"{about}{r.op.value} asks for more heap than there is, and returns {answer.code}"
            raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))
        if answer.code != 0:
            raise Mismatch(Failure(Reason.WRONG_OUTPUT, f"{about}{r.op.value} returned {answer.code}"))

    def settle(self) -> None:
        """Checks the package's own vector, and finds out in which orders it takes keys and blocks, where that is not as
        the known answers have them: by the bundled implementation's answer to that vector. A note says so. Raises
        :class:`Mismatch`."""
        own = self.own
        if own is None:
            return

        def right(encrypted: list[bytes]) -> None:
            if encrypted != [own.output]:
                text = f"test_vectors.c: got {as_hex(encrypted[0])}, expected {as_hex(own.output or b'')}"
                raise Mismatch(Failure(Reason.KAT_MISMATCH, text))

        self.calls([own], "test_vectors.c: ", right)
        if self.known is None or self.reference is None:
            return
        possible = list(orders(len(own.key), len(own.message)))
        asked = [Request(Op.ENCRYPT, o.key.of(own.key), b"", b"", o.block.of(own.message)) for o in possible]
        answers = self.reference("-", asked)
        fitting = [o for o, a in zip(possible, answers, strict=True) if a is not None and o.block.of(a) == own.output]
        for self.orders in fitting:  # a vector of equal bytes fits several
            if self._tried():
                break
        else:
            self.orders = Orders()  # the known answers will say what is wrong
        if self.orders != Orders():
            text = f"takes {self.orders.text}: verified with the known answers of {self.known.variant} in this order"
            self.notes.append(text)

    def _tried(self) -> bool:
        """Whether fresh inputs fit the orders, too."""
        v = self.vector("orders", 0)
        try:
            self.agrees([v], [made(self.client, Op.ENCRYPT, v.key, v.message).output], "")
        except Mismatch:
            return False
        return True

    def agrees(self, vectors: Sequence[Vector], encrypted: Sequence[bytes], about: str) -> None:
        """Compares encrypted blocks with those of the bundled implementation. Raises :class:`Mismatch` for the first
        that differs."""
        if self.reference is None:
            return
        key, block = self.orders.key.of, self.orders.block.of
        wanted = self.reference("-", [Request(Op.ENCRYPT, key(v.key), b"", b"", block(v.message)) for v in vectors])
        wanted = [None if want is None else block(want) for want in wanted]
        if None in wanted and _UNASKED not in self.notes:
            self.notes.append(_UNASKED)
        for v, got, want in zip(vectors, encrypted, wanted, strict=True):
            if want is not None and got != want:
                where = f"{about}{keyed(v)}" if about else _numbered(v)
                text = f"{where}got {as_hex(got)}, the bundled implementation {as_hex(want)}"
                reason = Reason.WRONG_OUTPUT if about else Reason.KAT_MISMATCH
                raise Mismatch(Failure(reason, text))

    def keep(self, op: Op, vectors: Sequence[Vector], contexts: Sequence[bytes]) -> None:
        """Remembers what a pass made of the vectors' keys."""
        self._contexts |= {(op, v.key): c for v, c in zip(vectors, contexts, strict=True)}

    def again(self, op: Op, v: Vector) -> bytes:
        """The context that a pass made of the vector's key."""
        return self._contexts[op, v.key]


def made(client: Caller, op: Op, key: bytes, block: bytes) -> CallResult:
    """A schedule for a key, then a call of ``op``: the answer of the first that fails, or of the call. Raises
    :class:`DeviceError`."""
    return made_all(client, op, [(key, block)])[0]


def made_all(client: Caller, op: Op, given: Iterable[tuple[bytes, bytes]], *, aside: bool = False) -> list[CallResult]:
    """The same for several keys and blocks, all schedules first: one context has to survive the next key's. Calls that
    are made ``aside`` leave later ones as long as they are."""
    given = list(given)
    place = bytes(client.hello.npub_bytes)
    asked = [replace(scheduling(client, SCHEDULES[op], key, place), aside=aside) for key, _ in given]
    scheduled = list(client.calls(asked))
    turns = zip(given, scheduled, strict=True)
    calls = client.calls(
        [Request(op, key, s.output, b"", block, aside=aside) for (key, block), s in turns if s.code == 0]
    )
    return [s if s.code != 0 else next(calls) for s in scheduled]


def room_for_blocks(client: Caller, known: KnownBlock | None) -> None:
    """Whether an image with these sizes can be called: raises :class:`Mismatch` where the context leaves no room in the
    RAM, and where key or block are not the ``known`` variant's."""
    hello = client.hello
    if known and (known.key, known.block) != (hello.key_bytes, hello.a_bytes):
        sizes = f"key {hello.key_bytes}, block {hello.a_bytes} bytes"
        text = f"api.h says {sizes}; {known.variant} has {known.key}, {known.block}"
        raise Mismatch(Failure(Reason.KAT_MISMATCH, text))
    if not (hello.key_bytes and hello.a_bytes and hello.npub_bytes):
        text = f"key {hello.key_bytes}, block {hello.a_bytes}, context {hello.npub_bytes} bytes; none of them is empty"
        raise Mismatch(Failure(Reason.UNSUPPORTED_SIZE, text))
    if not all(client.fits(op, 0, 0) for op in (Op.SCHEDULE_ENCRYPT, Op.ENCRYPT)):
        text = f"a schedule needs two buffers for contexts of {hello.npub_bytes} bytes and a key of {hello.key_bytes}"
        text += f", a call two blocks of {hello.a_bytes}; {hello.capacity} bytes are free for buffers and stack"
        raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))


def known_blocks_answers(verifier: BlockVerifier) -> tuple[KnownAnswers, Verification]:
    """Runs the known answers. Raises :class:`Mismatch` for the first wrong answer, and :class:`DeviceError`."""
    client, known = verifier.client, verifier.known
    hello = client.hello
    for k in range(_PROBED):  # before any restart, which writes all of the RAM
        v = verifier.vector(f"probe/{k}", 0)
        for op in SCHEDULES:
            made(client, op, v.key, v.message)
    untouched = client.untouched()
    verifier.settle()
    if verifier.file:
        verifier.calls(verifier.file, "", lambda encrypted: _as_in_the_file(verifier.file, encrypted))
    pairs = known.inputs() if known else inputs(verifier.implementation.variant, hello.key_bytes, hello.a_bytes)
    own, key_of, block_of = verifier.own, verifier.orders.key.of, verifier.orders.block.of
    vectors = [Vector(k, key_of(key), b"", block_of(block), b"") for k, (key, block) in enumerate(pairs, 1)]

    def right(encrypted: list[bytes]) -> None:
        if known is None or known.fits(map(block_of, encrypted)):
            return
        verifier.agrees(vectors, encrypted, "")  # says which is wrong, where there is a second implementation
        raise Mismatch(Failure(Reason.KAT_MISMATCH, f"not the {len(encrypted)} known answers of {known.variant}"))

    calls = verifier.calls(vectors, "", right)
    outputs = tuple((v, a.output) for v, (op, _, a) in zip(vectors, _of("encrypt", calls), strict=True))
    answers = "" if known else digest(part for v, c in outputs for part in (v.key, v.message, c))
    more = len(verifier.file) + (own is not None)
    source = "+".join((["package"] if more else []) + (["known"] if known else []))
    verification = Verification(source or "self", len(vectors) + more, 0, 0, answers)
    return KnownAnswers(tuple(calls), outputs, 0, untouched), verification


def fresh_blocks(verifier: BlockVerifier, known: KnownAnswers, *, every: bool = False) -> list[Observed]:
    """The same for fresh keys and blocks: a sample, or other ones, as many as the known answers. Raises
    :class:`Mismatch`."""
    use, count = ("every", len(known.outputs)) if every else ("fresh", FRESH)
    vectors = [verifier.vector(f"{use}/{k}", k + 1) for k in range(count)]
    return verifier.calls(vectors, _FRESH, lambda encrypted: verifier.agrees(vectors, encrypted, _FRESH))


def blocks_once_more(verifier: BlockVerifier, known: KnownAnswers) -> list[Observed]:
    """Makes the calls of the known answers again, each operation's after a restart as the first time. Raises
    :class:`Mismatch` for the first answer that is another now."""

    def as_before(encrypted: list[bytes]) -> None:
        for (v, want), got in zip(known.outputs, encrypted, strict=True):
            same(got, want, Reason.KAT_MISMATCH, f"repeated, {_numbered(v)}")

    calls = verifier.calls([v for v, _ in known.outputs], "repeated, ", as_before)
    verifier.begun_right()
    return calls


def promised(verifier: BlockVerifier) -> None:
    """Keys, inputs and outputs at all addresses, and output in place of the input, as ``crypto_block.h`` allows, with
    fresh keys and blocks: a package can tell the known ones apart. Raises :class:`Mismatch` and
    :class:`DeviceError`."""
    client, beside = verifier.client, verifier.beside.elsewhere
    fresh = [verifier.vector(f"promised/{k}", 0) for k in range(_ADDRESSES)]
    answered = made_all(client, Op.ENCRYPT, [(v.key, v.message) for v in fresh], aside=True)
    encrypted = [a.output for a in answered]
    verifier.agrees(fresh, encrypted, _FRESH)
    for op in SCHEDULES:
        asked = [replace(verifier.schedule(op, v), offset=k, aside=True) for k, v in enumerate(fresh)]
        scheduled = _elsewhere(client, asked, "with its key at any address")
        for k, (r, answer) in enumerate(zip(asked, scheduled, strict=True)):
            verifier.sane(r, answer, f"with its key at 8n+{k}, ")
            beside.append(r.seen(answer))
        contexts = [answer.output for answer in scheduled]
        given, wanted = [v.message for v in fresh], encrypted
        if op is Op.DECRYPT:
            given, wanted = wanted, given
        for group, places in _PLACES.items():
            asked = [
                replace(verifier.block(op, fresh[p.key], contexts[p.key], given[p.key]), **p.request) for p in places
            ]
            for p, r, answer in zip(places, asked, _elsewhere(client, asked, group), strict=True):
                verifier.sane(r, answer, f"{p.text}, ")
                same(answer.output, wanted[p.key], Reason.WRONG_OUTPUT, f"{op.value} {p.text}, ")
                beside.append(r.seen(answer))


def _elsewhere(client: Caller, asked: Sequence[Request], where: str) -> list[CallResult]:
    """The answers; a failure of the implementation's says ``where`` buffers were. Raises :class:`DeviceError`."""
    try:
        return list(client.calls(asked))
    except DeviceError as e:
        if e.failure.reason in LAB:
            raise
        raise DeviceError(replace(e.failure, detail=f"{where}: {e.failure.detail}")) from e


def block_parts(
    verifier: BlockVerifier, observed: Sequence[Sequence[Observed]], device_of: Callable[[str], Caller]
) -> None:
    """Repeats a sample of calls on the images ``encrypt`` and ``decrypt``, schedules included. They must give the same
    blocks as the image with both. ``device_of`` opens an image by its part. Raises :class:`Mismatch` when one does not,
    and :class:`DeviceError` when it fails."""
    for op in SCHEDULES:
        name = op.value
        try:
            client = device_of(name)
            for k, calls in enumerate(observed):
                made_of = list(zip(_of(SCHEDULES[op].value, calls), _of(name, calls), strict=True))
                sample = [made_of[i] for i in verifier.inputs.sample(f"parts/{name}/{k}", len(made_of), _SAMPLE)]
                answers = made_all(client, op, [(scheduled.key, v.message) for (_, scheduled, _), (_, v, _) in sample])
                for (_, (_, _, want)), got in zip(sample, answers, strict=True):
                    if (got.code, got.output) != (0, want.output):
                        text = f"got {as_hex(got.output)}" if got.code == 0 else f"returned {got.code}"
                        text = f"{name}, in an image of its own: {text}, the image with both {as_hex(want.output)}"
                        raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))
        except DeviceError as e:
            text = f"{name}, in an image of its own: {e.failure.detail}"
            raise DeviceError(replace(e.failure, detail=text)) from e


def _own_vector(implementation: Implementation, key: int, block: int) -> Vector | None:
    """The vector that comes with a package of FELICS's; None with another. Raises :class:`Mismatch`."""
    if implementation.phases is None or not implementation.kat:
        return None
    try:
        return replace(felicsfile.read_block(implementation.kat[0], key, block), count=0)
    except (MalformedKat, OSError) as e:
        raise Mismatch(Failure(Reason.BAD_KAT, str(e))) from e


def _own_file(implementation: Implementation, key: int, block: int) -> list[Vector]:
    """The known answers that come with a package of another's, of several files those of the first with these sizes;
    none without a file. Raises :class:`Mismatch`."""
    if implementation.phases is not None:
        return []
    wrong: Failure | None = None
    for file in implementation.kat:
        try:
            return _fitting(file, key, block)
        except (MalformedKat, OSError) as e:
            wrong = wrong or Failure(Reason.BAD_KAT, str(e))
        except Mismatch as e:
            wrong = wrong or e.failure
    if wrong:
        raise Mismatch(wrong)
    return []


def _fitting(file: Path, key: int, block: int) -> list[Vector]:
    found = read(file, "crypto_block")
    if len(found) > _MOST:
        raise Mismatch(Failure(Reason.BAD_KAT, f"{file.name}: {len(found)} vectors; at most {_MOST}"))
    for v in found:
        sizes = (len(v.key), len(v.message), len(v.output or b""))
        if sizes != (key, block, block):
            text = f"{file.name}, vector {v.count}: key, PT and CT of {sizes[0]}, {sizes[1]} and {sizes[2]} bytes"
            raise Mismatch(Failure(Reason.BAD_KAT, f"{text}; api.h has {key} and {block}"))
    return found


def _as_in_the_file(vectors: Sequence[Vector], encrypted: Sequence[bytes]) -> None:
    for v, got in zip(vectors, encrypted, strict=True):
        same(got, v.output or b"", Reason.KAT_MISMATCH, f"the package's file, {_numbered(v)}")


_UNASKED = "the second implementation runs on no target here: of what it was to answer, decryption was the only check"
_FRESH = "fresh inputs, "
_FIRST = "the first call after a start, "


def _of(name: str, calls: Sequence[Observed]) -> list[Observed]:
    return [o for o in calls if o[0] == name]


def same(got: bytes, want: bytes, reason: Reason, about: str) -> None:
    """Raises :class:`Mismatch` for another answer than is wanted."""
    if got != want:
        raise Mismatch(Failure(reason, f"{about}got {as_hex(got)}, expected {as_hex(want)}"))


def keyed(v: Vector) -> str:
    """What a package got that fresh inputs are made of, as it got it: who looks for the error needs them."""
    return f"key {as_hex(v.key)}, block {as_hex(v.message)}: "


def _numbered(v: Vector) -> str:
    return f"vector {v.count}: " if v.count else ""
