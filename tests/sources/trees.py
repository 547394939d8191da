"""Folders of packages for the tests, and what is found in them."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.implementation import Implementation
from steelyard.model.reasons import Reason
from steelyard.sources import Found

API_AEAD = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"
API_BOTH = API_AEAD + "#define CRYPTO_BYTES 32\n"
CODE = "int crypto_aead_encrypt(void) { return 0; }\n"
WRAPPER = """#include "lwc_crypto_aead.h"
/* aead_ctx old = { "x", "y", 1, 2, 3, a, b }; */
aead_ctx lwc_aead_cipher = {
    "foo128", "fast", // the names
    CRYPTO_KEYBYTES, CRYPTO_NPUBBYTES, CRYPTO_ABYTES,
    %s,
    %s
};
"""


def grow(root: Path, **files: str) -> Path:
    """Write files under ``root``; in a key ``__`` stands for ``/`` and ``_dot_`` for ``.``."""
    for key, text in files.items():
        put(root, key.replace("__", "/").replace("_dot_", "."), text)
    return root


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def plain(root: Path, where: str, api: str = API_AEAD) -> Path:
    return grow(root / where, api_dot_h=api, encrypt_dot_c=CODE)


def one(found: Found) -> Implementation:
    assert found.rejected == ()
    (impl,) = found.implementations
    return impl


def reason(found: Found) -> Reason:
    assert found.implementations == ()
    (rejected,) = found.rejected
    assert rejected.failure.detail
    return rejected.failure.reason


def names(impl: Implementation) -> list[str]:
    return [f.name for f in impl.files]
