/* Compiled beside the package, so that its api.h need only be understood by a C compiler.
 * SY_API: 1 aead, 2 hash, 3 cxof; a package that is both has one api.h for both. */
#include "api.h"

#include <stdint.h>

#if SY_API == 1
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
const uint16_t sy_key_bytes = CRYPTO_KEYBYTES;
const uint16_t sy_npub_bytes = CRYPTO_NPUBBYTES;
const uint16_t sy_a_bytes = CRYPTO_ABYTES;
#else
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
const uint16_t sy_key_bytes = 0;
const uint16_t sy_npub_bytes = 0;
const uint16_t sy_a_bytes = CRYPTO_BYTES;
#endif
