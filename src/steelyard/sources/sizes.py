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
    names = {what: f"CRYPTO_{macro}BYTES" for what, macro in own.items()}
    found: dict[str, int | None] = {}
    wanted = "api.h" if implementation.phases is None else phases.CONSTANTS
    core = next((f.path for f in implementation.files if f.name == cores.SIZES), None)
    header = core or next((f.path for f in implementation.files if f.name.rsplit("/", 1)[-1] == wanted), None)
    if implementation.phases is not None:
        names = {what: phases.SIZES[what] for what in own}
    if core is not None:  # its context is the key
        names |= {"block": "CRYPTO_INPUTBYTES", "context": "CRYPTO_KEYBYTES"}
    if header is not None:
        with suppress(OSError), header.open("rb") as f:
            found = numbers(f.read(MAX_BYTES + 1))
    return {what: found.get(name) for what, name in names.items()}
