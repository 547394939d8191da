"""Reads sizes from an ``api.h`` without compiling it."""

from __future__ import annotations

import re
from contextlib import suppress

from ..model.implementation import Implementation
from ..model.primitive import PRIMITIVES
from . import cores, phases

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+CRYPTO_([A-Z]*)BYTES[ \t]+\(?(\d{1,6})\)?\s", re.M)
_MAX_BYTES = 1 << 16


def sizes(implementation: Implementation) -> dict[str, int | None]:
    """Bytes of an implementation's key, nonce and tag, or what else its primitive has; None where the header does not
    give a plain number."""
    own = PRIMITIVES[implementation.primitive].own
    found: dict[bytes, bytes] = {}
    wanted = "api.h" if implementation.phases is None else phases.CONSTANTS
    core = next((f.path for f in implementation.files if f.name == cores.SIZES), None)
    header = core or next((f.path for f in implementation.files if f.name.rsplit("/", 1)[-1] == wanted), None)
    if header is not None and implementation.phases is not None:
        with suppress(OSError), header.open("rb") as f:
            said = phases.sizes(f.read(_MAX_BYTES))
            return {what: said.get(phases.SIZES[what]) for what in own}
    if header is not None:
        with suppress(OSError), header.open("rb") as f:
            found = dict(_DEFINE.findall(f.read(_MAX_BYTES) + b"\n"))
    if core is not None:  # its context is the key
        found |= {b"BLOCK": found.get(b"INPUT", b""), b"CONTEXT": found.get(b"KEY", b"")}
    return {what: int(n) if (n := found.get(macro.encode())) else None for what, macro in own.items()}
