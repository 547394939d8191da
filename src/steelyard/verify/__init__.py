"""Verify: known answers, decryption and forgeries, on the image that is measured."""

from .check import Expected, Mismatch, expected, unaligned, verify

__all__ = ["Expected", "Mismatch", "expected", "unaligned", "verify"]
