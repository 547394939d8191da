/* SUPERCOP's crypto_core_aes256decrypt. */
#include "crypto_core_aes256decrypt.h"
#include "steelyard_aes.h"

int crypto_core_aes256decrypt(unsigned char *out, const unsigned char *in, const unsigned char *k,
                              const unsigned char *c)
{
    AES_KEY key;

    (void)c;
    key.rounds = 14;
    expand(&key, k, 32);
    inverse_cipher_with(out, in, &key);
    return 0;
}
