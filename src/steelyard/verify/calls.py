"""Makes calls and checks every output: lengths, return codes, decryption, one-bit forgeries, a second
implementation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ..model.call import (
    Beside,
    Caller,
    CallResult,
    NoRoomError,
    Observed,
    Op,
    Reference,
    Request,
    Vector,
    sizes_of,
)
from ..model.implementation import Implementation
from ..model.inputs import Inputs
from ..model.reasons import Failure, Reason
from .expected import Expected, Mismatch

#: most decoys before a call, and how likely each is: one in so many, by the most calls of a pass. A package that leaves
#: out its check in k calls of a pass is caught unless none of their decoys comes: (1 - 1 / one in) to the power of k
MOST_DECOYS = 6
_ONE_IN = ((32, 2), (256, 4), (1 << 32, 16))
_FIRST = "the first call after a start, "


#: bytes of stack and heap by which calls that no figure has may differ
_SPARE = 256


def _room(answer: CallResult) -> int:
    return (answer.stack if answer.pulse.stack is None else answer.pulse.stack) + answer.heap


class Sealed(NamedTuple):
    """A ciphertext or hash of a vector. A ``decoy`` is in no figure: among decryptions it is forged, among rejections
    it is right."""

    vector: Vector
    output: bytes
    decoy: bool = False


class Verifier:
    """An implementation on a device, and everything that its answers are checked against.

    ``op`` is the operation that makes outputs (encryption or hash), ``name`` its name. ``choice`` is the reading of the
    specification that the known answers turned out to follow. ``beyond`` is the largest number of bytes that an
    encryption wrote after its ciphertext, where ``CRYPTO_ABYTES`` leaves room. ``free`` is an algorithm that nobody
    knows and that turned out to take some of NIST's sizes only: it may refuse any size, whatever the inputs.
    ``left_out`` are sizes of message and associated data, in bytes, that found no room, ``second`` those of the second
    set.
    """

    def __init__(
        self,
        client: Caller,
        implementation: Implementation,
        expect: Expected,
        inputs: Inputs,
        reference: Reference | None = None,
    ) -> None:
        self.client = client
        self.implementation = implementation
        self.expect = expect
        self.inputs = inputs
        self.reference = reference
        self.choice = "-"
        self.aead = implementation.primitive == "crypto_aead"
        self.op, self.name = (Op.ENCRYPT, "encrypt") if self.aead else (Op.HASH, "hash")
        self.one_block = bool(expect.readings) and expect.readings[0].one_block
        self.shortest_tag = client.hello.a_bytes
        self.beyond = 0
        self.unasked = False
        self.beside = Beside()
        self.free = False
        self.left_out: set[tuple[int, int]] = set()
        self.second: set[tuple[int, int]] = set()
        self._lengths: dict[tuple[int, int], int] = {}
        self._takes: dict[tuple[int, int], bool] = {}

    @property
    def refused(self) -> list[tuple[int, int]]:
        """The sizes of message and associated data, in bytes, that the algorithm refused."""
        return [size for size, taken in self._takes.items() if not taken]

    def not_taken(self, calls: Iterable[Observed]) -> int:
        """How many sizes the algorithm refused, or had no room for by its own doing: where it needs more RAM the larger
        a call is, or far more in others than in these ``calls``, which figures are of. Sizes that only the second set
        has are in none."""
        shown = max((_room(a) for _, _, a in calls), default=0)
        greedy = self.client.grows or self.client.most > 2 * shown + _SPARE
        return len({*self.refused, *({*self.client.lacked, *(self.left_out if greedy else ())} - self.second)})

    @property
    def notes(self) -> list[str]:
        """Notes for readers of the figures."""
        unseen = not self.aead and self.reference is None and self.implementation.variant != "nocrypt"
        text = "no output beyond the known answers and the second set was checked: there is no second implementation"
        bare = self.aead and self.client.hello.a_bytes == 0 and self.implementation.variant != "nocrypt"
        tagless = "CRYPTO_ABYTES is 0: nothing is authenticated, and no forgery was tried"
        over = [f"encryption writes up to {self.beyond} bytes after its ciphertext"] if self.beyond else []
        unasked = "the second implementation runs on no target here, so some outputs were compared with no other's"
        return [
            *self.expect.notes, *over, *([text] if unseen else []), *([tagless] if bare else []),
            *([unasked] if self.unasked else []),
        ]  # fmt: skip

    def request(self, op: Op, v: Vector, data: bytes) -> Request:
        """A call with the vector's inputs and ``data``."""
        # hashes have neither key nor nonce
        return Request(op, v.key if self.aead else b"", v.npub if self.aead else b"", v.ad, data)

    def fitting(self, vectors: Sequence[Vector]) -> list[Vector]:
        """The ``vectors`` whose buffers fit the target's RAM."""
        longest = max((len(v.message) for v in vectors), default=0), max((len(v.ad) for v in vectors), default=0)
        if self.fits(*longest):
            return list(vectors)
        return [v for v in vectors if self.has_room(len(v.message), len(v.ad))]

    def has_room(self, mlen: int, adlen: int) -> bool:
        """Whether they fit, as :meth:`fits`; a size that does not is ``left_out``."""
        if self.fits(mlen, adlen):
            return True
        self.left_out.add((mlen, adlen))
        return False

    def fits(self, mlen: int, adlen: int) -> bool:
        """Whether calls with ``mlen`` and ``adlen`` bytes, in both directions, fit the RAM together with the
        stack and heap that the calls so far say."""
        ops = (Op.ENCRYPT, Op.DECRYPT) if self.aead else (Op.HASH,)
        return all(self.client.fits(op, mlen, adlen) for op in ops)

    def vector(self, use: str, count: int, mlen: int, adlen: int) -> Vector:
        """A vector with fresh inputs of these sizes in bytes; see :meth:`Inputs.vector`."""
        hello = self.client.hello
        return self.inputs.vector(use, count, hello.key_bytes, hello.npub_bytes, mlen, adlen)

    def calls(self, vectors: Sequence[Vector], about: str) -> list[Observed]:
        """Encrypts, decrypts and rejects, or hashes, fresh inputs; every output is checked.

        Each pass begins after a restart: what other calls left in RAM is in no figure of these. Inputs that the
        algorithm does not accept, such as messages beyond its only block, are left out. Raises :class:`Mismatch` for
        the first wrong answer, with ``about`` before its sizes in the text.
        """
        observed: list[Observed] = []
        turns: list[tuple[Vector, bool]] = []
        for k, (v, decoys) in enumerate(zip(vectors, self._decoys(about, len(vectors)), strict=True)):
            sizes = len(v.message), len(v.ad)
            turns += [(self.vector(f"decoy/{about}{k}/{n}", 0, *sizes), True) for n in range(decoys)]
            turns.append((v, False))
        if vectors:
            self.forget(self._usual(vectors))
        outputs = self._taken(turns, about, observed)
        self._compare(outputs, about)
        if self.aead and outputs:
            self.forget(outputs[0].vector)
            self._backward(outputs, observed, about)
        return observed

    def _taken(self, turns: Sequence[tuple[Vector, bool]], about: str, observed: list[Observed]) -> list[Sealed]:
        """Outputs for the vectors that the algorithm accepts. When it refuses one, it must refuse every larger one
        too, unless it is free."""
        requests = (replace(self.request(self.op, v, v.message), aside=decoy) for v, decoy in turns)
        answers = list(self.client.calls(requests))
        taken = [(v, a) for (v, _), a in zip(turns, answers, strict=True) if a.code == 0]
        outputs = []
        for (v, decoy), a in zip(turns, answers, strict=True):
            self._as_before(v, a, about)
            if a.code == 0:
                self._sane(v, a, about)
                outputs.append(Sealed(v, a.output, decoy))
                (self.beside.decoys if decoy else observed).append((self.name, v, a))
                continue
            larger = (len(w.ad) >= len(v.ad) and len(w.message) >= len(v.message) for w, _ in taken)
            if not (self.one_block or self.free) and any(larger):
                text = f"{self.name}, {about}{describe(v)}: returned {a.code}, but accepts larger inputs"
                raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))
        return outputs

    def _usual(self, vectors: Sequence[Vector]) -> Vector:
        """One of the ``vectors`` with a size that is taken, else of such a size that was there before."""
        taken = [size for size, taken in self._takes.items() if taken]
        of = (v for v in vectors if self._takes.get((len(v.message), len(v.ad))))
        return next(of, None) or (self.vector("usual", 0, *taken[0]) if taken else vectors[0])

    def _decoys(self, about: str, total: int) -> list[int]:
        """The number of decoys before each of ``total`` calls; none where nothing can be refused.

        Before any call the chance that a decoy comes next is the same, so whatever a package remembers, it cannot know
        whether the next ciphertext is right before it has checked it.
        """
        if not self.aead or self.client.hello.a_bytes == 0:
            return [0] * total
        one_in = next(n for most, n in _ONE_IN if total <= most)
        drawn = self.inputs.numbers(f"decoys/{about}{total}", total * MOST_DECOYS, one_in)
        rows = (drawn[k : k + MOST_DECOYS] for k in range(0, len(drawn), MOST_DECOYS))
        return [next((n for n, x in enumerate(row) if x), MOST_DECOYS) for row in rows]

    def _as_before(self, v: Vector, answer: CallResult, about: str) -> None:
        """Raises :class:`Mismatch` when a size is taken with some inputs and refused with others: what a package does
        not take, it cannot choose by the inputs that it is measured with."""
        self._had_heap(self.op, v, answer)
        taken = answer.code == 0
        if self._takes.setdefault((len(v.message), len(v.ad)), taken) != taken:
            text = "takes a size that it refuses" if taken else f"returned {answer.code}, but takes this size"
            text = f"{self.name}, {about}{describe(v)}: {text} with other inputs"
            raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))

    def _had_heap(self, op: Op, v: Vector, answer: CallResult) -> None:
        """Raises :class:`NoRoomError` for a call that failed after it had asked for more heap than there is, and
        :class:`Mismatch` where calls of other sizes do not say that there was little: anybody can ask for too much."""
        if answer.full and answer.code != 0:
            sizes = len(v.message), len(v.ad)
            text = f"{op.value}, {describe(v)}: asks for more heap than there is, and returns {answer.code}"
            if not self.client.nearly_full(op, *sizes):
                text += "; smaller calls use much less"
                raise Mismatch(Failure(Reason.RAM_OVERFLOW, text))
            self.client.no_room(op, *sizes)
            raise NoRoomError(Failure(Reason.RAM_OVERFLOW, text))

    def forward(
        self, vectors: Sequence[Vector], answers: list[Observed], *, free: bool = False
    ) -> list[tuple[Vector, bytes]]:
        """Encrypts or hashes known answers, all of which must be accepted, unless the algorithm is ``free`` to refuse
        sizes. Appends the calls to ``answers`` and returns the outputs. Raises :class:`Mismatch`."""
        outputs = []
        requests = (self.request(self.op, v, v.message) for v in vectors)
        for v, answer in zip(vectors, self.client.calls(requests), strict=True):
            self._as_before(v, answer, "")
            if free and answer.code != 0:
                self.free = True
                continue
            self._sane(v, answer, "")
            answers.append((self.name, v, answer))
            outputs.append((v, answer.output))
        return outputs

    def backward(self, outputs: Sequence[tuple[Vector, bytes]], answers: list[Observed]) -> int:
        """Decrypts the ciphertexts of known answers, and then each with one bit of its tag flipped.

        Appends the calls to ``answers``. Returns the largest number of bytes that a decryption wrote after its message,
        where the tag's room is. Raises :class:`Mismatch`.
        """
        turns: list[Sealed] = []
        for (v, c), decoys in zip(outputs, self._decoys("known answers/", len(outputs)), strict=True):
            turns += [Sealed(v, c, decoy=True)] * decoys  # no other: only the published inputs have these answers
            turns.append(Sealed(v, c))
        return self._backward(turns, answers, "")

    def _backward(self, turns: Sequence[Sealed], answers: list[Observed], about: str) -> int:
        """As :meth:`backward`. Decoys are refused among the decryptions, and decrypted among the rejections; they are
        not in ``answers``."""
        over = self._pass("decrypt", turns, answers, about)
        if self.client.hello.a_bytes == 0:
            return over
        if about:
            self.forget(turns[0].vector, forged=True)
        self._pass("reject", turns, answers, about)
        return over

    def _pass(self, name: str, turns: Sequence[Sealed], answers: list[Observed], about: str) -> int:
        """Decrypts or rejects each ciphertext, and does the other with decoys. Returns the most bytes written after a
        message."""
        over = 0
        bits = self.inputs.numbers(f"decoys/{about}bits", len(turns), 1 << 16)
        requests = []
        for (v, c, decoy), bit in zip(turns, bits, strict=True):
            right = decoy == (name == "reject")
            data = c if right else self.forged(replace(v, count=bit) if decoy else v, c)
            requests.append(replace(self.request(Op.DECRYPT, v, data), aside=decoy))
        for (v, _, decoy), answer in zip(turns, self.client.calls(requests), strict=True):
            if decoy == (name == "reject"):
                self.right(v, answer, about)
                over = max(over, answer.over)
            elif answer.code == 0:
                text = f"{about}{describe(v)}: a wrong tag was accepted"
                raise Mismatch(Failure(Reason.FORGERY_ACCEPTED, text))
            elif not answer.intact:
                raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"reject, {about}{describe(v)}"))
            if decoy:
                self.beside.decoys.append(("reject" if name == "decrypt" else "decrypt", v, answer))
            else:
                answers.append((name, v, answer))
        return over

    def right(self, v: Vector, answer: CallResult, about: str) -> None:
        """Raises :class:`Mismatch` when a decryption does not give the vector's message."""
        if not answer.intact:
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"decrypt, {about}{describe(v)}"))
        self._had_heap(Op.DECRYPT, v, answer)
        if answer.code != 0 or answer.length != len(v.message) or answer.output != v.message:
            text = f"code {answer.code}"
            if answer.code == 0:
                text = f"got {as_hex(answer.output)}, expected {as_hex(v.message)}"
            if answer.code == 0 and answer.length != len(v.message):
                text = f"says {answer.length} bytes of message, expected {len(v.message)}"
            raise Mismatch(Failure(Reason.DECRYPT_MISMATCH, f"{about}{describe(v)}: {text}"))

    def tag_of(self, v: Vector, c: bytes) -> int:
        """The number of bytes at the ciphertext's end that are its tag; all of them when the package has a format of
        its own."""
        tag = self.client.hello.a_bytes
        return tag if len(c) == len(v.message) + tag else len(c)

    def forged(self, v: Vector, c: bytes) -> bytes:
        """The ciphertext with one bit of its tag flipped; consecutive vectors flip different bits."""
        tag = self.tag_of(v, c)
        at, bit = len(c) - 1 - v.count % tag, v.count // tag % 8
        return c[:at] + bytes((c[at] ^ 1 << bit,)) + c[at + 1 :]

    def forget(self, like: Vector, *, forged: bool = False) -> None:
        """Restarts the device, so that calls find nothing in static data that earlier ones left there, neither keys nor
        tags. One call in each direction with another key then lets honest packages set up what they keep, such as
        lookup tables; the first decryption may get a ``forged`` ciphertext."""
        self.client.restart()
        v = self.vector("between passes", 0, len(like.message), len(like.ad))
        self.began(v, *self.begin(v, forged=forged), forged=forged)

    def begin(self, v: Vector, *, forged: bool = False) -> tuple[CallResult, CallResult | None]:
        """Makes the first call in each direction since the device started, and returns the answers; that of a
        decryption, of a ``forged`` ciphertext or a right one, is None where there is none."""
        first, second = self.client.call(self.request(self.op, v, v.message)), None
        if first.code == 0:
            self.beside.first.append((self.name, v, first))
        if self.aead and first.code == 0 and first.length in self.allowed(v):
            sealed = self.forged(v, first.output) if forged else first.output
            second = self.client.call(self.request(Op.DECRYPT, v, sealed))
            if second.code == 0:
                self.beside.first.append(("decrypt", v, second))
        return first, second

    def began(
        self,
        v: Vector,
        first: CallResult,
        second: CallResult | None,
        *,
        later: bytes | None = None,
        forged: bool = False,
    ) -> None:
        """Raises :class:`Mismatch` where the answers of :meth:`begin` are wrong, or the first is another than a
        ``later`` one to the same inputs: what is right from the second call on only is not."""
        if first.code != 0 and (len(v.message), len(v.ad)) in self.refused:
            return
        self._sane(v, first, _FIRST)
        if later is not None and first.output != later:
            text = f"got {as_hex(first.output)}, and {as_hex(later)} when it was repeated"
            raise Mismatch(Failure(Reason.WRONG_OUTPUT, f"{self.name}, {_FIRST}{describe(v)}: {text}"))
        if later is None:
            self._compare([Sealed(v, first.output)], _FIRST)
        if second is None:
            return
        if not forged:
            self.right(v, second, _FIRST)
        elif not second.intact:
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"decrypt, {_FIRST}{describe(v)}"))
        elif second.code == 0:
            text = f"{_FIRST}{describe(v)}: accepted with one bit of its tag flipped"
            raise Mismatch(Failure(Reason.FORGERY_ACCEPTED, text))

    def allowed(self, v: Vector) -> range:
        """The lengths in bytes that an output may have.

        They are fixed for known variants and known answers. Otherwise a ciphertext may be shorter than message and
        ``CRYPTO_ABYTES`` together, as CAESAR's API allows, but must be longer than its message, so that it can be
        refused.
        """
        tag, message = self.client.hello.a_bytes, len(v.message)
        if not self.aead or self.one_block:
            return range(tag, tag + 1)
        if self.expect.readings:
            return range(message + tag, message + tag + 1)
        if v.output is not None:
            return range(len(v.output), len(v.output) + 1)
        return range(message + (tag > 0), message + tag + 1)

    def _sane(self, v: Vector, answer: CallResult, about: str) -> None:
        if not answer.intact:
            raise Mismatch(Failure(Reason.BUFFER_OVERRUN, f"{self.name}, {about}{describe(v)}"))
        if text := self._odd(v, answer):
            wrong = Reason.WRONG_OUTPUT if about else Reason.KAT_MISMATCH
            raise Mismatch(Failure(wrong, f"{self.name}, {about}{describe(v)}: {text}"))
        if self.aead:
            self.beyond = max(self.beyond, answer.over)
            self.shortest_tag = min(self.shortest_tag, answer.length - len(v.message))

    def _odd(self, v: Vector, answer: CallResult) -> str:
        """What is wrong with the return code or length of an encryption or hash; empty when nothing is."""
        if answer.code != 0:
            return f"returned {answer.code}"
        allowed = self.allowed(v)
        if answer.length not in allowed:
            first, last = allowed[0], allowed[-1]
            text = f"{first}" if first == last else f"{first} to {last}"
            return f"says {answer.length} bytes of output, expected {text}"
        if v.output is None:
            usual = self._lengths.setdefault((len(v.ad), len(v.message)), answer.length)
            if answer.length != usual:
                return f"says {answer.length} bytes of output, {usual} for other inputs of the same sizes"
        return ""

    def _compare(self, outputs: Sequence[Sealed], about: str) -> None:
        """Compares outputs with those of the bundled implementation."""
        if self.reference is None or not outputs:
            return
        wanted = self.reference(self.choice, [self.request(self.op, v, v.message) for v, _, _ in outputs])
        self.unasked |= None in wanted
        for (v, got, _), want in zip(outputs, wanted, strict=True):
            if want is not None and got != want:
                text = (
                    f"{self.name}, {about}{describe(v)}: got {as_hex(got)}, the bundled implementation {as_hex(want)}"
                )
                raise Mismatch(Failure(Reason.WRONG_OUTPUT, text))


def describe(v: Vector) -> str:
    """A vector in words: ``vector 3 (message 0, associated data 2 bytes)``. Only known answers have a number."""
    sizes = sizes_of("message", v.message, v.ad, v.key + v.npub)
    return f"vector {v.count} ({sizes})" if v.count else sizes


def as_hex(data: bytes) -> str:
    """Bytes in hexadecimal for the detail of a failure, shortened when there are many."""
    text = data.hex().upper()
    return (text if len(text) <= 96 else f"{text[:96]}... ({len(data)} bytes)") or "nothing"
