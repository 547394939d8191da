"""What a variant is: the parameters that its specification fixes, as ``variant.toml`` beside its implementations."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from . import toml

Structure = Literal[
    "permutation",
    "block cipher",
    "tweakable block cipher",
    "forkcipher",
    "stream cipher",
    "compression function",
]


class Variant(toml.Table, frozen=True, kw_only=True):
    """``state`` and ``rate`` are bits of the underlying primitive and bits of message for each call of it.

    ``rounds`` lists the rounds of one call, several numbers separated by ``/`` where phases differ
    (``note`` says which); ``version`` is the edition of the ``specification`` that is implemented.
    """

    title: str
    version: str
    structure: Structure
    mode: str
    underlying: str
    state: int
    rate: int
    rounds: str
    specification: str
    note: str = ""


FILE = "variant.toml"


@cache
def variant_of(folder: Path) -> Variant | None:
    """The variant whose implementation lies in ``folder``; None where the package does not say."""
    file = folder.parent / FILE
    return toml.load(file, Variant) if file.is_file() else None
