"""The words that a design with the LWC hardware API gets and gives: made from calls, or read from a package's files.

The API (Kaps et al., "Hardware API for Lightweight Cryptography", version 1.2): an instruction and a status are one
word, their code in its top four bits. A segment's header has 32 bits: type, flags (partial, EOI, EOT, last), eight
zeros, and the length of its data in bytes. Data are bytes in big-endian words, the last one filled up with zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..model.errors import UserError
from . import files

ENCRYPT, DECRYPT, LOAD_KEY, ACTIVATE_KEY, HASH, SUCCESS, FAILURE = 2, 3, 4, 7, 8, 0xE, 0xF
AD, NPUB_AD, AD_NPUB, PT, CT, CT_TAG, MESSAGE, TAG, DIGEST, KEY, NPUB = 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xC, 0xD
EOI, EOT, LAST = 4, 2, 1
#: most bytes of one segment
MAX_SEGMENT = 0xFFFF
#: the segments of an AEAD's input, in the usual order; ``data`` stands for plaintext or ciphertext
ORDER = ("npub", "ad", "data", "tag")
_TYPE = {"npub": NPUB, "ad": AD}


class Stream(Struct, frozen=True):
    """One operation as words of hexadecimal digits. ``reuse`` says that it needs the key of the one before it. In what
    is expected, ``x`` is a digit that may be anything."""

    name: str
    sdi: tuple[str, ...]
    pdi: tuple[str, ...]
    out: tuple[str, ...]
    reuse: bool = False


class Call(Struct, frozen=True):
    """A call and its answer. ``op`` is ``encrypt``, ``decrypt`` or ``hash``; ``message`` is the plaintext or what is
    hashed, ``output`` the ciphertext or digest, always the right one. ``forged`` is ``"tag"``, ``"data"``, ``"ad"`` or
    ``"npub"``, where the design is given ``instead``. ``segment`` splits longer data into segments of so many bytes."""

    op: str
    message: bytes
    output: bytes
    key: bytes = b""
    npub: bytes = b""
    ad: bytes = b""
    tag: bytes = b""
    reuse: bool = False
    forged: str = ""
    instead: bytes = b""
    segment: int = MAX_SEGMENT

    @property
    def name(self) -> str:
        """What errors call it: the operation with its sizes."""
        more = [*(["reuse"] if self.reuse else []), *([f"forged-{self.forged}"] if self.forged else [])]
        size = f"{len(self.message)}" if self.op == "hash" else f"{len(self.ad)}/{len(self.message)}"
        parted = [f"by-{self.segment}"] if self.segment < max(len(self.ad), len(self.message)) else []
        return "-".join([f"{self.op}@{size}", *more, *parted])


def words(data: bytes, width: int) -> tuple[str, ...]:
    """Bytes as words of ``width`` bits."""
    size = width // 8
    return tuple((data + bytes(-len(data) % size)).hex(" ", size).split())


def instruction(code: int, width: int) -> tuple[str, ...]:
    """An instruction or a status."""
    return (f"{code << (width - 4):0{width // 4}x}",)


def header(kind: int, flags: int, size: int, width: int) -> tuple[str, ...]:
    """A segment's header: 32 bits, however wide words are."""
    return words((kind << 28 | flags << 24 | size).to_bytes(4, "big"), width)


def segments(kind: int, data: bytes, width: int, flags: int, most: int = MAX_SEGMENT) -> Iterator[str]:
    """Data as segments of at most ``most`` bytes. ``flags`` are those of the last; those before it have none."""
    parts = [data[i : i + most] for i in range(0, len(data), most)] or [b""]
    for k, part in enumerate(parts):
        yield from header(kind, flags if k == len(parts) - 1 else 0, len(part), width)
        yield from words(part, width)


def stream(call: Call, width: int, order: Sequence[str] = ORDER) -> Stream:
    """The words of a call. The ``order`` is that of the design's input segments."""
    if call.op == "hash":
        pdi = (*instruction(HASH, width), *segments(MESSAGE, call.message, width, EOI | EOT | LAST, call.segment))
        out = (*segments(DIGEST, call.output, width, EOT | LAST), *instruction(SUCCESS, width))
        return Stream(call.name, (), pdi, out)
    encrypt = call.op == "encrypt"
    sdi: tuple[str, ...] = ()
    pdi = ()
    if not call.reuse:
        sdi = (*instruction(LOAD_KEY, width), *segments(KEY, call.key, width, EOI | EOT | LAST))
        pdi = instruction(ACTIVATE_KEY, width)
    pdi += instruction(ENCRYPT if encrypt else DECRYPT, width)
    given = {
        "npub": call.npub,
        "ad": call.ad,
        "data": call.message if encrypt else call.output,
        "tag": b"" if encrypt else call.tag,
    }
    if call.forged:
        given[call.forged] = call.instead
    parts = [p for p in order if p != "tag" or not encrypt]
    # the end of the input is in the last segment that has data; where none has, in that of the nonce
    filled = [p for p in parts if given[p] and p != "tag"] or ["npub"]
    for part in parts:
        flags = EOT | (EOI if part == filled[-1] else 0) | (LAST if part == parts[-1] else 0)
        kind = _TYPE.get(part) or (TAG if part == "tag" else PT if encrypt else CT)
        pdi += tuple(segments(kind, given[part], width, flags, call.segment if part in ("ad", "data") else MAX_SEGMENT))
    if encrypt:
        out = (*segments(CT, call.output, width, EOT, call.segment), *segments(TAG, call.tag, width, EOT | LAST))
        return Stream(call.name, sdi, pdi, (*out, *instruction(SUCCESS, width)), call.reuse)
    out = tuple(segments(PT, call.message, width, EOT | LAST, call.segment))
    heads = _headers(PT, len(call.message), width, call.segment)
    if call.forged in ("data", "ad", "npub"):  # what comes out is nobody's business
        kept = {k for at in heads for k in range(at, at + len(header(PT, 0, 0, width)))}
        out = tuple(w if k in kept else "x" * (width // 4) for k, w in enumerate(out))
    # the API leaves open whether ``last`` is of the segment or of all plaintext before its last segment
    early = set(heads[:-1])
    out = tuple(f"{w[0]}x{w[2:]}" if k in early else w for k, w in enumerate(out))
    return Stream(call.name, sdi, pdi, (*out, *instruction(FAILURE if call.forged else SUCCESS, width)), call.reuse)


def _headers(kind: int, size: int, width: int, most: int) -> list[int]:
    """The places of the headers' first words among those of :func:`segments`."""
    at, made = 0, []
    for start in range(0, max(size, 1), most):
        made.append(at)
        at += len(header(kind, 0, 0, width)) + len(words(bytes(min(most, size - start)), width))
    return made


def parts(words: Sequence[str], width: int) -> Iterator[tuple[int, int]]:
    """The segments among words that come out, up to one of unknown size: where each header begins, and the bytes of its
    data."""
    at, head = 0, 32 // width
    while at + head < len(words):
        digits = "".join(words[at : at + head])[-4:]
        if "x" in digits:
            return
        yield at, (size := int(digits, 16))
        at += head + -(-8 * size // width)


def unpadded(made: Stream, width: int) -> Stream:
    """The stream with anything for the bytes that fill up a segment's last word."""
    out = list(made.out)
    for at, size in parts(out, width):
        if used := 2 * (size % (width // 8)):
            last = at + 32 // width + 8 * size // width
            out[last] = out[last][:used].ljust(width // 4, "x")
    return replace(made, out=tuple(out))


def written(streams: Iterable[Stream]) -> str:
    """Streams as the test bench reads them (rtl/bench/bench.cpp)."""
    lines = []
    for s in streams:
        lines.append(f"op {s.name}{' reuse' if s.reuse else ''}")
        lines += [f"{k} {' '.join(ws)}" for k, ws in (("s", s.sdi), ("p", s.pdi), ("d", s.out)) if ws]
    return "\n".join(lines) + "\n"


_LINE = re.compile(r"(INS|HDR|DAT|STT)\s*=\s*([0-9A-Fa-fXx]+)")


def read(pdi: Path, sdi: Path, out: Path, width: int) -> list[Stream]:
    """The operations of a package's pdi, sdi and do files. Raises :class:`UserError` where they are not of one
    another."""
    keys = [k for k in _split(sdi, width, {LOAD_KEY}) if k]
    inputs = list(_split(pdi, width, {ACTIVATE_KEY, ENCRYPT, DECRYPT, HASH}))
    joined: list[tuple[str, ...]] = []
    for part in inputs:  # a key is activated by the operation that follows
        if joined and int(joined[-1][-1][0], 16) == ACTIVATE_KEY and len(joined[-1]) == 1:
            joined[-1] += part
        else:
            joined.append(part)
    outputs = list(_outputs(out, width))
    fresh = [int(j[0][0], 16) == ACTIVATE_KEY for j in joined]
    if len(outputs) != len(joined) or sum(fresh) != len(keys):
        text = f"{len(joined)} operations, {sum(fresh)} with a new key, but {len(outputs)} answers and {len(keys)} keys"
        raise UserError(f"{pdi}: {text}; give the three files of one set")
    key = iter(keys)
    made = []
    for k, (given, answer, new) in enumerate(zip(joined, outputs, fresh, strict=True)):
        code = int(given[1 if new else 0][0], 16)
        name = {ENCRYPT: "encrypt", DECRYPT: "decrypt", HASH: "hash"}.get(code, "operation")
        made.append(Stream(f"{name}#{k + 1}", next(key) if new else (), given, answer, not new and code != HASH))
    return made


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """What each line is, and its digits."""
    for line in files.text(file, files.ANSWERS, "keep fewer operations in it").splitlines():
        if line.startswith("###EOF"):
            return
        if found := _LINE.match(line.strip()):
            yield found[1], found[2].lower()


def _words(digits: str, width: int) -> tuple[str, ...]:
    size = width // 4
    return tuple(digits[i : i + size] for i in range(0, len(digits), size))


def _split(file: Path, width: int, starts: set[int]) -> Iterator[tuple[str, ...]]:
    """The words of a file, cut before each instruction of ``starts``."""
    part: list[str] = []
    for kind, digits in _lines(file):
        if kind == "INS" and int(digits[0], 16) in starts:
            if part:
                yield tuple(part)
            part = []
        part += _words(digits, width)
    if part:
        yield tuple(part)


def _outputs(file: Path, width: int) -> Iterator[tuple[str, ...]]:
    """The words of a file, cut after each status."""
    part: list[str] = []
    for kind, digits in _lines(file):
        part += _words(digits, width)
        if kind == "STT":
            yield tuple(part)
            part = []
