/* Compiled beside the package, so that its api.h need only be understood by a C compiler.
 * SY_API: 1 aead, 2 hash, 3 cxof, 4 block; a package that is both has one api.h for both. */
#include "api.h"

#include <stdint.h>

#undef _Static_assert /* a keyword, whatever api.h made of it */

/* Which build an image is of, for its handshake: a table, of which code has the same size whatever it holds. */
extern const uint8_t sy_image[4];
#ifdef __AVR__
__attribute__((progmem))
#endif
const uint8_t sy_image[4] = {SY_IMAGE & 255, SY_IMAGE >> 8 & 255, SY_IMAGE >> 16 & 255, SY_IMAGE >> 24};

/* Frames carry lengths of 16 bits. building/diagnose.py looks for these words. */
#define SY_FITS(name, value) \
    _Static_assert((value) >= 0, "unsupported size: " name " is negative"); \
    _Static_assert((value) <= 65535L, "unsupported size: " name " is above 65535 bytes, the most that is measured")

#if SY_API == 1
SY_FITS("CRYPTO_KEYBYTES", CRYPTO_KEYBYTES);
SY_FITS("CRYPTO_NPUBBYTES", CRYPTO_NPUBBYTES);
SY_FITS("CRYPTO_ABYTES", CRYPTO_ABYTES);
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
const uint16_t sy_key_bytes = CRYPTO_KEYBYTES;
const uint16_t sy_npub_bytes = CRYPTO_NPUBBYTES;
const uint16_t sy_a_bytes = CRYPTO_ABYTES;
/* CAESAR's secret message number: zeros to encrypt, room for what decryption finds */
#ifndef CRYPTO_NSECBYTES
#define CRYPTO_NSECBYTES 0
#endif
static const unsigned char zeros[CRYPTO_NSECBYTES + 1];
static unsigned char found[CRYPTO_NSECBYTES + 1];
extern const unsigned char *const sy_nsec_encrypt;
extern unsigned char *const sy_nsec_decrypt;
const unsigned char *const sy_nsec_encrypt = CRYPTO_NSECBYTES ? zeros : 0;
unsigned char *const sy_nsec_decrypt = CRYPTO_NSECBYTES ? found : 0;
#elif SY_API == 4 /* a context travels as a nonce, a block as a tag */
SY_FITS("CRYPTO_KEYBYTES", CRYPTO_KEYBYTES);
SY_FITS("CRYPTO_CONTEXTBYTES", CRYPTO_CONTEXTBYTES);
SY_FITS("CRYPTO_BLOCKBYTES", CRYPTO_BLOCKBYTES);
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
const uint16_t sy_key_bytes = CRYPTO_KEYBYTES;
const uint16_t sy_npub_bytes = CRYPTO_CONTEXTBYTES;
const uint16_t sy_a_bytes = CRYPTO_BLOCKBYTES;
#else
SY_FITS("CRYPTO_BYTES", CRYPTO_BYTES);
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
const uint16_t sy_key_bytes = 0;
const uint16_t sy_npub_bytes = 0;
const uint16_t sy_a_bytes = CRYPTO_BYTES;
#endif
