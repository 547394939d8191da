"""Reads sizes from an ``api.h`` without compiling it, and tells ciphers apart by them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from msgspec.structs import replace

from ..model.implementation import Implementation
from ..model.primitive import PRIMITIVES
from . import cores, phases
from .escape import fitting
from .macros import MAX_BYTES, numbers
from .spelling import is_bundled


def sizes(implementation: Implementation) -> dict[str, int | None]:
    """Bytes of an implementation's key, nonce and tag, or what else its primitive has; None where the header does not
    give a plain number."""
    own = PRIMITIVES[implementation.primitive].own
    files = {f.name: f.path for f in implementation.files}
    names = {what: f"CRYPTO_{macro}BYTES" for what, macro in own.items()}
    header = files.get("api.h")
    if implementation.phases is not None:
        header, names = files.get(phases.CONSTANTS), {what: phases.SIZES[what] for what in own}
    elif implementation.libraries:  # two crypto_core functions, whose context is the key
        header, names = files.get(cores.SIZES), names | {"block": "CRYPTO_INPUTBYTES", "context": "CRYPTO_KEYBYTES"}
    found: dict[str, int | None] = {}
    if header is not None:
        with suppress(OSError), header.open("rb") as f:
            found = numbers(f.read(MAX_BYTES + 1))
    return {what: found.get(name) for what, name in names.items()}


def told_apart(found: Iterable[Implementation]) -> list[Implementation]:
    """The implementations. A variant that is not bundled is a cipher for each of its sizes, and then has them in its
    name, in bits: ``toy_64_128``, as FELICS writes it, has blocks of 64 and keys of 128."""
    variants: dict[tuple[str, str], list[Implementation]] = {}
    for i in found:
        variants.setdefault((i.primitive, i.variant), []).append(i)
    return [i for some in variants.values() for i in _by_sizes(some)]


def _by_sizes(some: list[Implementation]) -> list[Implementation]:
    if len(some) < 2 or is_bundled(some[0].primitive, some[0].variant):
        return some
    named = [_bits(i) for i in some]
    if len({*named} - {""}) < 2:
        return some
    return [replace(i, variant=fitting(i.variant + bits)) for i, bits in zip(some, named, strict=True)]


def _bits(implementation: Implementation) -> str:
    """The sizes that make a cipher, for a context is the implementation's; empty where the header does not say."""
    found = {what: size for what, size in sizes(implementation).items() if what != "context"}
    said = [found[what] for what in sorted(found, key=lambda what: what != "block")]
    return "".join(f"_{8 * n}" for n in said if n is not None) if None not in said else ""
