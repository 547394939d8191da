/* What SUPERCOP's header of this name has, for the function that decrypts. */
#include "api.h"

#define crypto_core crypto_core_decrypt
#define crypto_core_OUTPUTBYTES CRYPTO_OUTPUTBYTES
#define crypto_core_INPUTBYTES CRYPTO_INPUTBYTES
#define crypto_core_KEYBYTES CRYPTO_KEYBYTES
#define crypto_core_CONSTBYTES CRYPTO_CONSTBYTES

#ifdef __cplusplus
extern "C" {
#endif
extern int crypto_core(unsigned char *out, const unsigned char *in, const unsigned char *k, const unsigned char *c);
#ifdef __cplusplus
}
#endif
