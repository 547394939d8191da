"""Reads sizes from an ``api.h`` without compiling it."""

from __future__ import annotations

from contextlib import suppress

from ..model.implementation import Implementation
from ..model.primitive import PRIMITIVES
from . import cores, phases
from .macros import MAX_BYTES, numbers


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
