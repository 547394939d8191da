"""Bundled implementations against BouncyCastle: random keys, nonces and lengths, where it has the algorithm."""

from __future__ import annotations

import itertools
import random
import subprocess
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

from oracles import bouncycastle
from oracles.bouncycastle import BouncyCastle
from steelyard.model.call import Vector
from steelyard.model.implementation import Implementation, Primitive
from steelyard.verify.known import KnownVariant, readings
from tests.ciphers.common import CIPHERS, driver, name, portable

pytestmark = pytest.mark.long

VECTORS = 1000
LONGEST = 2048


class Wrong(NamedTuple):
    """Inputs for which BouncyCastle's answers differ from the specification."""

    inputs: Callable[[Vector], bool]
    why: str


def _swapped(v: Vector) -> Vector:
    return Vector(v.count, v.npub, v.key, v.message, v.ad)


def _elephant(block: int) -> Wrong:
    def inputs(v: Vector) -> bool:
        before = len(v.npub) + len(v.ad)
        return before % block == 0 and len(v.message) >= before + block

    return Wrong(inputs, "the block of padding alone that follows nonce and associated data of whole blocks")


#: BouncyCastle 1.86 takes the nonce of PHOTON-Beetle for the key and the key for the nonce; both have 16 bytes
SWAPPED = {"photonbeetleaead128rate128v1", "photonbeetleaead128rate32v1"}
_ISAP_A = Wrong(lambda v: len(v.message) % 8 > 1, "the last block of a message of 8 n + 2 .. 8 n + 7 bytes")
_XOODYAK = Wrong(lambda v: not v.message, "the empty message")
#: what it gets wrong, by variant. Official known answers or the second set say so of all but two: that an Elephant
#: authenticates N || A || 1 in blocks is line 6 of its Algorithm 1, and that Xoodyak absorbs no empty block after full
#: ones is Split() in Algorithm 3
WRONG: dict[tuple[Primitive, str], Wrong] = {
    ("crypto_aead", "ascon80pqv12"): Wrong(
        lambda v: max(v.key[0], v.key[4], v.key[12]) >= 0x80, "byte 0, 4 or 12 of the key has its highest bit set"
    ),
    ("crypto_aead", "elephant160v2"): _elephant(20),
    ("crypto_aead", "elephant176v2"): _elephant(22),
    ("crypto_aead", "elephant200v2"): _elephant(25),
    ("crypto_aead", "isapa128v20"): _ISAP_A,
    ("crypto_aead", "isapa128av20"): _ISAP_A,
    ("crypto_aead", "xoodyakround3"): Wrong(
        lambda v: len(v.ad) > 0 and len(v.ad) % 44 == 0, "associated data of whole blocks, 44 bytes each"
    ),
    ("crypto_hash", "photonbeetlehash256rate32v1"): Wrong(lambda v: len(v.message) == 16, "a message of 16 bytes"),
    ("crypto_hash", "xoodyakv1"): _XOODYAK,
    ("crypto_hash", "xoodyakround3"): _XOODYAK,
}
#: what it has, as primitive/variant
ANSWERED = (
    "*/ascon*",
    "crypto_aead/elephant*v2",
    "crypto_aead/giftcofb128v1",
    "crypto_aead/grain128aeadv2",
    "crypto_aead/isap*",
    "*/photonbeetle*",
    "*/romulus[nmth]",
    "crypto_aead/schwaemm*",
    "crypto_hash/esch*",
    "crypto_aead/xoodyakround3",
    "crypto_hash/xoodyak*",
    "crypto_aead/aes*gcm",
    "crypto_aead/aes128ccm*",
    "crypto_aead/chacha20poly1305",
    "crypto_hash/sha256",
)


def _has(pattern: str, i: Implementation) -> bool:
    return fnmatchcase(f"{i.primitive}/{i.variant}", pattern)


JUDGED = [i for i in CIPHERS if portable(i) and any(_has(pattern, i) for pattern in ANSWERED)]


@pytest.fixture(scope="session")
def oracle() -> Iterator[BouncyCastle]:
    """One process for all tests."""
    absent = bouncycastle.missing()
    if absent is not None:
        pytest.skip(absent)
    with BouncyCastle() as process:
        yield process


def drawn(row: KnownVariant) -> Iterator[Vector]:
    """Random inputs without end, the same each time: half of all lengths are short, where the padding is."""
    draw = random.Random(f"{row.primitive} {row.variant}")

    def length(longest: int) -> int:
        return draw.randint(0, min(longest, draw.choice((64, LONGEST))))

    for count in itertools.count(1):
        longest = {"crypto_aead": LONGEST, "crypto_cxof": 256, "crypto_hash": 0}[row.primitive]
        parts = (row.key, row.npub, length(LONGEST), length(longest))
        yield Vector(count, *(draw.randbytes(size) for size in parts))


def judged(oracle: BouncyCastle, row: KnownVariant, number: int, wrong: bool = False) -> list[str]:
    """Lines for the driver: inputs that the oracle gets right, or those that it does not, and its answers."""
    limit = WRONG.get((row.primitive, row.variant))
    fitting = (v for v in drawn(row) if wrong == (limit is not None and limit.inputs(v)))
    lines = []
    for v in itertools.islice(fitting, number):
        answer = oracle.answer(row.variant, row.out, _swapped(v) if row.variant in SWAPPED else v)
        assert isinstance(answer, bytes), f"{v}: {answer}"
        lines.append(" ".join(part.hex() or "-" for part in (v.key, v.npub, v.ad, v.message, answer)) + "\n")
    return lines


def told(program: Path, lines: list[str]) -> tuple[int, str]:
    """The driver's output for these lines."""
    text = "".join(lines)
    done = subprocess.run([program, "-"], input=text, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout + done.stderr[:4000]


def test_nothing_that_it_has_is_missed() -> None:
    assert [pattern for pattern in ANSWERED if not any(_has(pattern, i) for i in JUDGED)] == []
    assert {(i.primitive, i.variant) for i in JUDGED} >= set(WRONG)


@pytest.mark.parametrize("implementation", JUDGED, ids=name)
def test_it_agrees_with_bouncycastle(implementation: Implementation, oracle: BouncyCastle) -> None:
    lines = judged(oracle, readings(implementation.primitive, implementation.variant)[0], VECTORS)
    assert told(driver(implementation), lines) == (0, "")


@pytest.mark.parametrize("variant", sorted(WRONG))
def test_what_is_left_out_is_wrong(variant: tuple[Primitive, str], oracle: BouncyCastle) -> None:
    """Otherwise the oracle has been fixed, and more can be compared."""
    implementation = next(i for i in JUDGED if (i.primitive, i.variant) == variant)
    program = driver(implementation)
    for line in judged(oracle, readings(*variant)[0], 16, wrong=True):
        code, text = told(program, [line])
        assert code == 1, f"not wrong: {WRONG[variant].why}"
        assert text.startswith("another output"), text
