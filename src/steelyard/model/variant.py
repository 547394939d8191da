"""A variant: the parameters that its specification fixes, read from ``variant.toml`` beside its implementations."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from . import paths, toml
from .errors import UserError

Structure = Literal[
    "permutation",
    "block cipher",
    "tweakable block cipher",
    "forkcipher",
    "stream cipher",
    "compression function",
]
_Bits = Annotated[int, Meta(ge=0, lt=1 << 32)]


class Variant(toml.Table, frozen=True, kw_only=True):
    """``state`` is the size of the underlying primitive's state in bits, ``rate`` the message bits per call of it.

    ``rounds`` is the number of rounds of one call; where phases differ, several numbers separated by ``/`` (``note``
    says which). ``version`` is the implemented edition of the ``specification``.
    """

    title: str
    version: str
    structure: Structure
    mode: str
    underlying: str
    state: _Bits
    rate: _Bits
    rounds: str
    specification: str
    note: str = ""


FILE = "variant.toml"
_RATE = re.compile(r"^rate = (\d+)$", re.M)


@cache
def variant_of(folder: Path) -> Variant | None:
    """The variant whose implementation is in ``folder``; None without a ``variant.toml``. Raises :class:`UserError` for
    a malformed one, and for a link, which may leave the package."""
    file = folder.parent / FILE
    if file.is_symlink():
        raise UserError(f"{paths.short(file)}: a link, which is not followed; put the file itself there")
    return toml.load(file, Variant) if file.is_file() else None


def rate_of(folder: Path) -> int | None:
    """Only the ``rate`` of the variant in ``folder``, for answers about hundreds of variants; None without one."""
    try:
        found = _RATE.search((folder / FILE).read_text(encoding="utf-8"))
    except OSError:
        return None
    return int(found[1]) if found else None


@cache
def bundled_folders(primitive: str) -> dict[str, Path]:
    """The folders of bundled variants by their names."""
    return {folder.name: folder for folder in paths.CIPHERS.glob(f"{primitive}/*/*/")}
