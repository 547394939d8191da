"""FELICS-AE packages for the tests: the toy with FELICS-AE's interface, in its folders."""

from __future__ import annotations

from pathlib import Path

from tests import toys
from tests.conftest import write

INFO = """# made for a test
ImplementationDescription: a toy
EncryptCode: encrypt!crypto_aead_decrypt
DecryptCode: encrypt!crypto_aead_encrypt
"""
VECTORS = """#include "felics/test_vectors.h"
/* const uint8_t expectedKey[1] = {0xee}; */
const uint8_t expectedPlaintext[MAXTEST_BYTES_M] = {%s};
const uint8_t expectedAssociated[MAXTEST_BYTES_AD] = {%s};
const uint8_t expectedKey[CRYPTO_KEYBYTES] = {%s};
const uint8_t expectedNonce[CRYPTO_NPUBBYTES] = { %s };
const uint8_t expectedCiphertext[MAXTEST_BYTES_M + CRYPTO_ABYTES] = {%s};
"""


def vectors(key: bytes, npub: bytes, message: bytes, ad: bytes, output: bytes) -> str:
    """The text of a test_vectors.c."""
    return VECTORS % tuple(", ".join(f"0x{b:02X}" for b in part) for part in (message, ad, key, npub, output))


def source(**hooks: str) -> str:
    """The toy with FELICS-AE's interface: lengths of size_t, no nsec."""
    text = '#include "felics/cipher.h"\n#include "crypto_aead.h"\n' + toys.source(**hooks)
    for old, new in (
        ("const unsigned char *nsec, ", ""),
        ("unsigned char *nsec, ", ""),
        ("(void)nsec;", ""),
        ("unsigned long long", "size_t"),
    ):
        text = text.replace(old, new)
    return text


def files(**hooks: str) -> dict[str, str]:
    """A complete package."""
    key, npub = bytes(range(7, 7 + toys.KEY)), bytes(range(50, 50 + toys.NPUB))
    message, ad = bytes(range(16)), bytes(range(100, 116))
    known = vectors(key, npub, message, ad, toys.encrypt(key, npub, message, ad))
    return {"api.h": toys.API, "encrypt.c": source(**hooks), "implementation.info": INFO, "test_vectors.c": known}


def tree(root: Path, name: str = "Toy-128_vref", extra: dict[str, str] | None = None, **hooks: str) -> Path:
    """Writes a package below ``root`` as in a FELICS-AE tree; returns its cipher's folder."""
    write(root / "source" / "ciphers" / name / "source", {**files(**hooks), **(extra or {})})
    return root / "source" / "ciphers" / name
