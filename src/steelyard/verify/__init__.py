"""Stage four: verifies known answers, fresh inputs, decryption and forgeries on the image that is measured."""

from .calls import Verifier
from .check import known_answers, second_set, unaligned
from .expected import Mismatch, expected
from .fresh import again, cut_short, forge, once_more, sweep
from .parts import parts

__all__ = [
    "Mismatch",
    "Verifier",
    "again",
    "cut_short",
    "expected",
    "forge",
    "known_answers",
    "once_more",
    "parts",
    "second_set",
    "sweep",
    "unaligned",
]
