"""Verify: known answers, fresh inputs, decryption and forgeries, on the image that is measured."""

from .calls import Verifier
from .check import unaligned, verify
from .expected import Expected, Mismatch, expected
from .fresh import again, cut_short, forge, forgeries

__all__ = [
    "Expected",
    "Mismatch",
    "Verifier",
    "again",
    "cut_short",
    "expected",
    "forge",
    "forgeries",
    "unaligned",
    "verify",
]
