"""Reads sizes from an ``api.h`` without compiling it."""

from __future__ import annotations

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


def with_sizes(implementation: Implementation) -> Implementation:
    """The implementation; a block cipher that no layout names, and that is not bundled, has its sizes in the variant's
    name, in bits: ``toy_64_128``, as FELICS writes it, has blocks of 64 and keys of 128."""
    said, variant = sizes(implementation), implementation.variant
    block, key = said.get("block"), said.get("key")
    if implementation.primitive != "crypto_block" or block is None or key is None:
        return implementation
    bits = f"_{8 * block}_{8 * key}"
    if variant.endswith(bits) or is_bundled("crypto_block", variant):
        return implementation
    return replace(implementation, variant=fitting(variant + bits))
