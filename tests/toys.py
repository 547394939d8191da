"""A toy AEAD in C with places to break it, and the same in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.model.call import Vector
from steelyard.verify.vectors import counting, format_vector

KEY, NPUB, TAG = 16, 16, 8
#: the note of every record with the answers of :func:`kat`
OF_ITS_SIZES = (
    "means are over calls of NIST's 1089 sizes, whose answers nobody knows: the 25 known answers of its own file "
    "have others"
)

API = f"#define CRYPTO_KEYBYTES {KEY}\n#define CRYPTO_NPUBBYTES {NPUB}\n#define CRYPTO_ABYTES {TAG}\n"

_ARGUMENTS = "const unsigned char *ad, unsigned long long adlen"
ENCRYPT = (
    "int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m, "
    f"unsigned long long mlen, {_ARGUMENTS}, const unsigned char *nsec, const unsigned char *npub, "
    "const unsigned char *k)"
)
DECRYPT = (
    "int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec, "
    f"const unsigned char *c, unsigned long long clen, {_ARGUMENTS}, const unsigned char *npub, "
    "const unsigned char *k)"
)

_BODY = """#include "api.h"
@TOP@
static void tag(unsigned char *t, const unsigned char *m, unsigned mlen, const unsigned char *ad, unsigned adlen,
                const unsigned char *npub, const unsigned char *k)
{
    unsigned i;
    @IN_TAG@
    for (i = 0; i < CRYPTO_ABYTES; i++)
        t[i] = (unsigned char)((k[i] ^ npub[i]) + (2 * i + 1) * adlen);
    for (i = 0; i < adlen; i++)
        t[i % CRYPTO_ABYTES] = (unsigned char)(5 * t[i % CRYPTO_ABYTES] + ad[i]);
    for (i = 0; i < mlen; i++)
        t[i % CRYPTO_ABYTES] = (unsigned char)(3 * t[i % CRYPTO_ABYTES] + m[i]);
}
@ENCRYPT@
{
    unsigned i, n = (unsigned)mlen;
    unsigned char t[CRYPTO_ABYTES];
    (void)nsec;
    @IN_ENCRYPT@
    tag(t, m, n, ad, (unsigned)adlen, npub, k);
    for (i = 0; i < n; i++)
        c[i] = m[i] ^ k[i % CRYPTO_KEYBYTES];
    for (i = 0; i < CRYPTO_ABYTES; i++)
        c[n + i] = t[i];
    *clen = mlen + CRYPTO_ABYTES;
    @AFTER_ENCRYPT@
    return 0;
}
@DECRYPT@
{
    unsigned i, n = (unsigned)clen - CRYPTO_ABYTES;
    unsigned char t[CRYPTO_ABYTES], wrong = 0;
    (void)nsec;
    if (clen < CRYPTO_ABYTES)
        return -1;
    @IN_DECRYPT@
    for (i = 0; i < n; i++)
        m[i] = c[i] ^ k[i % CRYPTO_KEYBYTES];
    tag(t, m, n, ad, (unsigned)adlen, npub, k);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        wrong |= t[i] ^ c[n + i];
    *mlen = n;
    @AFTER_DECRYPT@
    return wrong ? -1 : 0;
}
"""


def source(
    *,
    top: str = "",
    in_tag: str = "",
    in_encrypt: str = "",
    after_encrypt: str = "",
    in_decrypt: str = "",
    after_decrypt: str = "",
) -> str:
    """The C text; the arguments are statements (``top``: declarations) put where their name says."""
    text = _BODY.replace("@ENCRYPT@", ENCRYPT).replace("@DECRYPT@", DECRYPT)
    for name, code in (
        ("TOP", top),
        ("IN_TAG", in_tag),
        ("IN_ENCRYPT", in_encrypt),
        ("AFTER_ENCRYPT", after_encrypt),
        ("IN_DECRYPT", in_decrypt),
        ("AFTER_DECRYPT", after_decrypt),
    ):
        text = text.replace(f"@{name}@", code)
    return text


def files(**hooks: str) -> dict[str, str]:
    """A complete package."""
    return {"api.h": API, "encrypt.c": source(**hooks)}


def encrypt(key: bytes, npub: bytes, message: bytes, ad: bytes) -> bytes:
    """The toy's answer."""
    t = [(key[i] ^ npub[i]) + (2 * i + 1) * len(ad) & 0xFF for i in range(TAG)]
    for factor, data in ((5, ad), (3, message)):
        for i, byte in enumerate(data):
            t[i % TAG] = (factor * t[i % TAG] + byte) & 0xFF
    return bytes(b ^ key[i % KEY] for i, b in enumerate(message)) + bytes(t)


def vectors(lengths: Sequence[int] = (0, 7, 16, 25, 32)) -> Iterator[Vector]:
    """Known answers of the toy, messages and associated data of these lengths."""
    key, npub = counting(KEY), counting(NPUB, 3)
    for count, (m, a) in enumerate(((m, a) for m in lengths for a in lengths), 1):
        message, ad = counting(m), counting(a)
        yield Vector(count, key, npub, message, ad, encrypt(key, npub, message, ad))


def kat(lengths: Sequence[int] = (0, 7, 16, 25, 32)) -> str:
    """The toy's KAT file."""
    return "".join(format_vector("crypto_aead", v, v.output or b"") for v in vectors(lengths))
